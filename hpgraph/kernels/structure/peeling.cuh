// Core numbers by peeling, in one kernel: vertices with at most k arcs left are removed, level by level.
//
// A level begins with a scan of the remaining vertices: those with k arcs are its first round, and the least degree of
// the others is the next level, so that empty ones are skipped. A round pushes along its arcs, each of which decrements
// its target's degree; a vertex whose degree falls to k is in the next round (H. Kabir, K. Madduri, "Parallel k-core
// decomposition on multicore platforms", IPDPSW'17). Rounds are separated by a barrier of the grid, not by launches.
// Removed vertices have k or fewer left, the others more, so the degree shows which are removed.
//
// The last rounds of a level may remove nearly all remaining vertices: then most arcs of a round lead to others that
// are removed, and those that stay have fewer arcs. In that case the staying vertices pull: each scans its own arcs for
// vertices of this round (as the bottom-up steps of S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing
// breadth-first search", SC'12). If a round leaves no vertex, its arcs are not followed.
//
// With in-degrees, and one level only, it is a topological sort by Kahn's algorithm (A. B. Kahn, "Topological sorting
// of large networks", Communications of the ACM 5, 1962).
#pragma once
#include "frontier_queue.cuh"
#include "load_balancing.cuh"
#include "one_block.cuh"
#include "persistent.cuh"

