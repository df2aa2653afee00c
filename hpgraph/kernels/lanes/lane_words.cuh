// The bits of a vertex, one a lane, in W words side by side; and what a superstep of all lanes comes to.
#pragma once
#include "load_balancing.cuh"

namespace hpgraph {

// Words that one load fetches.
template <int W>
constexpr int SLICE = W < 2 ? W : 2;

template <int S>
struct Slice {
    u64 word[S];

    __device__ bool any() const {
        u64 some = 0;
#pragma unroll
        for (int w = 0; w < S; ++w) some |= word[w];
        return some != 0;
    }
};

template <int S>
__device__ Slice<S> load_slice(const u64* from) {
    if constexpr (S == 2) {
        const ulonglong2 pair = *(const ulonglong2*)from;
        return {{pair.x, pair.y}};
    } else {
        return {{*from}};
    }
}

// The same past the first-level cache, where others of the grid may be writing.
template <int S>
__device__ Slice<S> load_shared_slice(const u64* from) {
    if constexpr (S == 2) {
        const ulonglong2 pair = __ldcg((const ulonglong2*)from);
        return {{pair.x, pair.y}};
    } else {
        return {{__ldcg(from)}};
    }
}

template <int S>
__device__ void store_slice(u64* to, const Slice<S>& slice) {
    if constexpr (S == 2) *(ulonglong2*)to = ulonglong2{slice.word[0], slice.word[1]};
    else *to = slice.word[0];
}

__device__ inline u32 warp_or(u32 bits) {
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(ALL, bits);
#else
    for (int d = 16; d; d >>= 1) bits |= __shfl_xor_sync(ALL, bits, d);
    return bits;
#endif
}

__device__ inline u64 warp_or(u64 bits) { return warp_or((u32)bits) | (u64)warp_or((u32)(bits >> 32)) << 32; }

// What one superstep leaves for the next: numbers that add up, lanes whose frontier is not empty, and the tails of lists.
struct LanesTally {
    u64 count;    // vertices of the joint frontier, or errands of a short one
    u64 arcs;     // that leave them
    u64 pairs;    // of a vertex and a lane, settled
    u64 sent;     // arcs that leave them, each as often as lanes will send along it
    u64 looked;   // neighbours that a pull looked at
    u64 waiting;  // vertices that some lane with a frontier has not reached; 0: nobody counted
    u64 live[8];
    u64 light, pieces, put_off;
};
constexpr int SUMS = 6;

// Supersteps whose messages may wait until the last is over.
constexpr int HISTORIES = 4;

struct LanesHeader {
    unsigned barrier;
    LanesTally tally[3];  // used in turn: one read, one filled, one cleared
    i64 histories;        // how many messages wait in
};

// What a thread has found in a superstep; see LanesTally.
template <int W>
struct LanesSums {
    u32 count = 0, pairs = 0, waiting = 0;
    u64 arcs = 0, sent = 0, looked = 0;
    u64 live[W] = {};

    __device__ void note(i64 degree) { ++count, arcs += degree; }
};

// Shared memory of a block, by which its warps go to the grid's memory together.
template <int W>
struct LanesBlock {
    static constexpr int BYTES = 24 * 1024;
    u64 of_warps[SUMS + W][WARPS];
    u64 base;
    u32 filled;
    __align__(16) char slots[BYTES];
};

// At the end of a superstep, by all threads of the block: what they have found goes to the tally.
template <int W>
__device__ void bring(LanesBlock<W>& block, const LanesSums<W>& sums, LanesTally* tally) {
    const int lane = lane_of_warp(), warp = threadIdx.x >> 5;
    const u64 mine[SUMS] = {sums.count, sums.arcs, sums.pairs, sums.sent, sums.looked, sums.waiting};
#pragma unroll
    for (int field = 0; field < SUMS; ++field) {
        const u64 sum = warp_sum(mine[field]);
        if (lane == 0) block.of_warps[field][warp] = sum;
    }
#pragma unroll
    for (int w = 0; w < W; ++w) {
        const u64 bits = warp_or(sums.live[w]);
        if (lane == 0) block.of_warps[SUMS + w][warp] = bits;
    }
    __syncthreads();
    for (int field = warp; field < SUMS + W; field += WARPS) {
        const u64 one = lane < WARPS ? block.of_warps[field][lane] : 0;
        const u64 all = field < SUMS ? warp_sum(one) : warp_or(one);
        if (lane == 0 && all) {
            if (field < SUMS) atomicAdd((u64*)tally + field, all);
            else atomicOr((u64*)tally + field, all);
        }
    }
}

// A list that grows by what a block finds: first in shared memory, and all at once at the end.
template <class Item, int W>
struct Appender {
    static constexpr u32 ROOM = LanesBlock<W>::BYTES / sizeof(Item);
    LanesBlock<W>& block;
    Item* list;
    u64* tail;

    // By the whole warp.
    __device__ void add(bool mine, const Item& item) {
        const u32 at = place_in_block(mine, block.filled);
        const bool fits = at < ROOM;
        if (mine && fits) ((Item*)block.slots)[at] = item;
        append(mine && !fits, item, list, tail);
    }

    // By all threads of the block.
    __device__ void finish() {
        __syncthreads();
        const u32 filled = min(block.filled, ROOM);
        if (threadIdx.x == 0 && filled) block.base = atomicAdd(tail, (u64)filled);
        __syncthreads();
        for (u32 i = threadIdx.x; i < filled; i += THREADS) list[block.base + i] = ((const Item*)block.slots)[i];
        if (threadIdx.x == 0) block.filled = 0;
    }
};

}  // namespace hpgraph
