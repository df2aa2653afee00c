// Supersteps of the general loop with small frontiers, fused into one launch.
//
// A list holds the receivers. Each is updated (APPLY) and, if it changed, sends along its out-arcs; atomic operations
// combine messages, and a vertex's first message appends it to the next list. The cost of a superstep is proportional
// to its frontier. If no message depends on properties of its target, a vertex sends as soon as it is updated: messages
// and received bits are double buffers, as lists are, and one barrier ends a superstep. Otherwise, or if the receivers
// might send along too many arcs, all are updated first and the changed ones listed: two barriers. A frontier that fits
// one block is processed by that block alone: its barrier takes 40 ns, the grid's 1 µs (the fusion of SIMD-X, H. Liu
// and H. H. Huang, ATC'19, applied to a block), and its tallies are in shared memory.
#pragma once
#include "operators.cuh"
#include "one_block.cuh"
#include "persistent.cuh"

namespace hpgraph {

// Messages, all the identity before and after; bitmap of the receivers, clear before and after.
template <class Message>
struct Inbox {
    Message* message;
    u32* received_bits;
};

template <class Index, class Message>
struct GeneralSpace {
    Header* header;
    Inbox<Message> inbox, following_inbox;  // the same if all vertices are updated before any sends
    Index *list, *following_list;           // the sources; at the end, the active vertices
    Piece<Index>* pieces;                   // of heavy vertices that send
    Trace trace;
};

// A tally, read from memory.
__device__ inline Tally read(const volatile Tally* tally) {
    return Tally{tally->count, tally->arcs, 0, tally->light, tally->pieces, 0};
}

// Send the messages along a batch of arcs; warp-collective. Calls arrive(is_first, vertex) for each target.
template <int size, class Program, class Index, class Weight, class Arrive>
__device__ void deliver(const Program& program, const Arcs<Index, Weight>& out,
                        const Inbox<typename Program::Message>& inbox, const Batch<Index, size>& batch, Arrive arrive) {
    typedef typename Program::Message Message;
    Index v[size];
    bool live[size];
    u32 seen[size];
    Message message[size];
    op::Wide<Message> expected[size];
    // Joins a message atomically; `current` is the value expected there.
    const auto meet = [&](Index to, Message sent, op::Wide<Message> current) {
        if constexpr (Program::JOINS_BUILT_IN) Program::Joins::atomic_combine_seen(inbox.message + to, sent, current);
        else op::combine_by_cas<op::Meet<Program>>(inbox.message + to, sent, current);
    };
#pragma unroll
    for (int k = 0; k < size; ++k) v[k] = batch.live[k] ? out.indices[batch.arc[k]] : 0;
    // Replies of arcs to their sources, before the arcs change.
    Message reply[size];
    bool replies[size];
    if constexpr (Program::REPLIES) {
#pragma unroll
        for (int k = 0; k < size; ++k) {
            const auto weight = batch.live[k] ? out.weight(batch.arc[k]) : 0;
            replies[k] = batch.live[k] && program.reply_cond(batch.source[k], weight, v[k]);
            reply[k] = replies[k] ? (Message)program.reply(batch.source[k], weight, v[k]) : Message();
        }
    }
#pragma unroll
    for (int k = 0; k < size; ++k) {
        const auto weight = batch.live[k] ? out.weight(batch.arc[k]) : 0;
        live[k] = batch.live[k] && program.cond(v[k]) && program.edge_cond(batch.source[k], weight, v[k]);
        message[k] = live[k] ? (Message)program.gather(batch.source[k], weight, v[k]) : Message();
    }
    // Bits and messages are loaded together, and claims overlap with the joins: one chain of loads, not two.
#pragma unroll
    for (int k = 0; k < size; ++k) {
        seen[k] = live[k] ? inbox.received_bits[v[k] >> 5] : ALL;
        expected[k] = live[k] ? op::read_around(inbox.message + v[k]) : 0;
    }
    loaded(seen);
#pragma unroll
    for (int k = 0; k < size; ++k) {
        const u32 flag = 1u << (v[k] & 31);
        if (!(seen[k] & flag)) seen[k] = atomicOr(inbox.received_bits + (v[k] >> 5), flag);
    }
#pragma unroll
    for (int k = 0; k < size; ++k)
        if (live[k]) meet(v[k], message[k], expected[k]);
#pragma unroll
    for (int k = 0; k < size; ++k) arrive(!(seen[k] >> (v[k] & 31) & 1), v[k]);
    if constexpr (Program::REPLIES) {
#pragma unroll
        for (int k = 0; k < size; ++k) {
            const Index u = batch.source[k];
            u32 before = ALL;
            if (replies[k]) {
                before = atomicOr(inbox.received_bits + (u >> 5), 1u << (u & 31));
                meet(u, reply[k], op::read_around(inbox.message + u));
            }
            arrive(!(before >> (u & 31) & 1), u);
        }
    }
}

template <class Program, class Index, class Weight, class T = Techniques<>>
__global__ void __launch_bounds__(THREADS, 1)
run_small(const Program program, const i64 n, const Arcs<Index, Weight> out, const Sources<Index> sources,
          const typename Program::Message identity, const i64 done, const i64 limit, const i64 most, const i64 most_at_once,
          const i64 alone, const GeneralSpace<Index, typename Program::Message> space) {
    // Whether a vertex may send before the others are updated.
    constexpr bool BLIND = !Program::READS_WORLD && !Program::READS_RECEIVERS;
    __shared__ Index arrivals[WARPS * 64];
    __shared__ BlockSums sums;
    __shared__ Tally own[3];  // of the block that runs alone
    if (threadIdx.x == 0) sums.wanted[0] = sums.wanted[1] = 0;
    Stage<Index> arrived(arrivals);
    GridBarrier barrier(&space.header->barrier);
    const int lane = lane_of_warp();
    for (i64 i = (i64)blockIdx.x * THREADS + threadIdx.x; i < sources.count; i += (i64)gridDim.x * THREADS)
        space.list[i] = sources[i];
    barrier.wait();
    space.trace.begin();

    i64 step = 0, turn = 0;     // of double buffers: of inboxes, and of lists
    i64 rows = sources.count;   // of the list
    i64 ahead_at = -1;          // index in the next list of the prefetched vertex
    Index ahead = 0;
    int apply_shift = 5, send_shift = 5;
    bool is_alone = false;
    Tally now{};
    const auto tally = [&](i64 at) { return (is_alone ? own : space.header->tally) + (u32)at % 3; };
    // Adjacent list entries go to different multiprocessors, unless one block runs alone.
    const auto thread = [&] {
        return is_alone ? (i64)threadIdx.x : ((i64)blockIdx.x + gridDim.x * (threadIdx.x >> 5)) * 32 + lane;
    };

    // One pass over the vertices of the list, or the pieces of heavy ones, a group of lanes for each: update them if
    // `applies`; then send if `sends`, else list the active ones. The tally counts active vertices if `counts`, and
    // listed ones.
    const auto phase = [&](bool of_pieces, bool counts, bool applies, bool sends) {
        const Index* const list = of_two(space.list, space.following_list, turn & 1);
        Index* const listed = of_two(space.following_list, space.list, turn & 1);
        // By value: for a reference to a parameter chosen at run time, the compiler would copy all parameters to local
        // memory and lose the fact that their pointers are global.
        const Inbox<typename Program::Message> inbox = of_two(space.inbox, space.following_inbox, step & 1);
        const Inbox<typename Program::Message> following = of_two(space.following_inbox, space.inbox, step & 1);
        const i64 count = of_pieces ? (i64)now.pieces : rows, at = thread();
        const i64 threads = is_alone ? THREADS : (i64)gridDim.x * THREADS;
        // Vertices without an update may have several warps each.
        const int shift = lanes_of_a_row(count, !sends || applies || of_pieces ? 0 : now.arcs, threads, 0);
        const int group = 1 << shift, member = member_of_lanes((u32)at, shift);
        // Read by all before the last barrier.
        if (at == 0 && !of_pieces) *tally(turn + 2) = Tally{};
        Collector<T, Index> found(out.indptr, Frontier<Index>{listed, space.pieces}, tally(turn + 1));
        const auto lists = [&](bool comes, Index v) {
            arrived.add(comes, v, [&](bool mine, Index one) { append(mine, one, listed, &found.tally->light); });
        };
        const auto visit = [&](const Batch<Index, T::BATCH>& batch) { deliver(program, out, following, batch, lists); };
        for (i64 i = at >> shift; __any_sync(ALL, i < count); i += threads >> shift) {
            Index u = -1;
            i64 start = 0, degree = 0;
            if (i < count && of_pieces) {
                const Piece<Index> piece = space.pieces[i];
                u = piece.vertex, start = out.indptr[u] + (i64)piece.number * T::PIECE;
                degree = min((i64)T::PIECE, out.indptr[u + 1] - start);
            } else if (i < count) {
                u = i == ahead_at ? ahead : list[i];
            }
            bool active = u >= 0;
            if (active && !of_pieces) start = out.indptr[u], degree = out.indptr[u + 1] - start;
            if (applies) {
                bool changes = false;
                if (active && member == 0) {
                    double no_sums[Program::SUMS + 1];
                    changes = program.apply(u, inbox.message[u], done + step, no_sums);
                    inbox.message[u] = identity;
                    // This phase clears all set bits of the word, and sets none.
                    inbox.received_bits[u >> 5] = 0;
                }
                active = __ballot_sync(ALL, changes) >> (lane & -group) & 1;
                // The lanes of the group read what the first has written.
                __syncwarp();
            }
            if (counts)
                append_pieces<T>(u, found.note(active && member == 0, degree), space.pieces, &found.tally->pieces);
            if (!sends) {
                lists(active && member == 0, u);
                continue;
            }
            active = active && degree <= T::PIECE;
            Batch<Index, T::BATCH> batch;
#pragma unroll
            for (int k = 0; k < T::BATCH; ++k) {
                const int t = member + k * group;
                batch.live[k] = active && t < degree, batch.source[k] = u, batch.arc[k] = start + t;
            }
            visit(batch);
            const int rest = active && member == 0 ? max((i64)0, degree - T::BATCH * group) : 0;
            if (__any_sync(ALL, rest)) deal_arcs<T::BATCH>(u, start + T::BATCH * group, rest, visit);
        }
        Index v = 0;
        const bool mine = arrived.rest(v);
        found.finish_list(sums, mine, v);
        if (is_alone) __syncthreads();
        else barrier.wait();
        // Prefetch before the list's length is known: one chain of loads less. Entries past the end are not used.
        if (applies) apply_shift = shift;
        if (sends && !of_pieces) send_shift = shift;
        ahead_at = at >> (sends ? apply_shift : send_shift);
        ahead = ahead_at < n ? *(volatile Index*)(listed + ahead_at) : 0;
        const Tally total = read(tally(turn + 1));
        if (counts) now = total;
        else now.light = total.light;
    };
    // Whether the list's vertices may send as soon as they are updated.
    const auto at_once = [&] { return BLIND && rows <= most_at_once && done + step < limit; };

    bool of_pieces = false, counts = true, applies = false, sends = at_once();
    i64 count = 0, arcs = 0;  // of the superstep's frontier
    while (true) {
        phase(of_pieces, counts, applies, sends);
        if (applies) space.trace.add(step, 0, count, arcs);
        const auto goes_on = [&] { return now.count && (sends || ((i64)now.arcs <= most && done + step < limit)); };
        // After a phase that did not count, replies may have listed more vertices than there are arcs.
        const bool fits = counts ? goes_on() && (i64)now.arcs <= alone && now.pieces == 0 && (i64)now.light <= alone
                                 : is_alone;
        if (is_alone != fits) {
            // The other blocks read the grid's tally, from which the first block decided to run alone, some time before
            // they arrive at the first barrier here. The first block writes tallies of its own while alone, and the
            // grid's tally and the outcome only after all others have arrived. They read both between the two barriers;
            // the second precedes any further write. They discard their prefetched entry of the next list.
            i64* const passed = space.trace.outcome->passed;
            if (blockIdx.x) {
                barrier.wait();
                const i64 both = *(volatile i64*)&passed[0];
                step = both >> 1, sends = both & 1, turn = *(volatile i64*)&passed[1], ahead_at = -1;
                // Written by a phase that counted: after others the block stays alone.
                now = read(tally(turn + 1));
                barrier.wait();
            } else if (fits) {
                if (threadIdx.x < 3) own[threadIdx.x] = Tally{};
                is_alone = true;
                __syncthreads();
            } else {
                is_alone = false;
                barrier.await_others();
                if (threadIdx.x == 0) {
                    passed[0] = step << 1 | sends, passed[1] = turn;
                    *tally(turn + 1) = now, *tally(turn + 2) = Tally{};
                }
                barrier.wait();
                barrier.wait();
            }
        }
        if (!goes_on()) break;
        if (sends && now.pieces && !of_pieces) {
            of_pieces = true, counts = applies = false;
            continue;
        }
        rows = now.light, ++turn, of_pieces = false;
        counts = applies = sends;
        if (sends) {
            count = now.count, arcs = now.arcs, ++step;
            // The world is next read by the next superstep's messages.
            if constexpr (Program::READS_WORLD)
                if (thread() == 0) program.turn(done + step + 1);
        }
        sends = !sends || at_once();
    }
    if (!(turn & 1))
        for (i64 i = thread(); i < (i64)now.light; i += (i64)gridDim.x * THREADS) space.list[i] = space.following_list[i];
    space.trace.end(step, now.count);
    if (Trace::is_writer()) space.trace.outcome->passed[0] = now.light, space.trace.outcome->passed[1] = now.arcs;
}

}  // namespace hpgraph
