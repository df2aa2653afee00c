// The traversal of traversal.cuh over a graph whose rows are divided among several GPUs: one kernel on each of them,
// all from the first superstep to the last (multi_gpu_barrier.cuh).
//
// Only the owner of a vertex settles and queues it. In a pull, each part has the frontier of all vertices as a bitmap,
// and searches its own rows. A push first claims remote vertices in a local bitmap, so that each part sends at most one
// message to a vertex; the owner takes the first that arrives. If a push reaches many vertices, the owner reads the
// messages instead (two_pass_push.cuh). All parts take the same decisions, from sums over the parts.
#pragma once
#include "traversal.cuh"
#include "multi_gpu_barrier.cuh"
#include "two_pass_push.cuh"

namespace hpgraph {

template <class Index, class Message>
struct DividedTraversalSpace {
    const u32* no_in_arcs;  // bitmap of this part's vertices without in-arcs, indexed by the id of the vertex
    Mail<Message> mail;
    u32* fronts[2][MAX_PARTS];  // in each part's memory: bitmaps of this frontier and of the next one
    Frontier<Index> queue, following;
    Post<Index, Message> post;
};

// Pointers into a part's arrays are offset so that elements are indexed by global vertex ids.
template <class Program, class Index, class Weight, class T = Techniques<>>
__global__ void __launch_bounds__(THREADS, 1)
traverse_divided(const Program program, const i64 n, const Arcs<Index, Weight> out, const Arcs<Index, Weight> in,
                 const Sources<Index> sources, const Policy policy,
                 const DividedTraversalSpace<Index, typename Program::Message> space, const Trace trace, const Parts parts, const u64 launch) {
    typedef typename Program::Message Message;
    __shared__ PullShare shares[WARPS];
    // Raw, as a type with constructors cannot be shared.
    __shared__ __align__(16) char slots[sizeof(Claim<Index>) * WARPS * 64];
    __shared__ BlockSums sums;
    if (threadIdx.x == 0) sums.wanted[0] = sums.wanted[1] = 0;
    Stage<Claim<Index>> claims((Claim<Index>*)slots);
    __shared__ BlockFlags flags;
    MultiGpuBarrier barrier(parts, launch, flags);
    Header* const header = &barrier.barrier_state->header;
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    const int lane = lane_of_warp();
    const i64 begin = parts.first_word(), end = parts.last_word();
    u32* const settled = space.mail.settled[parts.me];

    for (i64 w = thread; w < (n + 31) / 32; w += threads)
        if (w < begin || w >= end) settled[w] = 0;
    fill_words(program, space.no_in_arcs, begin, end, parts.last(), [&](i64 word, u32 bits) { settled[word] = bits; });
    barrier.wait();
    u32 phase = 0;
    // Sums over all parts, and the tally of this part's queue.
    Report now;
    Tally own{};
    const auto tell = [&](Report& report) {
        const volatile Tally &tally = header->tally[phase % 3], &before = header->tally[(phase + 2) % 3];
        report.count = tally.count, report.arcs = tally.arcs, report.looked = tally.looked;
        report.count_before = before.count, report.arcs_before = before.arcs;
    };
    const auto know_own = [&] {
        if (!barrier.lost) own = *(Tally*)&header->tally[phase % 3];
        else own = Tally{};
    };
    {
        Collector<T, Index> found(out.indptr, space.queue, &header->tally[0]);
        for (i64 i = thread; i - lane < sources.count; i += threads) {
            const bool is_source = i < sources.count;
            const Index v = is_source ? sources[i] : 0;
            const bool mine = is_source && parts.owns(v);
            if (mine) program.start(v);
            if (is_source) atomicOr(settled + (v >> 5), 1u << (v & 31));
            found.add(mine, v);
        }
        found.finish(sums, false, 0);
    }
    now = barrier.meet(tell);
    know_own();

    trace.begin();
    int direction = PUSH;
    bool queued = true;
    i64 step = 0, previous = 0;
    i64 sent = 0;  // out-arcs of earlier frontiers
    bool queue_turned = false, bits_turned = false;
    const auto queue = [&] { return of_two(space.queue, space.following, queue_turned); };
    const auto following = [&] { return of_two(space.following, space.queue, queue_turned); };
    const auto front = [&](bool turned) { return space.fronts[turned][parts.me]; };
    const auto receive = [&](bool mine, Index v, Message message) {
        return mine && program.receive(v, message, step);
    };
    while (now.count && step < policy.limit && !barrier.lost) {
        // The fourth argument: out-arcs of vertices not yet reached.
        direction = policy.turn(direction, now, previous, policy.arcs - sent - (i64)now.arcs, n);
        previous = now.count;

        if (direction == PUSH && !queued) {
            // After a pull the tally's queue tails are still zero.
            Collector<T, Index> found(out.indptr, queue(), &header->tally[phase % 3]);
            queue_from_bits(front(bits_turned), begin, end, claims, found);
            barrier.wait();
            know_own();
            queued = true;
        } else if (direction == PULL && queued) {
            for (i64 w = begin + thread; w < end; w += threads) front(bits_turned)[w] = 0;
            barrier.wait();
            bits_from_queue(queue(), own, front(bits_turned));
            barrier.wait();
            share_words(barrier, space.fronts[bits_turned]);
            barrier.meet([](Report&) {});
            queued = false;
        }

        ++step, ++phase;
        Tally* const tally = &header->tally[phase % 3];
        if (thread == 0) header->tally[(phase + 1) % 3] = Tally{};
        Collector<T, Index> found(out.indptr, following(), tally);
        if (direction == PULL) {
            u32* const next = front(!bits_turned);
            found.finish_pull(sums, bottom_up_step<T>(program, step, begin, end, in, out, front(bits_turned),
                                                      settled, next, shares, found));
            barrier.wait();
            const u64 put_off = barrier.lost ? 0 : *(volatile u64*)&tally->put_off;
            if (put_off) {
                Collector<T, Index> more(out.indptr, following(), tally);
                more.finish_pull(sums, pull_put_off<T>(program, step, in, out, front(bits_turned), settled, next,
                                                       put_off, more));
                barrier.wait();
            }
            bits_turned = !bits_turned;
            share_words(barrier, space.fronts[bits_turned]);
            now = barrier.meet(tell);
        } else {
            // Deliver to a claimed vertex: an own one receives at once, a remote one is sent a message.
            const auto take = [&](bool has_one, const Claim<Index>& one, Index& v) {
                v = has_one ? out.indices[one.arc] : 0;
                const bool mine = has_one && parts.owns(v);
                const Message message = has_one ? program.gather(one.source, out.weight(one.arc), v) : Message();
                space.post.send(barrier, step & 1, has_one && !mine, v, message);
                return receive(mine, v, message);
            };
            const bool reaches_many = (i64)now.arcs > n / PASS_COST;
            if (reaches_many) {
                for (i64 w = thread; w < (n + 31) / 32; w += threads) space.mail.before[parts.me][w] = settled[w];
                barrier.wait();
            }
            const auto visit = [&](const Batch<Index, T::BATCH>& batch) {
                Index v[T::BATCH];
                u32 claimed = claim(program, out, settled, batch, v);
                if (reaches_many) {
                    Message* const messages = space.mail.messages[parts.me];
#pragma unroll
                    for (int k = 0; k < T::BATCH; ++k)
                        if (claimed >> k & 1) messages[v[k]] = program.gather(batch.source[k], out.weight(batch.arc[k]), v[k]);
                    return;
                }
                for (; __any_sync(ALL, claimed); claimed &= claimed - 1) {
                    const int k = __ffs(claimed) - 1;
                    claims.add(claimed, Claim<Index>{pick(batch.arc, k), pick(batch.source, k)},
                               [&](bool has_one, const Claim<Index>& one) {
                                   Index target;
                                   const bool changed = take(has_one, one, target);
                                   found.add(changed, target);
                               });
                }
            };
            if (!reaches_many && is_short<T>(own)) for_each_arc_of_short<T, Index>(out, queue().light, own, visit);
            else for_each_arc<T, Index>(out, queue(), own.light, own.pieces, visit);
            if (reaches_many) {
                barrier.wrote = true;
                barrier.meet([](Report&) {});
                take_messages(program, step, begin, end, out.indptr, parts, space.mail, front(!bits_turned), found);
                found.finish_pull(sums, 0);
                bits_turned = !bits_turned, queued = false;
                barrier.wait();
                share_words(barrier, space.fronts[bits_turned]);
            } else {
                Claim<Index> one;
                Index target;
                const bool has_one = claims.rest(one), changed = take(has_one, one, target);
                found.finish(sums, changed, target);
                queue_turned = !queue_turned;
            }
            now = barrier.meet(tell);
        }
        const i64 count = now.count_before, arcs = now.arcs_before;
        sent += arcs;
        if (direction == PUSH) {
            if (now.sent) {
                Collector<T, Index> more(out.indptr, queue(), &header->tally[phase % 3]);
                space.post.read_all(barrier, step & 1, [&](bool has_message, const RemoteMessage<Index, Message>& remote_message) {
                    const Index v = remote_message.vertex;
                    const u32 flag = 1u << (v & 31);
                    const bool comes_first = has_message && !(settled[v >> 5] & flag) &&
                                             !(atomicOr(settled + (v >> 5), flag) & flag);
                    more.add(receive(comes_first, v, remote_message.message), v);
                });
                more.finish(sums, false, 0);
                // The barrier can be skipped: remote claims are only estimated here, as if each message were the first
                // and its vertex had the mean number of out-arcs. The next barrier gives the exact numbers.
                if (step < policy.limit) {
                    const float each = now.count ? __fdividef((float)now.arcs, (float)now.count)
                                                 : __fdividef((float)policy.arcs, (float)n);
                    now.arcs += (u64)(each * (float)now.sent), now.count += now.sent;
                    barrier.wait();
                } else {
                    now = barrier.meet(tell);
                }
            }
            know_own();
        }
        // 0 if all remote messages of the last superstep reached settled vertices.
        if (count) trace.add(step, direction, count, direction == PUSH ? arcs : (i64)now.looked);
        else --step;
    }
    trace.end(step, now.count && step < policy.limit ? now.count : 0);
    if (thread == 0) {
        trace.outcome->passed[0] = barrier.lost;
        policy.local.tell(0, step, sent);
    }
}

}  // namespace hpgraph
