// Delta-stepping and Bellman-Ford: messages lower values in place, and a vertex that changed sends again.
//
// The label-correcting loop for any idempotent monoid, as one kernel with one grid barrier a superstep. If the program
// has a priority it is delta-stepping with two buckets: vertices with a value at or beyond the threshold wait in a far
// pile until the near ones have settled (near-far, A. Davidson et al., IPDPS'14). Values are monotone and every change
// queues its vertex for the next superstep, so the result does not depend on the order of messages: it repeats bit for
// bit.
//
// The width of a bucket adapts, as in ADDS (K. Wang, D. Fussell, C. Lin, PPoPP'21): see BucketWidth.
#pragma once
#include "lowering.cuh"
#include "one_block.cuh"
#include "persistent.cuh"

namespace hpgraph {

template <class Index, class Value>
struct RelaxSpace {
    Header* header;
    u32 *queued, *following_queued, *waiting;
    Value* least;  // a double buffer
    Frontier<Index> queue, following;
    Index *far, *far_kept;
    Trace trace;
};

template <class Value>
struct Priority {
    int on, adapts;
    Value threshold, delta, ceiling, largest;  // threshold and delta: the initial ones
};

// A wide bucket saves supersteps; a narrow one saves repeated arcs, whose source was lowered after it had sent. Both
// are measured in the latency of one chain of dependent loads. A superstep takes at least one such latency; each wave
// of repeated arcs, as many as the grid has in flight, takes another. At the best constant width of sixteen kinds of
// graphs there were between a twentieth and three waves of repeated arcs a superstep: below an eighth the width is
// doubled; above four it is halved, if so many arcs are left that could be repeated. One bucket is enough to halve.
// Doubling takes several, as the first buckets of an expander are nearly empty at any width; but only one after most
// arcs have been sent: the rest belong to a few distant vertices. Arcs sent by one block alone are too few to be
// counted.
template <class Value>
struct BucketWidth {
    static constexpr int PATIENCE = 8;
    Value width;
    int buckets;
    i64 began;                 // superstep after which the bucket began
    i64 supersteps, repeated;  // of the buckets since the last change
    i64 sent, covered;         // since the beginning: arcs sent, and those that the grid sent for the first time

