// The frontier as a double-buffered queue: one is read, the other filled, and they swap roles at each superstep.
//
// The queue holds vertices of few arcs; one of more than PIECE arcs is divided into pieces, so that a hub of 200,000
// neighbours is shared by hundreds of warps (Enterprise, H. Liu and H. H. Huang, SC'15, sorts vertices into four
// classes to the same end). Each warp stages the vertices it finds in shared memory until there are 32.
#pragma once
#include "warp.cuh"

namespace hpgraph {

// One block on each multiprocessor: fewer threads have more registers each, and spill nothing. traversal.py chooses.
#ifndef HPGRAPH_THREADS
#define HPGRAPH_THREADS 640
#endif
constexpr int THREADS = HPGRAPH_THREADS;
constexpr int WARPS = THREADS / 32;

// Set by techniques.py. Without pieces the degree limit is such that a warp's sum of 32 degrees fits an int.
template <bool pieces = true, bool early_exit = true, bool refill = true, int arcs_at_once = 2, bool short_queues = true>
struct Techniques {
    static constexpr int PIECE = pieces ? 256 : 1 << 25;
    static constexpr bool EARLY_EXIT = early_exit, REFILL = refill, SHORT_QUEUES = short_queues;
    static constexpr int BATCH = arcs_at_once;
};

template <class Index, class Weight>
struct Arcs {
    const i64* indptr;
    const Index* indices;
    const Weight* data;
    __device__ Weight weight(i64 j) const { return data[j]; }
};

// Arcs without stored weights, which are 1.
struct Pattern {
    int unused;
};
template <class Index>
struct Arcs<Index, Pattern> {
    const i64* indptr;
    const Index* indices;
    const Pattern* data;
    __device__ int weight(i64) const { return 1; }
};

template <class Index>
struct Piece {
    Index vertex;
    int number;
};

// Initially active vertices; a single one is stored inline.
template <class Index>
struct Sources {
    const Index* list;
    i64 count;
    Index single;
    __device__ Index operator[](i64 i) const { return list ? list[i] : single; }
};

// Tally of a superstep: vertices reached, their out-arcs, arcs examined, the tails of the two lists, and the tail of
// the pieces that a pull has deferred.
struct Tally {
    u64 count, arcs, looked, light, pieces, put_off;
};

template <class Index>
struct Frontier {
    Index* light;
    Piece<Index>* pieces;
};

// Double buffer: one is read and one written, and they swap roles at each superstep. Selected at every use, as kernel
// parameters need no registers, and swapped pointers would.
template <class Kind>
__device__ const Kind& of_two(const Kind& first, const Kind& second, bool turned) {
    return turned ? second : first;
}

// Inclusive prefix sum of the lanes' amounts, for load balancing of items over the lanes.
struct WarpScan {
    int through, total;  // amounts of the lanes up to this one, and of all

    __device__ explicit WarpScan(int amount)
        : through(warp_prefix_sum(amount)), total(__shfl_sync(ALL, through, 31)) {}

    // The lane that item t belongs to; any lane if t is past the last item. Warp-collective.
    __device__ int owner(int t) const {
        int lane = 0;
        for (int d = 16; d; d >>= 1)
            if (__shfl_sync(ALL, through, lane + d - 1) <= t) lane += d;
        return lane & 31;
    }
};

// Append the pieces of each lane's vertex; warp-collective, with one atomic. Not inlined: it is rarely called, from
// many places.
template <class Index, class Counter>
__device__ __noinline__ void append_some_pieces(Index v, int pieces, Piece<Index>* list, Counter* tail) {
    const WarpScan scan(pieces);
    const Counter base = warp_fetch_add(tail, (Counter)scan.total);
    for (u32 heavy = __ballot_sync(ALL, pieces); heavy; heavy &= heavy - 1) {
        const int owner = __ffs(heavy) - 1;
        const Index vertex = __shfl_sync(ALL, v, owner);
        const int end = __shfl_sync(ALL, scan.through, owner), count = __shfl_sync(ALL, pieces, owner);
        for (int number = lane_of_warp(); number < count; number += 32)
            list[base + (end - count + number)] = Piece<Index>{vertex, number};
    }
}

template <class T, class Index, class Counter>
__device__ void append_pieces(Index v, i64 degree, Piece<Index>* list, Counter* tail) {
    const int pieces = degree > T::PIECE ? (int)((degree + T::PIECE - 1) / T::PIECE) : 0;
    if (__any_sync(ALL, pieces)) append_some_pieces(v, pieces, list, tail);
}

// Stage of a warp in shared memory: items are passed on when all lanes have one.
template <class Item>
struct Stage {
    Item* slots;  // 64 of them, this warp's own
    int filled;

    __device__ explicit Stage(Item* shared) : slots(shared + (threadIdx.x >> 5) * 64), filled(0) {}

    // Warp-collective, as is take(mine, item), which is called for 32 items.
    template <class Take>
    __device__ void add(bool mine, const Item& item, Take take) {
        const u32 votes = __ballot_sync(ALL, mine);
        if (!votes) return;
        if (mine) slots[filled + __popc(votes & lanes_below())] = item;
        filled += __popc(votes);
        if (filled < 32) return;
        __syncwarp();
        filled -= 32;
        const Item one = slots[filled + lane_of_warp()];
        __syncwarp();
        take(true, one);
    }

    // The items left over: whether this lane has one, and which.
    __device__ bool rest(Item& item) {
        __syncwarp();
        const bool mine = lane_of_warp() < filled;
        if (mine) item = slots[lane_of_warp()];
        filled = 0;
        __syncwarp();
        return mine;
    }
};

// Sums of a block's warps at the end of a superstep, for one update of the grid's tally.
struct BlockSums {
    u64 of_warps[3][WARPS];  // the first three fields of a Tally
    u32 wanted[2];           // room in the queue, and in one list more
    u64 base[2];

