// Arrays in random order: the permutations of hpgraph.kernels.sampling.shuffles.
#pragma once
#include "splitmix.cuh"

namespace hpgraph {

template <class Value>
__global__ void __launch_bounds__(256)
shuffle(u64 seed, int half, const Value* __restrict__ values, i64 count, Value* __restrict__ out) {
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const u64 mask = (u64(1) << half) - 1;
    u64 place = (u64)i;
    do {
        u64 left = place >> half, right = place & mask;
#pragma unroll
        for (int turn = 0; turn < ROUNDS; ++turn) {
            const u64 next = left ^ (mixed((seed + turn * GOLDEN) ^ right * GOLDEN) & mask);
            left = right, right = next;
        }
        place = left << half | right;
    } while (place >= (u64)count);
    out[i] = values[place];
}

}  // namespace hpgraph
