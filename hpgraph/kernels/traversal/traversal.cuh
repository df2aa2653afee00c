// Direction-optimizing breadth-first search and similar programs (the first message wins) in one kernel.
//
// A superstep is top-down, a push along the arcs of the queued vertices, or bottom-up: every unsettled vertex pulls
// until it finds one active in-neighbour (Beamer et al., SC'12). A push that reaches many vertices has two passes
// (two_pass_push.cuh). A grid barrier separates supersteps, instead of
// launches (SIMD-X, H. Liu and H. H. Huang, ATC'19), and every block takes the same decisions from the same tally, so
// control returns to the host only at the end. A vertex is settled by its first message; its bit in `settled` is both
// the test before the claim and the claim.
//
// A team of several GPUs (team.cuh) divides the rows. Only the owner of a vertex settles and queues it. In a pull, each
// part has the frontier of all vertices as a bitmap, and searches its own rows. A push first claims remote vertices in
// a local bitmap, so that each part sends at most one message to a vertex; the owner takes the first that arrives. All
// parts take the same decisions, from sums over the parts.
#pragma once
#include "bottom_up.cuh"
#include "claims.cuh"
#include "multi_gpu_barrier.cuh"
#include "policy.cuh"
#include "two_pass_push.cuh"

namespace hpgraph {

// Pointers into a part's arrays are offset so that elements are indexed by global vertex ids.
template <class Index>
struct TraversalSpace {
    const u32* no_in_arcs;  // bitmap of own vertices without in-arcs
    u32* settled;           // bitmap of own vertices that are settled, and of remote ones claimed by this part
    u32 *active, *next;     // bitmaps of this frontier and of the next one, a double buffer
    Frontier<Index> queue, following;
};

// Memory that the parts of a team share.
template <class Index, class Message>
struct TraversalExchange {
    Mail<Message> mail;
    u32* fronts[2][MAX_PARTS];  // `active` and `next` of each part
    Post<Index, Message> post;
};

template <class T, class Team, class Exchange, class Program, class Index, class Weight>
struct Traversal {
    typedef typename Program::Message Message;
    Team& team;
    const Exchange& exchange;
    const Program& program;
    const i64 n;
    const Arcs<Index, Weight>&out, &in;
    const Policy& policy;
    const TraversalSpace<Index>& space;
    const Trace& trace;
    PullShare* shares;
    LocalQueue<Index>& local;
    Stage<Claim<Index>> claims;
    BlockSums& sums;
    typename Team::Sums now{};  // sums over the team
    Tally own{};                 // of this part's queue, if there are several parts
    int direction = PUSH;
    bool queued = true, queue_turned = false, bits_turned = false;
    u32 phase = 0;
    i64 step = 0, previous = 0, thin = 0;
    i64 sent = 0;  // out-arcs of earlier frontiers
    // Vertices of these, and vertices reached by each arc of the last superstep; floats take fewer registers.
    float reached = 0, rate = 1;

    __device__ void run(const Sources<Index>& sources) {
        begin(sources);
        trace.begin();
        while (now.count && step < policy.limit && !team.lost && !leaves()) {
            direction = policy.turn(direction, now, previous, outlook(), n);
            previous = now.count;
            if (direction == PUSH && !queued) list_frontier();
            else if (direction == PULL && queued) mark_frontier();
            if (direction == PULL) pull();
            else if (holds()) run_on_one_block();
            else if (policy.reaches_many(now, outlook(), n)) push_in_two_passes();
            else if (is_short<T>(queue_tally())) push_short();
            else push([&](auto visit) {
                for_each_arc<T, Index>(out, queue(), queue_tally().light, queue_tally().pieces, visit);
            });
        }
    }

    __device__ Frontier<Index> queue() const { return of_two(space.queue, space.following, queue_turned); }

private:
    __device__ const Tally& queue_tally() const {
        if constexpr (Team::DIVIDED) return own;
        else return now;
    }
    __device__ Frontier<Index> following() const { return of_two(space.following, space.queue, queue_turned); }
    __device__ u32* front(bool turned) const { return of_two(space.active, space.next, turned); }
    __device__ Tally* tally() const { return &team.header->tally[phase % 3]; }
    __device__ Tally* next_tally() {
        ++step, ++phase;
        if (blockIdx.x == 0 && threadIdx.x == 0) team.header->tally[(phase + 1) % 3] = Tally{};
        return tally();
    }
    __device__ bool receive(Index u, i64 j, Index v, i64 at) const {
        return program.receive(v, program.gather(u, out.weight(j), v), at);
    }

