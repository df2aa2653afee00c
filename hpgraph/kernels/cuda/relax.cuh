// Label-correcting traversals: values are lowered in place as messages arrive, and whoever changed sends again.
//
// The generalized Bellman-Ford loop for any idempotent monoid, as one kernel with a barrier of the grid a superstep.
// Where the program has a priority, vertices whose value lies at or beyond the threshold wait in a far pile until the
// near ones have settled (A. Davidson et al., IPDPS'14). Values only ever move one way and every change queues its
// vertex for the next superstep, so the end result does not depend on who came first: it repeats bit for bit.
#pragma once
#include "frontier.cuh"
#include "grid_barrier.cuh"
#include "local.cuh"
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
    LocalReturn* local;
};

template <class Value>
struct Priority {
    int on;
    Value threshold, delta, ceiling, largest;
    Value* least;  // two cells, used in turn
};

// Send the message of arc j from u; by whole warps. Whoever it changes is found, or joins the far pile.
template <class Program, class Index, class Weight, class Value, class Found>
__device__ void send(const Program& program, const Arcs<Index, Weight>& out, const Priority<Value>& priority,
                     u32* claimed, const RelaxSpace<Index>& space, u64* far_tail, bool live, Index u, i64 j,
                     Found& found) {
    bool near = false, far = false;
    Index v = 0;
    if (live) {
        v = out.indices[j];
        const auto weight = out.weight(j);
        Value stands;
        if (program.cond(v) && program.edge_cond(u, weight, v) &&
            atomic_update(program.p0 + v, (Value)program.gather(u, weight, v),
                          [&](Value a, Value b) { return program.reduce(a, b); }, stands)) {
            const bool sends = !priority.on || !(stands > priority.ceiling);
            near = sends && (!priority.on || stands < priority.threshold);
            far = sends && !near && claim(space.waiting, v);
            near = near && claim(claimed, v);
        }
    }
    found.add(near, v);
    append(far, v, space.far, far_tail);
}

// The vertices of the far pile that are near under a higher threshold join the queue; `kept` counts the others. The
// least of them is near in any case: where a bucket is too narrow for the precision of the values, or its end for their
// type, the threshold would never pass it.
template <class Program, class Index, class Value>
__device__ void split(const Program& program, const RelaxSpace<Index>& space, u64 pile, u64* kept, Value below,
                      Value least, Value threshold, Collector<Index>& found) {
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    const int lane = threadIdx.x & 31;
    for (i64 i = thread; i - lane < (i64)pile; i += threads) {
        const bool has = i < (i64)pile;
        const Index v = has ? space.far[i] : 0;
        const Value value = has ? program.p0[v] : Value();
        const bool keep = has && !(value < threshold) && value != least;
        if (has && !keep) atomicAnd(space.waiting + (v >> 5), ~(1u << (v & 31)));
        // Below the old threshold it was queued when it got there.
        found.add(has && !keep && !(value < below) && claim(space.queued, v), v);
        append(keep, v, space.far_kept, kept);
    }
}

// The least value in the far pile; by the whole grid, ends with a barrier.
template <class Program, class Index, class Value>
__device__ Value least_waiting(const Program& program, const RelaxSpace<Index>& space, u64 pile, Value largest,
                               Value* cell, GridBarrier& barrier) {
    Value least = largest, stands;
    for (i64 i = (i64)blockIdx.x * THREADS + threadIdx.x; i < (i64)pile; i += (i64)gridDim.x * THREADS) {
        const Value value = program.p0[space.far[i]];
        if (value < least) least = value;
    }
    for (int d = 16; d; d >>= 1) {
        const Value other = __shfl_down_sync(ALL, least, d);
        if (other < least) least = other;
    }
    if ((threadIdx.x & 31) == 0) atomic_update(cell, least, [](Value a, Value b) { return b < a ? b : a; }, stands);
    barrier.wait();
    return *(volatile Value*)cell;
}

