// Frontiers so small that one block does whole supersteps alone, while the others wait at one barrier.
//
// A barrier of the grid and the chain of loads around it cost some 7 microseconds; a barrier of one block costs 40
// nanoseconds. A road network spends thousands of supersteps on frontiers of a few hundred vertices, so its queue lives
// in the shared memory of the first block until it outgrows it (the idea of SIMD-X's fusion, carried to a block).
#pragma once
#include "frontier.cuh"

namespace hpgraph {

// Vertices a block takes on, and places for those it finds; more of them go to the queue in memory.
constexpr u64 LOCAL = 512;
template <class Index>
constexpr u32 ROOM = 16384 / sizeof(Index);

struct LocalTally {
    u64 arcs;
    u32 count, light, pieces;
};

// What the block leaves for the grid.
struct LocalReturn {
    Tally tally;
    i64 step, previous;
};

template <class Index>
struct LocalQueue {
    LocalTally tallies[3];  // one read, one filled, one cleared
    Index slots[2][ROOM<Index>];
};

template <class Index>
struct LocalCollector {
    Index* slots;
    LocalTally* tally;
    const i64* indptr;
    Frontier<Index> overflow;

    // All lanes of the warp come here together; `mine` says whether this lane brings vertex v.
    __device__ void add(bool mine, Index v) {
        const u32 brought = __ballot_sync(ALL, mine);
        if (!brought) return;
        const int lane = threadIdx.x & 31;
        const i64 degree = mine ? indptr[v + 1] - indptr[v] : 0;
        const u64 arcs = warp_sum(degree);
        const u32 light = __ballot_sync(ALL, degree > 0 && degree <= PIECE);
        u32 base = 0;
        if (lane == 0) {
            atomicAdd(&tally->count, __popc(brought));
            atomicAdd(&tally->arcs, arcs);
            base = atomicAdd(&tally->light, __popc(light));
        }
        base = __shfl_sync(ALL, base, 0) + __popc(light & ((1u << lane) - 1));
        if (light >> lane & 1) (base < ROOM<Index> ? slots : overflow.light)[base] = v;
        append_pieces(v, degree, overflow.pieces, &tally->pieces);
    }
};

__device__ inline bool is_local(const Tally& now) { return now.count <= LOCAL && now.pieces == 0; }

// By the first block alone: superstep after superstep while the frontier stays small and `goes_on` agrees.
//
// `push(vertex, start, degree, found, step)` sends the messages of a warp's 32 vertices; `after(level, step, tally)` is
// called by all threads between two supersteps. What is queued in the end lies in `following`.
template <class Index, class Push, class After, class GoesOn>
__device__ void run_local(LocalQueue<Index>& local, const i64* indptr, Frontier<Index> queue, Frontier<Index> following,
                          const Tally& now, i64 step, LocalReturn* result, Push push, After after, GoesOn goes_on) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (threadIdx.x == 0) {
        local.tallies[0] = LocalTally{now.arcs, (u32)now.count, (u32)now.light, 0};
        local.tallies[1] = LocalTally{0, 0, 0, 0};
    }
    for (u32 i = threadIdx.x; i < now.light; i += THREADS) local.slots[0][i] = queue.light[i];
    __syncthreads();
    i64 previous = now.count;
    int level = 0;
    while (true) {
        const LocalTally here = local.tallies[level % 3];
        // The first superstep is always taken: the grid has decided on it.
        if (level && (here.count == 0 || here.count > LOCAL || here.pieces || !goes_on(here, step))) break;
        if (threadIdx.x == 0) local.tallies[(level + 2) % 3] = LocalTally{0, 0, 0, 0};
        const Index* slots = local.slots[level & 1];
        LocalCollector<Index> found{local.slots[(level + 1) & 1], &local.tallies[(level + 1) % 3], indptr, following};
        previous = here.count;
        ++step;
        const u32 share = min(32u, (here.light + WARPS - 1) / WARPS);
        for (u32 base = warp * share; base < here.light; base += WARPS * share) {
            const bool has = lane < share && base + lane < here.light;
            const Index u = has ? slots[base + lane] : 0;
            const i64 start = has ? indptr[u] : 0;
            push(u, start, has ? (int)(indptr[u + 1] - start) : 0, found, step);
        }
        after(slots, here, step);
        __syncthreads();
        ++level;
    }
    const LocalTally left = local.tallies[level % 3];
    for (u32 i = threadIdx.x; i < left.light && i < ROOM<Index>; i += THREADS) following.light[i] = local.slots[level & 1][i];
    if (threadIdx.x == 0)
        *result = LocalReturn{Tally{left.count, left.arcs, 0, left.light, left.pieces}, step, previous};
}

}  // namespace hpgraph
