// Direction-optimizing breadth-first search and similar programs (the first message wins) in one kernel.
//
// A superstep is top-down, a push along the arcs of the queued vertices, or bottom-up: every unsettled vertex pulls
// until it finds one active in-neighbour (Beamer et al., SC'12). A grid barrier separates supersteps, instead of
// launches (SIMD-X, H. Liu and H. H. Huang, ATC'19), and every block takes the same decisions from the same tally, so
// control returns to the host only at the end. A vertex is settled by its first message; its bit in `settled` is both
// the test before the claim and the claim.
#pragma once
#include "bottom_up.cuh"
#include "load_balancing.cuh"
#include "one_block.cuh"
#include "persistent.cuh"

namespace hpgraph {

constexpr int PUSH = 0, PULL = 1;
// A pull skips this many settled vertices in the time of one arc of a push.
constexpr int PULL_COST = 16;

struct Policy {
    i64 alpha;   // switch to pull above so many out-arcs
    i64 beta;    // switch back to push when a shrinking frontier has fewer vertices
    int forced;  // PUSH, PULL, or -1 to choose by these
    i64 limit;   // supersteps at the most
    i64 arcs;    // of the graph
    LocalLimits local;

    // Whether a frontier's out-arcs exceed alpha.
    template <class AnyTally>
    __device__ bool dense(const AnyTally& now) const {
        return (i64)now.arcs > alpha;
    }

    // Next direction, from the sizes of this and the last frontier; `unseen` is the out-arcs of vertices not yet
    // reached.
    template <class AnyTally>
    __device__ int turn(int direction, const AnyTally& now, i64 previous, i64 unseen, i64 n) const {
        if (forced >= 0) return forced;
        if (direction == PUSH && dense(now)) return PULL;
        // The frontier shrinks below beta, or the last pull examined twice the arcs that a push would send now; and the
        // push would not send more arcs than a pull could examine.
        if (direction == PULL && (i64)now.arcs <= unseen + n / PULL_COST &&
            (((i64)now.count < beta && (i64)now.count < previous) || (2 * now.arcs < now.looked && !dense(now))))
            return PUSH;
        return direction;
    }
};

template <class Index>
struct TraversalSpace {
    Header* header;
    const u32* no_in_arcs;  // bitmap of vertices without in-arcs
    u32 *settled, *active, *next;
    Frontier<Index> queue, following;
    Trace trace;
};

// Warp-collective claim: returns the mask of arcs of a batch whose target was unsettled. `v` receives the targets.
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

// Initialize the vertices below `n` in the words from `begin` to `end`: their properties, and their settled bits, set
// for vertices without in-arcs or masked by `cond`. keep(word, bits) stores the bits. A warp has several words in
// flight.
template <class Program, class Keep>
__device__ void fill_words(const Program& program, const u32* no_in_arcs, i64 begin, i64 end, i64 n, Keep keep) {
    constexpr int AT_ONCE = 8;
    const int lane = lane_of_warp();
    const i64 warp = (i64)blockIdx.x * WARPS + (threadIdx.x >> 5), warps = (i64)gridDim.x * WARPS;
    for (i64 word = begin + warp * AT_ONCE; word < end; word += warps * AT_ONCE) {
        const bool keeps = lane < AT_ONCE && word + lane < end;
        u32 bits = keeps ? no_in_arcs[word + lane] : 0;
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
            const i64 v = (word + k) * 32 + lane;
            const bool exists = word + k < end && v < n;
            if (exists) program.fill(v);
            const u32 closed = __ballot_sync(ALL, !exists || !program.cond(v));
            if (lane == k) bits |= closed;
        }
        if (keeps) keep(word + lane, bits);
    }
}

// A claim: an arc that carries the first message of its target.
template <class Index>
struct Claim {
    i64 arc;
    Index source;
};

