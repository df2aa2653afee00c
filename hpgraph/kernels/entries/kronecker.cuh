// The Kronecker product of two sparse matrices: row i k + p of the result is the product of row i of A and row p of B.
//
// The host writes a struct Kronecker before this text: types A, B, C, Index; constants a_pattern, b_pattern; static C apply(A, B).
#pragma once
#include "tiles.cuh"

namespace hpgraph {

template <class K>
__global__ void __launch_bounds__(TILE_THREADS) kron_entries(const i64* indptr, i64 rows, i64 entries,
                                                             const i64* a_indptr, const typename K::AIndex* a_indices,
                                                             const typename K::A* a_data, const i64* b_indptr,
                                                             const typename K::BIndex* b_indices,
                                                             const typename K::B* b_data, i64 b_rows, i64 b_columns,
                                                             typename K::Index* indices, typename K::C* data) {
    for_tile(indptr, rows, entries, [&](i64 at, i64 row) {
        const i64 k = row % b_rows, length = b_indptr[k + 1] - b_indptr[k], order = at - indptr[row];
        const i64 p = a_indptr[row / b_rows] + order / length, q = b_indptr[k] + order % length;
        typename K::A a = typename K::A(1);
        typename K::B b = typename K::B(1);
        if constexpr (!K::a_pattern) a = a_data[p];
        if constexpr (!K::b_pattern) b = b_data[q];
        indices[at] = typename K::Index(i64(a_indices[p]) * b_columns + b_indices[q]);
        data[at] = K::apply(a, b);
    });
}

}  // namespace hpgraph
