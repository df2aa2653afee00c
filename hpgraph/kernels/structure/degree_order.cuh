// A graph's degree order, and its arcs towards higher degree, built on the device: keys for two radix sorts.
#pragma once
#include "search.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int ORDER_THREADS = 256;
// Arcs that one thread reads.
constexpr int ITEMS = 8;

// sums: vertices with arcs, sum of squared degrees, largest degree; all start at 0.
__global__ void __launch_bounds__(ORDER_THREADS) degree_sums(const i64* __restrict__ indptr, i64 n, u64* sums) {
    u64 used = 0, squares = 0, largest = 0;
    const i64 stride = i64(gridDim.x) * ORDER_THREADS;
    for (i64 v = i64(blockIdx.x) * ORDER_THREADS + threadIdx.x; v < n; v += stride) {
        const u64 degree = u64(indptr[v + 1] - indptr[v]);
        used += degree > 0;
        squares += degree * degree;
        largest = degree > largest ? degree : largest;
    }
    for (int offset = 16; offset; offset /= 2) {
        used += __shfl_xor_sync(0xffffffffu, used, offset);
        squares += __shfl_xor_sync(0xffffffffu, squares, offset);
        const u64 other = __shfl_xor_sync(0xffffffffu, largest, offset);
        largest = other > largest ? other : largest;
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(sums, used);
        atomicAdd(sums + 1, squares);
        atomicMax(sums + 2, largest);
    }
}

// Keys that sort the vertices by falling degree, ties by id.
__global__ void vertex_keys(const i64* __restrict__ indptr, i64 n, i64 largest, u64* keys) {
    const i64 v = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (v < n) keys[v] = u64(largest - (indptr[v + 1] - indptr[v])) << 32 | u64(v);
}

template <class Index>
__global__ void read_order(const u64* __restrict__ keys, i64 n, Index* order, Index* rank) {
    const i64 r = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (r >= n) return;
    const u32 v = u32(keys[r]);
    order[r] = Index(v);
    rank[v] = Index(r);
}

// (rank of source, rank of target) of each arc towards a smaller rank, in any order. A block reads ORDER_THREADS * ITEMS
// arcs, regardless of rows. `kept` counts the keys and starts at 0; those beyond `capacity` are only counted.
template <class Index>
__global__ void __launch_bounds__(ORDER_THREADS) arc_keys(const i64* __restrict__ indptr,
                                                          const Index* __restrict__ indices,
                                                          const Index* __restrict__ rank, i64 n, i64 arcs,
                                                          i64 capacity, u64* keys, u64* kept) {
    __shared__ i64 rows[2];
    const i64 begin = i64(blockIdx.x) * ORDER_THREADS * ITEMS;
    if (threadIdx.x < 2) {
        i64 arc = begin + (threadIdx.x ? ORDER_THREADS * ITEMS - 1 : 0);
        rows[threadIdx.x] = row_of(indptr, 0, n - 1, arc < arcs ? arc : arcs - 1);
    }
    __syncthreads();
    const int lane = threadIdx.x % 32;
    const i64 first = begin + i64(threadIdx.x / 32) * 32 * ITEMS + lane;
    u64 key[ITEMS];
    u32 keep[ITEMS], count = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const i64 arc = first + i * 32;
        bool down = false;
        key[i] = 0;
        if (arc < arcs) {
            const u64 source = u64(rank[row_of(indptr, rows[0], rows[1], arc)]), target = u64(rank[indices[arc]]);
            down = target < source;
            key[i] = source << 32 | target;
        }
        keep[i] = __ballot_sync(0xffffffffu, down);
        count += __popc(keep[i]);
    }
    u64 place = 0;
    if (lane == 0 && count) place = atomicAdd(kept, u64(count));
    place = __shfl_sync(0xffffffffu, place, 0);
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const u64 mine = place + __popc(keep[i] & ((1u << lane) - 1));
        if ((keep[i] >> lane & 1) && mine < u64(capacity)) keys[mine] = key[i];
        place += __popc(keep[i]);
    }
}

// Start of each rank's arcs among the sorted keys; row_start[n] is the number of arcs.
__global__ void row_starts(const u64* __restrict__ keys, i64 arcs, i64 n, i64* row_start) {
    const i64 r = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (r > n) return;
    i64 begin = 0, end = arcs;
    while (begin < end) {
        const i64 middle = begin + (end - begin) / 2;
        if (i64(keys[middle] >> 32) < r) begin = middle + 1;
        else end = middle;
    }
    row_start[r] = begin;
}

template <class Index>
__global__ void targets(const u64* __restrict__ keys, i64 arcs, Index* lower) {
    const i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < arcs) lower[i] = Index(u32(keys[i]));
}

}  // namespace hpgraph
