// SDDMM, a product of two dense matrices at the entries of a sparse one; and which entry an extreme message came from.
//
// GROUP adjacent threads share an entry, each with every GROUP-th stretch of FOURS columns, and go on to the next STRETCH
// entries of the same rows, whose x stays in the cache.
#pragma once
#include "search.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int SDDMM_THREADS = 256, STRETCH = 32;

// As many columns as one load takes.
template <class Value, int WIDTH>
struct alignas(WIDTH * sizeof(Value)) Stretch {
    Value of[WIDTH];
};

// The group's number, its lane, and the entries that it begins and ends at.
template <int GROUP>
struct Share {
    int lane = threadIdx.x % GROUP;
    i64 begin = (i64(blockIdx.x) * (SDDMM_THREADS / GROUP) + threadIdx.x / GROUP) * STRETCH;
    __device__ i64 end(i64 entries) const { return begin + STRETCH < entries ? begin + STRETCH : entries; }
};

// out[e, h] = sum over c of x[i, h, c] * y[j, h, c] for entry e = (i, j).
template <class Index, class Value, int GROUP, int WIDTH>
__global__ void __launch_bounds__(SDDMM_THREADS)
sample_dense(const i64* __restrict__ indptr, const Index* __restrict__ indices, i64 rows, i64 entries,
             const Value* __restrict__ x, const Value* __restrict__ y, i64 heads, i64 columns, Value* __restrict__ out) {
    const Share<GROUP> share;
    const i64 end = share.end(entries);
    // All lanes of a warp take part in its shuffles.
    i64 row = share.begin < entries ? row_of(indptr, 0, rows - 1, share.begin) : 0;
    for (i64 e = share.begin; e < share.begin + STRETCH; ++e) {
        const bool here = e < end;
        if (here && e >= indptr[row + 1]) row = row_of(indptr, row + 1, rows - 1, e);
        const i64 column = here ? i64(indices[e]) : 0;
        for (i64 h = 0; h < heads; ++h) {
            Value sum = 0;
            if (here) {
                const auto* a = (const Stretch<Value, WIDTH>*)(x + (row * heads + h) * columns);
                const auto* b = (const Stretch<Value, WIDTH>*)(y + (column * heads + h) * columns);
                for (i64 c = share.lane; c < columns / WIDTH; c += GROUP) {
                    const auto left = a[c], right = b[c];
#pragma unroll
                    for (int i = 0; i < WIDTH; ++i) sum += left.of[i] * right.of[i];
                }
            }
#pragma unroll
            for (int d = GROUP / 2; d; d >>= 1) sum += __shfl_xor_sync(ALL, sum, d);
            if (here && !share.lane) out[e * heads + h] = sum;
        }
    }
}

// For each row and column the first entry whose message is the row's extreme; `first` holds LLONG_MAX beforehand.
template <class Index, class Value>
__global__ void __launch_bounds__(SDDMM_THREADS)
extreme_entries(const i64* __restrict__ indptr, const Index* __restrict__ indices, const Value* __restrict__ values,
                i64 rows, i64 entries, const Value* __restrict__ x, i64 columns, const Value* __restrict__ extreme,
                i64* __restrict__ first) {
    const Share<32> share;
    if (share.begin >= entries) return;
    i64 row = row_of(indptr, 0, rows - 1, share.begin);
    for (i64 e = share.begin; e < share.end(entries); ++e) {
        if (e >= indptr[row + 1]) row = row_of(indptr, row + 1, rows - 1, e);
        for (i64 c = share.lane; c < columns; c += 32) {
            const Value operand = x[i64(indices[e]) * columns + c], found = extreme[row * columns + c];
            const Value message = values ? values[e] * operand : operand;
            if (message == found && first[row * columns + c] > e) atomicMin(first + row * columns + c, e);
        }
    }
}

}  // namespace hpgraph