    // Several GPUs neither run supersteps on one block nor leave them to the host.
    __device__ bool holds() const {
        if constexpr (Team::DIVIDED) return false;
        else return policy.local.hold<Index>(now);
    }
    __device__ bool leaves() const {
        if constexpr (Team::DIVIDED) return false;
        else return policy.local.leave(now, thin);
    }
    __device__ Outlook outlook() const {
        const float waiting = (float)policy.receivers - reached - (float)now.count;
        return {fmaxf(waiting, 1), (float)(policy.arcs - sent - (i64)now.arcs), rate};
    }

    // The tally of this part's queue, after a barrier of the part.
    __device__ void read_own() {
        if constexpr (Team::DIVIDED) own = team.lost ? Tally{} : *tally();
        else now = *tally();
    }
    // The end of a superstep: a barrier of the team, and the tallies after it.
    __device__ void meet() {
        if constexpr (Team::DIVIDED) {
            now = team.meet([&](Report& report) {
                const volatile Tally &here = *tally(), &before = team.header->tally[(phase + 2) % 3];
                report.count = here.count, report.arcs = here.arcs, report.looked = here.looked;
                report.count_before = before.count, report.arcs_before = before.arcs;
            });
        } else {
            team.wait();
        }
        read_own();
    }
    // Copy the own words of a frontier's bitmap to the other parts; visible after the next barrier of the team.
    __device__ void share_front() {
        if constexpr (Team::DIVIDED) share_words(team, exchange.fronts[bits_turned]);
    }
    // Count a superstep whose frontier had `count` vertices and `arcs` out-arcs.
    __device__ void note(i64 count, i64 arcs) {
        if constexpr (Team::DIVIDED) {
            count = now.count_before, arcs = now.arcs_before;
            // 0 if all remote messages of the last superstep reached settled vertices.
            if (!count) --step;
        }
        sent += arcs, reached += (float)count, rate = __fdividef((float)now.count, (float)arcs);
        if (count) trace.add(step, direction, count, direction == PUSH ? arcs : (i64)now.looked);
    }

    __device__ void begin(const Sources<Index>& sources) {
        const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
        const i64 begin = team.first_word(), end = team.last_word(n);
        if constexpr (Team::DIVIDED)
            for (i64 w = thread; w < (n + 31) / 32; w += threads)
                if (w < begin || w >= end) space.settled[w] = 0;
        fill_words(program, space.no_in_arcs, begin, end, team.last(n), [&](i64 word, u32 bits) {
            space.settled[word] = bits, space.active[word] = 0;
        });
        team.wait();
        Collector<T, Index> found(out.indptr, space.queue, &team.header->tally[0]);
        for (i64 i = thread; i - lane_of_warp() < sources.count; i += threads) {
            const bool is_source = i < sources.count;
            const Index v = is_source ? sources[i] : 0;
            const bool mine = is_source && team.owns(v);
            if (mine) program.start(v);
            if (is_source) atomicOr(space.settled + (v >> 5), 1u << (v & 31));
            found.add(mine, v);
        }
        found.finish(sums, false, 0);
        meet();
    }

    // Bitmap to queue.
    __device__ void list_frontier() {
        // After a pull the tally's queue tails are still zero.
        Collector<T, Index> found(out.indptr, queue(), tally());
        queue_from_bits(front(bits_turned), team.first_word(), team.last_word(n), claims, found);
        team.wait();
        read_own();
        queued = true;
    }

    // Queue to bitmap.
    __device__ void mark_frontier() {
        const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
        u32* const bits = front(bits_turned);
        if (step > 0) {  // clear the bits of an earlier pull
            for (i64 w = team.first_word() + thread; w < team.last_word(n); w += threads) bits[w] = 0;
            team.wait();
        }
        bits_from_queue(queue(), queue_tally(), bits);
        team.wait();
        share_front();
        if constexpr (Team::DIVIDED) team.meet([](Report&) {});
        queued = false;
    }

    __device__ void run_on_one_block() {
        if constexpr (!Team::DIVIDED) {
            LocalReturn& result = team.header->local;
            if (blockIdx.x == 0)
                run_local<T>(
                    local, policy.local, out.indptr, queue(), following(), now, step, thin, &result,
                    [&](const Batch<Index, T::BATCH>& batch, LocalCollector<T, Index>& found, i64 at) {
                        Index v[T::BATCH];
                        const u32 claimed = claim(program, out, space.settled, batch, v);
#pragma unroll
                        for (int k = 0; k < T::BATCH; ++k)
                            found.add((claimed >> k & 1) && receive(batch.source[k], batch.arc[k], v[k], at), v[k]);
                    },
                    [&](const Index*, const LocalTally& here, i64 at) { trace.add(at, PUSH, here.count, here.arcs); },
                    [&](const LocalTally& found, i64 at) {
                        return at < policy.limit && (policy.forced >= 0 || !policy.dense(found));
                    });
            team.wait();
            sent += now.arcs + result.sent, reached += (float)(now.count + result.reached), rate = 1;
            now = result.tally, step = result.step, previous = result.previous, thin = result.thin;
            queue_turned = !queue_turned;
        }
    }

