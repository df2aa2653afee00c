// Rows of a matrix product that are too long for a hash table, by windows: a window is a range of columns with a bitmap
// in shared memory, and the rank of a bit (popcount) is the position of its entry. A warp takes a task: a row, or a
// range of columns of a very long row.
#pragma once
#include "pairs.cuh"

namespace hpgraph {

// Threads of a block.
constexpr int LONG_THREADS = 128;
// Cursors: for this many entries of A's row, the position that the windows have reached in the row of B.
constexpr int CURSORS = 512;
// Bits set among 1024 columns from which their ids are written word by word.
constexpr u32 DENSE = 160;

// The columns of a task of a long row, in whole windows.
struct Columns {
    i64 begin, end;
    __device__ Columns(i64 task, const i64* first_task, i64 row, i64 windows, i64 width, i64 columns) {
        const i64 order = task - first_task[row], tasks = first_task[row + 1] - first_task[row];
        begin = order * windows / tasks * width;
        end = (order + 1) * windows / tasks * width;
        if (end > columns) end = columns;
    }
};

// Counts entries with a bitmap: `bits` columns at a time for each warp.
template <class M>
__global__ void __launch_bounds__(LONG_THREADS) count_by_bits(Factors<M> f, const i64* list, i64 tasks,
                                                              const i64* task_row, const i64* first_task, i64 windows,
                                                              i64 width, i64 columns, i64 bits, i64* counts) {
    extern __shared__ __align__(16) u64 shared[];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const i64 number = i64(blockIdx.x) * (LONG_THREADS / 32) + warp;
    if (number >= tasks) return;
    u32* const words = (u32*)shared + warp * (bits / 32);
    const i64 task = list[number], row = task_row[task];
    const Columns mine(task, first_task, row, windows, width, columns);
    i64 found = 0;
    for (i64 from = mine.begin; from < mine.end; from += bits) {
        const i64 to = from + bits < mine.end ? from + bits : mine.end;
        const i64 used = (to - from + 31) / 32;
        for (i64 w = lane; w < used; w += 32) words[w] = 0;
        __syncwarp();
        const auto range = [&](i64, i64 k, i64& begin, u32& length) {
            const i64 end = f.b_indptr[k + 1];
            begin = lower_bound(f.b_indices, f.b_indptr[k], end, from);
            length = u32(lower_bound(f.b_indices, begin, end, to) - begin);
        };
        for_pairs(f, row, range, [&](bool valid, i64, i64, i64 q, int) {
            if (!valid) return;
            const i64 j = f.b_indices[q];
            if (f.allows(row, j)) atomicOr(words + (j - from) / 32, 1u << ((j - from) & 31));
        });
        __syncwarp();
        for (i64 w = lane; w < used; w += 32) found += __popc(words[w]);
        __syncwarp();
    }
    found = warp_sum(found);
    if (lane == 0) counts[task] = found;
}

// Writes the columns set in the bitmap of a window, from `place` on, and to `ranks` the rank of each word; returns
// their number. Warp-collective.
template <class Index>
__device__ __forceinline__ u32 write_columns(const u32* bits, i64 words, i64 from, i64 place, unsigned short* ranks,
                                             Index* indices) {
    const int lane = threadIdx.x & 31;
    u32 total = 0;
    for (i64 base = 0; base < words; base += 32) {
        u32 word = bits[base + lane];
        const u32 count = __popc(word), upto = warp_prefix_sum(count);
        const u32 rank = total + upto - count, here = __shfl_sync(ALL, upto, 31);
        ranks[base + lane] = rank;
        if (here > DENSE) {
            // A word at a time, so that writes are coalesced.
            for (u32 some = __ballot_sync(ALL, word != 0); some; some &= some - 1) {
                const int source = __ffs(some) - 1;
                const u32 set = __shfl_sync(ALL, word, source), start = __shfl_sync(ALL, rank, source);
                if (set >> lane & 1)
                    indices[place + start + __popc(set & ((1u << lane) - 1))] = Index(from + (base + source) * 32 + lane);
            }
        } else {
            for (u32 at = rank; word; word &= word - 1)
                indices[place + at++] = Index(from + (base + lane) * 32 + __ffs(word) - 1);
        }
        total += here;
    }
    return total;
}

// Windows of `width` columns (a multiple of 1024, at most 65536), each starting at the next column of the row. First
// the columns are set in the bitmap and written in order; then each value is added at its column's place. Shared, for
// each warp: bits, cursors, ranks.
template <class M>
__global__ void __launch_bounds__(LONG_THREADS) fill_by_windows(Factors<M> f, const i64* list, i64 tasks,
                                                                const i64* task_row, const i64* first_task, i64 windows,
                                                                i64 width, i64 columns, const i64* offsets,
                                                                typename M::Index* indices, typename M::C* data) {
    typedef typename M::Index Index;
    typedef typename M::C C;
    extern __shared__ __align__(16) u64 shared[];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const i64 number = i64(blockIdx.x) * (LONG_THREADS / 32) + warp;
    if (number >= tasks) return;
    u32* const bits = (u32*)((char*)shared + warp * (width / 8 + width / 16 + 4 * CURSORS));
    u32* const cursors = bits + width / 32;
    unsigned short* const ranks = (unsigned short*)(cursors + CURSORS);
    const i64 task = list[number], row = task_row[task];
    const Columns mine(task, first_task, row, windows, width, columns);
    const i64 first = f.a_indptr[row], length = f.a_indptr[row + 1] - first;
    for (i64 w = lane; w < width / 32; w += 32) bits[w] = 0;
    i64 next = mine.end;
    for (i64 p = lane; p < length; p += 32) {
        const i64 k = f.a_indices[first + p], start = f.b_indptr[k], stop = f.b_indptr[k + 1];
        const i64 begin = mine.begin ? lower_bound(f.b_indices, start, stop, mine.begin) : start;
        if (p < CURSORS) cursors[p] = u32(begin - start);
        if (begin < stop && f.b_indices[begin] < next) next = f.b_indices[begin];
    }
    next = warp_min(next);
    __syncwarp();
    i64 place = offsets[task];
    while (next < mine.end) {
        const i64 from = next, to = from + width < mine.end ? from + width : mine.end;
        i64 following = mine.end;
        const auto range = [&](i64 p, i64 k, i64& begin, u32& count, bool moves) {
            const i64 start = f.b_indptr[k], stop = f.b_indptr[k + 1];
            begin = p < CURSORS ? start + cursors[p] : lower_bound(f.b_indices, start, stop, from);
            // Few columns of one row lie in one window: galloping search for their end.
            i64 low = begin, high = begin;
            for (i64 step = 1; high < stop && f.b_indices[high] < to; step *= 2) {
                low = high + 1;
                high += step;
            }
            const i64 end = lower_bound(f.b_indices, low, high < stop ? high : stop, to);
            count = u32(end - begin);
            if (moves) {
                if (p < CURSORS) cursors[p] = u32(end - start);
                if (end < stop && f.b_indices[end] < following) following = f.b_indices[end];
            }
        };
        for_pairs(
            f, row, [&](i64 p, i64 k, i64& begin, u32& count) { range(p, k, begin, count, false); },
            [&](bool valid, i64, i64, i64 q, int) {
                if (!valid) return;
                const i64 j = f.b_indices[q];
                if (f.allows(row, j)) atomicOr(bits + (j - from) / 32, 1u << ((j - from) & 31));
            });
        __syncwarp();
        const u32 total = write_columns(bits, width / 32, from, place, ranks, indices);
        for (u32 s = lane; s < total; s += 32) data[place + s] = M::identity();
        __syncwarp();
        for_pairs(
            f, row, [&](i64 p, i64 k, i64& begin, u32& count) { range(p, k, begin, count, true); },
            [&](bool valid, i64 p, i64 k, i64 q, int owner) {
                Index j = 0;
                u32 rank = 0;
                C value = C();
                if (valid) {
                    j = f.b_indices[q];
                    const u32 at = u32(j - from), word = bits[at / 32];
                    rank = ranks[at / 32] + __popc(word & ((1u << (at & 31)) - 1));
                    // Columns that the mask does not allow are not set.
                    if constexpr (M::excludes || M::within) valid = word >> (at & 31) & 1;
                    if (valid) value = f.product(row, p, k, q, j);
                }
                if (join_lanes<M>(valid, owner, j, value)) data[place + rank] = M::reduce(data[place + rank], value);
                __syncwarp();
            });
        for (i64 w = lane; w < width / 32; w += 32) bits[w] = 0;
        __syncwarp();
        place += total;
        next = warp_min(following);
    }
}

}  // namespace hpgraph
