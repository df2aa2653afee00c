// SpMM, the product of a sparse and a dense matrix over any semiring: adjacent threads for each row.
//
// A thread folds the entries of its row in order, for `loads` vectors of `width` columns. Several gathers are in flight
// before the first is used, and the ids of the next entries are prefetched. As in spmv.cuh, rows longer than PIECE are
// divided, and a second phase joins the results in order: they are bitwise reproducible.
#pragma once
#include "dense_rows.cuh"

namespace hpgraph {

// Distribution of the dense matrix's columns: `lanes` adjacent threads of a block share a row, and a block has as many
// rows as fit; blocks with the same blockIdx.y process the same columns. The columns of a head share the weights of
// entries. If the gather has a type Order, `order` holds the positions of the weights.
struct Columns {
    const void* order;
    i64 count, heads;
    u32 lanes;

    __device__ i64 row() const { return i64(blockIdx.x) * (BLOCK / lanes) + threadIdx.x / lanes; }
    // The first column of a thread; its next load is `lanes` * `width` columns further.
    __device__ i64 first(int width, int loads) const {
        return (i64(blockIdx.y) * lanes * loads + threadIdx.x % lanes) * width;
    }
    __device__ bool idle(i64 column) const { return threadIdx.x >= BLOCK / lanes * lanes || column >= count; }
};

template <class T> constexpr bool is_void = false;
template <> constexpr bool is_void<void> = true;

template <class T, int COUNT>
struct Places { T of[COUNT]; };
template <int COUNT>
struct Places<void, COUNT> {};

// Columns and weights of a batch of entries, `left` of which exist.
template <class P>
struct Ids {
    typedef typename P::Gather::Order Order;
    static constexpr int BATCH = P::Gather::batch;
    typename P::Index u[BATCH];
    typename P::Weight w[BATCH];
    // Positions of the next batch's weights, prefetched.
    Places<Order, BATCH> at;

    __device__ void begin(const Columns& columns, i64 j, i64 left) {
        if constexpr (!is_void<Order>) {
#pragma unroll
            for (int b = 0; b < BATCH; ++b)
                if (b < left) at.of[b] = ((const Order*)columns.order)[j + b];
        }
    }
    __device__ void load(const Entries<P>& entries, const Columns& columns, i64 j, int left, i64 head) {
#pragma unroll
        for (int b = 0; b < BATCH; ++b) {
            if (b >= left) continue;
            u[b] = entries.indices[j + b];
            if constexpr (!is_void<Order>) w[b] = entries.weights[i64(at.of[b]) * columns.heads + head];
            else if constexpr (P::Gather::headed) w[b] = entries.weights[(j + b) * columns.heads + head];
            else if constexpr (!P::pattern) w[b] = entries.weights[j + b];
            else w[b] = typename P::Weight(1);
        }
        begin(columns, j + BATCH, left - BATCH);
    }
};

// Accumulators of the columns that a thread has in a row.
template <class P>
struct Values {
    typename P::Message of[P::Gather::loads][P::Gather::width];
};

// Folds the messages of a row's entries to the columns that begin at `column`.
template <class P>
__device__ Values<P> fold_columns(const typename P::Gather& gather, const Entries<P>& entries, const Columns& columns,
                                  const RowPart& row, i64 column) {
    constexpr int BATCH = P::Gather::batch, LOADS = P::Gather::loads, WIDTH = P::Gather::width;
    const i64 head = P::Gather::headed ? column / (columns.count / columns.heads) : 0, apart = columns.lanes * WIDTH;
    Values<P> value;
#pragma unroll
    for (int l = 0; l < LOADS; ++l)
#pragma unroll
        for (int c = 0; c < WIDTH; ++c) value.of[l][c] = P::identity();
    Ids<P> ids;
    i64 j = row.begin;
    int left = int(row.end - row.begin);
    ids.begin(columns, j, left);
    ids.load(entries, columns, j, left, head);
#pragma unroll 1
    for (; left > 0; j += BATCH, left -= BATCH) {
        const auto now = ids;
        typename P::Gather::Loaded loaded[BATCH][LOADS];
        // All gathers before the first use: each may miss the cache.
#pragma unroll
        for (int b = 0; b < BATCH; ++b)
            if (b < left)
#pragma unroll
                for (int l = 0; l < LOADS; ++l)
                    loaded[b][l] = gather.load(i64(now.u[b]), now.w[b], row.v, column + l * apart);
        ids.load(entries, columns, j + BATCH, left - BATCH, head);
#pragma unroll
        for (int b = 0; b < BATCH; ++b)
            if (b < left)
#pragma unroll
                for (int l = 0; l < LOADS; ++l)
#pragma unroll
                    for (int c = 0; c < WIDTH; ++c)
                        value.of[l][c] = P::reduce(value.of[l][c], gather(i64(now.u[b]), now.w[b], loaded[b][l], c, row.v,
                                                                          column + l * apart));
    }
    return value;
}

template <class P>
__global__ void __launch_bounds__(BLOCK) dense_rows(typename P::Gather gather, const i64* indptr, Entries<P> entries,
                                                    Bins bins, i64 short_rows, Columns columns,
                                                    typename P::Gather::Out* out, typename P::Message* part) {
    constexpr int LOADS = P::Gather::loads, WIDTH = P::Gather::width;
    const i64 task = columns.row(), column = columns.first(WIDTH, LOADS), apart = columns.lanes * WIDTH;
    if (task >= bins.pieces + short_rows || columns.idle(column)) return;
    const RowPart row(indptr, bins, task);
    const auto value = fold_columns<P>(gather, entries, columns, row, column);
#pragma unroll
    for (int l = 0; l < LOADS; ++l) {
        const i64 at = column + l * apart;
        if (row.is_piece) {
#pragma unroll
            for (int c = 0; c < WIDTH; ++c) part[task * columns.count + at + c] = value.of[l][c];
        } else {
            Pack<typename P::Gather::Out, WIDTH> made;
#pragma unroll
            for (int c = 0; c < WIDTH; ++c) narrow(value.of[l][c], made.of[c]);
            *(Pack<typename P::Gather::Out, WIDTH>*)(out + row.v * columns.count + at) = made;
        }
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
