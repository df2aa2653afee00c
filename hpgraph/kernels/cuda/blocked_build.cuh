// The arcs of a CSR matrix in the order of blocked.cuh: by block of columns, and within it by row. A stable partition,
// in one pass over counts and one over arcs; a warp for each piece of adjacent arcs.
#pragma once
#include "blocked.cuh"

namespace hpgraph {

constexpr int PORTION = 4096;  // arcs of a piece
constexpr int AHEAD = 4;       // batches of 32 whose loads are in flight
constexpr u32 NOBODY = 0xffffffffu;

__device__ inline u32 warp_sum(u32 value) {
#pragma unroll
    for (int d = 16; d; d /= 2) value += __shfl_xor_sync(ALL, value, d);
    return value;
}

// Calls visit(live, column, row, block, peers, e) for every batch; peers are the lanes of the same block.
template <class I, class V>
__device__ void each_batch(const I* column, const I* row, const u32* rank, i64 arcs, int shift, V visit) {
    const i64 begin = (i64(blockIdx.x) * (BLOCK / 32) + threadIdx.x / 32) * PORTION;
    const i64 end = begin + PORTION < arcs ? begin + PORTION : arcs;
    for (i64 base = begin; base < end; base += 32 * AHEAD) {
        u32 place[AHEAD], its_row[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const i64 e = base + 32 * k + threadIdx.x % 32;
            place[k] = e < end ? u32(stream(column + e)) : NOBODY;
            its_row[k] = e < end ? u32(stream(row + e)) : NOBODY;
        }
        if (rank) {
#pragma unroll
            for (int k = 0; k < AHEAD; ++k)
                if (place[k] != NOBODY) place[k] = rank[place[k]];
        }
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const bool live = place[k] != NOBODY;
            const u32 block = live ? place[k] >> shift : NOBODY;
            visit(live, place[k], its_row[k], block, __match_any_sync(ALL, block), base + 32 * k + threadIdx.x % 32);
        }
    }
}

// Arcs of each block in each piece; in `tally`, how many (row, block) pairs there are, and how many lines of 32 columns
// a warp would touch that took the arcs as they come.
template <class I>
__global__ void __launch_bounds__(BLOCK) count_blocks(const I* column, const I* row, const u32* rank, i64 arcs, i64 pieces,
                                                      int n_blocks, int shift, u32* counts, u64* tally) {
    extern __shared__ u32 shared[];
    u32* count = shared + threadIdx.x / 32 * 2 * n_blocks;
    u32* last = count + n_blocks;
    const int lane = threadIdx.x % 32;
    const i64 piece = i64(blockIdx.x) * (BLOCK / 32) + threadIdx.x / 32;
    if (piece >= pieces) return;
    for (int i = lane; i < n_blocks; i += 32) count[i] = 0, last[i] = NOBODY;
    __syncwarp();
    u32 pairs = 0, lines = 0;
    each_batch(column, row, rank, arcs, shift, [&](bool live, u32 place, u32 its_row, u32 block, u32 peers, i64) {
        const u32 below = peers & ((1u << lane) - 1u);
        const u32 before = __shfl_sync(ALL, its_row, below ? 31 - __clz(below) : lane);
        if (live) pairs += below ? before != its_row : last[block] != its_row;
        __syncwarp();
        if (live && peers >> lane == 1u) {
            last[block] = its_row;
            count[block] += __popc(peers);
        }
        if (!rank) {
            const u32 line = __match_any_sync(ALL, live ? place >> 5 : NOBODY);
            lines += live && !(line & ((1u << lane) - 1u));
        }
        __syncwarp();
    });
    for (int i = lane; i < n_blocks; i += 32) counts[i * pieces + piece] = count[i];
    pairs = warp_sum(pairs);
    lines = warp_sum(lines);
    if (lane == 0) {
        atomicAdd(tally, u64(pairs));
        atomicAdd(tally + 1, u64(lines));
    }
}

