// Union, intersection and difference of two matrices' entries, an entry to a thread.
//
// An entry's rank in the other matrix, found by binary search in its row, tells where it goes in the result: behind as
// many entries as stand before it in either matrix, less those that are in both (the merge by ranking of O. Green,
// R. McColl, D. Bader, "GPU merge path", ICS'12, with the rows for boundaries). `shared_before[p]` counts the entries of
// a before p that b has too.
//
// The host writes before this text a struct that says what is computed:
//
//     struct Merge {
//         types Index, X, Y (values of a and b), R (of the result)
//         constants keeps_both, keeps_left, keeps_right; x_pattern, y_pattern (all values are true), r_pattern
//         static R both(x, y, i, j), left(x, y, i, j), right(x, y, i, j)
//     };
#pragma once
#include "tiles.cuh"

namespace hpgraph {

// rank[p]: the position in b of a's entry p, or the complement of where it would stand; shared[p]: whether it stands there.
template <class I>
__global__ void __launch_bounds__(TILE_THREADS)
rank_entries(const i64* __restrict__ indptr, i64 rows, const I* __restrict__ indices, i64 entries,
             const i64* __restrict__ other_indptr, const I* __restrict__ other_indices, i64* rank, bool* shared) {
    for_tile(indptr, rows, entries, [&](i64 p, i64 row) {
        const I column = indices[p];
        i64 low = other_indptr[row];
        const i64 end = other_indptr[row + 1];
        i64 high = end;
        while (low < high) {
            const i64 middle = low + (high - low) / 2;
            if (other_indices[middle] < column) low = middle + 1;
            else high = middle;
        }
        const bool found = low < end && other_indices[low] == column;
        rank[p] = found ? low : ~low;
        if (shared) shared[p] = found;
    });
}

template <class M>
struct Operand {
    const i64* indptr;
    const typename M::Index* indices;
    const void* data;
    i64 entries;
};

template <class V, bool pattern>
__device__ V value_of(const void* data, i64 p) {
    if constexpr (pattern) return V(1);
    else return static_cast<const V*>(data)[p];
}

// Entries of the result before the first entry of a that is not before p, and of b that is not before q.
template <class M>
__device__ i64 slot_of(i64 p, i64 q, i64 shared) {
    return (M::keeps_left ? p - shared : 0) + (M::keeps_right ? q - shared : 0) + (M::keeps_both ? shared : 0);
}

template <class M>
__global__ void __launch_bounds__(TILE_THREADS)
merge_rows(Operand<M> a, Operand<M> b, i64 rows, const i64* __restrict__ shared_before, i64* indptr) {
    const i64 row = (i64)blockIdx.x * TILE_THREADS + threadIdx.x;
    if (row > rows) return;
    const i64 p = a.indptr[row];
    indptr[row] = slot_of<M>(p, b.indptr[row], shared_before[p]);
}

template <class M>
__global__ void __launch_bounds__(TILE_THREADS)
merge_left(Operand<M> a, Operand<M> b, i64 rows, const i64* __restrict__ rank, const i64* __restrict__ shared_before,
           typename M::Y fill, typename M::Index* indices, typename M::R* data) {
    for_tile(a.indptr, rows, a.entries, [&](i64 p, i64 row) {
        const i64 position = rank[p];
        const bool shared = position >= 0;
        if (shared ? !M::keeps_both : !M::keeps_left) return;
        const i64 q = shared ? position : ~position;
        const i64 slot = slot_of<M>(p, q, shared_before[p]);
        const typename M::Index column = a.indices[p];
        indices[slot] = column;
        if constexpr (!M::r_pattern) {
            const typename M::X x = value_of<typename M::X, M::x_pattern>(a.data, p);
            if (shared) {
                if constexpr (M::keeps_both)
                    data[slot] = M::both(x, value_of<typename M::Y, M::y_pattern>(b.data, q), row, (i64)column);
            } else {
                if constexpr (M::keeps_left) data[slot] = M::left(x, fill, row, (i64)column);
            }
        }
    });
}

template <class M>
__global__ void __launch_bounds__(TILE_THREADS)
merge_right(Operand<M> a, Operand<M> b, i64 rows, const i64* __restrict__ rank, const i64* __restrict__ shared_before,
            typename M::X fill, typename M::Index* indices, typename M::R* data) {
    for_tile(b.indptr, rows, b.entries, [&](i64 q, i64 row) {
        if (rank[q] >= 0) return;
        const i64 p = ~rank[q];
        const i64 slot = slot_of<M>(p, q, shared_before[p]);
        const typename M::Index column = b.indices[q];
        indices[slot] = column;
        if constexpr (!M::r_pattern && M::keeps_right)
            data[slot] = M::right(fill, value_of<typename M::Y, M::y_pattern>(b.data, q), row, (i64)column);
    });
}

}  // namespace hpgraph
