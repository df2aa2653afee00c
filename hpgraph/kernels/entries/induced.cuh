// Induced submatrix: the same rows and columns, renumbered. The chosen indices are a bitmap, `Marks`, in which the rank
// of a bit is its new number: 5 bits an index in total, which fits the cache where a table of numbers would not.
//
// I: int or long long, the type of ids. V: an unsigned integer as wide as a value; if there are no values their
// pointers are null.
#pragma once
#include "marks.cuh"

namespace hpgraph {

// before[w + 1] = bits set in words[w]; the caller computes the prefix sum.
__global__ void __launch_bounds__(TILE_THREADS) count_words(i64 words, Marks marks) {
    const i64 w = i64(blockIdx.x) * TILE_THREADS + threadIdx.x;
    if (w < words) marks.before[w + 1] = __popc(marks.words[w]);
    if (w == 0) marks.before[0] = 0;
}

// The chosen indices, ascending, and their row lengths, length[k + 1]; length[0] is 0.
template <class I>
__global__ void __launch_bounds__(TILE_THREADS)
list_chosen(const i64* __restrict__ indptr, i64 rows, Marks chosen, I* __restrict__ ids, i64* __restrict__ length) {
    const i64 row = i64(blockIdx.x) * TILE_THREADS + threadIdx.x;
    if (row == 0) length[0] = 0;
    if (row >= rows || !chosen.has(row)) return;
    const i64 k = chosen.count_before(row);
    ids[k] = I(row);
    length[k + 1] = indptr[row + 1] - indptr[row];
}

// Marks the entries with a chosen column, in the concatenation of the chosen rows: those of row ids[k] are
// offsets[k]..offsets[k + 1] - 1.
template <class I>
__global__ void __launch_bounds__(TILE_THREADS)
mark_induced(const i64* __restrict__ indptr, const I* __restrict__ indices, const I* __restrict__ ids,
             const i64* __restrict__ offsets, i64 rows, i64 entries, Marks chosen, Marks stays) {
    const Rows span = rows_of_tile(offsets, rows, entries);
    mark_tile(entries, stays, [&](i64 p) {
        const i64 k = row_of(offsets, span.low, span.high, p);
        return chosen.has(indices[indptr[ids[k]] + (p - offsets[k])]);
    });
}

// Writes the kept entries, in order, and their row pointers. A block searches the row range of its tile once, then the
// rows of marked entries.
template <class I, class V>
__global__ void __launch_bounds__(TILE_THREADS)
keep_induced(const i64* __restrict__ indptr, const I* __restrict__ indices, const V* __restrict__ data,
             const I* __restrict__ ids, const i64* __restrict__ offsets, i64 rows, i64 entries, Marks chosen, Marks stays,
             i64* __restrict__ kept_indptr, I* __restrict__ kept_indices, V* __restrict__ kept_data) {
    const i64 threads = i64(gridDim.x) * TILE_THREADS;
    for (i64 row = i64(blockIdx.x) * TILE_THREADS + threadIdx.x; row <= rows; row += threads)
        kept_indptr[row] = stays.count_before(offsets[row]);
    const Rows span = rows_of_tile(offsets, rows, entries);
    for (int item = 0; item < TILE_ITEMS; ++item) {
        const i64 p = i64(blockIdx.x) * TILE + item * TILE_THREADS + threadIdx.x;
        if (p >= entries || !stays.has(p)) continue;
        const i64 k = row_of(offsets, span.low, span.high, p);
        const i64 from = indptr[ids[k]] + (p - offsets[k]), to = stays.count_before(p);
        kept_indices[to] = I(chosen.count_before(indices[from]));
        if (data) kept_data[to] = data[from];
    }
}

}  // namespace hpgraph
