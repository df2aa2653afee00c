// Label-correcting traversals: values are lowered in place as messages arrive, and whoever changed sends again.
//
// The generalized Bellman-Ford loop for any idempotent monoid, as one kernel with a barrier of the grid a superstep.
// Where the program has a priority, vertices whose value lies at or beyond the threshold wait in a far pile until the
// near ones have settled (A. Davidson et al., IPDPS'14). Values only ever move one way and every change queues its
// vertex for the next superstep, so the end result does not depend on who came first: it repeats bit for bit.
#pragma once
#include "load_balancing.cuh"
#include "grid_barrier.cuh"
#include "one_block.cuh"
#include "trace.cuh"

namespace hpgraph {

template <class T, int size = sizeof(T)>
struct Bits;
template <class T>
struct Bits<T, 4> {
    typedef unsigned int type;
};
template <class T>
struct Bits<T, 8> {
    typedef unsigned long long type;
};

// *where = combine(*where, message); whether that changed it. `stands` is what seems to stand there, and then does.
template <class T, class Combine>
__device__ bool atomic_update(T* where, T message, T& stands, Combine combine) {
    typedef typename Bits<T>::type Word;
    T old = stands;
    while (true) {
        const T now = combine(old, message);
        // A NaN never equals itself: it must not count as a change for ever.
        if (now == old || now != now) return false;
        const Word seen = *(const Word*)&old, put = *(const Word*)&now;
        const Word found = atomicCAS((Word*)where, seen, put);
        if (found == seen) {
            stands = now;
            return true;
        }
        old = *(const T*)&found;
    }
}

// The same for the least of two numbers, which the memory itself works out.
template <class T>
__device__ T atomic_least(T* where, T message) {
    return atomicMin(where, message);
}
// Floats of one sign are ordered as the integers of the same bits are.
__device__ inline float atomic_least(float* where, float message) {
    message += 0.0f;  // no negative zero
    if (message >= 0) return __int_as_float(atomicMin((int*)where, __float_as_int(message)));
    return __uint_as_float(atomicMax((unsigned*)where, __float_as_uint(message)));
}
__device__ inline double atomic_least(double* where, double message) {
    message += 0.0;
    if (message >= 0) return __longlong_as_double(atomicMin((i64*)where, __double_as_longlong(message)));
    return __longlong_as_double((i64)atomicMax((u64*)where, (u64)__double_as_longlong(message)));
}

template <class Index>
struct RelaxSpace {
    unsigned* barrier;
    Tally* tally;
    u32 *queued, *following_queued, *waiting;
    Frontier<Index> queue, following;
    Index *far, *far_kept;
    u64* far_tail;  // two: of the pile, and of what a split keeps of it
    Trace trace;
    LocalReturn* local;
};

template <class Value>
struct Priority {
    int on;
    Value threshold, delta, ceiling, largest;  // the threshold: the first
    Value* least;                              // two cells, used in turn
};

// Where a value sends its vertex.
template <class Value>
struct Bounds {
    bool on;
    Value threshold, ceiling;
};

// What waits in shared memory for company: who may send again now, and who joins the far pile.
template <class Index>
struct Stages {
    Stage<Index> near, far;
};

// Lower the targets of a batch of arcs; by whole warps. Whoever changes is given to arrive(comes, near, vertex): each
// lane at most `size` times, until no lane of the warp has one.
template <int size, class Program, class Index, class Weight, class Value, class Arrive>
__device__ void send(const Program& program, const Arcs<Index, Weight>& out, const Bounds<Value>& bounds,
                     u32* queued, u32* waiting, const Batch<Index, size>& batch, Arrive arrive) {
    Index v[size];
    Value message[size], stands[size];
    bool live[size];
#pragma unroll
    for (int k = 0; k < size; ++k) v[k] = batch.live[k] ? out.indices[batch.arc[k]] : 0;
#pragma unroll
    for (int k = 0; k < size; ++k) {
        const auto weight = batch.live[k] ? out.weight(batch.arc[k]) : 0;
        live[k] = batch.live[k] && program.cond(v[k]) && program.edge_cond(batch.source[k], weight, v[k]);
        message[k] = live[k] ? (Value)program.gather(batch.source[k], weight, v[k]) : Value();
    }
    // Out of date perhaps, as the first-level cache may be; but values move one way only, and the atomic decides.
#pragma unroll
    for (int k = 0; k < size; ++k) stands[k] = live[k] ? program.p0[v[k]] : Value();
    u32 seen[size];
#pragma unroll
    for (int k = 0; k < size; ++k) {
        if constexpr (Program::LEAST) {
            live[k] = live[k] && message[k] < stands[k];
            if (live[k]) stands[k] = atomic_least(program.p0 + v[k], message[k]);
        } else {
            live[k] = live[k] && atomic_update(program.p0 + v[k], message[k], stands[k],
                                               [&](Value a, Value b) { return program.reduce(a, b); });
        }
    }
    bool is_near[size];
    const auto word = [&](int k) { return (is_near[k] ? queued : waiting) + (v[k] >> 5); };
    const auto flag = [&](int k) { return 1u << (v[k] & 31); };
#pragma unroll
    for (int k = 0; k < size; ++k) {
        if constexpr (Program::LEAST) live[k] = live[k] && message[k] < stands[k], stands[k] = message[k];
        live[k] = live[k] && !(bounds.on && stands[k] > bounds.ceiling);
        is_near[k] = !bounds.on || stands[k] < bounds.threshold;
        seen[k] = live[k] ? *word(k) : ALL;
    }
    loaded(seen);
#pragma unroll
    for (int k = 0; k < size; ++k) seen[k] = seen[k] & flag(k) ? ALL : atomicOr(word(k), flag(k));
    u32 claimed = 0, near_ones = 0;  // which of the batch
#pragma unroll
    for (int k = 0; k < size; ++k) claimed |= !(seen[k] & flag(k)) << k, near_ones |= is_near[k] << k;
    for (; __any_sync(ALL, claimed); claimed &= claimed - 1) {
        const int k = __ffs(claimed) - 1;
        arrive(claimed != 0, claimed && (near_ones >> k & 1), pick(v, k));
    }
}

// The vertices of the far pile that are near under a higher threshold join the queue, the others stay. The least of them
// is near in any case: where a bucket is too narrow for the precision of the values, or its end for their type, the
// threshold would never pass it.
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
        // Below the old threshold it was queued when it got there.
        const u32 flag = 1u << (v & 31);
        const bool joins = has && !keep && !(value < below) && !(atomicOr(queued + (v >> 5), flag) & flag);
        stages.near.add(joins, v, near);
        stages.far.add(keep, v, far);
    }
}

