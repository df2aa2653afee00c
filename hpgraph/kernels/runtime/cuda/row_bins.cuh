// Rows binned by length, each bin in the rows' order; see row_bins.py.
#pragma once
#include "grid_scan.cuh"

namespace hpgraph {

// Maximum row length of each bin, in entries, longest rows first; still longer rows form the last bin.
constexpr int BINS = 6;
struct BinEnds {
    i64 most[BINS - 1];
};
// Rows that a warp bins, and entries in a piece of a long row.
constexpr i64 BINNED = 1024;
constexpr int PIECE = 1024;

__device__ inline int bin_of(i64 length, const BinEnds& ends) {
    if (length > ends.most[0]) return BINS - 1;
    int bin = 0;
    for (int next = 1; next < BINS - 1; ++next) bin += length <= ends.most[next];
    return bin;
}

// Count the rows of each warp in each bin, in order of bins and then warps; or, from the prefix sums, list them.
template <bool listing>
__global__ void bin_rows(const i64* indptr, i64 rows, const BinEnds ends, i64* through, u32* slots) {
    const i64 warp = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = (i64)gridDim.x * blockDim.x / 32;
    const int lane = lane_of_warp();
    if (warp * BINNED >= rows) {
        if (!listing && lane < BINS) through[lane * warps + warp] = 0;
        return;
    }
    // One lane per bin: its number of rows so far, or the slot of its next row.
    i64 place = 0;
    if (listing && lane < BINS && lane * warps + warp > 0) place = through[lane * warps + warp - 1];
    for (i64 first = warp * BINNED; first < min(rows, (warp + 1) * BINNED); first += 32) {
        const i64 v = first + lane;
        const int bin = v < rows ? bin_of(indptr[v + 1] - indptr[v], ends) : BINS;
        for (int b = 0; b < BINS; ++b) {
            const u32 votes = __ballot_sync(ALL, bin == b);
            const i64 begin = __shfl_sync(ALL, place, b);
            if (listing && bin == b) slots[begin + __popc(votes & lanes_below())] = (u32)v;
            if (lane == b) place += __popc(votes);
        }
    }
    if (!listing && lane < BINS) through[lane * warps + warp] = place;
}

// In-place inclusive prefix sum, by a single block.
__global__ void add_up(i64* numbers, i64 count) {
    constexpr int THREADS = 256;
    __shared__ i64 of_warps[THREADS / 32];
    i64 before = 0, all;
    for (i64 at = 0; at < count; at += THREADS, before += all) {
        const i64 i = at + threadIdx.x, mine = i < count ? numbers[i] : 0;
        const i64 sum = before + sum_before<THREADS>(mine, all, of_warps) + mine;
        if (i < count) numbers[i] = sum;
    }
}

// Number of pieces of each long row, from the second place on.
__global__ void count_pieces(const i64* indptr, const u32* long_slots, i64 long_rows, i64* pieces) {
    const i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= long_rows) return;
    const i64 v = long_slots[k];
    pieces[k + 1] = (indptr[v + 1] - indptr[v] + PIECE - 1) / PIECE;
}

// The row of each piece, and the index of the piece within its row; a warp for each row.
__global__ void list_pieces(const u32* long_slots, i64 long_rows, const i64* first_piece, u32* piece_slot,
                            u32* piece_order) {
    const i64 k = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (k >= long_rows) return;
    const i64 first = first_piece[k], count = first_piece[k + 1] - first;
    for (i64 order = lane_of_warp(); order < count; order += 32)
        piece_slot[first + order] = long_slots[k], piece_order[first + order] = (u32)order;
}

}  // namespace hpgraph
