// The rows of a tile of entries.
#pragma once
#include "search.cuh"
#include "warp.cuh"

namespace hpgraph {

// Calls visit(p, row of p) for the entries of the block's tile; the entries of a warp are adjacent. A thread searches
// for the row of the first of its few entries, and advances from there.
template <int THREADS, int ITEMS, class Visit>
__device__ __forceinline__ void for_tile_rows(const i64* __restrict__ indptr, i64 rows, i64 entries, Visit visit) {
    __shared__ i64 bounds[2];
    __shared__ u32 row_at[THREADS * ITEMS];
    const i64 base = (i64)blockIdx.x * THREADS * ITEMS, size = entries - base < THREADS * ITEMS ? entries - base : THREADS * ITEMS;
    if (threadIdx.x < 2) bounds[threadIdx.x] = row_of(indptr, 0, rows - 1, threadIdx.x ? base + size - 1 : base);
    __syncthreads();
    const int first = threadIdx.x * ITEMS;
    if (first < size) {
        i64 row = row_of(indptr, bounds[0], bounds[1], base + first), end = indptr[row + 1];
        for (int at = first; at < first + ITEMS && at < size; ++at) {
            while (base + at >= end) end = indptr[++row + 1];
            row_at[at] = (u32)(row - bounds[0]);
        }
    }
    __syncthreads();
    for (int at = threadIdx.x; at < size; at += THREADS) visit(base + at, bounds[0] + row_at[at]);
}

}  // namespace hpgraph
