// Messages that were worked out in another go, or on another GPU, joined to those that are there.
#pragma once
#include "types.cuh"

namespace hpgraph {

constexpr int JOIN_THREADS = 256;

template <class Program>
__global__ void __launch_bounds__(JOIN_THREADS)
join_messages(i64 n, const typename Program::Message* other, const u32* other_received,
              typename Program::Message* message, u32* received) {
    const i64 v = (i64)blockIdx.x * JOIN_THREADS + threadIdx.x;
    const int lane = threadIdx.x & 31;
    if (v - lane >= n) return;
    const u32 here = received[v >> 5], there = other_received[v >> 5];
    if (v < n && (there >> lane & 1)) message[v] = here >> lane & 1 ? Program::join(message[v], other[v]) : other[v];
    if (lane == 0) received[v >> 5] = here | there;
}

}  // namespace hpgraph