    __device__ void pull() {
        Tally* const tally = next_tally();
        const i64 count = now.count, arcs = now.arcs;
        u32* const next = front(!bits_turned);
        const auto collect = [&](auto look) {
            Collector<T, Index> found(out.indptr, following(), tally);
            found.finish_pull(sums, look(found));
            team.wait();
            read_own();
        };
        collect([&](Collector<T, Index>& found) {
            return bottom_up_step<T>(program, step, team.first_word(), team.last_word(n), in, out, front(bits_turned),
                                     space.settled, next, shares, found);
        });
        if (const u64 put_off = queue_tally().put_off)
            collect([&](Collector<T, Index>& found) {
                return pull_put_off<T>(program, step, in, out, front(bits_turned), space.settled, next, put_off, found);
            });
        bits_turned = !bits_turned;
        share_front();
        if constexpr (Team::DIVIDED) meet();
        note(count, arcs);
    }

    // A separate loop, to keep values of the other paths out of its registers.
    __device__ void push_short() {
        do push([&](auto visit) { for_each_arc_of_short<T, Index>(out, queue().light, queue_tally(), visit); });
        while (!Team::DIVIDED && now.count && step < policy.limit && is_short<T>(queue_tally()) && !holds() &&
               (policy.forced >= 0 || !policy.dense(now)));
    }

    // Deliver to the claimed vertex `v`: the part's own vertex receives at once, a remote one is sent a message.
    // Returns whether it changed.
    __device__ bool take(bool has_one, const Claim<Index>& one, Index& v) {
        v = has_one ? out.indices[one.arc] : 0;
        if constexpr (Team::DIVIDED) {
            const bool mine = has_one && team.owns(v);
            const Message message = has_one ? program.gather(one.source, out.weight(one.arc), v) : Message();
            exchange.post.send(team, step & 1, has_one && !mine, v, message);
            return mine && program.receive(v, message, step);
        } else {
            return has_one && receive(one.source, one.arc, v, step);
        }
    }

    // Push along the arcs that `each_arc` enumerates in batches.
    template <class EachArc>
    __device__ void push(EachArc each_arc) {
        const i64 count = now.count, arcs = now.arcs;
        Collector<T, Index> found(out.indptr, following(), next_tally());
        each_arc([&](const Batch<Index, T::BATCH>& batch) {
            Index v[T::BATCH];
            for (u32 claimed = claim(program, out, space.settled, batch, v); __any_sync(ALL, claimed);
                 claimed &= claimed - 1) {
                const int k = __ffs(claimed) - 1;
                claims.add(claimed, Claim<Index>{pick(batch.arc, k), pick(batch.source, k)},
                           [&](bool has_one, const Claim<Index>& one) {
                               Index target;
                               const bool changed = take(has_one, one, target);
                               found.add(changed, target);
                           });
            }
        });
        Claim<Index> one;
        Index last;
        const bool has_one = claims.rest(one), has_last = take(has_one, one, last);
        found.finish(sums, has_last, last);
        queue_turned = !queue_turned;
        meet();
        note(count, arcs);
        receive_remote();
    }

    // Messages from other parts to vertices that are not yet settled.
    __device__ void receive_remote() {
        if constexpr (Team::DIVIDED) {
            if (!now.sent) return;
            Collector<T, Index> more(out.indptr, queue(), tally());
            exchange.post.read_all(team, step & 1, [&](bool has_message, const RemoteMessage<Index, Message>& remote) {
                const Index v = remote.vertex;
                const u32 flag = 1u << (v & 31);
                const bool comes_first = has_message && !(space.settled[v >> 5] & flag) &&
                                         !(atomicOr(space.settled + (v >> 5), flag) & flag);
                more.add(comes_first && program.receive(v, remote.message, step), v);
            });
            more.finish(sums, false, 0);
            // The barrier of the team can be skipped: remote claims are only estimated here, as if each message were
            // the first and its vertex had the mean number of out-arcs. The next barrier gives the exact numbers.
            if (step < policy.limit) {
                const float each = now.count ? __fdividef((float)now.arcs, (float)now.count)
                                             : __fdividef((float)policy.arcs, (float)n);
                now.arcs += (u64)(each * (float)now.sent), now.count += now.sent;
                team.wait();
                read_own();
            } else {
                meet();
            }
        }
    }

