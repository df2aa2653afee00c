// Maximum bipartite matching of rows and columns, in one kernel.
//
// Each row takes its first free column. Then alternating trees grow from all free rows at once, level by level, each up
// to its first free column; the paths to these, one in each tree and therefore disjoint, are augmented, and new trees
// grow until none reaches a free column (M. Deveci, K. Kaya, B. Uçar, Ü. V. Çatalyürek, "GPU accelerated maximum
// cardinality matching algorithms for bipartite graphs", Euro-Par'13). Levels are separated by a grid barrier, not by
// launches.
#pragma once
#include "frontier_queue.cuh"
#include "load_balancing.cuh"
#include "one_block.cuh"
#include "persistent.cuh"

namespace hpgraph {

// The mate of each row and column, -1 if none. For trees: the root of each row's tree; the predecessor row of each
// column, -1 outside of all trees; and the free column that each root's tree has reached, -1 if none.
template <class Index>
struct MatchingSpace {
    Header* header;
    Index *column_of, *row_of, *root, *before, *end;
    Frontier<Index> queue, following;
};

// Atomic claim: whether this thread replaced -1.
template <class Index>
__device__ bool claimed(Index* slot, Index value) {
    if constexpr (sizeof(Index) == 4) return atomicCAS((u32*)slot, ~0u, (u32)value) == ~0u;
    else return atomicCAS((u64*)slot, ~0ull, (u64)value) == ~0ull;
}

// Binary logarithm of the arcs that the grid reads in the time of a barrier.
constexpr int LEVEL_SHIFT = 16;

// `most`: maximum number of levels (a level of many arcs counts as several), after which the kernel ends with paths
// left; `levels` receives their number, or -1 in that case.
template <class Index, class T>
__global__ void __launch_bounds__(THREADS, 1)
match(const Index* __restrict__ rows, const i64 size, const i64 columns, const i64* __restrict__ indptr,
      const Index* __restrict__ indices, const MatchingSpace<Index> space, const LocalLimits limits, const i64 most,
      i64* levels) {
    __shared__ __align__(16) char slots[sizeof(Index) * WARPS * 64];
    __shared__ BlockSums sums;
    __shared__ LocalQueue<Index> local;
    sums.clear();
    Stage<Index> stage((Index*)slots);
    GridBarrier barrier(&space.header->barrier);
    const Arcs<Index, Pattern> arcs{indptr, indices, nullptr};
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    Tally now{};
    bool turned = true;
    u32 passes = 0;
    const auto queue = [&] { return of_two(space.queue, space.following, turned); };
    const auto following = [&] { return of_two(space.following, space.queue, turned); };
    // One pass of the grid that fills the other queue, which then becomes the current queue.
    const auto pass = [&](auto work) {
        const u32 next = (passes + 1) % 3, after = (passes + 2) % 3;
        if (thread == 0) space.header->tally[after] = Tally{};
        Collector<T, Index> found(indptr, following(), &space.header->tally[next]);
        work(found);
        Index last = 0;
        const bool has_last = stage.rest(last);
        found.finish(sums, has_last, last);
        barrier.wait();
        now = space.header->tally[next], turned = !turned, ++passes;
    };

    // Long rows are left to the trees, which divide them.
    for (i64 i = thread; i < size; i += threads) {
        const Index v = rows[i];
        const i64 end = min(indptr[v + 1], indptr[v] + T::PIECE);
        for (i64 at = indptr[v]; at < end; ++at) {
            const Index u = indices[at];
            if (space.row_of[u] >= 0 || !claimed(space.row_of + u, v)) continue;
            space.column_of[v] = u;
            break;
        }
    }
    barrier.wait();

    const auto plant = [&](Collector<T, Index>& found) {
        for (i64 u = thread; u < columns; u += threads) space.before[u] = -1;
        for (i64 i = thread; i - lane_of_warp() < size; i += threads) {
            const Index v = i < size ? rows[i] : 0;
            const bool is_free = i < size && space.column_of[v] < 0;
            if (is_free) space.root[v] = v, space.end[v] = -1;
            stage.add(is_free, v, [&](bool has_one, const Index& one) { found.add(has_one, one); });
        }
    };
    // From rows to columns outside of all trees, and to the mates of these columns, which are passed to take(mine,
    // row).
    const auto grow = [&](const Batch<Index, T::BATCH>& batch, auto take) {
        Index u[T::BATCH], root[T::BATCH], mate[T::BATCH];
        bool is_open[T::BATCH];
#pragma unroll
        for (int k = 0; k < T::BATCH; ++k) {
            u[k] = batch.live[k] ? indices[batch.arc[k]] : 0;
            root[k] = batch.live[k] ? space.root[batch.source[k]] : 0;
        }
        // May be stale in L1: a tree that has reached a free column may grow on, and the claim checks `before` again.
#pragma unroll
        for (int k = 0; k < T::BATCH; ++k)
            is_open[k] = batch.live[k] && space.before[u[k]] < 0 && *(volatile Index*)(space.end + root[k]) < 0;
#pragma unroll
        for (int k = 0; k < T::BATCH; ++k) {
            mate[k] = -1;
            if (!is_open[k] || !claimed(space.before + u[k], batch.source[k])) continue;
            mate[k] = space.row_of[u[k]];
            // Any of several free columns that a tree reaches in a level is correct.
            if (mate[k] < 0) *(volatile Index*)(space.end + root[k]) = u[k];
            else space.root[mate[k]] = root[k];
        }
#pragma unroll
        for (int k = 0; k < T::BATCH; ++k) take(mate[k] >= 0, mate[k]);
    };
    const auto grow_on_grid = [&](Collector<T, Index>& found) {
        const auto visit = [&](const Batch<Index, T::BATCH>& batch) {
            grow(batch, [&](bool mine, Index v) {
                stage.add(mine, v, [&](bool has_one, const Index& one) { found.add(has_one, one); });
            });
        };
        if (is_short<T>(now)) for_each_arc_of_short<T, Index>(arcs, queue().light, now, visit);
        else for_each_arc<T, Index>(arcs, queue(), now.light, now.pieces, visit);
    };
    const auto augment = [&](Collector<T, Index>& found) {
        for (i64 i = thread; i < size; i += threads) {
            const Index v = rows[i];
            if (space.column_of[v] >= 0 || space.end[v] < 0) continue;
            found.note(0);
            for (Index u = space.end[v], w = -1; w != v;) {
                w = space.before[u];
                const Index next = space.column_of[w];
                space.column_of[w] = u, space.row_of[u] = w, u = next;
            }
        }
    };

    i64 level = 0;
    do {
        pass(plant);
        while (now.light + now.pieces > 0 && level < most) {
            if (!limits.template hold<Index>(now)) {
                level += 1 + (i64)(now.arcs >> LEVEL_SHIFT);
                pass(grow_on_grid);
                continue;
            }
            LocalReturn& result = space.header->local;
            if (blockIdx.x == 0)
                run_local<T>(
                    local, limits, indptr, queue(), following(), now, level, (i64)0, &result,
                    [&](const Batch<Index, T::BATCH>& batch, LocalCollector<T, Index>& found, i64) {
                        grow(batch, [&](bool mine, Index v) { found.add(mine, v); });
                    },
                    [&](const Index*, const LocalTally&, i64) {}, [&](const LocalTally&, i64 at) { return at < most; });
            barrier.wait();
            now = result.tally, level = result.step, turned = !turned;
        }
        const bool is_done = now.light + now.pieces == 0;
        pass(augment);
        if (!is_done) level = -1;
    } while (now.count && level >= 0);
    if (thread == 0) *levels = level;
}

}  // namespace hpgraph
