// Core numbers by peeling, whole, in one kernel: whoever has no more than k arcs left goes, level by level.
//
// A level begins with a look at everyone who is left: those with k arcs are its first round, and the least of the others
// says which level is next, so that empty ones are skipped. A round pushes along its arcs, each of which takes one from
// what its target has left; whose number falls to k is in the next round (H. Kabir, K. Madduri, "Parallel k-core
// decomposition on multicore platforms", IPDPSW'17). Rounds are separated by a barrier of the grid, not by launches.
// Those peeled have k or fewer left, everyone else more, so the number itself says who has gone.
//
// With the numbers of arcs that reach each vertex, and one level only, it is a topological sort: who waits for nobody goes
// (A. B. Kahn, "Topological sorting of large networks", Communications of the ACM 5, 1962).
#pragma once
#include "load_balancing.cuh"
#include "grid_barrier.cuh"
#include "one_block.cuh"
#include "search.cuh"
#include "trace.cuh"

namespace hpgraph {

template <class Index> struct CountOf { using type = u32; };
template <> struct CountOf<i64> { using type = u64; };

// The least number left, a ring of three like the tallies, and the ends of two lists of who is left.
struct Levels {
    u64 least[3], tail[2];
};

template <class Index>
struct PeelSpace {
    Header* header;
    Levels* levels;
    typename CountOf<Index>::type* left;
    Index *remaining, *fewer;
    Frontier<Index> queue, following;
};

// The least of a block's threads goes to the grid's once.
__device__ inline void least_of_grid(u64 mine, u64& of_block, u64* of_grid) {
    for (int d = 16; d; d >>= 1) {
        const u64 other = __shfl_xor_sync(ALL, mine, d);
        mine = other < mine ? other : mine;
    }
    if (lane_of_warp() == 0 && mine < of_block) atomicMin(&of_block, mine);
    __syncthreads();
    if (threadIdx.x == 0 && of_block != ~0ull) atomicMin(of_grid, of_block), of_block = ~0ull;
}

// With LEVELS rows ascend, or have no loops; without, `left` is filled in, and only `round_of` is written to, of whom goes.
template <class Index, class T, bool LEVELS>
__global__ void __launch_bounds__(THREADS, 1)
peel(const i64 n, const i64* __restrict__ indptr, const Index* __restrict__ indices, const PeelSpace<Index> space,
     Index* core, Index* round_of) {
    using Count = typename CountOf<Index>::type;
    __shared__ __align__(16) char slots[sizeof(Index) * WARPS * 64];
    __shared__ BlockSums sums;
    __shared__ u64 least_of_block;
    if (threadIdx.x == 0) sums.wanted[0] = sums.wanted[1] = 0, least_of_block = ~0ull;
    __syncthreads();
    Stage<Index> stage((Index*)slots);
    GridBarrier barrier(&space.header->barrier);
    const Arcs<Index, Pattern> arcs{indptr, indices, nullptr};
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;

    if (thread == 0) *space.levels = Levels{{~0ull, ~0ull, ~0ull}, {0, 0}};
    {
        Collector<T, Index> found(indptr, space.queue, &space.header->tally[0]);
        const auto add = [&](bool has_one, const Index& one) { found.add(has_one, one); };
        for (i64 v = thread; v - lane_of_warp() < n; v += threads) {
            bool goes = false;
            if (v < n && LEVELS) {
                // Vertices without arcs are not left at all.
                const i64 begin = indptr[v], end = indptr[v + 1], at = lower_bound(indices, begin, end, (Index)v);
                const Count degree = (Count)(end - begin - (at < end && indices[at] == v));
                space.left[v] = degree;
                if (!degree) core[v] = 0, round_of[v] = 0, found.note(0);
            } else if (v < n && !space.left[v]) {
                goes = true, round_of[v] = 0;
            }
            if (!LEVELS) stage.add(goes, (Index)v, add);
        }
        Index last = 0;
        const bool has_last = !LEVELS && stage.rest(last);
        found.finish(sums, has_last, last);
    }
    barrier.wait();

    Tally now = space.header->tally[0];
    u64 least = ~0ull, level = 0;
    i64 left = n - (i64)now.count, listed = n;
    bool has_list = false, list_turned = false, queue_turned = LEVELS;
    u32 phase = 0, lists = 0;
    i64 round = 0;
    const auto queue = [&] { return of_two(space.queue, space.following, queue_turned); };
    // One pass of the grid that fills the other queue, which is the queue then.
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
    // Who has just `wanted` left, and the least of all; where half of the list has gone, it is made anew.
    const auto look = [&](u64 wanted, bool renew) {
        pass([&](Collector<T, Index>& found, u64* of_grid) {
            const Index* const list = of_two(space.remaining, space.fewer, list_turned);
            Index* const others = of_two(space.fewer, space.remaining, list_turned);
            u64 mine = ~0ull;
            if (renew && thread == 0) space.levels->tail[(lists + 1) & 1] = 0;
            for (i64 first = (i64)blockIdx.x * THREADS; first < listed; first += threads) {
                const i64 i = first + threadIdx.x;
                const Index v = i >= listed ? 0 : has_list ? list[i] : (Index)i;
                const u64 d = i < listed ? space.left[v] : 0;
                const bool is_left = d > level;
                if (is_left && d < mine) mine = d;
                take(found, is_left && d == wanted, v, wanted);
                if (renew) append_of_block(sums, is_left && d != wanted, v, others, &space.levels->tail[lists & 1]);
            }
            least_of_grid(mine, least_of_block, of_grid);
        });
        if (!renew) return;
        listed = (i64)space.levels->tail[lists & 1], has_list = true, list_turned = !list_turned, ++lists;
    };

    const auto follow = [&] {
        pass([&](Collector<T, Index>& found, u64*) {
            const auto visit = [&](const Batch<Index, T::BATCH>& batch) {
                Index v[T::BATCH];
                Count d[T::BATCH];
#pragma unroll
                for (int k = 0; k < T::BATCH; ++k) v[k] = batch.live[k] ? indices[batch.arc[k]] : 0;
                // What L1 still holds may be too large, and then the subtraction says so.
#pragma unroll
                for (int k = 0; k < T::BATCH; ++k) d[k] = batch.live[k] ? space.left[v[k]] : 0;
                u32 fallen = 0;
#pragma unroll
                for (int k = 0; k < T::BATCH; ++k)
                    if (d[k] > level && atomicAdd(space.left + v[k], ~(Count)0) == level + 1) fallen |= 1u << k;
                for (; __any_sync(ALL, fallen); fallen &= fallen - 1)
                    take(found, fallen, pick(v, __ffs(fallen) - 1), level);
            };
            if (is_short<T>(now)) for_each_arc_of_short<T, Index>(arcs, queue().light, now, visit);
            else for_each_arc<T, Index>(arcs, queue(), now.light, now.pieces, visit);
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
        while (now.count) left -= (i64)now.count, ++round, follow();
    }
}

}  // namespace hpgraph
