// Label-correcting traversals: values are lowered in place as messages arrive, and whoever changed sends again.
//
// The generalized Bellman-Ford loop for any idempotent monoid, as one kernel with a barrier of the grid a superstep.
// Where the program has a priority, vertices whose value lies at or beyond the threshold wait in a far pile until the
// near ones have settled (A. Davidson et al., IPDPS'14). Values only ever move one way and every change queues its
// vertex for the next superstep, so the end result does not depend on who came first: it repeats bit for bit.
#pragma once
#include "frontier.cuh"
#include "grid_barrier.cuh"
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

// *where = combine(*where, message); whether that changed it. `changed` receives the value that now stands there.
template <class T, class Combine>
__device__ bool atomic_update(T* where, T message, Combine combine, T& stands) {
    typedef typename Bits<T>::type Word;
    T old = *(volatile T*)where;
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

__device__ inline bool claim(u32* words, i64 v) {
    const u32 flag = 1u << (v & 31);
    return !(words[v >> 5] & flag) && !(atomicOr(words + (v >> 5), flag) & flag);
}

template <class Index>
__device__ void append(bool mine, Index v, Index* list, u64* tail) {
    const u32 votes = __ballot_sync(ALL, mine);
    if (!votes) return;
    const int lane = threadIdx.x & 31;
    u64 base = 0;
    if (lane == 0) base = atomicAdd(tail, (u64)__popc(votes));
    base = __shfl_sync(ALL, base, 0);
    if (mine) list[base + __popc(votes & ((1u << lane) - 1))] = v;
}

template <class Index>
struct RelaxSpace {
    unsigned* barrier;
    Tally* tally;
    u32 *queued, *following_queued, *waiting;
    Frontier<Index> queue, following;
    Index *far, *far_kept;
    u64* far_tail;  // two: of the pile, and of what a split keeps of it
    TraceRow* trace;
    i64 trace_rows;
    i64* outcome;  // supersteps done, vertices left active
};

template <class Value>
struct Priority {
    int on;
    Value threshold, delta, ceiling, largest;
    Value* least;  // one cell
};

// The vertices of the far pile that are near under a higher threshold join the queue.
template <class Program, class Index, class Value>
__device__ void split(Program program, const i64* indptr, RelaxSpace<Index>& space, u64 pile, u64* kept, Value below,
                      Value threshold, Tally* tally, Collector<Index>& found) {
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    const int lane = threadIdx.x & 31;
    for (i64 i = thread; i - lane < (i64)pile; i += threads) {
        const bool has = i < (i64)pile;
        const Index v = has ? space.far[i] : 0;
        const Value value = has ? program.p0[v] : Value();
        const bool keep = has && !(value < threshold);
        if (has && !keep) atomicAnd(space.waiting + (v >> 5), ~(1u << (v & 31)));
        // Below the old threshold it was queued when it got there.
        const bool near = has && !keep && !(value < below) && claim(space.queued, v);
        found.add(near, v, indptr, space.queue, tally);
        append(keep, v, space.far_kept, kept);
    }
}

template <class Program, class Index, class Weight, class Value>
__global__ void __launch_bounds__(THREADS, 1)
relax(Program program, i64 n, Arcs<Index, Weight> out, const Index* sources, i64 source_count, Priority<Value> priority,
      i64 limit, RelaxSpace<Index> space) {
    __shared__ Index slots[WARPS * 64];
    GridBarrier barrier(space.barrier);
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    const int lane = threadIdx.x & 31;
    for (i64 w = thread; w < (n + 31) / 32; w += threads)
        space.queued[w] = space.following_queued[w] = space.waiting[w] = 0;
    if (thread == 0) *priority.least = priority.largest;
    barrier.wait();
    {
        Collector<Index> found(slots);
        for (i64 i = thread; i - lane < source_count; i += threads) {
            const bool mine = i < source_count;
            const Index v = mine ? sources[i] : 0;
            if (mine) atomicOr(space.queued + (v >> 5), 1u << (v & 31));
            found.add(mine, v, out.indptr, space.queue, &space.tally[0]);
        }
        found.finish(space.queue, &space.tally[0], 0);
    }
    barrier.wait();

    i64 phase = 0, step = 0, began = nanoseconds();
    int pile_index = 0;
    u64 left = 0;
    while (true) {
        const Tally now = space.tally[phase % 3];
        Tally* const tally = &space.tally[(phase + 1) % 3];
        u64* const far_tail = &space.far_tail[pile_index];
        const u64 pile = now.count == 0 || step >= limit ? *(volatile u64*)far_tail : 0;
        left = now.count + pile;
        if (left == 0 || step >= limit) break;
        if (thread == 0) space.tally[(phase + 2) % 3] = Tally{0, 0, 0, 0, 0};
        ++phase;
        Collector<Index> found(slots);
        if (now.count == 0) {
            Value least = *(volatile Value*)priority.least, stands;
            for (i64 i = thread; i < (i64)pile; i += threads) {
                const Value value = program.p0[space.far[i]];
                if (value < least) least = value;
            }
            for (int d = 16; d; d >>= 1) {
                const Value other = __shfl_down_sync(ALL, least, d);
                if (other < least) least = other;
            }
            if (lane == 0) atomic_update(priority.least, least, [](Value a, Value b) { return b < a ? b : a; }, stands);
            barrier.wait();
            const Value below = priority.threshold, next = *(volatile Value*)priority.least + priority.delta;
            priority.threshold = below + priority.delta < next ? next : below + priority.delta;
            split(program, out.indptr, space, pile, &space.far_tail[1 - pile_index], below, priority.threshold, tally,
                  found);
            found.finish(space.queue, tally, 0);
            barrier.wait();
            if (thread == 0) *far_tail = 0, *priority.least = priority.largest;
            pile_index = 1 - pile_index;
            Index* const swap = space.far;
            space.far = space.far_kept, space.far_kept = swap;
            continue;
        }
        ++step;
        u64 looked = 0;
        for_each_arc<Index>(out, space.queue, now.light, now.pieces, [&](bool live, Index u, i64 j) {
            bool near = false, far = false;
            Index v = 0;
            if (live) {
                ++looked;
                v = out.indices[j];
                const auto weight = out.weight(j);
                Value stands;
                if (program.cond(v) && program.edge_cond(u, weight, v) &&
                    atomic_update(program.p0 + v, (Value)program.gather(u, weight, v),
                                  [&](Value a, Value b) { return program.reduce(a, b); }, stands)) {
                    const bool sends = !priority.on || !(stands > priority.ceiling);
                    near = sends && (!priority.on || stands < priority.threshold);
                    far = sends && !near && claim(space.waiting, v);
                    near = near && claim(space.following_queued, v);
                }
            }
            found.add(near, v, out.indptr, space.following, tally);
            append(far, v, space.far, far_tail);
        });
        // Nobody sets bits of the current queue any more: clear them for the superstep after the next.
        for (u64 i = thread; i < now.light; i += threads) space.queued[space.queue.light[i] >> 5] = 0;
        for (u64 i = thread; i < now.pieces; i += threads) space.queued[space.queue.pieces[i].vertex >> 5] = 0;
        const Frontier<Index> queue = space.queue;
        space.queue = space.following, space.following = queue;
        u32* const bits = space.queued;
        space.queued = space.following_queued, space.following_queued = bits;
        found.finish(space.queue, tally, looked);
        barrier.wait();
        if (thread == 0 && step <= space.trace_rows) {
            const i64 now_ns = nanoseconds();
            space.trace[step - 1] = TraceRow{0, (i64)now.count, (i64)tally->looked, now_ns - began};
            began = now_ns;
        }
    }
    if (thread == 0) space.outcome[0] = step, space.outcome[1] = (i64)left;
}

}  // namespace hpgraph
