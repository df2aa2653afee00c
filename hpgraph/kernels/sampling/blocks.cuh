// Edges of a stochastic block model: the draws of hpgraph.kernels.sampling.blocks, one proposal per thread.
#pragma once
#include "philox.cuh"
#include "search.cuh"
#include "splitmix.cuh"

namespace hpgraph {

template <class Index>
__global__ void __launch_bounds__(256)
block_edges(const i64* __restrict__ ends, i64 blocks, const longlong2* __restrict__ first, const longlong2* __restrict__ size,
            const double* __restrict__ rate, const double* __restrict__ chance, const double* __restrict__ weight,
            const i64* __restrict__ vertex, u64 seed, i64 count, Index* __restrict__ source, Index* __restrict__ target) {
    __shared__ i64 of_block[2];
    const i64 begin = (i64)blockIdx.x * TILE, end = begin + TILE < count ? begin + TILE : count;
    if (threadIdx.x < 2) of_block[threadIdx.x] = row_of(ends, 0, blocks - 1, threadIdx.x ? end - 1 : begin);
    __syncthreads();
    for (i64 proposal = begin + threadIdx.x; proposal < end; proposal += blockDim.x) {
        const i64 at = row_of(ends, of_block[0], of_block[1], proposal);
        const longlong2 starts = first[at], sizes = size[at];
        const double often = rate[at];
        const auto word = [&](int draw) { return mixed(seed + ((u64)proposal * DRAWN + draw) * GOLDEN); };
        const i64 slot = proposal - ends[at], row = slot / sizes.y;
        i64 one = starts.x + (often == 0 ? row : below(word(0), sizes.x));
        i64 other = starts.y + (often == 0 ? slot - row * sizes.y : below(word(1), sizes.y));
        double p = chance[at];
        if (weight) p = fmin(p * weight[one] * weight[other], 1.0);
        bool kept = true;
        if (often == 0) kept = unit(word(2)) < p && !(starts.x == starts.y && one >= other);
        else if (weight) kept = unit(word(2)) * often < -log1p(-p);
        if (!kept) one = other = 0;
        source[proposal] = (Index)(vertex ? vertex[one] : one);
        target[proposal] = (Index)(vertex ? vertex[other] : other);
    }
}

}  // namespace hpgraph