// Each arc, with its row and weight, to its place; `offsets` has where each block's arcs of each piece begin.
template <class I, class W>
__global__ void __launch_bounds__(BLOCK)
place_arcs(const I* column, const I* row, const W* weight, const u32* rank, i64 arcs, i64 pieces, int n_blocks, int shift,
           const u32* offsets, u16* placed, u32* placed_row, W* placed_weight) {
    extern __shared__ u32 shared[];
    u32* next = shared + threadIdx.x / 32 * n_blocks;
    const int lane = threadIdx.x % 32;
    const i64 piece = i64(blockIdx.x) * (BLOCK / 32) + threadIdx.x / 32;
    if (piece >= pieces) return;
    for (int i = lane; i < n_blocks; i += 32) next[i] = offsets[i * pieces + piece];
    __syncwarp();
    each_batch(column, row, rank, arcs, shift, [&](bool live, u32 place, u32 its_row, u32 block, u32 peers, i64 e) {
        const u32 at = live ? next[block] + __popc(peers & ((1u << lane) - 1u)) : 0;
        __syncwarp();
        if (live) {
            placed[at] = u16(place & ((1u << shift) - 1u));
            placed_row[at] = its_row;
            if (weight) placed_weight[at] = weight[e];
            if (peers >> lane == 1u) next[block] = at + 1;
        }
        __syncwarp();
    });
}

// Marks the last arc of each row in each block, and counts them by stretch. A warp for each stretch.
__global__ void __launch_bounds__(BLOCK) mark_last(u16* placed, const u32* placed_row, const u32* block, i64 stretches,
                                                   u32* ends) {
    const int lane = threadIdx.x % 32;
    const i64 t = i64(blockIdx.x) * (BLOCK / 32) + threadIdx.x / 32;
    if (t >= stretches) return;
    // A block may fill its stretches to the last place, and the next one begin with the same row.
    const bool closes = t + 1 == stretches || block[t + 1] != block[t];
    const i64 stop = (t + 1) * STRETCH;
    u32 found = 0;
#pragma unroll 4
    for (i64 e = t * STRETCH + lane; e < stop; e += 32) {
        const u32 row = placed_row[e];
        // Places that no arc took have no row: they end the one before them.
        const bool ends_here = row != NOBODY && ((closes && e + 1 == stop) || placed_row[e + 1] != row);
        if (ends_here) placed[e] |= LAST;
        found += ends_here;
    }
    found = warp_sum(found);
    if (lane == 0) ends[t] = found;
}

// Row of each partial result: within its group, and whole.
__global__ void __launch_bounds__(BLOCK) list_rows(const u16* placed, const u32* placed_row, const u32* first, i64 stretches,
                                                   u16* row, u32* whole) {
    const int lane = threadIdx.x % 32;
    const i64 t = i64(blockIdx.x) * (BLOCK / 32) + threadIdx.x / 32;
    if (t >= stretches) return;
    u32 at = first[t];
#pragma unroll 4
    for (i64 e = t * STRETCH + lane; e < (t + 1) * STRETCH; e += 32) {
        const bool ends_here = placed[e] & LAST;
        const u32 all = __ballot_sync(ALL, ends_here);
        if (ends_here) {
            const u32 to = at + __popc(all & ((1u << lane) - 1u));
            row[to] = u16(placed_row[e] % GROUP);
            whole[to] = placed_row[e];
        }
        at += __popc(all);
    }
}

// Where each group's partial results of each block begin. `starts` has where the blocks' begin.
__global__ void __launch_bounds__(BLOCK) bound_groups(const u32* whole, const u32* starts, i64 groups, i64 n_blocks,
                                                      u32* bounds) {
    const i64 i = i64(blockIdx.x) * BLOCK + threadIdx.x;
    if (i >= (groups + 1) * n_blocks) return;
    const i64 group = i / n_blocks, block = i % n_blocks;
    u32 low = starts[block], high = starts[block + 1];
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (i64(whole[middle]) < group * GROUP) low = middle + 1;
        else high = middle;
    }
    bounds[i] = low;
}

}  // namespace hpgraph
