// Reorders the arcs of a CSR matrix for column_blocks.cuh: by block of columns, and within it by row. A stable
// partition in two passes: count and scatter. A thread block reorders a piece of adjacent arcs in shared memory, so
// that its arcs of one block of columns are written in one run.
#pragma once
#include "column_blocks.cuh"
#include "search.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int PORTION = 16384;     // arcs of a piece
constexpr int PLACERS = 1024;        // threads that place it
constexpr int WARPS = PLACERS / 32;
constexpr int SHARE = PORTION / WARPS;  // adjacent arcs of one warp
constexpr int LOOK = 4096;         // arcs of a sample that a warp reads
constexpr u32 NO_ID = 0xffffffffu;

// Samples one in `every` stretches of LOOK arcs, a warp each: counts (row, block) pairs in `tally`.
template <class I>
__global__ void __launch_bounds__(BLOCK) sample_blocks(const I* column, const i64* indptr, i64 rows, const u32* rank,
                                                       i64 arcs, i64 every, int n_blocks, int shift, u64* tally) {
    extern __shared__ u32 shared[];
    u32* last = shared + threadIdx.x / 32 * n_blocks;
    const int lane = threadIdx.x % 32;
    const i64 begin = (i64(blockIdx.x) * (BLOCK / 32) + threadIdx.x / 32) * every * LOOK;
    if (begin >= arcs) return;
    const i64 end = begin + LOOK < arcs ? begin + LOOK : arcs;
    for (int i = lane; i < n_blocks; i += 32) last[i] = NO_ID;
    __syncwarp();
    const i64 first_row = row_of(indptr, 0, rows - 1, begin), last_row = row_of(indptr, first_row, rows - 1, end - 1);
    u32 pairs = 0;
    for (i64 base = begin; base < end; base += 32) {
        const i64 e = base + lane;
        const bool live = e < end;
        const u32 its_row = live ? u32(row_of(indptr, first_row, last_row, e)) : NO_ID;
        const u32 natural = live ? u32(column[e]) : NO_ID;
        const u32 block = live ? (rank ? rank[natural] : natural) >> shift : NO_ID;
        const u32 peers = __match_any_sync(ALL, block), below = peers & ((1u << lane) - 1u);
        const u32 before = __shfl_sync(ALL, its_row, below ? 31 - __clz(below) : lane);
        if (live) pairs += below ? before != its_row : last[block] != its_row;
        __syncwarp();
        if (live && peers >> lane == 1u) last[block] = its_row;
        __syncwarp();
    }
    pairs = warp_sum(pairs);
    if (lane == 0) atomicAdd(tally, u64(pairs));
}

// Arcs of each block in each piece.
template <class I>
__global__ void __launch_bounds__(PLACERS) count_blocks(const I* column, const u32* rank, i64 arcs, i64 pieces,
                                                        int n_blocks, int shift, u32* counts) {
    extern __shared__ u32 shared[];
    for (int i = threadIdx.x; i < n_blocks; i += PLACERS) shared[i] = 0;
    __syncthreads();
    const i64 begin = i64(blockIdx.x) * PORTION;
#pragma unroll 4
    for (int i = threadIdx.x; i < PORTION; i += PLACERS) {
        const bool live = begin + i < arcs;
        const u32 natural = live ? u32(stream(column + begin + i)) : 0;
        const u32 block = (rank ? rank[natural] : natural) >> shift;
        // With hot columns first, most arcs are in the first block.
        const u32 first = __ballot_sync(ALL, live && block == 0);
        if (live && block) atomicAdd(shared + block, 1u);
        else if (first && threadIdx.x % 32 == __ffs(first) - 1) atomicAdd(shared, u32(__popc(first)));
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n_blocks; i += PLACERS) counts[i * pieces + blockIdx.x] = shared[i];
}

// Shared memory of a block that places arcs; the host computes the same size.
struct Placing {
    u32* stage;   // buffer of PORTION values
    u16* from;    // arc of the piece at each position of the new order
    u16* block;   // its block
    u32* base;    // of each block: its start in memory minus its start here
    u16* next;    // of each warp and block: position of its next arc

    __device__ Placing(u32* memory, int n_blocks)
        : stage(memory), from(reinterpret_cast<u16*>(stage + PORTION)), block(from + PORTION),
          base(reinterpret_cast<u32*>(block + PORTION)), next(reinterpret_cast<u16*>(base + n_blocks)) {}
};

// Scatters one value per arc: `get(i)` reads that of arc i of the piece, `put` writes to a position in memory.
template <class Get, class Put>
__device__ void place_values(const Placing& placing, int arcs, Get get, Put put) {
    __syncthreads();
#pragma unroll 4
    for (int i = threadIdx.x; i < arcs; i += PLACERS) placing.stage[i] = get(i);
    __syncthreads();
#pragma unroll 4
    for (int i = threadIdx.x; i < arcs; i += PLACERS)
        put(placing.base[placing.block[i]] + i, placing.stage[placing.from[i]]);
}

