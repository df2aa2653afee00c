// R-MAT edges: the draws of hpgraph.kernels.sampling.recursive, one thread per edge.
#pragma once
#include "splitmix.cuh"

namespace hpgraph {

constexpr int PATHS = 1 << (2 * LEVELS);

struct Permutation {
    u64 factors[3];
    u64 mask;
    int half;
    __device__ __forceinline__ u64 of(u64 vertex) const {
#pragma unroll
        for (int round = 0; round < 3; ++round) {
            vertex = (vertex * factors[round] + (factors[round] >> 32)) & mask;
            vertex ^= vertex >> half;
        }
        return vertex;
    }
};

template <class Index>
__global__ void __launch_bounds__(256)
recursive_edges(const u32* __restrict__ table, int levels, u64 seed, u64 first, u64 second, u64 third, i64 count,
                Index* __restrict__ source, Index* __restrict__ target) {
    __shared__ u32 entries[PATHS];
    for (int path = threadIdx.x; path < PATHS; path += blockDim.x) entries[path] = table[path];
    __syncthreads();
    const Permutation permutation = {{first, second, third}, (u64(1) << levels) - 1, (levels + 1) / 2};
    const int words = (levels + 2 * LEVELS - 1) / (2 * LEVELS), beyond = words * 2 * LEVELS - levels;
    const i64 stride = (i64)gridDim.x * blockDim.x;
    for (i64 edge = (i64)blockIdx.x * blockDim.x + threadIdx.x; edge < count; edge += stride) {
        u64 row = 0, column = 0;
        for (int at = 0; at < words; ++at) {
            const u64 word = mixed(seed + ((u64)edge * WORDS + at) * GOLDEN);
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const u32 bits = (u32)(word >> 32 * half), entry = entries[bits % PATHS];
                const u32 path = (bits >> 8 < entry >> 8 ? bits : entry) % PATHS;
                row = row << LEVELS | path >> LEVELS;
                column = column << LEVELS | path % (1 << LEVELS);
            }
        }
        source[edge] = (Index)permutation.of(row >> beyond);
        target[edge] = (Index)permutation.of(column >> beyond);
    }
}

}  // namespace hpgraph
