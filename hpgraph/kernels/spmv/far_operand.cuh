// Gathers elements of a vector that lies on other GPUs, in whole or by ranges.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int TAKERS = 256, MAX_RANGES = 16;

template <class T>
struct Ranges {
    const T* of[MAX_RANGES];  // base pointers of the whole vector
    i64 ends[MAX_RANGES];
};

template <class T>
__global__ void __launch_bounds__(TAKERS)
take_far(const __grid_constant__ Ranges<T> ranges, const u32* __restrict__ which, i64 n, T* taken) {
    const i64 i = i64(blockIdx.x) * TAKERS + threadIdx.x;
    if (i >= n) return;
    const u32 at = which[i];
    int range = 0;
    while (at >= ranges.ends[range]) ++range;
    taken[i] = ranges.of[range][at];
}

}  // namespace hpgraph
