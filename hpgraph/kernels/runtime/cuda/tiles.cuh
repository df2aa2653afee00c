// Load balancing over entries: a CSR matrix in tiles of equally many entries, so that a row of a million entries costs
// no more than a million rows of one. A tile finds the rows it spans by two binary searches in the row pointer, and the
// row of each entry by a search between them (S. Baxter, Modern GPU: load-balancing search).
#pragma once
#include "search.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int TILE_THREADS = 256;
constexpr int TILE_ITEMS = 8;  // entries of a tile for each thread
constexpr int TILE = TILE_THREADS * TILE_ITEMS;

struct Rows {
    i64 low, high;
};

// The rows of this block's tile. All threads of the block must call it.
__device__ __forceinline__ Rows rows_of_tile(const i64* indptr, i64 rows, i64 entries) {
    __shared__ i64 ends[2];
    const i64 begin = (i64)blockIdx.x * TILE;
    const i64 end = begin + TILE < entries ? begin + TILE : entries;
    if (threadIdx.x < 2) ends[threadIdx.x] = row_of(indptr, 0, rows - 1, threadIdx.x ? end - 1 : begin);
    __syncthreads();
    return {ends[0], ends[1]};
}

// Calls use(p, row) for each entry of this block's tile. All threads of the block must call it.
template <class Use>
__device__ __forceinline__ void for_tile(const i64* indptr, i64 rows, i64 entries, Use use) {
    const i64 begin = (i64)blockIdx.x * TILE;
    const i64 end = begin + TILE < entries ? begin + TILE : entries;
    const Rows span = rows_of_tile(indptr, rows, entries);
    for (i64 p = begin + threadIdx.x; p < end; p += TILE_THREADS) use(p, row_of(indptr, span.low, span.high, p));
}

}  // namespace hpgraph