// Scatters arcs with their rows and weights. `offsets`: start of each block's arcs of each piece.
template <class I, class W>
__global__ void __launch_bounds__(PLACERS)
place_arcs(const I* column, const I* row, const W* weight, const u32* rank, i64 arcs, i64 pieces, int n_blocks, int shift,
           const u32* offsets, u16* placed, u32* placed_row, W* placed_weight) {
    extern __shared__ u32 shared[];
    __shared__ u32 through[WARPS];
    const Placing placing(shared, n_blocks);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const i64 begin = i64(blockIdx.x) * PORTION;
    const int mine = int(arcs - begin < PORTION ? arcs - begin : PORTION);
    u16* const next = placing.next + warp * n_blocks;
    for (int i = threadIdx.x; i < WARPS * n_blocks; i += PLACERS) placing.next[i] = 0;
    // The renumbered columns are read twice: to count and to place.
    for (int i = threadIdx.x; i < mine; i += PLACERS) {
        const u32 natural = u32(stream(column + begin + i));
        placing.stage[i] = rank ? rank[natural] : natural;
    }
    __syncthreads();
    const int end = min(mine, (warp + 1) * SHARE);
    for (int at = warp * SHARE; at < end; at += 32) {
        const bool live = at + lane < end;
        const u32 block = live ? placing.stage[at + lane] >> shift : NO_ID;
        const u32 peers = __match_any_sync(ALL, block);
        if (live && peers >> lane == 1u) next[block] += u16(__popc(peers));
        __syncwarp();
    }
    __syncthreads();
    // Start of each block in the piece, and of each warp within it; one thread per block, in order.
    u32 before = 0;
    for (int first = 0; first < n_blocks; first += PLACERS) {
        const int b = first + threadIdx.x;
        u32 total = 0;
        if (b < n_blocks)
            for (int w = 0; w < WARPS; ++w) total += placing.next[w * n_blocks + b];
        const u32 inclusive = warp_prefix_sum(total);
        if (lane == 31) through[warp] = inclusive;
        __syncthreads();
        u32 start = before + inclusive - total;
        for (int w = 0; w < WARPS; ++w) {
            if (w < warp) start += through[w];
            before += through[w];
        }
        if (b < n_blocks) {
            placing.base[b] = offsets[i64(b) * pieces + blockIdx.x] - start;
            for (int w = 0; w < WARPS; ++w) {
                const u32 count = placing.next[w * n_blocks + b];
                placing.next[w * n_blocks + b] = u16(start);
                start += count;
            }
        }
        __syncthreads();
    }
    for (int at = warp * SHARE; at < end; at += 32) {
        const bool live = at + lane < end;
        const u32 block = live ? placing.stage[at + lane] >> shift : NO_ID;
        const u32 peers = __match_any_sync(ALL, block);
        const u32 place = live ? next[block] + __popc(peers & ((1u << lane) - 1u)) : 0;
        __syncwarp();
        if (live) {
            placing.from[place] = u16(at + lane);
            placing.block[place] = u16(block);
            if (peers >> lane == 1u) next[block] = u16(place + 1);
        }
        __syncwarp();
    }
    __syncthreads();
    // The columns are staged already.
    const u32 within = (1u << shift) - 1u;
#pragma unroll 4
    for (int i = threadIdx.x; i < mine; i += PLACERS)
        placed[placing.base[placing.block[i]] + i] = u16(placing.stage[placing.from[i]] & within);
    place_values(placing, mine, [&](int i) { return u32(stream(row + begin + i)); },
                 [&](u32 to, u32 value) { placed_row[to] = value; });
    if (!weight) return;
    if constexpr (sizeof(W) <= 4) {
        place_values(placing, mine, [&](int i) { return u32(stream(weight + begin + i)); },
                     [&](u32 to, u32 value) { placed_weight[to] = W(value); });
    } else {
        // Split into two 32-bit halves.
        const u32* halves = reinterpret_cast<const u32*>(weight);
        u32* placed_halves = reinterpret_cast<u32*>(placed_weight);
        for (int half = 0; half < 2; ++half)
            place_values(placing, mine, [&](int i) { return stream(halves + 2 * (begin + i) + half); },
                         [&](u32 to, u32 value) { placed_halves[2 * i64(to) + half] = value; });
    }
}

// Marks the last arc of each row in each block, and counts them by stretch; one warp a stretch.
__global__ void __launch_bounds__(BLOCK) mark_last(u16* placed, const u32* placed_row, const u32* block, i64 stretches,
                                                   u32* ends) {
    const int lane = threadIdx.x % 32;
    const i64 t = i64(blockIdx.x) * (BLOCK / 32) + threadIdx.x / 32;
    if (t >= stretches) return;
    // A block may fill its last stretch, and the next one begin with the same row.
    const bool closes = t + 1 == stretches || block[t + 1] != block[t];
    const i64 stop = (t + 1) * STRETCH;
    u32 found = 0;
#pragma unroll 4
    for (i64 e = t * STRETCH + lane; e < stop; e += 32) {
        const u32 row = placed_row[e];
        // Padding has no row: it ends the row before it.
        const bool ends_here = row != NO_ID && ((closes && e + 1 == stop) || placed_row[e + 1] != row);
        if (ends_here) placed[e] |= LAST;
        found += ends_here;
    }
    found = warp_sum(found);
    if (lane == 0) ends[t] = found;
}

// Row of each partial result: within its group, and global.
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

// First partial result of each group in each block. `starts`: first of each block.
__global__ void __launch_bounds__(BLOCK) bound_groups(const u32* whole, const u32* starts, i64 groups, i64 n_blocks,
                                                      u32* bounds) {
    const i64 i = i64(blockIdx.x) * BLOCK + threadIdx.x;
    if (i >= (groups + 1) * n_blocks) return;
    const i64 group = i / n_blocks, block = i % n_blocks;
    bounds[i] = lower_bound(whole, starts[block], starts[block + 1], u32(group * GROUP));
}

}  // namespace hpgraph
