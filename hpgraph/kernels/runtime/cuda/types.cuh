// Names that the kernels of products and supersteps share.
#pragma once

namespace hpgraph {

using i64 = long long;
using u32 = unsigned int;
using u64 = unsigned long long;

constexpr u32 ALL = 0xffffffffu;  // every lane of a warp

}  // namespace hpgraph
