// The generalized product over SELL: one thread for each row of a slice, and one warp for each piece of a slice.
//
// A slice's rows are of similar length, so that its lanes end together, and each step reads 32 adjacent entries (M.
// Kreutzer et al., SISC 36(5), 2014). Slices wider than PIECE_WIDTH are divided into pieces of that many columns; a
// second phase joins their results in order. No atomics touch values, so results are bitwise reproducible.
#pragma once
#include "spmv.cuh"

namespace hpgraph {

constexpr int PIECE_WIDTH = 64;

struct Slices {
    const i64* begin;        // start of each slice, in slots
    const i64* first_piece;  // first piece of each slice, and the number of all
    const u32* piece_slice;  // slice of each piece
    i64 count, rows, pieces;
};

template <class P>
__global__ void __launch_bounds__(BLOCK)
pull_slices(typename P::Gather gather, Entries<P> slots, const typename P::Index* order, Slices slices, Sets sets,
            typename P::Message* out, typename P::Message* part, bool* part_found) {
    const i64 piece = i64(blockIdx.x) * (BLOCK / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (piece >= slices.pieces) return;
    const i64 slice = slices.piece_slice[piece], place = slice * 32 + lane;
    if (place >= slices.rows) return;
    const i64 v = order[place];
    if (!sets.allows(v)) return;
    const i64 number = piece - slices.first_piece[slice];
    const bool alone = slices.first_piece[slice + 1] - slices.first_piece[slice] == 1;
    const i64 width = (slices.begin[slice + 1] - slices.begin[slice]) / 32;
    const i64 from = number * PIECE_WIDTH, to = alone || from + PIECE_WIDTH > width ? width : from + PIECE_WIDTH;
    Fold<P> fold{P::identity(), false};
    fold_slots<P>(gather, slots, slices.begin[slice] + lane, 32, from, to, v, sets, fold);
    if (alone) {
        out[v] = fold.value;
        if (fold.found) sets.note(v);
    } else {
        part[piece * 32 + lane] = fold.value;
        part_found[piece * 32 + lane] = fold.found;
    }
}

// One warp for each slice with several pieces; a thread joins those of its row in order.
template <class P>
__global__ void __launch_bounds__(BLOCK)
join_slices(const u32* wide, i64 count, const typename P::Index* order, Slices slices, Sets sets,
            typename P::Message* out, const typename P::Message* part, const bool* part_found) {
    const i64 i = i64(blockIdx.x) * (BLOCK / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (i >= count) return;
    const i64 slice = wide[i], place = slice * 32 + lane;
    if (place >= slices.rows) return;
    const i64 v = order[place];
    if (!sets.allows(v)) return;
    auto value = P::identity();
    bool found = false;
#pragma unroll 8
    for (i64 piece = slices.first_piece[slice]; piece < slices.first_piece[slice + 1]; ++piece) {
        value = P::reduce(value, part[piece * 32 + lane]);
        found |= part_found[piece * 32 + lane];
    }
    out[v] = value;
    if (found) sets.note(v);
}

}  // namespace hpgraph