    // After a bucket that ended with superstep `step` and repeated `arcs` of the graph's `all` arcs.
    __device__ void adapt(i64 step, i64 arcs, i64 all, Value largest, i64 wave) {
        const i64 steps = step - began + 1;
        began = step;
        const Value half = width / 2;
        ++buckets, supersteps += steps, repeated += arcs, covered -= arcs;
        const i64 left = all - covered;
        if (min(arcs, left) > 4 * steps * wave && half > 0) {
            width = half;
        } else if (buckets < PATIENCE && 2 * left > all) {
            return;
        } else if (8 * repeated < supersteps * wave && width < largest / 2) {
            width += width;
        }
        buckets = 0, supersteps = repeated = 0;
    }
};

// value + width; `largest` on overflow.
template <class Value>
__device__ Value above(Value value, Value width, Value largest) {
    return value > 0 && largest - value < width ? largest : (Value)(value + width);
}

// Stages in shared memory for vertices to append to the near queue, and to the far pile.
template <class Index>
struct Stages {
    Stage<Index> near, far;
};

// A vertex and whether it sends repeatedly in this bucket, encoded in one word.
template <class Index>
__device__ Index marked(Index v, bool again) {
    return again ? ~v : v;
}
template <class Index>
__device__ bool unmark(Index& v) {
    const bool again = v < 0;
    if (again) v = ~v;
    return again;
}

// Count repeated arcs of a bucket in shared memory; warp-collective.
__device__ inline void note_repeated(u32& repeated, bool again, i64 degree) {
    if (!__any_sync(ALL, again)) return;
    const u32 arcs = (u32)warp_sum(again ? (u64)degree : 0);
    if (lane_of_warp() == 0) atomicAdd(&repeated, arcs);
}

// Flush the stages of all warps, near and far, and finish the collector.
template <class T, class Index>
__device__ void finish_found(Collector<T, Index>& found, Stages<Index>& stages, BlockSums& sums, u32& repeated, Index* far,
                             u64* far_tail) {
    Index near_one = 0, far_one = 0;
    const bool has_near = stages.near.rest(near_one), has_far = stages.far.rest(far_one);
    const bool again = unmark(near_one);
    const i64 degree = found.note(has_near, has_near ? found.indptr[near_one + 1] - found.indptr[near_one] : 0);
    note_repeated(repeated, again, degree);
    found.finish_row(sums, near_one, degree, has_far, far_one, far, far_tail);
}

// End of the next bucket: one width above both the last bucket's end and the least waiting value.
template <class Value>
__device__ Value next_threshold(Value below, Value least, Value width, Value largest) {
    const Value next = above(least, width, largest), end = above(below, width, largest);
    return end < next ? next : end;
}

// Split the far pile by the new threshold: near vertices are queued, the others stay. The least value counts as near in
// any case: if the width is below the precision of the values, or the bucket's end beyond their type, the threshold
// would never exceed it.
template <class Program, class Index, class Value, class Near, class Far>
__device__ void split(const Program& program, const Index* pile, u64 size, u32* queued, u32* waiting, Value below,
                      Value least, Value threshold, Stages<Index>& stages, Near near, Far far) {
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    const int lane = lane_of_warp();
    for (i64 i = thread; i - lane < (i64)size; i += threads) {
        const bool has = i < (i64)size;
        const Index v = has ? pile[i] : 0;
        const Value value = has ? program.p0[v] : Value();
        const bool keep = has && !(value < threshold) && value != least;
        if (has && !keep) atomicAnd(waiting + (v >> 5), ~(1u << (v & 31)));
        // Values below the old threshold were queued when they were lowered.
        const u32 flag = 1u << (v & 31);
        const bool joins = has && !keep && !(value < below) && !(atomicOr(queued + (v >> 5), flag) & flag);
        stages.near.add(joins, v, near);
        stages.far.add(keep, v, far);
    }
}

// Write the least value in the far pile to `cell`, and the sum of all threads' `mine` to `sum`; complete after a
// barrier.
template <class Program, class Index, class Value>
__device__ void find_least(const Program& program, const Index* pile, u64 size, Value largest, Value* cell, u64 mine,
                           u64* sum) {
    Value least = largest;
    for (i64 i = (i64)blockIdx.x * THREADS + threadIdx.x; i < (i64)size; i += (i64)gridDim.x * THREADS) {
        const Value value = program.p0[pile[i]];
        if (value < least) least = value;
    }
    for (int d = 16; d; d >>= 1) {
        const Value other = __shfl_down_sync(ALL, least, d);
        if (other < least) least = other;
    }
    mine = warp_sum(mine);
    if (lane_of_warp() == 0 && least < largest) atomic_least(cell, least);
    if (lane_of_warp() == 0 && mine) atomicAdd(sum, mine);
}

template <class Program, class Index, class Weight, class Value, class T = Techniques<>>
__global__ void __launch_bounds__(THREADS, 1)
relax(const Program program, const i64 n, const Arcs<Index, Weight> out, const Sources<Index> sources,
      const Priority<Value> priority, const i64 limit, const LocalLimits limits, const RelaxSpace<Index, Value> space) {
    __shared__ LocalQueue<Index> local;
    __shared__ Index slots[2][WARPS * 64];
    __shared__ BlockSums sums;
    // State that only one thread changes is in shared memory: blocks of many threads have few registers.
    __shared__ BucketWidth<Value> bucket;
    if (threadIdx.x == 0) {
        sums.wanted[0] = sums.wanted[1] = 0;
        bucket = BucketWidth<Value>{priority.delta, 0, 0, 0, 0, 0, 0};
    }
    Stages<Index> stages{Stage<Index>(slots[0]), Stage<Index>(slots[1])};
    GridBarrier barrier(&space.header->barrier);
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    const int lane = lane_of_warp();
    for (i64 v = thread; v < n; v += threads) program.fill(v);
    barrier.wait();
    if (thread == 0) space.least[0] = space.least[1] = priority.largest;
    // Arcs relaxed repeatedly in the bucket by this block.
    __shared__ u32 repeated;
    if (threadIdx.x == 0) repeated = 0;
    const auto finish = [&](Collector<T, Index>& found, Index* far, u64* far_tail) {
        finish_found(found, stages, sums, repeated, far, far_tail);
        barrier.wait();
    };
    {
        Collector<T, Index> found(out.indptr, space.queue, &space.header->tally[0]);
        for (i64 i = thread; i - lane < sources.count; i += threads) {
            const bool mine = i < sources.count;
            const Index v = mine ? sources[i] : 0;
            if (mine) program.start(v);
            if (mine) atomicOr(space.queued + (v >> 5), 1u << (v & 31));
            found.add(mine, v);
        }
        finish(found, space.far, space.header->far_tail);
    }

    space.trace.begin();
    i64 step = 0;
    u32 phase = 0;
    Bounds<Value> bounds{priority.on != 0, priority.threshold, priority.ceiling};
    bool queue_turned = false, bits_turned = false, far_turned = false;
    const auto queue = [&] { return of_two(space.queue, space.following, queue_turned); };
    const auto following = [&] { return of_two(space.following, space.queue, queue_turned); };
    const auto far = [&] { return of_two(space.far, space.far_kept, far_turned); };
    const auto far_kept = [&] { return of_two(space.far_kept, space.far, far_turned); };
    const auto queued = [&](bool turned) { return of_two(space.queued, space.following_queued, turned); };
    Tally now = space.header->tally[0];
    u64 left = 0;
    while (true) {
        u64* const far_tail = &space.header->far_tail[far_turned];
        const u64 pile = now.count == 0 || step >= limit ? *(volatile u64*)far_tail : 0;
        left = now.count + pile;
        if (left == 0 || step >= limit || (now.count && limits.leave(now, space.header->local.thin))) break;
        const auto waits = [&](bool mine, Index v) { append(mine, v, far(), far_tail); };

        if (now.count && limits.hold<Index>(now)) {
            const i64 entry = step;
            const auto bits = [&](i64 at) { return queued(bits_turned != ((at - entry) & 1)); };
            if (blockIdx.x == 0) {
                // Other blocks may still be reading the number of thin supersteps, which this block writes.
                if (limits.may_leave) barrier.await_others();
                run_local<T>(
                    local, limits, out.indptr, queue(), following(), now, step, space.header->local.thin,
                    &space.header->local, [&](const Batch<Index, T::BATCH>& batch, LocalCollector<T, Index>& found, i64 at) {
                        send(program, out, bounds, bits(at), space.waiting, batch,
                             [&](bool comes, bool near, bool, Index v) {
                                 found.add(near, v);
                                 stages.far.add(comes && !near, v, waits);
                             });
                    },
                    [&](const Index* slots, const LocalTally& here, i64 at) {
                        // No more bits of the current queue are set: clear them for the superstep after the next.
                        for (u32 i = threadIdx.x; i < here.light; i += THREADS)
                            bits(at - 1)[slots[i] >> 5] = 0;
                        space.trace.add(at, 0, here.count, here.arcs);
                    },
                    [&](const LocalTally&, i64 at) { return at < limit; });
                Index v = 0;
                const bool mine = stages.far.rest(v);
                waits(mine, v);
            }
            barrier.wait();
            if (threadIdx.x == 0) bucket.sent += now.arcs + space.header->local.sent;
            now = space.header->local.tally, step = space.header->local.step;
            bits_turned = bits_turned != ((step - entry) & 1);
            queue_turned = !queue_turned;
            // All blocks read it before a block alone writes it again.
            barrier.wait();
            continue;
        }

        const auto next_tally = [&] {
            if (thread == 0) space.header->tally[(phase + 2) % 3] = Tally{};
            return &space.header->tally[++phase % 3];
        };
        if (now.count == 0) {
            Tally* const tally = next_tally();
            if (thread == 0) space.least[1 - far_turned] = priority.largest, space.header->repeated[1 - far_turned] = 0;
            u64* const all_repeated = space.header->repeated + far_turned;
            Value* const cell = space.least + far_turned;
            find_least(program, far(), pile, priority.largest, cell, threadIdx.x ? 0 : repeated, all_repeated);
            barrier.wait();
            const Value least = *(volatile Value*)cell;
            // Computed redundantly by each block.
            if (threadIdx.x == 0 && priority.adapts)
                bucket.adapt(step, *(volatile i64*)all_repeated, out.indptr[n], priority.largest, threads * T::BATCH);
            __syncthreads();
            if (threadIdx.x == 0) repeated = 0;
            const Value below = bounds.threshold;
            bounds.threshold = next_threshold(below, least, bucket.width, priority.largest);
            Collector<T, Index> found(out.indptr, queue(), tally);
            u64* const kept = &space.header->far_tail[1 - far_turned];
            split(program, far(), pile, queued(bits_turned), space.waiting, below, least, bounds.threshold, stages,
                  [&](bool mine, Index v) { found.add(mine, v); },
                  [&](bool mine, Index v) { append(mine, v, far_kept(), kept); });
            finish(found, far_kept(), kept);
            if (thread == 0) *far_tail = 0;
            far_turned = !far_turned;
            now = *tally;
            continue;
        }

        // One superstep over the arcs that `each_arc` enumerates in batches.
        const auto superstep = [&](auto each_arc) {
            Tally* const tally = next_tally();
            ++step;
            Collector<T, Index> found(out.indptr, following(), tally);
            each_arc([&](const Batch<Index, T::BATCH>& batch) {
                send(program, out, bounds, queued(!bits_turned), space.waiting, batch,
                     [&](bool comes, bool near, bool again, Index v) {
                         stages.near.add(near, marked(v, again), [&](bool mine, Index one) {
                             const bool sends_again = unmark(one);
                             note_repeated(repeated, sends_again, found.add(mine, one));
                         });
                         stages.far.add(comes && !near, v, waits);
                     });
            });
            for (u64 i = thread; i < now.light; i += threads) queued(bits_turned)[queue().light[i] >> 5] = 0;
            for (u64 i = thread; i < now.pieces; i += threads)
                queued(bits_turned)[queue().pieces[i].vertex >> 5] = 0;
            queue_turned = !queue_turned, bits_turned = !bits_turned;
            const i64 count = now.count, arcs = now.arcs;
            if (threadIdx.x == 0) bucket.sent += arcs, bucket.covered += arcs;
            finish(found, far(), far_tail);
            now = *tally;
            space.trace.add(step, 0, count, arcs);
        };
        if (is_short<T>(now)) {
            // A separate loop, to keep values of the other paths out of its registers.
            do superstep([&](auto visit) { for_each_arc_of_short<T, Index>(out, queue().light, now, visit); });
            while (now.count && step < limit && is_short<T>(now) && !limits.hold<Index>(now));
        } else {
            superstep([&](auto visit) { for_each_arc<T, Index>(out, queue(), now.light, now.pieces, visit); });
        }
    }
    space.trace.end(step, left);
    if (thread == 0) limits.tell(space.header->local.thin, step, bucket.sent);
}

}  // namespace hpgraph