    // Collective over the block.
    __device__ void clear() {
        if (threadIdx.x == 0) wanted[0] = wanted[1] = 0;
        __syncthreads();
    }
};

// Reserve a place in the block's batch; warp-collective.
__device__ inline u32 place_in_block(bool mine, u32& wanted) {
    const u32 votes = __ballot_sync(ALL, mine);
    return votes ? warp_fetch_add(&wanted, (u32)__popc(votes)) + __popc(votes & lanes_below()) : 0;
}

// The next superstep's queue.
template <class T, class Index>
struct Collector {
    const i64* indptr;
    Frontier<Index> next;
    Tally* tally;
    u64 arcs;
    u32 count;  // of this thread, so that 32 bits suffice

    __device__ Collector(const i64* indptr, Frontier<Index> next, Tally* tally)
        : indptr(indptr), next(next), tally(tally), arcs(0), count(0) {}

    // Count a vertex of `degree` arcs without queueing it.
    __device__ void note(i64 degree) {
        ++count;
        arcs += degree;
    }

    // The same if `mine`; returns its arcs, or 0.
    __device__ i64 note(bool mine, i64 degree) {
        if (!mine) return 0;
        note(degree);
        return degree;
    }

    // Append vertex v if `mine`, and return its degree; warp-collective.
    __device__ i64 add(bool mine, Index v) {
        const i64 degree = noted(mine, v);
        add_row(v, degree);
        return degree;
    }

    // The same for a vertex whose degree is already counted; 0 if there is none.
    __device__ void add_row(Index v, i64 degree) {
        append(degree > 0 && degree <= T::PIECE, v, next.light, &tally->light);
        append_pieces<T>(v, degree, next.pieces, &tally->pieces);
    }

    // At the end of a superstep, collective over the block: append the remaining vertices of the queue and of another
    // list, and add the sums to the tally.
    __device__ void finish(BlockSums& sums, bool mine, Index v, bool other = false, Index w = 0,
                           Index* others = nullptr, u64* tail = nullptr) {
        finish_row(sums, v, noted(mine, v), other, w, others, tail);
    }
    __device__ void finish_row(BlockSums& sums, Index v, i64 degree, bool other = false, Index w = 0,
                               Index* others = nullptr, u64* tail = nullptr) {
        append_pieces<T>(v, degree, next.pieces, &tally->pieces);
        const bool light = degree > 0 && degree <= T::PIECE;
        const u32 at = place_in_block(light, sums.wanted[0]), other_at = others ? place_in_block(other, sums.wanted[1]) : 0;
        bring<false>(sums, 0, tail);
        if (light) next.light[sums.base[0] + at] = v;
        if (other) others[sums.base[1] + other_at] = w;
    }

    // The same for vertices of any degree, which are not counted.
    __device__ void finish_list(BlockSums& sums, bool mine, Index v) {
        const u32 at = place_in_block(mine, sums.wanted[0]);
        bring<false>(sums, 0, nullptr);
        if (mine) next.light[sums.base[0] + at] = v;
    }

    // The same after a pull, which leaves a bitmap and no queue.
    __device__ void finish_pull(BlockSums& sums, u64 looked) { bring<true>(sums, looked, nullptr); }

private:
    // Update all words of the tally by one instruction, a lane each: a single memory request.
    template <bool pulled>
    __device__ void bring(BlockSums& sums, u64 looked, u64* tail) {
        constexpr int COUNT = 0, ARCS = 1, LOOKED = 2, LIGHT = 3, OTHERS = 4;
        const auto each = [&](auto take) {
            take(COUNT, count), take(ARCS, arcs);
            if (pulled) take(LOOKED, looked);
        };
        const int lane = lane_of_warp();
        each([&](int field, u64 mine) {
            const u64 sum = warp_sum(mine);
            if (lane == 0) sums.of_warps[field][threadIdx.x >> 5] = sum;
        });
        __syncthreads();
        if (threadIdx.x < 32) {
            u64 value = 0, base = 0;
            each([&](int field, u64) {
                const u64 sum = warp_sum(lane < WARPS ? sums.of_warps[field][lane] : 0);
                if (lane == field) value = sum;
            });
            if (!pulled && (lane == LIGHT || lane == OTHERS)) value = sums.wanted[lane - LIGHT];
            u64* const where = lane == OTHERS ? tail : (u64*)tally + lane;
            if (value) base = atomicAdd(where, value);
            if (!pulled && (lane == LIGHT || lane == OTHERS))
                sums.base[lane - LIGHT] = base, sums.wanted[lane - LIGHT] = 0;
        }
        __syncthreads();
    }

    __device__ i64 noted(bool mine, Index v) { return note(mine, mine ? indptr[v + 1] - indptr[v] : 0); }
};

// Append the vertices of the threads with `mine`; collective over the block: thousands of warps that end at once would
// contend for the tail.
template <class Index>
__device__ void append_of_block(BlockSums& sums, bool mine, Index v, Index* list, u64* tail) {
    const u32 at = place_in_block(mine, sums.wanted[1]);
    __syncthreads();
    if (threadIdx.x == 0) {
        if (sums.wanted[1]) sums.base[1] = atomicAdd(tail, (u64)sums.wanted[1]);
        sums.wanted[1] = 0;
    }
    __syncthreads();
    if (mine) list[sums.base[1] + at] = v;
}

}  // namespace hpgraph