// Bitmap to queue, for the words from `begin` to `end`, when the direction changes.
template <class T, class Index>
__device__ void queue_from_bits(const u32* words, i64 begin, i64 end, Stage<Claim<Index>>& stage,
                                Collector<T, Index>& found) {
    const int lane = lane_of_warp();
    const i64 warp = (i64)blockIdx.x * WARPS + (threadIdx.x >> 5), warps = (i64)gridDim.x * WARPS;
    for (i64 word = begin + warp; word < end; word += warps) {
        const u32 bits = words[word];
        stage.add(bits >> lane & 1, Claim<Index>{0, (Index)(word * 32 + lane)},
                  [&](bool mine, const Claim<Index>& one) { found.add(mine, one.source); });
    }
    Claim<Index> one{0, 0};
    const bool has_one = stage.rest(one);
    found.add(has_one, one.source);
}

// Queue to bitmap.
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
traverse(const Program program, const i64 n, const Arcs<Index, Weight> out, const Arcs<Index, Weight> in,
      const Sources<Index> sources, const Policy policy, const TraversalSpace<Index> space) {
    __shared__ union {
        PullShare pull[WARPS];
        LocalQueue<Index> local;
    } shared;
    // Raw, as a type with constructors cannot be shared.
    __shared__ __align__(16) char slots[sizeof(Claim<Index>) * WARPS * 64];
    __shared__ BlockSums sums;
    if (threadIdx.x == 0) sums.wanted[0] = sums.wanted[1] = 0;
    Stage<Claim<Index>> claims((Claim<Index>*)slots);
    GridBarrier barrier(&space.header->barrier);
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    const int lane = lane_of_warp();

    fill_words(program, space.no_in_arcs, 0, (n + 31) / 32, n, [&](i64 word, u32 bits) {
        space.settled[word] = bits, space.active[word] = 0;
    });
    barrier.wait();
    {
        Collector<T, Index> found(out.indptr, space.queue, &space.header->tally[0]);
        for (i64 i = thread; i - lane < sources.count; i += threads) {
            const bool mine = i < sources.count;
            const Index v = mine ? sources[i] : 0;
            if (mine) program.start(v);
            if (mine) atomicOr(space.settled + (v >> 5), 1u << (v & 31));
            found.add(mine, v);
        }
        found.finish(sums, false, 0);
    }
    barrier.wait();

    space.trace.begin();
    int direction = PUSH;
    bool queued = true;
    i64 step = 0, previous = 0, thin = 0;
    u32 phase = 0;
    Tally now = space.header->tally[0];
    i64 unseen = policy.arcs - now.arcs;  // arcs that leave vertices not yet reached
    bool queue_turned = false, bits_turned = false;
    const auto queue = [&] { return of_two(space.queue, space.following, queue_turned); };
    const auto following = [&] { return of_two(space.following, space.queue, queue_turned); };
    const auto active = [&] { return of_two(space.active, space.next, bits_turned); };
    const auto receive = [&](Index u, i64 j, Index v, i64 at) {
        return program.receive(v, program.gather(u, out.weight(j), v), at);
    };
    while (now.count && step < policy.limit && !policy.local.leave(now, thin)) {
        direction = policy.turn(direction, now, previous, unseen, n);
        previous = now.count;

        if (direction == PUSH && !queued) {
            // After a pull the tally's queue tails are still zero.
            Collector<T, Index> found(out.indptr, queue(), &space.header->tally[phase % 3]);
            queue_from_bits(active(), 0, (n + 31) / 32, claims, found);
            barrier.wait();
            now = space.header->tally[phase % 3];
            queued = true;
        } else if (direction == PULL && queued) {
            if (step > 0) {  // clear the bits of an earlier pull
                for (i64 w = thread; w < (n + 31) / 32; w += threads) active()[w] = 0;
                barrier.wait();
            }
            bits_from_queue(queue(), now, active());
            barrier.wait();
            queued = false;
        }

        if (direction == PUSH && policy.local.hold<Index>(now)) {
            if (blockIdx.x == 0)
                run_local<T>(
                    shared.local, policy.local, out.indptr, queue(), following(), now, step, thin, &space.header->local,
                    [&](const Batch<Index, T::BATCH>& batch, LocalCollector<T, Index>& found, i64 at) {
                        Index v[T::BATCH];
                        const u32 claimed = claim(program, out, space.settled, batch, v);
#pragma unroll
                        for (int k = 0; k < T::BATCH; ++k)
                            found.add((claimed >> k & 1) && receive(batch.source[k], batch.arc[k], v[k], at), v[k]);
                    },
                    [&](const Index*, const LocalTally& here, i64 at) {
                        space.trace.add(at, PUSH, here.count, here.arcs);
                    },
                    [&](const LocalTally& found, i64 at) {
                        return at < policy.limit && (policy.forced >= 0 || !policy.dense(found));
                    });
            barrier.wait();
            now = space.header->local.tally, step = space.header->local.step, previous = space.header->local.previous;
            thin = space.header->local.thin;
            unseen -= space.header->local.sent + now.arcs;
            queue_turned = !queue_turned;
            continue;
        }

        // One superstep in either direction, and its tally and trace.
        const auto superstep = [&](auto messages, auto... put_off) {
            Tally* const tally = &space.header->tally[(phase + 1) % 3];
            if (thread == 0) space.header->tally[(phase + 2) % 3] = Tally{};
            const i64 count = now.count, arcs = now.arcs;
            const auto all_of = [&](auto some) {
                Collector<T, Index> found(out.indptr, following(), tally);
                some(found);
                barrier.wait();
                now = *tally;
            };
            ++step, ++phase;
            all_of(messages);
            if constexpr (sizeof...(put_off) > 0)
                if (now.put_off) (all_of(put_off), ...);
            unseen -= now.arcs;
            space.trace.add(step, direction, count, direction == PUSH ? arcs : (i64)now.looked);
        };
        if (direction == PULL) {
            u32* const next = of_two(space.next, space.active, bits_turned);
            superstep([&](Collector<T, Index>& found) {
                found.finish_pull(sums, bottom_up_step<T>(program, step, 0, (n + 31) / 32, in, out, active(),
                                                          space.settled, next, shared.pull, found));
            }, [&](Collector<T, Index>& found) {
                found.finish_pull(sums, pull_put_off<T>(program, step, in, out, active(), space.settled, next,
                                                        now.put_off, found));
            });
            bits_turned = !bits_turned;
            continue;
        }
        // Push along the arcs that `each_arc` enumerates in batches.
        const auto push = [&](Collector<T, Index>& found, auto each_arc) {
            // Deliver to the claimed vertex `v`; whether it changed.
            const auto take = [&](bool mine, const Claim<Index>& one, Index& v) {
                v = mine ? out.indices[one.arc] : 0;
                return mine && receive(one.source, one.arc, v, step);
            };
            each_arc([&](const Batch<Index, T::BATCH>& batch) {
                Index v[T::BATCH];
                for (u32 claimed = claim(program, out, space.settled, batch, v); __any_sync(ALL, claimed);
                     claimed &= claimed - 1) {
                    const int k = __ffs(claimed) - 1;
                    claims.add(claimed, Claim<Index>{pick(batch.arc, k), pick(batch.source, k)},
                               [&](bool mine, const Claim<Index>& one) {
                                   Index target;
                                   const bool changed = take(mine, one, target);
                                   found.add(changed, target);
                               });
                }
            });
            Claim<Index> one;
            Index last;
            const bool has_one = claims.rest(one), has_last = take(has_one, one, last);
            found.finish(sums, has_last, last);
            queue_turned = !queue_turned;
        };
        if (!is_short<T>(now)) {
            superstep([&](Collector<T, Index>& found) {
                push(found, [&](auto visit) { for_each_arc<T, Index>(out, queue(), now.light, now.pieces, visit); });
            });
            continue;
        }
        // A separate loop, to keep values of the other paths out of its registers.
        do {
            superstep([&](Collector<T, Index>& found) {
                push(found, [&](auto visit) { for_each_arc_of_short<T, Index>(out, queue().light, now, visit); });
            });
        } while (now.count && step < policy.limit && is_short<T>(now) && !policy.local.hold<Index>(now) &&
                 (policy.forced >= 0 || !policy.dense(now)));
    }
    // For a takeover by the host: the queue and its length.
    const bool leaves = now.count && step < policy.limit;
    space.trace.end(step, leaves ? now.light : 0);
    if (thread == 0) {
        space.trace.outcome->passed[0] = (i64)queue().light;
        policy.local.tell(thin);
    }
}

}  // namespace hpgraph
