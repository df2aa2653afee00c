// SpMM, the product of a sparse and a dense matrix over any semiring: adjacent threads for each row, one a column.
//
// Every thread folds the entries of its row in order, independently of the others. Rows of the dense matrix are
// contiguous, so that the threads of a row read adjacent elements. As in spmv.cuh, rows longer than PIECE are divided,
// and a second phase joins the results in order: they are bitwise reproducible.
#pragma once
#include "spmv.cuh"

namespace hpgraph {

// Distribution of the dense matrix's columns: `width` adjacent threads of a block for a row, and as many rows a block
// as fit; blocks with the same blockIdx.y process the same columns.
struct Columns {
    i64 count;
    u32 width;

    __device__ i64 row() const { return i64(blockIdx.x) * (BLOCK / width) + threadIdx.x / width; }
    __device__ i64 column() const { return i64(blockIdx.y) * width + threadIdx.x % width; }
    __device__ bool idle() const { return threadIdx.x >= BLOCK / width * width || column() >= count; }
};

// Four consecutive entries in one load: the threads of a warp read from as many places as they have rows, and each
// place is a transaction of its own.
template <class T>
struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) Four {
    T of[4];
};

// Fold FOURS * 4 entries from j on.
template <int FOURS, class P>
__device__ void fold_fours(const typename P::Gather& gather, const Entries<P>& entries, i64 j, i64 v, i64 column,
                           typename P::Message& value) {
    Four<typename P::Index> u[FOURS];
    Four<typename P::Weight> w[FOURS];
    typename P::Message message[FOURS][4];
#pragma unroll
    for (int f = 0; f < FOURS; ++f) {
        u[f] = ((const Four<typename P::Index>*)(entries.indices + j))[f];
        if constexpr (!P::pattern) w[f] = ((const Four<typename P::Weight>*)(entries.weights + j))[f];
    }
    // All gathers before the first use: each may miss the cache.
#pragma unroll
    for (int f = 0; f < FOURS; ++f)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const auto weight = P::pattern ? typename P::Weight(1) : w[f].of[i];
            message[f][i] = gather(i64(u[f].of[i]), weight, v, column);
        }
#pragma unroll
    for (int f = 0; f < FOURS; ++f)
#pragma unroll
        for (int i = 0; i < 4; ++i) value = P::reduce(value, message[f][i]);
}

// Folds the messages of entries begin..end of row v to one column.
template <class P>
__device__ typename P::Message fold_column(const typename P::Gather& gather, const Entries<P>& entries, i64 begin,
                                           i64 end, i64 v, i64 column) {
    const bool in_fours = (u64(entries.indices) | u64(entries.weights)) % 16 == 0;
    auto value = P::identity();
    const auto fold = [&](i64 j) {
        value = P::reduce(value, gather(i64(entries.indices[j]), entries.weight(j), v, column));
    };
    i64 j = begin;
#pragma unroll 1
    for (; j < end && (j % 4 || !in_fours); ++j) fold(j);
#pragma unroll 1
    for (; j + 8 <= end; j += 8) fold_fours<2, P>(gather, entries, j, v, column, value);
    if (j + 4 <= end) fold_fours<1, P>(gather, entries, j, v, column, value), j += 4;
#pragma unroll 1
    for (; j < end; ++j) fold(j);
    return value;
}

// Pieces of long rows, then the other rows, longest first.
template <class P>
__global__ void __launch_bounds__(BLOCK) dense_rows(typename P::Gather gather, Tail<P> rows, Bins bins, i64 short_rows,
                                                    Columns columns, typename P::Message* out,
                                                    typename P::Message* part) {
    const i64 task = columns.row(), column = columns.column();
    if (task >= bins.pieces + short_rows || columns.idle()) return;
    const bool is_piece = task < bins.pieces;
    const u32 v = is_piece ? bins.piece_slot[task] : bins.slots[task - bins.pieces];
    const i64 begin = rows.indptr[v] + (is_piece ? i64(bins.piece_order[task]) * PIECE : 0);
    const i64 row_end = rows.indptr[v + 1];
    const i64 end = is_piece && begin + PIECE < row_end ? begin + PIECE : row_end;
    auto* const to = is_piece ? part + task * columns.count : out + v * columns.count;
    to[column] = fold_column<P>(gather, rows.entries, begin, end, v, column);
}

template <class P>
__global__ void __launch_bounds__(BLOCK) dense_long(const u32* long_rows, const i64* first_piece, i64 count,
                                                    Columns columns, typename P::Message* out,
                                                    const typename P::Message* part) {
    const i64 i = columns.row(), column = columns.column();
    if (i >= count || columns.idle()) return;
    auto value = P::identity();
#pragma unroll 8
    for (i64 piece = first_piece[i]; piece < first_piece[i + 1]; ++piece)
        value = P::reduce(value, part[piece * columns.count + column]);
    out[long_rows[i] * columns.count + column] = value;
}

}  // namespace hpgraph
