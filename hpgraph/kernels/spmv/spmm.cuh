// SpMM, the product of a sparse and a dense matrix over any semiring: adjacent threads for each row.
//
// A thread folds the entries of its row in order, for `width` adjacent columns, which one load takes. Four gathers are in
// flight before the first is used, and the ids of the next four are on their way: more gathers take registers, and so
// warps (measured: eight are 10 to 50% slower). As in spmv.cuh, rows longer than PIECE are divided, and a second phase
// joins the results in order: they are bitwise reproducible.
#pragma once
#include "dense_rows.cuh"

namespace hpgraph {

// Distribution of the dense matrix's columns: `lanes` adjacent threads of a block for a row, and as many rows a block
// as fit; blocks with the same blockIdx.y process the same columns. Columns of a head share the weights of entries.
// `order`, if the gather has a type for it, is where the weights of entries are.
struct Columns {
    const void* order;
    i64 count, heads, entries;
    u32 lanes;

    __device__ i64 row() const { return i64(blockIdx.x) * (BLOCK / lanes) + threadIdx.x / lanes; }
    __device__ i64 first(int width) const { return (i64(blockIdx.y) * lanes + threadIdx.x % lanes) * width; }
    __device__ bool idle(i64 column) const { return threadIdx.x >= BLOCK / lanes * lanes || column >= count; }
};

template <class T> constexpr bool is_void = false;
template <> constexpr bool is_void<void> = true;

template <class T>
struct Places : Four<T> {};
template <>
struct Places<void> {};

template <class P>
struct Ids {
    typedef typename P::Gather::Order Order;
    Four<typename P::Index> u;
    Four<typename P::Weight> w;
    // Of the next four entries' weights: their loads need not wait for them.
    Places<Order> at;

    __device__ void begin(const Columns& columns, i64 j, bool in_fours) {
        if constexpr (!is_void<Order>) at.load((const Order*)columns.order, j, columns.entries, in_fours);
    }
    __device__ void load(const Entries<P>& entries, const Columns& columns, i64 j, i64 head, bool in_fours) {
        u.load(entries.indices, j, columns.entries, in_fours);
        if constexpr (!is_void<Order>) {
#pragma unroll
            for (int b = 0; b < 4; ++b)
                if (j + b < columns.entries) w.of[b] = entries.weights[i64(at.of[b]) * columns.heads + head];
            at.load((const Order*)columns.order, j + 4, columns.entries, in_fours);
        } else if constexpr (P::Gather::headed) {
#pragma unroll
            for (int b = 0; b < 4; ++b)
                if (j + b < columns.entries) w.of[b] = entries.weights[(j + b) * columns.heads + head];
        } else if constexpr (!P::pattern) {
            w.load(entries.weights, j, columns.entries, in_fours);
        }
    }
};

template <class P>
__device__ typename P::Weight weight_of(const Ids<P>& ids, int b) {
    return P::pattern ? typename P::Weight(1) : ids.w.of[b];
}

// Folds the messages of entries begin..end of row v to `width` columns.
template <class P>
__device__ void fold_columns(const typename P::Gather& gather, const Entries<P>& entries, const Columns& columns,
                             const RowPart& row, i64 column, typename P::Message (&value)[P::Gather::width]) {
    const bool in_fours = (u64(entries.indices) | u64(entries.weights) | u64(columns.order)) % 16 == 0;
    const i64 head = P::Gather::headed ? column / (columns.count / columns.heads) : 0;
    Ids<P> ids;
    i64 j = row.begin & ~i64(3);
    if (j < row.end) {
        ids.begin(columns, j, in_fours);
        ids.load(entries, columns, j, head, in_fours);
    }
#pragma unroll 1
    for (; j < row.end; j += 4) {
        const auto now = ids;
        typename P::Gather::Loaded loaded[4];
        // All gathers before the first use: each may miss the cache.
#pragma unroll
        for (int b = 0; b < 4; ++b)
            if (j + b >= row.begin && j + b < row.end)
                loaded[b] = gather.load(i64(now.u.of[b]), weight_of<P>(now, b), row.v, column);
        if (j + 4 < row.end) ids.load(entries, columns, j + 4, head, in_fours);
#pragma unroll
        for (int b = 0; b < 4; ++b) {
            if (j + b < row.begin || j + b >= row.end) continue;
#pragma unroll
            for (int c = 0; c < P::Gather::width; ++c)
                value[c] = P::reduce(value[c], gather(i64(now.u.of[b]), weight_of<P>(now, b), loaded[b], c, row.v, column));
        }
    }
}

template <class P>
__global__ void __launch_bounds__(BLOCK) dense_rows(typename P::Gather gather, const i64* indptr, Entries<P> entries,
                                                    Bins bins, i64 short_rows, Columns columns,
                                                    typename P::Gather::Out* out, typename P::Message* part) {
    constexpr int WIDTH = P::Gather::width;
    const i64 task = columns.row(), column = columns.first(WIDTH);
    if (task >= bins.pieces + short_rows || columns.idle(column)) return;
    const RowPart row(indptr, bins, task);
    typename P::Message value[WIDTH];
#pragma unroll
    for (int c = 0; c < WIDTH; ++c) value[c] = P::identity();
    fold_columns<P>(gather, entries, columns, row, column, value);
    if (row.is_piece) {
#pragma unroll
        for (int c = 0; c < WIDTH; ++c) part[task * columns.count + column + c] = value[c];
    } else {
        Pack<typename P::Gather::Out, WIDTH> made;
#pragma unroll
        for (int c = 0; c < WIDTH; ++c) narrow(value[c], made.of[c]);
        *(Pack<typename P::Gather::Out, WIDTH>*)(out + row.v * columns.count + column) = made;
    }
}

template <class P>
__global__ void __launch_bounds__(BLOCK) dense_long(const u32* long_rows, const i64* first_piece, i64 count, i64 columns,
                                                    typename P::Gather::Out* out, const typename P::Message* part) {
    const i64 at = i64(blockIdx.x) * BLOCK + threadIdx.x, i = at / columns, column = at % columns;
    if (i >= count) return;
    auto value = P::identity();
#pragma unroll 8
    for (i64 piece = first_piece[i]; piece < first_piece[i + 1]; ++piece)
        value = P::reduce(value, part[piece * columns + column]);
    narrow(value, out[i64(long_rows[i]) * columns + column]);
}

}  // namespace hpgraph
