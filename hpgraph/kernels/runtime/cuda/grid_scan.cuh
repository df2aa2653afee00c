// Prefix sum over items by all blocks of a cooperative launch.
#pragma once
#include "persistent.cuh"
#include "warp.cuh"

namespace hpgraph {

// Exclusive prefix sum of `mine` over the threads of a block, and its total. `of_warps`: shared, one sum per warp.
template <int THREADS>
__device__ __forceinline__ i64 sum_before(i64 mine, i64& all, i64* of_warps) {
    const int lane = lane_of_warp(), warp = threadIdx.x / 32;
    const i64 with_mine = warp_prefix_sum(mine);
    if (lane == 31) of_warps[warp] = with_mine;
    __syncthreads();
    const i64 of_warp = lane < THREADS / 32 ? of_warps[lane] : 0;
    all = (i64)warp_sum((u64)of_warp);
    const i64 before = (i64)warp_sum((u64)(lane < warp ? of_warp : 0));
    __syncthreads();
    return before + with_mine - mine;
}

// Call put(i, value(i), sum of the values before) for every item; return the total. Each block reads its range of items
// twice, with a grid barrier in between. `of_blocks` has a place for each block; the caller needs a barrier between two
// calls.
template <int THREADS, class Value, class Put>
__device__ __forceinline__ i64 grid_scan(i64 many, i64* of_blocks, GridBarrier& barrier, Value value, Put put) {
    static_assert(THREADS % 32 == 0 && THREADS <= 1024, "a lane adds up the sum of each warp");
    __shared__ i64 of_warps[THREADS / 32];
    const i64 rounds = (many + (i64)gridDim.x * THREADS - 1) / ((i64)gridDim.x * THREADS), share = rounds * THREADS;
    const i64 first = blockIdx.x * share, last = first + share < many ? first + share : many;
    i64 mine = 0, all, before = 0, total = 0;
    for (i64 i = first + threadIdx.x; i < last; i += THREADS) mine += value(i);
    sum_before<THREADS>(mine, all, of_warps);
    if (threadIdx.x == 0) of_blocks[blockIdx.x] = all;
    barrier.wait();
    for (int block = threadIdx.x; block < gridDim.x; block += THREADS) {
        const i64 sum = of_blocks[block];
        total += sum;
        if (block < blockIdx.x) before += sum;
    }
    sum_before<THREADS>(total, total, of_warps);
    sum_before<THREADS>(before, before, of_warps);
    for (i64 at = first; at < last; at += THREADS) {
        const i64 i = at + threadIdx.x, here = i < last ? value(i) : 0, sum = sum_before<THREADS>(here, all, of_warps);
        if (i < last) put(i, here, before + sum);
        before += all;
    }
    return total;
}

}  // namespace hpgraph
