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
#include "pull_first.cuh"
#include "trace.cuh"

namespace hpgraph {

constexpr int PUSH = 0, PULL = 1;
// Vertices that a pull passes over in the time a push takes for an arc.
constexpr int PULL_COST = 16;

struct Policy {
    double alpha;  // share of all arcs above which a push turns into a pull
    double beta;   // share of all vertices below which a shrinking frontier turns back
    double gamma;  // instead of alpha: hubs in the frontier
    i64 hub;       // what has more arcs is one
    int forced;    // PUSH, PULL or -1 for the choice above
    i64 limit;     // supersteps at the most
    LocalLimits local;
};

template <class Index>
struct FirstSpace {
    unsigned* barrier;
    Tally* tally;        // three, used in turn: one read, one filled, one cleared
    const u32* unheard;  // who has no in-arcs
    u32 *settled, *active, *next;
    Frontier<Index> queue, following;
    TraceRow* trace;
    i64 trace_rows;
    i64* outcome;        // supersteps done
    LocalReturn* local;
};

// Who is told along the arcs of a batch for the first time, as bits; by whole warps. `v` receives the targets.
template <int size, class Program, class Index, class Weight>
__device__ u32 claim(const Program& program, const Arcs<Index, Weight>& out, u32* settled,
                     const Batch<Index, size>& batch, Index (&v)[size]) {
    u32 bits[size];
#pragma unroll
    for (int k = 0; k < size; ++k) v[k] = batch.live[k] ? out.indices[batch.arc[k]] : 0;
#pragma unroll
    for (int k = 0; k < size; ++k) bits[k] = batch.live[k] ? settled[v[k] >> 5] : ALL;
    loaded(bits);
#pragma unroll
    for (int k = 0; k < size; ++k) {
        const u32 flag = 1u << (v[k] & 31);
        const bool open = !(bits[k] & flag) && program.edge_cond(batch.source[k], out.weight(batch.arc[k]), v[k]);
        bits[k] = open ? atomicOr(settled + (v[k] >> 5), flag) : ALL;
    }
    u32 claimed = 0;
#pragma unroll
    for (int k = 0; k < size; ++k) claimed |= !(bits[k] >> (v[k] & 31) & 1) << k;
    return claimed;
}

// An arc whose message came first.
template <class Index>
struct Claim {
    i64 arc;
    Index source;
};

// Bits to queue, and queue to bits, where the direction turns.
template <class T, class Index>
__device__ void queue_from_bits(const u32* words, i64 n, Stage<Claim<Index>>& stage, Collector<T, Index>& found) {
    const int lane = lane_of_warp();
    const i64 warp = (i64)blockIdx.x * WARPS + (threadIdx.x >> 5), warps = (i64)gridDim.x * WARPS;
    for (i64 word = warp; word < (n + 31) / 32; word += warps) {
        const u32 bits = words[word];
        stage.add(bits >> lane & 1, Claim<Index>{0, (Index)(word * 32 + lane)},
                  [&](bool mine, const Claim<Index>& one) { found.add(mine, one.source); });
    }
    Claim<Index> one{0, 0};
    const bool has_one = stage.rest(one);
    found.add(has_one, one.source);
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

template <class Program, class Index, class Weight, class T = Techniques<>>
__global__ void __launch_bounds__(THREADS, 1)
first(Program program, i64 n, Arcs<Index, Weight> out, Arcs<Index, Weight> in, Sources<Index> sources,
      Policy policy, FirstSpace<Index> space) {
    __shared__ union {
        PullShare pull[WARPS];
        LocalQueue<Index> local;
    } shared;
    // Raw, as a type with constructors cannot be shared.
    __shared__ __align__(16) char slots[sizeof(Claim<Index>) * WARPS * 64];
    __shared__ BlockSums sums;
    if (threadIdx.x == 0) sums.clear();
    Stage<Claim<Index>> claims((Claim<Index>*)slots);
    GridBarrier barrier(space.barrier);
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    const int lane = lane_of_warp();

    // Nobody waits for a vertex without in-arcs, nor for one that `cond` keeps from receiving.
    for (i64 v = thread; v < (n + 31) / 32 * 32; v += threads) {
        if (v < n) program.fill(v);
        const u32 bits = __ballot_sync(ALL, v >= n || !program.cond(v));
        if (lane == 0) space.settled[v >> 5] = bits | space.unheard[v >> 5], space.active[v >> 5] = 0;
    }
    barrier.wait();
    {
        Collector<T, Index> found(out.indptr, space.queue, &space.tally[0], policy.hub);
        for (i64 i = thread; i - lane < sources.count; i += threads) {
            const bool mine = i < sources.count;
            const Index v = mine ? sources[i] : 0;
            if (mine) program.start(v);
            if (mine) atomicOr(space.settled + (v >> 5), 1u << (v & 31));
            found.add(mine, v);
        }
        found.finish(sums, false, 0, 0);
    }
    barrier.wait();

    int direction = PUSH;
    bool queued = true;
    i64 step = 0, phase = 0, previous = 0, began = nanoseconds();
    const double total = (double)out.indptr[n];
    Tally now = space.tally[0];
    i64 unseen = (i64)total - now.arcs;  // arcs that leave vertices not yet reached
    const auto trace = [&](i64 active, i64 looked) {
        if (thread != 0 || step > space.trace_rows) return;
        const i64 ended = nanoseconds();
        space.trace[step - 1] = TraceRow{direction, active, looked, ended - began};
        began = ended;
    };
    const auto dense = [&](u64 arcs, u64 hubs) {
        return T::BY_HUBS ? (double)hubs > policy.gamma : (double)arcs > policy.alpha * total;
    };
    const auto receive = [&](Index u, i64 j, Index v, i64 at) {
        return program.receive(v, program.gather(u, out.weight(j), v), at);
    };
    while (now.count && step < policy.limit) {
        if (policy.forced >= 0) direction = policy.forced;
        else if (direction == PUSH && dense(now.arcs, now.hubs)) direction = PULL;
        else if (direction == PULL && (i64)now.arcs <= unseen + n / PULL_COST &&
                 ((now.count < policy.beta * n && (i64)now.count < previous) ||
                  (2 * now.arcs < now.looked && !dense(now.arcs, now.hubs))))
            // The frontier dwindles, or the last pull looked at twice the arcs that a push would touch now; and those
            // are no more than a pull could look at, of whom few may be left to be reached.
            direction = PUSH;
        previous = now.count;

        if (direction == PUSH && !queued) {
            // After a pull the tally's queue tails are still zero.
            Collector<T, Index> found(out.indptr, space.queue, &space.tally[phase % 3]);
            queue_from_bits(space.active, n, claims, found);
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

        if (direction == PUSH && policy.local.hold<Index>(now)) {
            if (blockIdx.x == 0)
                run_local<T>(
                    shared.local, policy.local, out.indptr, policy.hub, space.queue, space.following, now, step,
                    space.local,
                    [&](Index vertex, i64 start, int degree, LocalCollector<T, Index>& found, i64 at) {
                        deal_arcs<1>(vertex, start, degree, [&](const Batch<Index, 1>& batch) {
                            Index v[1];
                            const bool mine = claim(program, out, space.settled, batch, v);
                            found.add(mine && receive(batch.source[0], batch.arc[0], v[0], at), v[0]);
                        });
                    },
                    [&](const Index*, const LocalTally& here, i64 at) {
                        step = at;
                        trace(here.count, here.arcs);
                    },
                    [&](const LocalTally& next, i64 at) {
                        return at < policy.limit && (policy.forced >= 0 || !dense(next.arcs, next.hubs));
                    });
            barrier.wait();
            now = space.local->tally, step = space.local->step, previous = space.local->previous;
            unseen -= space.local->sent + now.arcs;
            const Frontier<Index> swap = space.queue;
            space.queue = space.following, space.following = swap;
            continue;
        }

        Tally* const tally = &space.tally[(phase + 1) % 3];
        if (thread == 0) space.tally[(phase + 2) % 3] = Tally{0, 0, 0, 0, 0, 0};
        Collector<T, Index> found(out.indptr, space.following, tally, policy.hub);
        ++step;
        u64 looked = 0;
        Index last = 0;
        bool has_last = false;
        if (direction == PUSH) {
            // The claimed vertex, where its message changes it.
            const auto take = [&](bool mine, const Claim<Index>& one, Index& v) {
                v = mine ? out.indices[one.arc] : 0;
                return mine && receive(one.source, one.arc, v, step);
            };
            const bool at_once = now.arcs < AT_ONCE;
            for_each_arc<T, Index>(out, space.queue, now.light, now.pieces, [&](const Batch<Index, T::BATCH>& batch) {
                Index v[T::BATCH];
                for (u32 claimed = claim(program, out, space.settled, batch, v); __any_sync(ALL, claimed);
                     claimed &= claimed - 1) {
                    const int k = __ffs(claimed) - 1;
                    const Claim<Index> one{pick(batch.arc, k), pick(batch.source, k)};
                    const auto go_on = [&](bool mine, const Claim<Index>& one) {
                        Index target;
                        const bool changed = take(mine, one, target);
                        found.add(changed, target);
                    };
                    if (at_once) go_on(claimed, one);
                    else claims.add(claimed, one, go_on);
                }
            });
            Claim<Index> one;
            const bool has_one = claims.rest(one);
            has_last = take(has_one, one, last);
            const Frontier<Index> swap = space.queue;
            space.queue = space.following, space.following = swap;
        } else {
            looked = pull_first<T>(program, step, n, in, out, space.active, space.settled, space.next, shared.pull, found);
            u32* const swap = space.active;
            space.active = space.next, space.next = swap;
        }
        found.finish(sums, has_last, last, looked);
        barrier.wait();
        const i64 arcs = now.arcs;
        now = *tally;
        unseen -= now.arcs;
        ++phase;
        trace(previous, direction == PUSH ? arcs : (i64)now.looked);
    }
    if (thread == 0) space.outcome[0] = step, space.outcome[1] = 0;
}

}  // namespace hpgraph
