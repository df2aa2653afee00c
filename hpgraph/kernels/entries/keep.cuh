// The matrix of marked entries.
#pragma once
#include "marks.cuh"

namespace hpgraph {

__global__ void __launch_bounds__(TILE_THREADS) mark_true(const bool* wanted, i64 entries, Marks marks) {
    mark_tile(entries, marks, [&](i64 p) { return wanted[p]; });
}

// Writes the marked entries, in order, and their row pointers. I: int or long long, the type of ids. V: an unsigned
// integer as wide as a value; if there are none their pointer is null.
template <class I, class V>
__global__ void __launch_bounds__(TILE_THREADS)
keep_marked(const i64* __restrict__ indptr, i64 rows, const I* __restrict__ indices, const V* __restrict__ data,
            i64 entries, Marks marks, i64* kept_indptr, I* kept_indices, V* kept_data) {
    const i64 thread = (i64)blockIdx.x * TILE_THREADS + threadIdx.x, threads = (i64)gridDim.x * TILE_THREADS;
    for (i64 row = thread; row <= rows; row += threads) kept_indptr[row] = marks.count_before(indptr[row]);
    for (i64 p = thread; p < entries; p += threads) {
        if (!marks.has(p)) continue;
        const i64 to = marks.count_before(p);
        kept_indices[to] = indices[p];
        if (data) kept_data[to] = data[p];
    }
}

}  // namespace hpgraph
