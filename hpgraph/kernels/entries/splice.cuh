// Splices few entries of a matrix b into a large matrix a, whose entries keep their order: b's are located in a by
// binary search, and a's are copied, each shifted by the number of changes before it. Every entry of a is read and
// written once, and none is ranked, unlike in `merge.cuh`. I: int or long long, the type of ids. W: an unsigned integer
// as wide as a value.
#pragma once
#include "tiles.cuh"

namespace hpgraph {

template <class I, class W>
struct Entries {
    const i64* indptr;
    const I* indices;
    const W* data;  // null if there are no values
    i64 count;
};

// Positions of the changes: at[q] is the position of b's entry q in a, or its insertion point, ascending; shift[q], of
// one element more, is the number of entries before it that the result has in excess of a.
struct Changes {
    const i64* at;
    const bool* found;
    const i64* shift;
    i64 keeps_found, keeps_absent;  // whether the result has b's entries that are in a, and those that are not
};

template <class I>
__global__ void __launch_bounds__(TILE_THREADS)
locate_entries(const i64* __restrict__ indptr, const I* __restrict__ indices, const i64* __restrict__ few_indptr,
               const I* __restrict__ few, i64 rows, i64 count, i64* at, bool* found) {
    for_tile(few_indptr, rows, count, [&](i64 q, i64 row) {
        const i64 end = indptr[row + 1];
        const I column = few[q];
        const i64 place = lower_bound(indices, indptr[row], end, column);
        at[q] = place;
        found[q] = place < end && indices[place] == column;
    });
}

// A tile of a's entries per block; the last block, whose tile may be empty, also writes the changes after all entries.
template <class I, class W>
__global__ void __launch_bounds__(TILE_THREADS)
splice_entries(Entries<I, W> a, Entries<I, W> b, Changes changes, i64 rows, i64* __restrict__ out_indptr,
               I* __restrict__ out_indices, W* __restrict__ out_data) {
    const i64 thread = (i64)blockIdx.x * TILE_THREADS + threadIdx.x, threads = (i64)gridDim.x * TILE_THREADS;
    for (i64 row = thread; row <= rows; row += threads)
        out_indptr[row] = a.indptr[row] + changes.shift[b.indptr[row]];

    __shared__ i64 ends[2];
    const i64 begin = (i64)blockIdx.x * TILE;
    const i64 end = begin + TILE < a.count ? begin + TILE : a.count;
    const ReadOnly<i64> at{changes.at}, shift{changes.shift};
    if (threadIdx.x < 2) {
        const bool all = threadIdx.x && blockIdx.x == gridDim.x - 1;
        ends[threadIdx.x] = all ? b.count : lower_bound(at, i64(0), b.count, threadIdx.x ? end : begin);
    }
    // Loads first: they overlap with the searches.
    I column[TILE_ITEMS];
    W value[TILE_ITEMS];
#pragma unroll
    for (int item = 0; item < TILE_ITEMS; ++item) {
        const i64 p = begin + item * TILE_THREADS + threadIdx.x;
        if (p >= end) break;
        column[item] = a.indices[p];
        if (a.data) value[item] = a.data[p];
    }
    __syncthreads();
    const i64 first = ends[0], last = ends[1];
#pragma unroll
    for (int item = 0; item < TILE_ITEMS; ++item) {
        const i64 p = begin + item * TILE_THREADS + threadIdx.x;
        if (p >= end) break;
        const i64 q = lower_bound(at, first, last, p + 1);
        if (q > first && at[q - 1] == p && changes.found[q - 1]) continue;
        const i64 slot = p + shift[q];
        out_indices[slot] = column[item];
        if (a.data) out_data[slot] = value[item];
    }
    for (i64 q = first + threadIdx.x; q < last; q += TILE_THREADS) {
        if (!(changes.found[q] ? changes.keeps_found : changes.keeps_absent)) continue;
        const i64 slot = at[q] + shift[q];
        out_indices[slot] = b.indices[q];
        if (a.data) out_data[slot] = b.data[q];
    }
}

}  // namespace hpgraph
