// Parts of a matrix on the GPU: rows, ranges of columns, any columns, single entries.
//
// I: int or long long, the type of ids. V: an unsigned integer as wide as a value; values are only moved, and if there
// are none their pointer is null.
#pragma once
#include "search.cuh"

namespace hpgraph {

typedef long long i64;

constexpr int EXTRACT_THREADS = 256;
// Entries of the result that a block copies.
constexpr int EXTRACT_TILE = EXTRACT_THREADS * 4;

// Start and number of the entries of rows[i] in the columns low..high-1; length[0], before the first row, is 0.
template <class I, class R>
__global__ void __launch_bounds__(EXTRACT_THREADS)
find_stretches(const i64* __restrict__ indptr, const I* __restrict__ indices, const R* __restrict__ rows, i64 count,
               i64 low, i64 high, bool whole, i64* __restrict__ begin, i64* __restrict__ length) {
    const i64 i = i64(blockIdx.x) * EXTRACT_THREADS + threadIdx.x;
    if (i == 0) length[0] = 0;
    if (i >= count) return;
    i64 first = indptr[rows[i]], end = indptr[i64(rows[i]) + 1];
    if (!whole) {
        first = lower_bound(indices, first, end, low);
        end = lower_bound(indices, first, end, high);
    }
    begin[i] = first;
    length[i + 1] = end - first;
}

// Copies the ranges that start at begin[i] to indptr[i]..indptr[i + 1]-1. A block takes a tile of the result and finds
// its rows by search, so that the cost does not depend on row lengths.
template <class I, class V>
__global__ void __launch_bounds__(EXTRACT_THREADS)
copy_rows(const i64* __restrict__ indptr, i64 rows, i64 entries, const i64* __restrict__ begin,
          const I* __restrict__ indices, const V* __restrict__ data, i64 low, I* __restrict__ out,
          V* __restrict__ values) {
    __shared__ i64 ends[2];
    const i64 first = i64(blockIdx.x) * EXTRACT_TILE;
    const i64 last = first + EXTRACT_TILE < entries ? first + EXTRACT_TILE : entries;
    if (threadIdx.x < 2) ends[threadIdx.x] = row_of(indptr, 0, rows - 1, threadIdx.x ? last - 1 : first);
    __syncthreads();
    for (i64 p = first + threadIdx.x; p < last; p += EXTRACT_THREADS) {
        const i64 row = row_of(indptr, ends[0], ends[1], p);
        const i64 source = begin[row] + (p - indptr[row]);
        out[p] = I(indices[source] - low);
        if (data) values[p] = data[source];
    }
}

// Number of columns of the result that each entry goes to: those at order[first[c]..first[c + 1]-1] for column c.
template <class I>
__global__ void __launch_bounds__(EXTRACT_THREADS)
column_counts(const I* __restrict__ indices, i64 entries, const i64* __restrict__ first, i64* count) {
    const i64 p = i64(blockIdx.x) * EXTRACT_THREADS + threadIdx.x;
    if (p < entries) count[p] = first[indices[p] + 1] - first[indices[p]];
}

// Writes entry p to the places that end before end[p].
template <class I, class O, class V>
__global__ void __launch_bounds__(EXTRACT_THREADS)
fill_columns(const I* __restrict__ indices, const V* __restrict__ data, i64 entries, const i64* __restrict__ first,
             const i64* __restrict__ order, const i64* __restrict__ end, O* __restrict__ out, V* __restrict__ values) {
    const i64 p = i64(blockIdx.x) * EXTRACT_THREADS + threadIdx.x;
    if (p >= entries) return;
    const i64 from = first[indices[p]], to = first[indices[p] + 1];
    for (i64 k = from; k < to; ++k) {
        const i64 target = end[p] - (to - k);
        out[target] = O(order[k]);
        if (data) values[target] = data[p];
    }
}

// found[k] = the position of entry (rows[k], columns[k]), or -1.
template <class I>
__global__ void __launch_bounds__(EXTRACT_THREADS)
find_places(const i64* __restrict__ indptr, const I* __restrict__ indices, const i64* __restrict__ rows,
            const i64* __restrict__ columns, i64 places, i64* __restrict__ found) {
    const i64 k = i64(blockIdx.x) * EXTRACT_THREADS + threadIdx.x;
    if (k >= places) return;
    const i64 end = indptr[rows[k] + 1];
    const i64 at = lower_bound(indices, indptr[rows[k]], end, columns[k]);
    found[k] = at < end && indices[at] == columns[k] ? at : -1;
}

}  // namespace hpgraph
