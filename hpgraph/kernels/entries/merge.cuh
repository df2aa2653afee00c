// Union, intersection and difference of two matrices' entries, one thread per entry.
//
// Each row is merged by ranking: an entry's rank in the other matrix's row, found by binary search, gives its place in
// the result: the number of entries before it in either matrix, less those in both. One thread an entry is balanced
// without the diagonal searches of merge path (O. Green, R. McColl, D. Bader, "GPU merge path", ICS'12): rows bound
// every search. The entries of a that are also in b are marked; or, if zeros are dropped, the entries of either matrix
// that yield an entry of the result.
//
// The host writes before this text a struct that describes the operation:
//
//     struct Merge {
//         types Index, X, Y (values of a and b), R (of the result)
//         constants has_both, has_left, has_right; x_pattern, y_pattern (all values are true), r_pattern; nonzero
//         static R both(x, y, i, j), left(x, y, i, j), right(x, y, i, j)
//     };
#pragma once
#include "marks.cuh"

namespace hpgraph {

// Position of a column in a row of the other matrix, or its insertion point.
template <class I>
struct Place {
    i64 position;
    bool found;

    __device__ Place(const i64* indptr, const I* indices, i64 row, I column) {
        const i64 end = indptr[row + 1];
        position = lower_bound(indices, indptr[row], end, column);
        found = position < end && indices[position] == column;
    }
};

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

template <class M>
__device__ typename M::X x_of(const Operand<M>& a, i64 p) { return value_of<typename M::X, M::x_pattern>(a.data, p); }
template <class M>
__device__ typename M::Y y_of(const Operand<M>& b, i64 q) { return value_of<typename M::Y, M::y_pattern>(b.data, q); }

// Computes each entry's rank in the other matrix, and marks those for which keep(p, place, row, column) is true. A rank
// is a position relative to the start of the other's row; it is complemented if the entry is absent there.
template <class M, class Keep>
__device__ __forceinline__ void rank_tile(const Operand<M>& own, const Operand<M>& other, i64 rows,
                                          typename M::Index* rank, const Marks& marks, Keep keep) {
    typedef typename M::Index I;
    const Rows span = rows_of_tile(own.indptr, rows, own.entries);
    mark_tile(own.entries, marks, [&](i64 p) {
        const i64 row = row_of(own.indptr, span.low, span.high, p);
        const I column = own.indices[p];
        const Place<I> place(other.indptr, other.indices, row, column);
        const I within = I(place.position - other.indptr[row]);
        rank[p] = place.found ? within : ~within;
        return keep(p, place, row, (i64)column);
    });
}

template <class M>
__global__ void __launch_bounds__(TILE_THREADS)
rank_left(Operand<M> a, Operand<M> b, i64 rows, typename M::Y fill, typename M::Index* rank, Marks marks) {
    rank_tile<M>(a, b, rows, rank, marks, [&](i64 p, const Place<typename M::Index>& place, i64 row, i64 column) {
        if constexpr (M::nonzero) {
            if (place.found) {
                if constexpr (M::has_both)
                    return M::both(x_of(a, p), y_of(b, place.position), row, column) != typename M::R(0);
            } else {
                if constexpr (M::has_left) return M::left(x_of(a, p), fill, row, column) != typename M::R(0);
            }
            return false;
        } else {
            return place.found;
        }
    });
}

// Only for results that keep entries of b alone.
template <class M>
__global__ void __launch_bounds__(TILE_THREADS)
rank_right(Operand<M> a, Operand<M> b, i64 rows, typename M::X fill, typename M::Index* rank, Marks marks) {
    rank_tile<M>(b, a, rows, rank, marks, [&](i64 q, const Place<typename M::Index>& place, i64 row, i64 column) {
        if constexpr (M::nonzero && M::has_right)
            return !place.found && M::right(fill, y_of(b, q), row, column) != typename M::R(0);
        else return false;
    });
}

// The marks of both matrices; of b only if zeros are dropped.
struct Marked {
    Marks a, b;

    // Entries of the result before entry p of a and entry q of b.
    template <class M>
    __device__ i64 slot(i64 p, i64 q) const {
        const i64 of_a = a.count_before(p);
        if constexpr (M::nonzero) return of_a + (M::has_right ? b.count_before(q) : 0);
        else return (M::has_left ? p - of_a : 0) + (M::has_right ? q - of_a : 0) + (M::has_both ? of_a : 0);
    }
};

template <class M>
__global__ void __launch_bounds__(TILE_THREADS)
merge_rows(Operand<M> a, Operand<M> b, i64 rows, Marked marked, i64* indptr) {
    const i64 row = (i64)blockIdx.x * TILE_THREADS + threadIdx.x;
    if (row <= rows) indptr[row] = marked.slot<M>(a.indptr[row], b.indptr[row]);
}

template <class M>
__global__ void __launch_bounds__(TILE_THREADS)
merge_left(Operand<M> a, Operand<M> b, i64 rows, const typename M::Index* __restrict__ rank, Marked marked,
           typename M::Y fill, typename M::Index* indices, typename M::R* data) {
    for_tile(a.indptr, rows, a.entries, [&](i64 p, i64 row) {
        const typename M::Index within = rank[p];
        const bool shared = within >= 0;
        if (M::nonzero ? !marked.a.has(p) : shared ? !M::has_both : !M::has_left) return;
        const i64 q = b.indptr[row] + (shared ? within : ~within);
        const i64 slot = marked.slot<M>(p, q);
        const typename M::Index column = a.indices[p];
        indices[slot] = column;
        if constexpr (!M::r_pattern) {
            if (shared) {
                if constexpr (M::has_both) data[slot] = M::both(x_of(a, p), y_of(b, q), row, (i64)column);
            } else {
                if constexpr (M::has_left) data[slot] = M::left(x_of(a, p), fill, row, (i64)column);
            }
        }
    });
}

template <class M>
__global__ void __launch_bounds__(TILE_THREADS)
merge_right(Operand<M> a, Operand<M> b, i64 rows, const typename M::Index* __restrict__ rank, Marked marked,
            typename M::X fill, typename M::Index* indices, typename M::R* data) {
    for_tile(b.indptr, rows, b.entries, [&](i64 q, i64 row) {
        if (M::nonzero ? !marked.b.has(q) : rank[q] >= 0) return;
        const i64 slot = marked.slot<M>(a.indptr[row] + ~rank[q], q);
        const typename M::Index column = b.indices[q];
        indices[slot] = column;
        if constexpr (!M::r_pattern && M::has_right) data[slot] = M::right(fill, y_of(b, q), row, (i64)column);
    });
}

}  // namespace hpgraph