// The least value in the far pile; by the whole grid, ends with a barrier.
template <class Program, class Index, class Value>
__device__ Value least_waiting(const Program& program, const Index* pile, u64 size, Value largest, Value* cell,
                               GridBarrier& barrier) {
    Value least = largest;
    for (i64 i = (i64)blockIdx.x * THREADS + threadIdx.x; i < (i64)size; i += (i64)gridDim.x * THREADS) {
        const Value value = program.p0[pile[i]];
        if (value < least) least = value;
    }
    for (int d = 16; d; d >>= 1) {
        const Value other = __shfl_down_sync(ALL, least, d);
        if (other < least) least = other;
    }
    if (lane_of_warp() == 0 && least < largest) atomic_least(cell, least);
    barrier.wait();
    return *(volatile Value*)cell;
}

template <class Program, class Index, class Weight, class Value, class T = Techniques<>>
__global__ void __launch_bounds__(THREADS, 1)
relax(const Program program, const i64 n, const Arcs<Index, Weight> out, const Sources<Index> sources,
      const Priority<Value> priority, const i64 limit, const LocalLimits limits, const RelaxSpace<Index> space) {
    __shared__ LocalQueue<Index> local;
    __shared__ Index slots[2][WARPS * 64];
    __shared__ BlockSums sums;
    if (threadIdx.x == 0) sums.wanted[0] = sums.wanted[1] = 0;
    Stages<Index> stages{Stage<Index>(slots[0]), Stage<Index>(slots[1])};
    GridBarrier barrier(space.barrier);
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    const int lane = lane_of_warp();
    for (i64 v = thread; v < n; v += threads) program.fill(v);
    barrier.wait();
    if (thread == 0) priority.least[0] = priority.least[1] = priority.largest;
    // Ends a superstep: what the warps have left over, near and far.
    const auto finish = [&](Collector<T, Index>& found, Index* far, u64* far_tail) {
        Index near_one = 0, far_one = 0;
        const bool has_near = stages.near.rest(near_one), has_far = stages.far.rest(far_one);
        found.finish(sums, has_near, near_one, has_far, far_one, far, far_tail);
        barrier.wait();
    };
    {
        Collector<T, Index> found(out.indptr, space.queue, &space.tally[0]);
        for (i64 i = thread; i - lane < sources.count; i += threads) {
            const bool mine = i < sources.count;
            const Index v = mine ? sources[i] : 0;
            if (mine) program.start(v);
            if (mine) atomicOr(space.queued + (v >> 5), 1u << (v & 31));
            found.add(mine, v);
        }
        finish(found, space.far, space.far_tail);
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
    Tally now = space.tally[0];
    u64 left = 0;
    while (true) {
        u64* const far_tail = &space.far_tail[far_turned];
        const u64 pile = now.count == 0 || step >= limit ? *(volatile u64*)far_tail : 0;
        left = now.count + pile;
        if (left == 0 || step >= limit) break;
        const auto waits = [&](bool mine, Index v) { append(mine, v, far(), far_tail); };

        if (now.count && limits.hold<Index>(now)) {
            const i64 entry = step;
            const auto bits = [&](i64 at) { return queued(bits_turned != ((at - entry) & 1)); };
            if (blockIdx.x == 0) {
                run_local<T>(
                    local, limits, out.indptr, 0, queue(), following(), now, step, space.local,
                    [&](const Batch<Index, T::BATCH>& batch, LocalCollector<T, Index>& found, i64 at) {
                        send(program, out, bounds, bits(at), space.waiting, batch,
                             [&](bool comes, bool near, Index v) {
                                 found.add(near, v);
                                 stages.far.add(comes && !near, v, waits);
                             });
                    },
                    [&](const Index* slots, const LocalTally& here, i64 at) {
                        // Nobody sets bits of the current queue any more: clear them for the superstep after the next.
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
            now = space.local->tally, step = space.local->step;
            bits_turned = bits_turned != ((step - entry) & 1);
            queue_turned = !queue_turned;
            // Read by all before the block alone writes it again.
            barrier.wait();
            continue;
        }

        const auto next_tally = [&] {
            if (thread == 0) space.tally[(phase + 2) % 3] = Tally{};
            return &space.tally[++phase % 3];
        };
        if (now.count == 0) {
            Tally* const tally = next_tally();
            if (thread == 0) priority.least[1 - far_turned] = priority.largest;
            const Value least =
                least_waiting(program, far(), pile, priority.largest, priority.least + far_turned, barrier);
            const Value below = bounds.threshold, next = least + priority.delta;
            bounds.threshold = below + priority.delta < next ? next : below + priority.delta;
            Collector<T, Index> found(out.indptr, queue(), tally);
            u64* const kept = &space.far_tail[1 - far_turned];
            split(program, far(), pile, queued(bits_turned), space.waiting, below, least, bounds.threshold, stages,
                  [&](bool mine, Index v) { found.add(mine, v); },
                  [&](bool mine, Index v) { append(mine, v, far_kept(), kept); });
            finish(found, far_kept(), kept);
            if (thread == 0) *far_tail = 0;
            far_turned = !far_turned;
            now = *tally;
            continue;
        }

        // One superstep, along the arcs that `each_arc` hands out in batches.
        const auto superstep = [&](auto each_arc) {
            Tally* const tally = next_tally();
            ++step;
            Collector<T, Index> found(out.indptr, following(), tally);
            each_arc([&](const Batch<Index, T::BATCH>& batch) {
                send(program, out, bounds, queued(!bits_turned), space.waiting, batch,
                     [&](bool comes, bool near, Index v) {
                         stages.near.add(near, v, [&](bool mine, Index one) { found.add(mine, one); });
                         stages.far.add(comes && !near, v, waits);
                     });
            });
            for (u64 i = thread; i < now.light; i += threads) queued(bits_turned)[queue().light[i] >> 5] = 0;
            for (u64 i = thread; i < now.pieces; i += threads)
                queued(bits_turned)[queue().pieces[i].vertex >> 5] = 0;
            queue_turned = !queue_turned, bits_turned = !bits_turned;
            const i64 count = now.count, arcs = now.arcs;
            finish(found, far(), far_tail);
            now = *tally;
            space.trace.add(step, 0, count, arcs);
        };
        if (is_short<T>(now)) {
            // A loop of its own, so that what only others need keeps out of its registers.
            do superstep([&](auto visit) { for_each_arc_of_short<T, Index>(out, queue().light, now.light, visit); });
            while (now.count && step < limit && is_short<T>(now) && !limits.hold<Index>(now));
        } else {
            superstep([&](auto visit) { for_each_arc<T, Index>(out, queue(), now.light, now.pieces, visit); });
        }
    }
    space.trace.end(step, left);
}

}  // namespace hpgraph
