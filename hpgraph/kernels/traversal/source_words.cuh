// The bits of a vertex, one per source, in one word or two consecutive ones; and the tally of a superstep. One load
// fetches two words: more sources would take more loads, and their bits exceed the second-level cache.
#pragma once
#include "load_balancing.cuh"
#include "warp.cuh"

namespace hpgraph {

template <int W>
struct Bits {
    u64 word[W];

    __device__ bool any() const {
        u64 some = word[0];
        if (W == 2) some |= word[W - 1];
        return some != 0;
    }
    // Set difference.
    __device__ Bits without(const Bits& others) const {
        Bits rest;
#pragma unroll
        for (int w = 0; w < W; ++w) rest.word[w] = word[w] & ~others.word[w];
        return rest;
    }
    __device__ void add(const Bits& others) {
#pragma unroll
        for (int w = 0; w < W; ++w) word[w] |= others.word[w];
    }
    __device__ void keep(const Bits& others) {
#pragma unroll
        for (int w = 0; w < W; ++w) word[w] &= others.word[w];
    }
};

// The bits of vertex v, in one load.
template <int W>
__device__ Bits<W> load_bits(const u64* bits, i64 v) {
    if constexpr (W == 2) {
        const ulonglong2 pair = ((const ulonglong2*)bits)[v];
        return {{pair.x, pair.y}};
    } else {
        return {{bits[v]}};
    }
}

// The same past the first-level cache, if other blocks may be writing.
template <int W>
__device__ Bits<W> load_shared_bits(const u64* bits, i64 v) {
    if constexpr (W == 2) {
        const ulonglong2 pair = __ldcg((const ulonglong2*)bits + v);
        return {{pair.x, pair.y}};
    } else {
        return {{__ldcg(bits + v)}};
    }
}

template <int W>
__device__ void store_bits(u64* bits, i64 v, const Bits<W>& some) {
    if constexpr (W == 2) ((ulonglong2*)bits)[v] = ulonglong2{some.word[0], some.word[1]};
    else bits[v] = some.word[0];
}

// Tally of a superstep: sums, bits of the sources whose frontier is not empty, and the tails of lists.
struct MultiSourceTally {
    u64 count;    // vertices of the joint frontier, or entries of a sparse one
    u64 arcs;     // their out-arcs
    u64 pairs;    // of a vertex and a source, settled
    u64 looked;   // arcs that a pull examined
    u64 live[2];
    u64 light, pieces, put_off;
};
constexpr int SUMS = 4;

// Supersteps whose messages may be deferred to the end.
constexpr int HISTORIES = 4;

// A separate search, see separate_searches.cuh.
constexpr int MAX_SOURCES = 128;
constexpr i64 NOT_PARKED = 1ll << 62;
struct SeparateSearch {
    u64 arcs, count;  // of its frontier
    i64 parked;       // the superstep after which it was parked, or NOT_PARKED
};

struct MultiSourceHeader {
    unsigned barrier;
    MultiSourceTally tally[3];          // used in rotation: one read, one filled, one cleared
    i64 histories;                // number of histories in use
    SeparateSearch searches[MAX_SOURCES];
    i64 step;                     // the last superstep of any separate search
    u64 left;                     // vertices left active by separate searches
};

// A thread's sums of a superstep; see MultiSourceTally.
template <int W>
struct SourceSums {
    u32 count = 0, pairs = 0;
    u64 arcs = 0, looked = 0;
    u64 live[W] = {};

    __device__ void note(i64 degree) { ++count, arcs += degree; }
};

// Shared memory in which a block aggregates sums and list items before global atomics.
template <int W>
struct SourceBlock {
    static constexpr int BYTES = 40 * 1024;
    u64 of_warps[SUMS + W][WARPS];
    u64 base;
    u32 filled;
    __align__(16) char slots[BYTES];
};

// Add the block's sums to the tally at the end of a superstep; collective over the block. Not inlined, as it is called in
// several places, once a superstep.
template <int W>
__device__ __noinline__ void flush_sums(SourceBlock<W>& block, SourceSums<W> sums, MultiSourceTally* tally) {
    const int lane = lane_of_warp(), warp = threadIdx.x >> 5;
    const u64 mine[SUMS] = {sums.count, sums.arcs, sums.pairs, sums.looked};
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

// Appends items to a list, staged in shared memory until the end.
template <class Item, int W>
struct Appender {
    static constexpr u32 ROOM = SourceBlock<W>::BYTES / sizeof(Item);
    SourceBlock<W>& block;
    Item* list;
    u64* tail;

    // Warp-collective.
    __device__ void add(bool mine, const Item& item) {
        const u32 at = place_in_block(mine, block.filled);
        const bool fits = at < ROOM;
        if (mine && fits) ((Item*)block.slots)[at] = item;
        append(mine && !fits, item, list, tail);
    }

    // Several items per lane; warp-collective.
    template <int size>
    __device__ void add(const bool (&mine)[size], const Item (&items)[size]) {
        u32 votes[size], all = 0, base = 0;
#pragma unroll
        for (int k = 0; k < size; ++k) votes[k] = __ballot_sync(ALL, mine[k]), all += __popc(votes[k]);
        if (!all) return;
        if (lane_of_warp() == 0) base = atomicAdd(&block.filled, all);
        base = __shfl_sync(ALL, base, 0);
        if (base + all <= ROOM) {
#pragma unroll
            for (int k = 0; k < size; ++k) {
                if (mine[k]) ((Item*)block.slots)[base + __popc(votes[k] & lanes_below())] = items[k];
                base += __popc(votes[k]);
            }
            return;
        }
        // Items that exceed the stage are appended at once; the stage is filled up all the same.
        u64 far = 0;
        if (lane_of_warp() == 0) far = atomicAdd(tail, (u64)(base + all - max(base, ROOM)));
        far = __shfl_sync(ALL, far, 0);
#pragma unroll
        for (int k = 0; k < size; ++k) {
            const u32 at = base + __popc(votes[k] & lanes_below());
            if (mine[k] && at < ROOM) ((Item*)block.slots)[at] = items[k];
            if (mine[k] && at >= ROOM) list[far + (at - max(base, ROOM))] = items[k];
            const u32 after = base + __popc(votes[k]);
            far += max(after, ROOM) - max(base, ROOM);
            base = after;
        }
    }

    // Collective over the block.
    __device__ void finish() {
        __syncthreads();
        const u32 filled = min(block.filled, ROOM);
        if (threadIdx.x == 0 && filled) block.base = atomicAdd(tail, (u64)filled);
        __syncthreads();
#pragma unroll 1
        for (u32 i = threadIdx.x; i < filled; i += THREADS) list[block.base + i] = ((const Item*)block.slots)[i];
        if (threadIdx.x == 0) block.filled = 0;
    }
};

}  // namespace hpgraph
