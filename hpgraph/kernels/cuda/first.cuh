// Traversals in which the first message wins (breadth-first search and its kin): the whole of it is one kernel.
//
// A superstep pushes along the arcs of the queued vertices, or lets every vertex not yet reached pull until it finds
// one active in-neighbour (Beamer et al., SC'12). Supersteps are separated by a barrier of the grid, not by launches
// (SIMD-X, H. Liu and H. H. Huang, ATC'19), and every block takes the same decision from the same tally, so nothing
// returns to the host until the traversal ends. A vertex is settled by its first message; one bit says so, and that
// bit is both the test before and the claim on it.
#pragma once
#include "frontier.cuh"
#include "grid_barrier.cuh"
#include "local.cuh"
#include "trace.cuh"

namespace hpgraph {

constexpr int PUSH = 0, PULL = 1;
// Probes a lane makes alone before the warp takes over the rest of a row.
constexpr int ALONE = 32;

struct Policy {
    double alpha;  // share of all arcs above which a push turns into a pull
    double beta;   // share of all vertices below which a shrinking frontier turns back
    int forced;    // PUSH, PULL or -1 for the choice above
    i64 limit;     // supersteps at the most
};

template <class Index>
struct FirstSpace {
    unsigned* barrier;
    Tally* tally;        // three, used in turn: one read, one filled, one cleared
    u32 *settled, *active, *next;
    Frontier<Index> queue, following;
    TraceRow* trace;
    i64 trace_rows;
    i64* outcome;        // supersteps done
    LocalReturn* local;
};

__device__ inline bool bit(const u32* words, i64 v) { return words[v >> 5] >> (v & 31) & 1; }

// Offer a message along arc j from u; by whole warps.
template <class Program, class Index, class Weight, class Found>
__device__ void offer(const Program& program, i64 step, const Arcs<Index, Weight>& out, u32* settled, bool live, Index u,
                      i64 j, Found& found) {
    bool won = false;
    Index v = 0;
    if (live) {
        v = out.indices[j];
        const u32 flag = 1u << (v & 31);
        if (!(settled[v >> 5] & flag)) {
            const auto weight = out.weight(j);
            if (program.edge_cond(u, weight, v) && !(atomicOr(settled + (v >> 5), flag) & flag))
                won = program.update(v, program.gather(u, weight, v), step);
        }
    }
    found.add(won, v);
}

template <class Program, class Index, class Weight>
__device__ u64 pull_first(Program program, i64 step, i64 n, Arcs<Index, Weight> in, Arcs<Index, Weight> out,
                          const u32* active, u32* settled, u32* next, Collector<Index>& found) {
    const int lane = threadIdx.x & 31;
    const i64 warp = (i64)blockIdx.x * WARPS + (threadIdx.x >> 5), warps = (i64)gridDim.x * WARPS;
    u64 looked = 0;
    for (i64 word = warp; word < (n + 31) / 32; word += warps) {
        const u32 done = settled[word];
        if (done == ALL) {
            if (lane == 0) next[word] = 0;
            continue;
        }
        const i64 v = word * 32 + lane;
        const bool open = !(done >> lane & 1);
        i64 j = open ? in.indptr[v] : 0;
        const i64 end = open ? in.indptr[v + 1] : 0;
        bool hit = false, changed = false;
        for (int probes = 0; probes < ALONE && j < end && !hit; probes += 4) {
            // Four neighbours lie in one sector of memory: fetch them together, and their bits together, then look in
            // order. Without the empty statement the compiler defers each load until the bit before it was zero.
            Index u[4];
            u32 word[4];
#pragma unroll
            for (int k = 0; k < 4; ++k) u[k] = in.indices[j + k < end ? j + k : end - 1];
#pragma unroll
            for (int k = 0; k < 4; ++k) word[k] = active[u[k] >> 5];
            asm volatile("" : "+r"(word[0]), "+r"(word[1]), "+r"(word[2]), "+r"(word[3]));
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                if (hit || j + k >= end) continue;
                ++looked;
                if ((word[k] >> (u[k] & 31) & 1) && program.edge_cond(u[k], in.weight(j + k), v)) {
                    hit = true;
                    changed = program.update(v, program.gather(u[k], in.weight(j + k), v), step);
                }
            }
            j += 4;
        }
        for (u32 pending = __ballot_sync(ALL, !hit && j < end); pending; pending &= pending - 1) {
            const int owner = __ffs(pending) - 1;
            const i64 row_end = __shfl_sync(ALL, end, owner), target = word * 32 + owner;
            for (i64 k = __shfl_sync(ALL, j, owner); k < row_end; k += 32) {
                const Index u = k + lane < row_end ? in.indices[k + lane] : (Index)-1;
                looked += u >= 0;
                const bool on = u >= 0 && bit(active, u) && program.edge_cond(u, in.weight(k + lane), target);
                const u32 hits = __ballot_sync(ALL, on);
                if (hits) {
                    const int winner = __ffs(hits) - 1;
                    bool moved = false;
                    if (lane == winner) moved = program.update(target, program.gather(u, in.weight(k + lane), target), step);
                    moved = __shfl_sync(ALL, moved, winner);
                    if (lane == owner) hit = true, changed = moved;
                    break;
                }
            }
        }
        const u32 hits = __ballot_sync(ALL, hit), bits = __ballot_sync(ALL, changed);
        if (lane == 0) {
            next[word] = bits;
            if (hits) settled[word] = done | hits;
        }
        if (changed) {
            ++found.count;
            found.arcs += out.indptr[v + 1] - out.indptr[v];
        }
    }
    return looked;
}