template <class Program, class Index, class Weight, class Value>
__global__ void __launch_bounds__(THREADS, 1)
relax(Program program, i64 n, Arcs<Index, Weight> out, Sources<Index> sources, Priority<Value> priority,
      i64 limit, RelaxSpace<Index> space) {
    __shared__ union {
        Index slots[WARPS * 64];
        LocalQueue<Index> local;
    } shared;
    GridBarrier barrier(space.barrier);
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    const int lane = threadIdx.x & 31;
    for (i64 v = thread; v < n; v += threads) program.fill(v);
    barrier.wait();
    if (thread == 0) priority.least[0] = priority.least[1] = priority.largest;
    {
        Collector<Index> found(shared.slots, out.indptr, space.queue, &space.tally[0]);
        for (i64 i = thread; i - lane < sources.count; i += threads) {
            const bool mine = i < sources.count;
            const Index v = mine ? sources[i] : 0;
            if (mine) program.start(v);
            if (mine) atomicOr(space.queued + (v >> 5), 1u << (v & 31));
            found.add(mine, v);
        }
        found.finish(0);
    }
    barrier.wait();

    i64 phase = 0, step = 0, began = nanoseconds();
    int pile_index = 0;
    Tally now = space.tally[0];
    u64 left = 0;
    const auto trace = [&](i64 active, i64 looked) {
        if (thread != 0 || step > space.trace_rows) return;
        const i64 ended = nanoseconds();
        space.trace[step - 1] = TraceRow{0, active, looked, ended - began};
        began = ended;
    };
    while (true) {
        u64* const far_tail = &space.far_tail[pile_index];
        const u64 pile = now.count == 0 || step >= limit ? *(volatile u64*)far_tail : 0;
        left = now.count + pile;
        if (left == 0 || step >= limit) break;

        if (now.count && is_local(now)) {
            u32* const bits[2] = {space.queued, space.following_queued};
            const i64 entry = step;
            if (blockIdx.x == 0)
                run_local(
                    shared.local, out.indptr, space.queue, space.following, now, step, space.local,
                    [&](Index vertex, i64 start, int degree, LocalCollector<Index>& found, i64 at) {
                        deal_arcs(vertex, start, degree, [&](bool live, Index u, i64 j) {
                            send(program, out, priority, bits[(at - entry) & 1], space, far_tail, live, u, j, found);
                        });
                    },
                    [&](const Index* slots, const LocalTally& here, i64 at) {
                        // Nobody sets bits of the current queue any more: clear them for the superstep after the next.
                        for (u32 i = threadIdx.x; i < here.light; i += THREADS)
                            bits[(at - entry - 1) & 1][slots[i] >> 5] = 0;
                        step = at;
                        trace(here.count, here.arcs);
                    },
                    [&](const LocalTally&, i64 at) { return at < limit; });
            barrier.wait();
            now = space.local->tally, step = space.local->step;
            space.queued = bits[(step - entry) & 1], space.following_queued = bits[(step - entry + 1) & 1];
            const Frontier<Index> swap = space.queue;
            space.queue = space.following, space.following = swap;
            // Read by all before the block alone writes it again.
            barrier.wait();
            continue;
        }

        Tally* const tally = &space.tally[(phase + 1) % 3];
        if (thread == 0) space.tally[(phase + 2) % 3] = Tally{0, 0, 0, 0, 0};
        ++phase;
        if (now.count == 0) {
            if (thread == 0) priority.least[1 - pile_index] = priority.largest;
            const Value least =
                least_waiting(program, space, pile, priority.largest, priority.least + pile_index, barrier);
            const Value below = priority.threshold, next = least + priority.delta;
            priority.threshold = below + priority.delta < next ? next : below + priority.delta;
            Collector<Index> found(shared.slots, out.indptr, space.queue, tally);
            split(program, space, pile, &space.far_tail[1 - pile_index], below, least,
                  priority.threshold, found);
            found.finish(0);
            barrier.wait();
            if (thread == 0) *far_tail = 0;
            pile_index = 1 - pile_index;
            Index* const swap = space.far;
            space.far = space.far_kept, space.far_kept = swap;
            now = *tally;
            continue;
        }
        ++step;
        Collector<Index> found(shared.slots, out.indptr, space.following, tally);
        for_each_arc<Index>(out, space.queue, now.light, now.pieces, [&](bool live, Index u, i64 j) {
            send(program, out, priority, space.following_queued, space, far_tail, live, u, j, found);
        });
        for (u64 i = thread; i < now.light; i += threads) space.queued[space.queue.light[i] >> 5] = 0;
        for (u64 i = thread; i < now.pieces; i += threads) space.queued[space.queue.pieces[i].vertex >> 5] = 0;
        const Frontier<Index> queue = space.queue;
        space.queue = space.following, space.following = queue;
        u32* const bits = space.queued;
        space.queued = space.following_queued, space.following_queued = bits;
        found.finish(0);
        barrier.wait();
        const Tally before = now;
        now = *tally;
        trace(before.count, before.arcs);
    }
    if (thread == 0) space.outcome[0] = step, space.outcome[1] = (i64)left;
}

}  // namespace hpgraph
