// Positions in a matrix on the GPU: of rows, of column ranges in rows, of single entries. I, R: int or long long.
#pragma once
#include "search.cuh"

namespace hpgraph {

typedef long long i64;

constexpr int EXTRACT_THREADS = 256;

// Start and number of the entries of rows[i] in the columns low..high-1; length[0] is 0.
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
