// Arg-extremes: the entry that gave the extreme message of a row. A warp takes STRETCH entries, and advances through
// their rows.
#pragma once
#include "search.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int THREADS = 256, STRETCH = 32;

// For each row and column, the first entry whose message equals the row's extreme; `first` is initialized to LLONG_MAX.
template <class Index, class Value>
__global__ void __launch_bounds__(THREADS)
extreme_entries(const i64* __restrict__ indptr, const Index* __restrict__ indices, const Value* __restrict__ values,
                i64 rows, i64 entries, const Value* __restrict__ x, i64 columns, const Value* __restrict__ extreme,
                i64* __restrict__ first) {
    const i64 begin = (i64(blockIdx.x) * (THREADS / 32) + threadIdx.x / 32) * STRETCH;
    if (begin >= entries) return;
    i64 row = row_of(indptr, 0, rows - 1, begin);
    for (i64 e = begin; e < entries && e < begin + STRETCH; ++e) {
        if (e >= indptr[row + 1]) row = row_of(indptr, row + 1, rows - 1, e);
        for (i64 c = threadIdx.x % 32; c < columns; c += 32) {
            const Value operand = x[i64(indices[e]) * columns + c], found = extreme[row * columns + c];
            const Value message = values ? values[e] * operand : operand;
            if (message == found && first[row * columns + c] > e) atomicMin(first + row * columns + c, e);
        }
    }
}

}  // namespace hpgraph
