// Supersteps of small frontiers on one block, while the other blocks wait at a barrier.
//
// A grid barrier and the chain of loads around it cost about 4 microseconds; a barrier of one block costs 40
// nanoseconds. A road network has thousands of supersteps with frontiers of a few hundred vertices, so its queue is
// kept in the shared memory of the first block until it is too large (the fusion of SIMD-X, applied to a block).
#pragma once
#include "load_balancing.cuh"

namespace hpgraph {

// Capacity of the local queue; further vertices go to the queue in global memory.
template <class Index>
constexpr u32 ROOM = sizeof(Index) == 4 ? 1536 : 512;

// Arcs of a thin frontier, for which the host's CPU is faster than one chain of loads here.
constexpr u64 THIN = 64;

// Limits to the supersteps of one block: vertices that fit the local queue, none of them heavy.
struct LocalLimits {
    i64 vertices, arcs;
    i64 patience;   // thin supersteps after which the search should continue on the host
    int may_leave;  // whether the host waits to take over; if not, only `to_host` is written, for the next search
    // In the host's memory: whether a search was thin; mean arcs of a superstep of the last relaxation, or of the last
    // traversal of several GPUs; supersteps of the last traversal.
    i64* to_host;

    template <class Index, class AnyTally>
    __device__ bool hold(const AnyTally& now) const {
        return (i64)now.count <= vertices && (i64)now.count <= ROOM<Index> && (i64)now.arcs <= arcs && now.pieces == 0;
    }

    // Whether the host takes over, after `thin_ones` thin supersteps: a reference, so that it is loaded only if needed.
    template <class AnyTally>
    __device__ bool leave(const AnyTally& now, const i64& thin_ones) const {
        return may_leave && thin_ones >= patience && now.light && now.arcs <= THIN && now.pieces == 0;
    }

    // At the end, by one thread.
    __device__ void report(i64 thin_ones) const {
        if (thin_ones >= patience) to_host[0] = 1;
    }
    __device__ void report(i64 thin_ones, i64 supersteps, i64 sent) const {
        report(thin_ones);
        // A float division, since a 64-bit integer division is a function call.
        if (supersteps) to_host[1] = (i64)__fdividef((float)sent, (float)supersteps);
    }
};

struct LocalTally {
    u64 arcs;
    u32 count, light, pieces;
};

// Result of the block's supersteps for the grid.
struct LocalReturn {
    Tally tally;
    i64 step, previous, sent, reached;  // the last two: arcs and vertices of the frontiers after the first
    i64 thin;                  // thin supersteps so far
};

// Zero at launch.
struct Header {
    unsigned barrier;
    Tally tally[3];        // used in rotation: one read, one filled, one cleared
    u64 far_tail[2];       // of the far pile, and of what a split keeps of it
    u64 repeated[2];       // a double buffer: arcs relaxed repeatedly in a bucket
    u64 received_tail[2];  // a double buffer: tail of the list of receivers
    LocalReturn local;
};

template <class Index>
struct LocalQueue {
    LocalTally tallies[3];  // one read, one filled, one cleared
    Index slots[2][ROOM<Index>];
};

template <class T, class Index>
struct LocalCollector {
    Index* slots;
    LocalTally* tally;
    const i64* indptr;
    Frontier<Index> overflow;

    // Append vertex v if `mine`, and return its degree; warp-collective.
    __device__ i64 add(bool mine, Index v) {
        const u32 votes = __ballot_sync(ALL, mine);
        if (!votes) return 0;
        const i64 degree = mine ? indptr[v + 1] - indptr[v] : 0;
        const u64 arcs = warp_sum((u64)degree);
        const u32 light = __ballot_sync(ALL, degree > 0 && degree <= T::PIECE);
        u32 base = 0;
        if (lane_of_warp() == 0) {
            base = atomicAdd(&tally->light, __popc(light));
            atomicAdd(&tally->count, __popc(votes));
            atomicAdd(&tally->arcs, arcs);
        }
        base = __shfl_sync(ALL, base, 0) + __popc(light & lanes_below());
        // Two statements: the compiler once lost the state space of a pointer to either shared or global memory.
        const bool mine_is_light = light >> lane_of_warp() & 1;
        if (mine_is_light && base < ROOM<Index>) slots[base] = v;
        if (mine_is_light && base >= ROOM<Index>) overflow.light[base] = v;
        append_pieces<T>(v, degree, overflow.pieces, &tally->pieces);
        return degree;
    }
};

// By the first block only: run supersteps while the frontier stays small and `goes_on` is true.
//
// `push(batch, found, step)` sends the messages along a batch of arcs, and adds new vertices to `found` at once,
// without staging: latency counts here, not full warps. `after(slots, tally, step)` is called by all threads between
// two supersteps. At the end `following` holds the queue.
template <class T, class Index, class Push, class After, class GoesOn>
__device__ void run_local(LocalQueue<Index>& local, LocalLimits limits, const i64* indptr,
                          Frontier<Index> queue, Frontier<Index> following, const Tally& now, i64 step, i64 thin,
                          LocalReturn* result, Push push, After after, GoesOn goes_on) {
    if (threadIdx.x == 0) {
        local.tallies[0] = LocalTally{now.arcs, (u32)now.count, (u32)now.light, 0};
        local.tallies[1] = LocalTally{0, 0, 0, 0};
    }
    for (u32 i = threadIdx.x; i < now.light; i += THREADS) local.slots[0][i] = queue.light[i];
    __syncthreads();
    i64 previous = now.count, sent = 0, reached = 0;
    int level = 0;
    while (true) {
        const LocalTally here = local.tallies[level % 3];
        // The first superstep always runs: the grid has decided so.
        if (level && (here.count == 0 || !limits.hold<Index>(here) || limits.leave(here, thin) || !goes_on(here, step)))
            break;
        if (threadIdx.x == 0) local.tallies[(level + 2) % 3] = LocalTally{0, 0, 0, 0};
        const Index* slots = local.slots[level & 1];
        LocalCollector<T, Index> found{local.slots[(level + 1) & 1], &local.tallies[(level + 1) % 3], indptr, following};
        previous = here.count;
        if (level) sent += here.arcs, reached += here.count;
        thin += here.arcs <= THIN;
        ++step;
        for_each_arc_of_few<T::BATCH, Index>(here.light, here.arcs, threadIdx.x, THREADS, [&](u32 i) {
            const Index u = slots[i];
            const i64 start = indptr[u];
            return Row<Index>{u, start, (int)(indptr[u + 1] - start)};
        }, [&](const Batch<Index, T::BATCH>& batch) { push(batch, found, step); });
        after(slots, here, step);
        __syncthreads();
        ++level;
    }
    const LocalTally left = local.tallies[level % 3];
    for (u32 i = threadIdx.x; i < left.light && i < ROOM<Index>; i += THREADS)
        following.light[i] = local.slots[level & 1][i];
    if (threadIdx.x == 0)
        *result = LocalReturn{Tally{left.count, left.arcs, 0, left.light, left.pieces, 0}, step, previous, sent,
                              reached, thin};
}

}  // namespace hpgraph
