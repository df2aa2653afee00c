// The product of a sparse and a dense matrix over any semiring: a warp for each row, its lanes spread over the columns.
//
// Where X has fewer columns than a warp has lanes, the lanes that are left take other entries of the row, and shuffles
// join what they found. Rows of X lie in one piece, so that the lanes of an entry read neighbours. The phases are those
// of spmv.cuh: slab, tail with long rows in pieces, joining of pieces in order.
#pragma once
#include "spmv.cuh"

namespace hpgraph {

// Which column and which share of a row's entries a lane works on: 2^log_columns columns at a time.
struct Lanes {
    i64 column;
    int share, shares, columns;
    bool live;

    __device__ Lanes(i64 width, int log_columns) {
        const int lane = threadIdx.x % 32;
        columns = 1 << log_columns;
        shares = 32 >> log_columns;
        share = lane >> log_columns;
        column = i64(blockIdx.y) * columns + (lane & (columns - 1));
        live = column < width;
    }

    template <class P>
    __device__ typename P::Message join(typename P::Message value) const {
        for (int distance = 16; distance >= columns; distance /= 2)
            value = P::reduce(value, shuffle_down(ALL, value, distance, 32));
        return value;
    }
};

template <class P>
__global__ void __launch_bounds__(BLOCK) dense_slab(typename P::Gather gather, Entries<P> slab, i64 rows, i64 width,
                                                    i64 columns, int log_columns, typename P::Message* out) {
    const i64 v = i64(blockIdx.x) * (BLOCK / 32) + threadIdx.x / 32;
    if (v >= rows) return;
    const Lanes lanes(columns, log_columns);
    auto value = P::identity();
    for (i64 k = lanes.share; k < width; k += lanes.shares) {
        const auto u = slab.indices[k * rows + v];
        if (u < 0) break;
        if (lanes.live) value = P::reduce(value, gather(i64(u), slab.weight(k * rows + v), v, lanes.column));
    }
    value = lanes.join<P>(value);
    if (lanes.share == 0 && lanes.live) out[v * columns + lanes.column] = value;
}

template <class P>
__global__ void __launch_bounds__(BLOCK) dense_tail(typename P::Gather gather, Tail<P> tail, Bins bins, i64 short_rows,
                                                    i64 columns, int log_columns, typename P::Message* out,
                                                    typename P::Message* part) {
    const i64 task = i64(blockIdx.x) * (BLOCK / 32) + threadIdx.x / 32;
    if (task >= bins.pieces + short_rows) return;
    const Lanes lanes(columns, log_columns);
    const bool is_piece = task < bins.pieces;
    const u32 slot = is_piece ? bins.piece_slot[task] : bins.slots[task - bins.pieces];
    const i64 v = tail.row(slot);
    const i64 begin = tail.indptr[slot] + (is_piece ? i64(bins.piece_order[task]) * PIECE : 0);
    const i64 row_end = tail.indptr[slot + 1];
    const i64 end = is_piece && begin + PIECE < row_end ? begin + PIECE : row_end;
    auto* place = is_piece ? part + task * columns : out + v * columns;
    auto value = P::identity();
    if (!is_piece && tail.continues && lanes.share == 0 && lanes.live) value = place[lanes.column];
    // All lanes go round as often: where some left the loop before others, the code that NVRTC 13.0 makes for sm_90 loses what
    // short rows add (seen unrolled, and in matrices without values).
#pragma unroll 1
    for (i64 first = begin; first < end; first += lanes.shares) {
        const i64 j = first + lanes.share;
        if (!lanes.live || j >= end) continue;
        const i64 u = tail.entries.indices[j];
        value = P::reduce(value, gather(u, tail.entries.weight(j), v, lanes.column));
    }
    value = lanes.join<P>(value);
    if (lanes.share == 0 && lanes.live) place[lanes.column] = value;
}

// A thread for each long row and column.
template <class P>
__global__ void __launch_bounds__(BLOCK) dense_long(Tail<P> tail, const u32* long_slots, const i64* first_piece,
                                                    i64 long_rows, i64 columns, typename P::Message* out,
                                                    const typename P::Message* part) {
    const i64 task = i64(blockIdx.x) * BLOCK + threadIdx.x;
    if (task >= long_rows * columns) return;
    const i64 i = task / columns, column = task % columns;
    auto& place = out[tail.row(long_slots[i]) * columns + column];
    auto value = tail.continues ? place : P::identity();
    for (i64 piece = first_piece[i]; piece < first_piece[i + 1]; ++piece)
        value = P::reduce(value, part[piece * columns + column]);
    place = value;
}

}  // namespace hpgraph