// Bits to queue, and queue to bits, where the direction turns.
template <class Index>
__device__ void queue_from_bits(const u32* words, i64 n, Collector<Index>& found) {
    const int lane = threadIdx.x & 31;
    const i64 warp = (i64)blockIdx.x * WARPS + (threadIdx.x >> 5), warps = (i64)gridDim.x * WARPS;
    for (i64 word = warp; word < (n + 31) / 32; word += warps) {
        const u32 bits = words[word];
        if (bits) found.add(bits >> lane & 1, (Index)(word * 32 + lane));
    }
}

template <class Index>
__device__ void bits_from_queue(Frontier<Index> queue, const Tally& now, u32* words) {
    const u64 thread = (u64)blockIdx.x * THREADS + threadIdx.x, threads = (u64)gridDim.x * THREADS;
    for (u64 i = thread; i < now.light; i += threads)
        atomicOr(words + (queue.light[i] >> 5), 1u << (queue.light[i] & 31));
    for (u64 i = thread; i < now.pieces; i += threads)
        if (queue.pieces[i].number == 0)
            atomicOr(words + (queue.pieces[i].vertex >> 5), 1u << (queue.pieces[i].vertex & 31));
}

template <class Program, class Index, class Weight>
__global__ void __launch_bounds__(THREADS, 1)
first(Program program, i64 n, Arcs<Index, Weight> out, Arcs<Index, Weight> in, Sources<Index> sources,
      Policy policy, FirstSpace<Index> space) {
    __shared__ union {
        Index slots[WARPS * 64];
        LocalQueue<Index> local;
    } shared;
    GridBarrier barrier(space.barrier);
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    const int lane = threadIdx.x & 31;

    // Nobody waits for a vertex without in-arcs, nor for one that `cond` keeps from receiving.
    for (i64 v = thread; v < (n + 31) / 32 * 32; v += threads) {
        if (v < n) program.fill(v);
        const u32 bits = __ballot_sync(ALL, v >= n || in.indptr[v] == in.indptr[v + 1] || !program.cond(v));
        if (lane == 0) space.settled[v >> 5] = bits, space.active[v >> 5] = 0;
    }
    barrier.wait();
    {
        Collector<Index> found(shared.slots, out.indptr, space.queue, &space.tally[0]);
        for (i64 i = thread; i - lane < sources.count; i += threads) {
            const bool mine = i < sources.count;
            const Index v = mine ? sources[i] : 0;
            if (mine) program.start(v);
            if (mine) atomicOr(space.settled + (v >> 5), 1u << (v & 31));
            found.add(mine, v);
        }
        found.finish(0);
    }
    barrier.wait();

    int direction = PUSH;
    bool queued = true;
    i64 step = 0, phase = 0, previous = 0, began = nanoseconds();
    const double total = (double)out.indptr[n];
    Tally now = space.tally[0];
    const auto trace = [&](i64 active, i64 looked) {
        if (thread != 0 || step > space.trace_rows) return;
        const i64 ended = nanoseconds();
        space.trace[step - 1] = TraceRow{direction, active, looked, ended - began};
        began = ended;
    };
    while (now.count && step < policy.limit) {
        if (policy.forced >= 0) direction = policy.forced;
        else if (direction == PUSH && now.arcs > policy.alpha * total) direction = PULL;
        else if (direction == PULL && ((now.count < policy.beta * n && (i64)now.count < previous) ||
                                       (2 * now.arcs < now.looked && now.arcs <= policy.alpha * total)))
            // The frontier dwindles; or the last pull looked at twice the arcs that a push would touch now.
            direction = PUSH;
        previous = now.count;

        if (direction == PUSH && !queued) {
            // After a pull the tally's queue tails are still zero.
            Collector<Index> found(shared.slots, out.indptr, space.queue, &space.tally[phase % 3]);
            queue_from_bits(space.active, n, found);
            if (found.filled) found.flush();
            barrier.wait();
            now = space.tally[phase % 3];
            queued = true;
        } else if (direction == PULL && queued) {
            if (step > 0) {  // the bits of an earlier pull may still stand
                for (i64 w = thread; w < (n + 31) / 32; w += threads) space.active[w] = 0;
                barrier.wait();
            }
            bits_from_queue(space.queue, now, space.active);
            barrier.wait();
            queued = false;
        }

        if (direction == PUSH && is_local(now)) {
            if (blockIdx.x == 0)
                run_local(
                    shared.local, out.indptr, space.queue, space.following, now, step, space.local,
                    [&](Index vertex, i64 start, int degree, LocalCollector<Index>& found, i64 at) {
                        deal_arcs(vertex, start, degree, [&](bool live, Index u, i64 j) {
                            offer(program, at, out, space.settled, live, u, j, found);
                        });
                    },
                    [&](const Index*, const LocalTally& here, i64 at) {
                        step = at;
                        trace(here.count, here.arcs);
                    },
                    [&](const LocalTally& next, i64 at) {
                        return at < policy.limit && (policy.forced >= 0 || !(next.arcs > policy.alpha * total));
                    });
            barrier.wait();
            now = space.local->tally, step = space.local->step, previous = space.local->previous;
            const Frontier<Index> swap = space.queue;
            space.queue = space.following, space.following = swap;
            continue;
        }

        Tally* const tally = &space.tally[(phase + 1) % 3];
        if (thread == 0) space.tally[(phase + 2) % 3] = Tally{0, 0, 0, 0, 0};
        Collector<Index> found(shared.slots, out.indptr, space.following, tally);
        ++step;
        u64 looked = 0;
        if (direction == PUSH) {
            for_each_arc<Index>(out, space.queue, now.light, now.pieces, [&](bool live, Index u, i64 j) {
                offer(program, step, out, space.settled, live, u, j, found);
            });
            const Frontier<Index> swap = space.queue;
            space.queue = space.following, space.following = swap;
        } else {
            looked = pull_first(program, step, n, in, out, space.active, space.settled, space.next, found);
            u32* const swap = space.active;
            space.active = space.next, space.next = swap;
        }
        found.finish(looked);
        barrier.wait();
        const i64 arcs = now.arcs;
        now = *tally;
        ++phase;
        trace(previous, direction == PUSH ? arcs : (i64)now.looked);
    }
    if (thread == 0) space.outcome[0] = step, space.outcome[1] = 0;
}

}  // namespace hpgraph
