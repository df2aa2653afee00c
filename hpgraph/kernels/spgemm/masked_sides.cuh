// The places of a mask, assigned to the two sides that they can be computed from, and divided into tasks: see
// masked_dots.cuh.
#pragma once
#include "pairs.cuh"

namespace hpgraph {

constexpr int THREADS = 256;
// Limit of a row's entries times its places for a warp, and the places of a block's task.
constexpr i64 MUCH = 4096;
constexpr i64 PIECE = 256;
// Places that a block of turn_places processes.
constexpr i64 PLACES = 1024;
// Entries of a row of B up to which it is always read: one load by a warp.
constexpr i64 AT_ONCE = 32;

// Whether a place is computed from the side of B; `a_length` entries are read then, `b_length` otherwise.
__device__ inline bool is_turned(i64 a_length, i64 b_length) { return b_length > AT_ONCE && a_length < b_length; }

template <class M>
struct Operands {
    typedef typename M::Index Index;
    const i64* mask_indptr;
    const Index* mask_indices;
    const i64* a_indptr;
    const Index* a_indices;
    const typename M::A* a_data;
    const i64* b_indptr;  // of the transpose of B
    const Index* b_indices;
    const typename M::B* b_data;
    // For each place computed from the side of B, the entries of A's row up to the last of B's; else -1.
    Index* reach;
    // Places computed from the side of B, by column: start of each column, their rows, and their positions.
    const i64* turned_indptr;
    const Index* turned_row;
    const i64* turned_place;
};

// One of the two sides: its rows are inserted into filters, and the other's are read.
template <class M, bool TURNED>
struct Side {
    typedef typename M::Index Index;
    const Operands<M>& f;

    __device__ const i64* set_indptr() const { return TURNED ? f.b_indptr : f.a_indptr; }
    __device__ const Index* set_indices() const { return TURNED ? f.b_indices : f.a_indices; }
    __device__ const i64* read_indptr() const { return TURNED ? f.a_indptr : f.b_indptr; }
    __device__ const Index* read_indices() const { return TURNED ? f.a_indices : f.b_indices; }
    // The places of each row of this side: of the mask, or of the list.
    __device__ const i64* places_indptr() const { return TURNED ? f.turned_indptr : f.mask_indptr; }
};

// A task of a whole block: row, and first of up to PIECE places. On the side of B the row is complemented.
struct Task {
    i64 row, begin;
};

__device__ inline bool takes_block(i64 length, i64 places) { return length * places > MUCH; }

// Number of entries of A's row i up to the last of row j of B's transpose; -1 if that row is read instead.
template <class M>
__device__ typename M::Index reach_of(const Operands<M>& f, i64 i, i64 j) {
    const i64 b_begin = f.b_indptr[j], b_end = f.b_indptr[j + 1];
    if (b_end - b_begin <= AT_ONCE) return -1;
    const i64 begin = f.a_indptr[i], end = f.a_indptr[i + 1];
    const i64 length = lower_bound(f.a_indices, begin, end, i64(f.b_indices[b_end - 1]) + 1) - begin;
    return is_turned(length, b_end - b_begin) ? typename M::Index(length) : typename M::Index(-1);
}

// Computes f.reach, and counts the places computed from the side of B by column; or, with FILL, writes them from
// `next`, the start of each column, on. A block takes PLACES places.
template <class M, bool FILL>
__global__ void __launch_bounds__(THREADS) turn_places(Operands<M> f, i64 rows, i64 places, u64* next,
                                                       typename M::Index* turned_row, i64* turned_place) {
    __shared__ i64 row_of_end[2];
    const i64 base = i64(blockIdx.x) * PLACES, end = base + PLACES < places ? base + PLACES : places;
    if (threadIdx.x < 2) {
        const i64 place = threadIdx.x ? end - 1 : base;
        row_of_end[threadIdx.x] = lower_bound(f.mask_indptr, i64(0), rows, place + 1) - 1;
    }
    __syncthreads();
    for (i64 m = base + threadIdx.x; m < end; m += THREADS) {
        if (FILL && f.reach[m] < 0) continue;
        const i64 i = lower_bound(f.mask_indptr, row_of_end[0] + 1, row_of_end[1] + 1, m + 1) - 1;
        const i64 j = f.mask_indices[m];
        if constexpr (FILL) {
            const u64 to = atomicAdd(next + j, u64(1));
            turned_row[to] = typename M::Index(i);
            turned_place[to] = m;
        } else {
            f.reach[m] = reach_of(f, i, j);
            if (f.reach[m] >= 0) atomicAdd(next + j, u64(1));
        }
    }
}

template <class M, bool TURNED>
__device__ void list_of(const Operands<M>& f, i64 row, Task* tasks, u64* counters) {
    const Side<M, TURNED> side{f};
    const i64 begin = side.places_indptr()[row], end = side.places_indptr()[row + 1];
    if (begin == end || !takes_block(side.set_indptr()[row + 1] - side.set_indptr()[row], end - begin)) return;
    u64 to = atomicAdd(counters, u64((end - begin + PIECE - 1) / PIECE));
    for (i64 at = begin; at < end; at += PIECE, ++to) tasks[to] = {TURNED ? ~row : row, at};
}

// Lists the tasks of whole blocks; counters[0] is their number and starts at 0.
template <class M>
__global__ void __launch_bounds__(THREADS) list_tasks(Operands<M> f, i64 rows, i64 columns, Task* tasks,
                                                      u64* counters) {
    const i64 row = i64(blockIdx.x) * THREADS + threadIdx.x;
    if (row < rows) list_of<M, false>(f, row, tasks, counters);
    else if (row - rows < columns) list_of<M, true>(f, row - rows, tasks, counters);
}

// Number of entries that each of the two methods for masked products would read, in every `step`-th row: totals[0] by
// dots, totals[1] by rows.
template <class Index>
__global__ void __launch_bounds__(THREADS) masked_work(const i64* mask_indptr, const Index* mask_indices,
                                                       const i64* a_indptr, const Index* a_indices, i64 rows, i64 step,
                                                       const i64* row_lengths, const i64* column_lengths, u64* totals) {
    const i64 i = (i64(blockIdx.x) * THREADS + threadIdx.x) / 32 * step;
    if (i >= rows) return;
    const int lane = threadIdx.x & 31;
    const i64 length = a_indptr[i + 1] - a_indptr[i];
    if (!length || mask_indptr[i] == mask_indptr[i + 1]) return;
    u64 by_dots = 0, by_rows = 0;
    for (i64 m = mask_indptr[i] + lane; m < mask_indptr[i + 1]; m += 32) {
        const i64 other = column_lengths[mask_indices[m]];
        by_dots += is_turned(length, other) ? length : other;
    }
    for (i64 p = a_indptr[i] + lane; p < a_indptr[i + 1]; p += 32) by_rows += row_lengths[a_indices[p]];
    for (int offset = 16; offset; offset /= 2) {
        by_dots += __shfl_xor_sync(ALL, by_dots, offset);
        by_rows += __shfl_xor_sync(ALL, by_rows, offset);
    }
    if (lane == 0) {
        atomicAdd(totals, by_dots);
        // Each column is searched in the mask's row.
        atomicAdd(totals + 1, by_rows * u64(64 - __clzll(mask_indptr[i + 1] - mask_indptr[i])));
    }
}

}  // namespace hpgraph
