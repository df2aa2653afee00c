// Element-wise functions of a matrix's entries, one thread per entry, and of two vectors, one thread per index.
//
// The host writes before this text a struct that describes the function:
//
//     struct Map {                                     struct Zip {
//         types Index, X, Y (of the thunk), R              types X, Y, R
//         constants pattern, uses_position                 constants has_left, has_right
//         static R apply(x, thunk, i, j)                   static R both(x, y, i, j), left(..), right(..)
//     };                                               };
#pragma once
#include "marks.cuh"

namespace hpgraph {

template <class M>
__device__ typename M::X value_at(const typename M::X* data, i64 p) {
    if constexpr (M::pattern) return typename M::X(1);
    else return data[p];
}

// Marks the entries that satisfy a predicate.
template <class M>
__global__ void __launch_bounds__(TILE_THREADS)
mark_entries(const i64* __restrict__ indptr, i64 rows, const typename M::Index* __restrict__ indices,
             const typename M::X* __restrict__ data, i64 entries, typename M::Y thunk, Marks marks) {
    if constexpr (M::uses_position) {
        const Rows span = rows_of_tile(indptr, rows, entries);
        mark_tile(entries, marks, [&](i64 p) {
            return (bool)M::apply(value_at<M>(data, p), thunk, row_of(indptr, span.low, span.high, p), (i64)indices[p]);
        });
    } else {
        mark_tile(entries, marks, [&](i64 p) { return (bool)M::apply(value_at<M>(data, p), thunk, 0, 0); });
    }
}

template <class M>
__global__ void __launch_bounds__(TILE_THREADS)
map_entries(const i64* __restrict__ indptr, i64 rows, const typename M::Index* __restrict__ indices,
            const typename M::X* __restrict__ data, i64 entries, typename M::Y thunk, typename M::R* out) {
    if constexpr (M::uses_position) {
        for_tile(indptr, rows, entries, [&](i64 p, i64 row) {
            out[p] = M::apply(value_at<M>(data, p), thunk, row, (i64)indices[p]);
        });
    } else {
        const i64 begin = (i64)blockIdx.x * TILE, end = begin + TILE < entries ? begin + TILE : entries;
        for (i64 p = begin + threadIdx.x; p < end; p += TILE_THREADS)
            out[p] = M::apply(value_at<M>(data, p), thunk, 0, 0);
    }
}

__device__ inline bool has_bit(const u32* words, i64 i) { return !words || (words[i >> 5] >> (i & 31) & 1); }

template <class Z>
__global__ void __launch_bounds__(TILE_THREADS)
zip_entries(const typename Z::X* __restrict__ x, const u32* __restrict__ x_words, const typename Z::Y* __restrict__ y,
            const u32* __restrict__ y_words, i64 n, typename Z::X fill_x, typename Z::Y fill_y, typename Z::R* out) {
    const i64 begin = (i64)blockIdx.x * TILE, end = begin + TILE < n ? begin + TILE : n;
    for (i64 i = begin + threadIdx.x; i < end; i += TILE_THREADS) {
        const bool in_x = has_bit(x_words, i), in_y = has_bit(y_words, i);
        typename Z::R value = typename Z::R(0);
        if (in_x && in_y) {
            value = Z::both(x[i], y[i], i, 0);
        } else if (in_x) {
            if constexpr (Z::has_left) value = Z::left(x[i], fill_y, i, 0);
        } else if (in_y) {
            if constexpr (Z::has_right) value = Z::right(fill_x, y[i], i, 0);
        }
        out[i] = value;
    }
}

}  // namespace hpgraph
