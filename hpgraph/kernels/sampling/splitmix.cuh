// SplitMix64 at a counter: G. Steele et al., "Fast splittable pseudorandom number generators", OOPSLA'14.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr u64 GOLDEN = 0x9E3779B97F4A7C15ull;

// Its finalizer.
__device__ __forceinline__ u64 mixed(u64 word) {
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9ull;
    word = (word ^ word >> 27) * 0x94D049BB133111EBull;
    return word ^ word >> 31;
}

}  // namespace hpgraph
