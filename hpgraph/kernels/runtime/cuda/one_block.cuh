// Frontiers so small that one block does whole supersteps alone, while the others wait at one barrier.
//
// A barrier of the grid and the chain of loads around it cost some 4 microseconds; a barrier of one block costs 40
// nanoseconds. A road network spends thousands of supersteps on frontiers of a few hundred vertices, so its queue lives
// in the shared memory of the first block until it outgrows it (the idea of SIMD-X's fusion, carried to a block).
#pragma once
#include "load_balancing.cuh"

namespace hpgraph {

// Places for the vertices of a superstep; more of them go to the queue in memory.
template <class Index>
constexpr u32 ROOM = sizeof(Index) == 4 ? 1536 : 512;

// Arcs of a frontier so thin that a processor of the host is done with it before a chain of loads ends here.
constexpr u64 THIN = 64;

// What a block takes on: no more vertices than there are places, none of them heavy.
struct LocalLimits {
    i64 vertices, arcs;
    i64 patience;   // thin supersteps, after which what is left is better done on the host
    int may_leave;  // whether the host waits to take over; if not, it is told for the next time
    i64* told;      // in the host's memory: whether a search was thin; arcs a superstep of the last one in the mean

    template <class Index, class AnyTally>
    __device__ bool hold(const AnyTally& now) const {
        return (i64)now.count <= vertices && (i64)now.count <= ROOM<Index> && (i64)now.arcs <= arcs && now.pieces == 0;
    }

    // Whether to leave a frontier to the host, after so many thin supersteps: a reference, so that the number is loaded
    // only where it matters.
    template <class AnyTally>
    __device__ bool leave(const AnyTally& now, const i64& thin_ones) const {
        return may_leave && thin_ones >= patience && now.light && now.arcs <= THIN && now.pieces == 0;
    }

    // At the end, by one thread.
    __device__ void tell(i64 thin_ones) const {
        if (thin_ones >= patience) told[0] = 1;
    }
    __device__ void tell(i64 thin_ones, i64 supersteps, i64 sent) const {
        tell(thin_ones);
        // A quotient of floats, as that of 64-bit integers is a function with a frame of its own.
        if (supersteps) told[1] = (i64)__fdividef((float)sent, (float)supersteps);
    }
};

struct LocalTally {
    u64 arcs;
    u32 count, light, pieces;
};

// What the block leaves for the grid.
struct LocalReturn {
    Tally tally;
    i64 step, previous, sent;  // arcs sent along, those of `now` not counted
    i64 thin;                  // thin supersteps so far
};

// What a launch finds zeroed.
struct Header {
    unsigned barrier;
    Tally tally[3];        // used in turn: one read, one filled, one cleared
    u64 far_tail[2];       // of the far pile, and of what a split keeps of it
    u64 repeated[2];       // used in turn: arcs that vertices sent along again in a bucket
    u64 received_tail[2];  // used in turn: of the list of who received
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

    // All lanes of the warp come here together; `mine` says whether this lane brings vertex v, whose degree is returned.
    __device__ i64 add(bool mine, Index v) {
        const u32 brought = __ballot_sync(ALL, mine);
        if (!brought) return 0;
        const i64 degree = mine ? indptr[v + 1] - indptr[v] : 0;
        const u64 arcs = warp_sum((u64)degree);
        const u32 light = __ballot_sync(ALL, degree > 0 && degree <= T::PIECE);
        u32 base = 0;
        if (lane_of_warp() == 0) {
            base = atomicAdd(&tally->light, __popc(light));
            atomicAdd(&tally->count, __popc(brought));
            atomicAdd(&tally->arcs, arcs);
        }
        base = __shfl_sync(ALL, base, 0) + __popc(light & lanes_below());
        // Two statements: of a pointer that is either to shared memory or to global, the compiler once lost which it was.
        const bool mine_is_light = light >> lane_of_warp() & 1;
        if (mine_is_light && base < ROOM<Index>) slots[base] = v;
        if (mine_is_light && base >= ROOM<Index>) overflow.light[base] = v;
        append_pieces<T>(v, degree, overflow.pieces, &tally->pieces);
        return degree;
    }
};

// By the first block alone: superstep after superstep while the frontier stays small and `goes_on` agrees.
//
// `push(batch, found, step)` sends the messages along a batch of arcs, and brings whom it finds at once: what counts here
// is a short chain, not full warps. `after(slots, tally, step)` is called by all threads between two
// supersteps. What is queued in the end lies in `following`.
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
    i64 previous = now.count, sent = 0;
    int level = 0;
    while (true) {
        const LocalTally here = local.tallies[level % 3];
        // The first superstep is always taken: the grid has decided on it.
        if (level && (here.count == 0 || !limits.hold<Index>(here) || limits.leave(here, thin) || !goes_on(here, step)))
            break;
        if (threadIdx.x == 0) local.tallies[(level + 2) % 3] = LocalTally{0, 0, 0, 0};
        const Index* slots = local.slots[level & 1];
        LocalCollector<T, Index> found{local.slots[(level + 1) & 1], &local.tallies[(level + 1) % 3], indptr, following};
        previous = here.count;
        if (level) sent += here.arcs;
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
        *result = LocalReturn{Tally{left.count, left.arcs, 0, left.light, left.pieces, 0}, step, previous, sent, thin};
}

}  // namespace hpgraph
