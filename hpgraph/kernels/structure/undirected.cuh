// Symmetric patterns from edges in any order: keys to sort, distinct keys, and completion to both triangles.
#pragma once
#include "grid_scan.cuh"
#include "tile_rows.cuh"

namespace hpgraph {

constexpr int THREADS = 256, ITEMS = 8, TILE = THREADS * ITEMS;
// The key of loops, above all others.
constexpr i64 LOOP = 0x7fffffffffffffffll;

// Keys ascend by the lower end of an edge, then by the higher end, which takes `below` bits.
template <class Id>
__global__ void __launch_bounds__(THREADS)
edge_keys(const Id* __restrict__ source, const Id* __restrict__ target, i64 edges, int below, i64* __restrict__ key) {
    const i64 edge = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (edge >= edges) return;
    const i64 u = source[edge], v = target[edge];
    key[edge] = u == v ? LOOP : (u < v ? u : v) << below | (u < v ? v : u);
}

// Bits of a thread's sorted keys that differ from the previous key and are no loops.
__device__ __forceinline__ u32 different(const i64* __restrict__ key, i64 first, i64 count) {
    u32 found = 0;
    i64 before = first && first < count ? key[first - 1] : -1;
    for (int item = 0; item < ITEMS && first + item < count; ++item) {
        const i64 own = key[first + item];
        found |= (u32)(own != before && own != LOOP) << item;
        before = own;
    }
    return found;
}

__global__ void __launch_bounds__(THREADS) count_different(const i64* __restrict__ key, i64 count, i64* sums) {
    __shared__ i64 of_warps[THREADS / 32];
    i64 all;
    sum_before<THREADS>(__popc(different(key, (i64)blockIdx.x * TILE + threadIdx.x * ITEMS, count)), all, of_warps);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

// The distinct keys, without those whose ranks are in `absent`, ascending. `starts`: the rank of the first key of each
// tile.
__global__ void __launch_bounds__(THREADS)
keep_different(const i64* __restrict__ key, i64 count, const i64* __restrict__ starts, const i64* __restrict__ absent,
               i64 removed, i64* __restrict__ kept) {
    __shared__ i64 of_warps[THREADS / 32], stage[TILE], bounds[2];
    const i64 first = (i64)blockIdx.x * TILE + threadIdx.x * ITEMS, begin = starts[blockIdx.x];
    const u32 found = different(key, first, count);
    i64 all, rank = begin + sum_before<THREADS>(__popc(found), all, of_warps);
    for (int item = 0; item < ITEMS; ++item)
        if (found >> item & 1) stage[rank++ - begin] = key[first + item];
    // The absent ranks in this tile.
    if (threadIdx.x < 2) bounds[threadIdx.x] = lower_bound(absent, i64(0), removed, begin + (threadIdx.x ? all : 0));
    __syncthreads();
    for (i64 i = threadIdx.x; i < all; i += THREADS) {
        const i64 before = lower_bound(absent, bounds[0], bounds[1], begin + i);
        if (!(before < bounds[1] && absent[before] == begin + i)) kept[begin + i - before] = stage[i];
    }
}

// Start of each row's keys.
__global__ void __launch_bounds__(THREADS)
find_rows(const i64* __restrict__ key, i64 count, i64 rows, int below, i64* __restrict__ indptr) {
    const i64 row = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (row <= rows) indptr[row] = lower_bound(key, i64(0), count, row << below);
}

template <class Index>
__global__ void __launch_bounds__(THREADS)
read_columns(const i64* __restrict__ key, i64 count, int below, Index* __restrict__ column) {
    const i64 p = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (p < count) column[p] = (Index)(key[p] & ((i64(1) << below) - 1));
}

// Shifts each row by the number of entries that the other half has in earlier rows and, with `after`, in this row.
template <class Index>
__global__ void __launch_bounds__(THREADS)
spread_rows(const i64* __restrict__ indptr, i64 rows, const Index* __restrict__ column, i64 count,
            const i64* __restrict__ other, bool after, Index* __restrict__ out) {
    for_tile_rows<THREADS, ITEMS>(indptr, rows, count, [&](i64 p, i64 row) { out[p + other[row + after]] = column[p]; });
}

}  // namespace hpgraph