    // One GPU keeps settled bits in the bitmap of this frontier, which is queued, and messages in the next queue, as
    // the next frontier is a bitmap.
    __device__ decltype(auto) mail() const {
        if constexpr (Team::DIVIDED) return (exchange.mail);
        else return Mail<Message, 1>{{space.settled}, {front(bits_turned)}, {(Message*)following().light}};
    }

    // See two_pass_push.cuh.
    __device__ void push_in_two_passes() {
        const i64 count = now.count, arcs = now.arcs;
        const auto& mail = this->mail();
        u32* const before = mail.before[team.me()];
        Message* const messages = mail.messages[team.me()];
        const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
        Collector<T, Index> found(out.indptr, following(), next_tally());
        for (i64 w = thread; w < (n + 31) / 32; w += threads) before[w] = space.settled[w];
        team.wait();
        const Tally& queued_now = queue_tally();
        for_each_arc<T, Index>(out, queue(), queued_now.light, queued_now.pieces, [&](const Batch<Index, T::BATCH>& batch) {
            Index v[T::BATCH];
            const u32 claimed = claim(program, out, space.settled, batch, v);
#pragma unroll
            for (int k = 0; k < T::BATCH; ++k)
                if (claimed >> k & 1)
                    messages[v[k]] = program.gather(batch.source[k], out.weight(batch.arc[k]), v[k]);
        });
        if constexpr (Team::DIVIDED) {
            team.wrote = true;
            team.meet([](Report&) {});
        } else {
            team.wait();
        }
        take_messages(program, step, team, n, out.indptr, mail, front(!bits_turned), found);
        found.finish_pull(sums, 0);
        bits_turned = !bits_turned, queued = false;
        if constexpr (Team::DIVIDED) team.wait();
        share_front();
        meet();
        note(count, arcs);
    }
};

// Run a traversal by the calling kernel, whose shared memory it takes.
template <class T, class Team, class Exchange, class Program, class Index, class Weight>
__device__ void run_traversal(Team& team, const Exchange& exchange, const Program& program, i64 n,
                              const Arcs<Index, Weight>& out, const Arcs<Index, Weight>& in,
                              const Sources<Index>& sources, const Policy& policy, const TraversalSpace<Index>& space,
                              const Trace& trace) {
    __shared__ union {
        PullShare pull[WARPS];
        LocalQueue<Index> local;
    } shared;
    // Raw, as a type with constructors cannot be shared.
    __shared__ __align__(16) char slots[sizeof(Claim<Index>) * WARPS * 64];
    __shared__ BlockSums sums;
    if (threadIdx.x == 0) sums.wanted[0] = sums.wanted[1] = 0;
    Traversal<T, Team, Exchange, Program, Index, Weight> traversal{
        team, exchange, program, n, out, in, policy, space, trace, shared.pull, shared.local,
        Stage<Claim<Index>>((Claim<Index>*)slots), sums};
    traversal.run(sources);
    // For a takeover by the host: the queue and its length.
    const bool leaves = traversal.now.count && traversal.step < policy.limit;
    if constexpr (Team::DIVIDED) trace.end(traversal.step, leaves ? traversal.now.count : 0);
    else trace.end(traversal.step, leaves ? traversal.now.light : 0);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        trace.outcome->passed[0] = Team::DIVIDED ? team.lost : (i64)traversal.queue().light;
        if constexpr (Team::DIVIDED) policy.local.report(0, traversal.step, traversal.sent);
        else policy.local.report(traversal.thin), policy.local.to_host[2] = traversal.step;
    }
}

template <class Program, class Index, class Weight, class T = Techniques<>>
__global__ void __launch_bounds__(THREADS, 1)
traverse(const Program program, const i64 n, const Arcs<Index, Weight> out, const Arcs<Index, Weight> in,
         const Sources<Index> sources, const Policy policy, const TraversalSpace<Index> space, const Trace trace,
         Header* const header) {
    OneGpu team(header);
    run_traversal<T>(team, 0, program, n, out, in, sources, policy, space, trace);
}

template <class Program, class Index, class Weight, class T = Techniques<>>
__global__ void __launch_bounds__(THREADS, 1)
traverse_divided(const Program program, const i64 n, const Arcs<Index, Weight> out, const Arcs<Index, Weight> in,
                 const Sources<Index> sources, const Policy policy, const TraversalSpace<Index> space,
                 const Trace trace, const TraversalExchange<Index, typename Program::Message> exchange,
                 const Parts parts, const u64 launch) {
    __shared__ BlockFlags flags;
    MultiGpuBarrier team(parts, launch, flags);
    run_traversal<T>(team, exchange, program, n, out, in, sources, policy, space, trace);
}

}  // namespace hpgraph