namespace hpgraph {

// Decrements a vertex's remaining degree; returns the old one. If no degree is large two share a word, so that twice as
// many fit L2. Each is above zero before, and so never borrows from the other.
__device__ inline u64 take_one(u32* left) { return atomicAdd(left, ~0u); }
__device__ inline u64 take_one(u64* left) { return atomicAdd(left, ~0ull); }
__device__ inline u64 take_one(unsigned short* left) {
    const u64 address = (u64)left, shift = (address & 2) * 8;
    return atomicAdd((u32*)(address & ~3ull), ~0u << shift) >> shift & 0xFFFF;
}

// Vertices that a thread processes together, so that their loads are in flight at once.
constexpr int ABREAST = 4;

// Minimum remaining degree, three in rotation like the tallies, and the tails of two lists of remaining vertices.
struct Levels {
    u64 least[3], tail[2];
};

template <class Index, class Count>
struct PeelSpace {
    Header* header;
    Levels* levels;
    Count* left;
    Index *remaining, *fewer;
    Frontier<Index> queue, following;
};

__device__ inline u64 least_of_warp(u64 mine) {
    for (int d = 16; d; d >>= 1) {
        const u64 other = __shfl_xor_sync(ALL, mine, d);
        mine = other < mine ? other : mine;
    }
    return mine;
}

// Minimum over a block, then over the grid by one atomic; a barrier must pass before `of_warps` is used again.
__device__ inline void least_of_grid(u64 mine, u64* of_warps, u64* of_grid) {
    mine = least_of_warp(mine);
    if (lane_of_warp() == 0) of_warps[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    mine = least_of_warp(threadIdx.x < WARPS ? of_warps[threadIdx.x] : ~0ull);
    if (threadIdx.x == 0 && mine != ~0ull) atomicMin(of_grid, mine);
}

// With LEVELS, rows ascend or have no loops, and each vertex has `beyond` additional arcs (if given) that are never
// removed. Without LEVELS, `left` is input, and only `round_of` of removed vertices is written.
template <class Index, class Count, class T, bool LEVELS>
__global__ void __launch_bounds__(THREADS, 1)
peel(const i64 n, const i64* __restrict__ indptr, const Index* __restrict__ indices,
     const PeelSpace<Index, Count> space, Index* core, Index* round_of, const Index* __restrict__ beyond) {
    __shared__ __align__(16) char slots[sizeof(Index) * WARPS * 64];
    __shared__ BlockSums sums;
    __shared__ u64 least_of_warps[WARPS];
    sums.clear();
    Stage<Index> stage((Index*)slots);
    GridBarrier barrier(&space.header->barrier);
    const Arcs<Index, Pattern> arcs{indptr, indices, nullptr};
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;

    if (thread == 0) *space.levels = Levels{{~0ull, ~0ull, ~0ull}, {0, 0}};
    if constexpr (LEVELS) {
        Collector<T, Index> found(indptr, space.queue, &space.header->tally[0]);
        for (i64 first = thread; first < n; first += ABREAST * threads) {
            i64 begin[ABREAST], end[ABREAST], low[ABREAST], high[ABREAST];
#pragma unroll
            for (int k = 0; k < ABREAST; ++k) {
                const i64 v = first + k * threads;
                low[k] = begin[k] = v < n ? indptr[v] : 0, high[k] = end[k] = v < n ? indptr[v + 1] : 0;
            }
            // Self-loops: the binary searches of several rows advance together.
            for (bool searching = true; searching;) {
                searching = false;
                Index met[ABREAST];
#pragma unroll
                for (int k = 0; k < ABREAST; ++k) met[k] = low[k] < high[k] ? indices[(low[k] + high[k]) / 2] : 0;
#pragma unroll
                for (int k = 0; k < ABREAST; ++k) {
                    if (low[k] >= high[k]) continue;
                    const i64 middle = (low[k] + high[k]) / 2;
                    if (met[k] < first + k * threads) low[k] = middle + 1;
                    else high[k] = middle;
                    searching = true;
                }
            }
#pragma unroll
            for (int k = 0; k < ABREAST; ++k) {
                const i64 v = first + k * threads;
                if (v >= n) continue;
                // Vertices without arcs are removed at once.
                const u64 loop = low[k] < end[k] && indices[low[k]] == v;
                const u64 degree = end[k] - begin[k] - loop + (beyond ? beyond[v] : 0);
                space.left[v] = (Count)degree, round_of[v] = degree ? (Index)-1 : 0;
                if (!degree) core[v] = 0, found.note(0);
            }
        }
        found.finish(sums, false, 0);
    } else {
        Collector<T, Index> found(indptr, space.queue, &space.header->tally[0]);
        const auto add = [&](bool has_one, const Index& one) { found.add(has_one, one); };
        for (i64 v = thread; v - lane_of_warp() < n; v += threads) {
            const bool goes = v < n && !space.left[v];
            if (goes) round_of[v] = 0;
            stage.add(goes, (Index)v, add);
        }
        Index last = 0;
        const bool has_last = stage.rest(last);
        found.finish(sums, has_last, last);
    }
    barrier.wait();

    Tally now = space.header->tally[0];
    u64 least = ~0ull, level = 0;
    i64 left = n - (i64)now.count, listed = n, arcs_left = indptr[n];
    bool has_list = false, list_turned = false, queue_turned = LEVELS;
    u32 phase = 0, lists = 0;
    i64 round = 0;
    const auto queue = [&] { return of_two(space.queue, space.following, queue_turned); };
    // One pass of the grid that fills the other queue, which then becomes the current queue.
    const auto pass = [&](auto work) {
        const u32 next = (phase + 1) % 3, after = (phase + 2) % 3;
        if (thread == 0) space.header->tally[after] = Tally{}, space.levels->least[after] = ~0ull;
        Collector<T, Index> found(indptr, of_two(space.following, space.queue, queue_turned), &space.header->tally[next]);
        work(found, &space.levels->least[next]);
        Index last = 0;
        const bool has_last = stage.rest(last);
        found.finish(sums, has_last, last);
        barrier.wait();
        now = space.header->tally[next], least = space.levels->least[next];
        queue_turned = !queue_turned, ++phase;
    };
    const auto take = [&](Collector<T, Index>& found, bool mine, Index v, u64 at_level) {
        if (mine) {
            if (LEVELS) core[v] = (Index)at_level;
            round_of[v] = (Index)(round + 1);
        }
        stage.add(mine, v, [&](bool has_one, const Index& one) { found.add(has_one, one); });
    };
    // Calls visit(v, remaining degree) for every listed vertex, by whole blocks; degree 0 in idle threads.
    const auto each_listed = [&](auto visit) {
        const Index* const list = of_two(space.remaining, space.fewer, list_turned);
        for (i64 first = (i64)blockIdx.x * THREADS; first < listed; first += ABREAST * threads) {
            Index v[ABREAST];
            Count d[ABREAST];
#pragma unroll
            for (int k = 0; k < ABREAST; ++k) {
                const i64 i = first + k * threads + threadIdx.x;
                v[k] = i >= listed ? 0 : has_list ? list[i] : (Index)i;
            }
#pragma unroll
            for (int k = 0; k < ABREAST; ++k)
                d[k] = first + k * threads + threadIdx.x < listed ? space.left[v[k]] : 0;
#pragma unroll
            for (int k = 0; k < ABREAST; ++k) visit(v[k], (u64)d[k]);
        }
    };
    // Queues vertices of degree `wanted`, and finds the minimum degree; the list is rebuilt when half of it has been
    // removed.
    const auto look = [&](u64 wanted, bool renew) {
        pass([&](Collector<T, Index>& found, u64* of_grid) {
            Index* const others = of_two(space.fewer, space.remaining, list_turned);
            u64 mine = ~0ull;
            if (renew && thread == 0) space.levels->tail[(lists + 1) & 1] = 0;
            each_listed([&](Index v, u64 d) {
                const bool is_left = d > level;
                if (is_left && d < mine) mine = d;
                take(found, is_left && d == wanted, v, wanted);
                if (renew) append_of_block(sums, is_left && d != wanted, v, others, &space.levels->tail[lists & 1]);
            });
            least_of_grid(mine, least_of_warps, of_grid);
        });
        if (!renew) return;
        listed = (i64)space.levels->tail[lists & 1], has_list = true, list_turned = !list_turned, ++lists;
    };

    const auto each_arc = [&](auto visit) {
        if (is_short<T>(now)) for_each_arc_of_short<T, Index>(arcs, queue().light, now, visit);
        else for_each_arc<T, Index>(arcs, queue(), now.light, now.pieces, visit);
    };
    const auto follow = [&] {
        pass([&](Collector<T, Index>& found, u64*) {
            const auto visit = [&](const Batch<Index, T::BATCH>& batch) {
                Index v[T::BATCH];
                Count d[T::BATCH];
#pragma unroll
                for (int k = 0; k < T::BATCH; ++k) v[k] = batch.live[k] ? indices[batch.arc[k]] : 0;
                // May be stale in L1, hence too large; safe, since the atomic subtraction checks again.
#pragma unroll
                for (int k = 0; k < T::BATCH; ++k) d[k] = batch.live[k] ? space.left[v[k]] : 0;
                u32 fallen = 0;
#pragma unroll
                for (int k = 0; k < T::BATCH; ++k)
                    if (d[k] > level && take_one(space.left + v[k]) == level + 1) fallen |= 1u << k;
                for (; __any_sync(ALL, fallen); fallen &= fallen - 1)
                    take(found, fallen, pick(v, __ffs(fallen) - 1), level);
            };
            each_arc(visit);
        });
    };

    // Bottom-up: the remaining vertices are queued, and scan their arcs for vertices of this round.
    const auto gather = [&] {
        pass([&](Collector<T, Index>& found, u64*) {
            each_listed([&](Index v, u64 d) {
                stage.add(d > level, v, [&](bool has_one, const Index& one) { found.add(has_one, one); });
            });
        });
        pass([&](Collector<T, Index>& found, u64*) {
            const auto visit = [&](const Batch<Index, T::BATCH>& batch) {
                Index v[T::BATCH];
                bool went[T::BATCH];
#pragma unroll
                for (int k = 0; k < T::BATCH; ++k) v[k] = batch.live[k] ? indices[batch.arc[k]] : 0;
#pragma unroll
                for (int k = 0; k < T::BATCH; ++k) went[k] = batch.live[k] && round_of[v[k]] == (Index)round;
                u32 fallen = 0;
#pragma unroll
                for (int k = 0; k < T::BATCH; ++k)
                    if (went[k] && take_one(space.left + batch.source[k]) == level + 1) fallen |= 1u << k;
                for (; __any_sync(ALL, fallen); fallen &= fallen - 1)
                    take(found, fallen, pick(batch.source, __ffs(fallen) - 1), level);
            };
            each_arc(visit);
        });
    };

    if (!LEVELS) {
        for (; now.count; ++round) follow();
        return;
    }
    while (left > 0) {
        u64 wanted = level + 1;
        look(wanted, 2 * left <= listed);
        if (!now.count) wanted = least, look(wanted, false);
        level = wanted;
        while (now.count) {
            left -= (i64)now.count, arcs_left -= (i64)now.arcs, ++round;
            if (left == 0) return;
            if ((i64)now.arcs > arcs_left + listed) gather();
            else follow();
        }
    }
}

}  // namespace hpgraph
