// Sorted random integers, as in hpgraph.kernels.sampling.cpu_draws, and pairs of vertices from their numbers.
#pragma once
#include "grid_scan.cuh"
#include "splitmix.cuh"
#include "tile_rows.cuh"

namespace hpgraph {

constexpr int THREADS = 256, ITEMS = 8, TILE = THREADS * ITEMS;

// An exponential variable, in whole units.
__device__ __forceinline__ i64 gap(u64 seed, i64 i, double unit) {
    // Odd multiple of 2^-53: uniform, never 0 or 1.
    const double uniform = (double)(mixed(seed + (u64)i * GOLDEN) >> 11 | 1) * 0x1p-53;
    return (i64)(-log(uniform) * unit);
}

// The sum of each tile of gaps 0..drawn.
__global__ void __launch_bounds__(THREADS) sum_gaps(u64 seed, double unit, i64 drawn, i64* sums) {
    __shared__ i64 of_warps[THREADS / 32];
    const i64 base = (i64)blockIdx.x * TILE;
    i64 mine = 0, all;
    for (i64 i = base + threadIdx.x; i < base + TILE && i <= drawn; i += THREADS) mine += gap(seed, i, unit);
    sum_before<THREADS>(mine, all, of_warps);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

// The end of each gap but the last, scaled so that the last gap ends at `total`. `ends`: the end of each tile.
__global__ void __launch_bounds__(THREADS)
place_gaps(u64 seed, double unit, i64 drawn, i64 total, const i64* __restrict__ ends, i64* __restrict__ place) {
    __shared__ i64 of_warps[THREADS / 32];
    const i64 first = (i64)blockIdx.x * TILE + threadIdx.x * ITEMS;
    const double share = (double)total / (double)ends[gridDim.x - 1];
    i64 gaps[ITEMS], mine = 0, all;
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        gaps[item] = first + item <= drawn ? gap(seed, first + item, unit) : 0;
        mine += gaps[item];
    }
    i64 reached = sum_before<THREADS>(mine, all, of_warps) + (blockIdx.x ? ends[blockIdx.x - 1] : 0);
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        reached += gaps[item];
        const i64 at = (i64)((double)reached * share);
        if (first + item < drawn) place[first + item] = at < total ? at : total - 1;
    }
}

// The second vertex of each pair; pairs are grouped in rows by their first vertex.
template <class Index>
__global__ void __launch_bounds__(THREADS)
columns_of_pairs(const i64* __restrict__ indptr, i64 n, const i64* __restrict__ place, i64 pairs, bool directed,
                 Index* __restrict__ column) {
    for_tile_rows<THREADS, ITEMS>(indptr, n, pairs, [&](i64 p, i64 row) {
        const i64 at = place[p] - (row * (n - 1) - (directed ? 0 : row * (row - 1) / 2));
        column[p] = (Index)(directed ? at + (at >= row) : at + row + 1);
    });
}

}  // namespace hpgraph
