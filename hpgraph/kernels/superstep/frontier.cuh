// Supersteps of the general loop whose frontiers are small, one after another in one launch.
//
// A list holds who received. Each of its vertices is updated (APPLY), and whoever changed sends along its arcs; messages
// meet by atomic operations, and whoever receives a first one is listed for the next superstep. A superstep costs what its
// frontier costs. Where no message depends on properties of the vertex that it reaches, a vertex sends as soon as it is
// updated: messages and marks are double buffers, as lists are, and one barrier ends a superstep. Otherwise, and where
// those who received might send along too many arcs, all are updated first, and who changed is listed: two barriers. Where
// the frontier fits one block, that block goes on alone: its barrier takes 40 ns, the grid's 1 µs (the fusion of SIMD-X,
// H. Liu and H. H. Huang, ATC'19, carried to a block), and it counts in shared memory.
#pragma once
#include "operators.cuh"
#include "one_block.cuh"
#include "persistent.cuh"

namespace hpgraph {

// The program's monoid, in the form that atomics.cuh takes.
template <class Program>
struct Meet {
    typedef typename Program::Message Message;
    __device__ static Message apply(Message a, Message b) { return Program::join(a, b); }
};

// Messages: all the identity before and after. Who received one, as bits: all clear before and after.
template <class Message>
struct Inbox {
    Message* message;
    u32* received_bits;
};

template <class Index, class Message>
struct GeneralSpace {
    Header* header;
    Inbox<Message> inbox, following_inbox;  // the same where all are updated before anyone sends
    Index *list, *following_list;           // of the sources; in the end, of who is active
    Piece<Index>* pieces;                   // of heavy vertices that send
    Trace trace;
};

// A tally as memory has it now.
__device__ inline Tally read(const volatile Tally* tally) {
    return Tally{tally->count, tally->arcs, 0, tally->light, tally->pieces, 0};
}

// Send the messages along a batch of arcs; by whole warps. Who receives a first one is given to arrive(comes, vertex).
template <int size, class Program, class Index, class Weight, class Arrive>
__device__ void deliver(const Program& program, const Arcs<Index, Weight>& out,
                        const Inbox<typename Program::Message>& inbox, const Batch<Index, size>& batch, Arrive arrive) {
    typedef typename Program::Message Message;
    Index v[size];
    bool live[size];
    u32 seen[size];
    Message message[size];
    op::Wide<Message> stands[size];
    // Joins a message to what seems to stand there.
    const auto meet = [&](Index to, Message sent, op::Wide<Message> standing) {
        if constexpr (Program::JOINS_BUILT_IN) Program::Joins::atomic_combine_seen(inbox.message + to, sent, standing);
        else op::combine_by_cas<Meet<Program>>(inbox.message + to, sent, standing);
    };
#pragma unroll
    for (int k = 0; k < size; ++k) v[k] = batch.live[k] ? out.indices[batch.arc[k]] : 0;
    // What an arc says to the vertex that it leaves, before the arc changes.
    Message said[size];
    bool says[size];
    if constexpr (Program::REPLIES) {
#pragma unroll
        for (int k = 0; k < size; ++k) {
            const auto weight = batch.live[k] ? out.weight(batch.arc[k]) : 0;
            says[k] = batch.live[k] && program.reply_cond(batch.source[k], weight, v[k]);
            said[k] = says[k] ? (Message)program.reply(batch.source[k], weight, v[k]) : Message();
        }
    }
#pragma unroll
    for (int k = 0; k < size; ++k) {
        const auto weight = batch.live[k] ? out.weight(batch.arc[k]) : 0;
        live[k] = batch.live[k] && program.cond(v[k]) && program.edge_cond(batch.source[k], weight, v[k]);
        message[k] = live[k] ? (Message)program.gather(batch.source[k], weight, v[k]) : Message();
    }
    // Bits and slots are read together, and the claims are under way while messages meet: one chain of loads, not two.
#pragma unroll
    for (int k = 0; k < size; ++k) {
        seen[k] = live[k] ? inbox.received_bits[v[k] >> 5] : ALL;
        stands[k] = live[k] ? op::read_around(inbox.message + v[k]) : 0;
    }
    loaded(seen);
#pragma unroll
    for (int k = 0; k < size; ++k) {
        const u32 flag = 1u << (v[k] & 31);
        if (!(seen[k] & flag)) seen[k] = atomicOr(inbox.received_bits + (v[k] >> 5), flag);
    }
#pragma unroll
    for (int k = 0; k < size; ++k)
        if (live[k]) meet(v[k], message[k], stands[k]);
#pragma unroll
    for (int k = 0; k < size; ++k) arrive(!(seen[k] >> (v[k] & 31) & 1), v[k]);
    if constexpr (Program::REPLIES) {
#pragma unroll
        for (int k = 0; k < size; ++k) {
            const Index u = batch.source[k];
            u32 before = ALL;
            if (says[k]) {
                before = atomicOr(inbox.received_bits + (u >> 5), 1u << (u & 31));
                meet(u, said[k], op::read_around(inbox.message + u));
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
    // Whether a vertex may send before others are updated.
    constexpr bool BLIND = !Program::READS_WORLD && !Program::READS_RECEIVERS;
    __shared__ Index arrivals[WARPS * 64];
    __shared__ BlockSums sums;
    __shared__ Tally own[3];  // of the block that goes alone
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
    i64 ahead_at = -1;          // a place in the next list that was read ahead
    Index ahead = 0;
    int apply_shift = 5, send_shift = 5;
    bool is_alone = false;
    Tally now{};
    const auto tally = [&](i64 at) { return (is_alone ? own : space.header->tally) + (u32)at % 3; };
    // Neighbours in the list go to different multiprocessors, unless one block is alone.
    const auto thread = [&] {
        return is_alone ? (i64)threadIdx.x : ((i64)blockIdx.x + gridDim.x * (threadIdx.x >> 5)) * 32 + lane;
    };

    // The vertices of the list, or the pieces of heavy ones, each with a group of lanes: update them, if they received, and
    // send, if it is time; else list who may. The tally gets who is active, where that is new, and how many are listed.
    const auto phase = [&](bool of_pieces, bool counts, bool applies, bool sends) {
        const Index* const list = of_two(space.list, space.following_list, turn & 1);
        Index* const listed = of_two(space.following_list, space.list, turn & 1);
        // Values: to refer to a parameter chosen as it runs, the compiler copies them all to local memory, and forgets that
        // what they point to is global.
        const Inbox<typename Program::Message> inbox = of_two(space.inbox, space.following_inbox, step & 1);
        const Inbox<typename Program::Message> following = of_two(space.following_inbox, space.inbox, step & 1);
        const i64 count = of_pieces ? (i64)now.pieces : rows, at = thread();
        const i64 threads = is_alone ? THREADS : (i64)gridDim.x * THREADS;
        // Vertices that nobody has to update first may have several warps each.
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
                    // All of the word's vertices are cleared in this phase, and none is set.
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
        // Read before it is known how many there are: one chain of loads less. What lies behind them is no vertex.
        if (applies) apply_shift = shift;
        if (sends && !of_pieces) send_shift = shift;
        ahead_at = at >> (sends ? apply_shift : send_shift);
        ahead = ahead_at < n ? *(volatile Index*)(listed + ahead_at) : 0;
        const Tally told = read(tally(turn + 1));
        if (counts) now = told;
        else now.light = told.light;
    };
    // Whether the list's vertices may send as soon as they are updated.
    const auto at_once = [&] { return BLIND && rows <= most_at_once && done + step < limit; };

    bool of_pieces = false, counts = true, applies = false, sends = at_once();
    i64 count = 0, arcs = 0;  // of who sends in the superstep
    while (true) {
        phase(of_pieces, counts, applies, sends);
        if (applies) space.trace.add(step, 0, count, arcs);
        const auto goes_on = [&] { return now.count && (sends || ((i64)now.arcs <= most && done + step < limit)); };
        // After a phase that did not count, those who are listed may be more than the arcs, by replies.
        const bool fits = counts ? goes_on() && (i64)now.arcs <= alone && now.pieces == 0 && (i64)now.light <= alone
                                 : is_alone;
        if (is_alone != fits) {
            // The others read the grid's tally, by which the first block has gone alone, some time before they arrive at the
            // first barrier here. Alone, the block writes tallies of its own, and the grid's and the outcome only when all
            // others have arrived. They read both between the two barriers; the second is before anyone's next write. What
            // else they may have read in the meantime, a place of the next list, is forgotten.
            i64* const passed = space.trace.outcome->passed;
            if (blockIdx.x) {
                barrier.wait();
                const i64 both = *(volatile i64*)&passed[0];
                step = both >> 1, sends = both & 1, turn = *(volatile i64*)&passed[1], ahead_at = -1;
                // One that a phase has left which counted: after others the block stays alone.
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
            // Nobody reads the world before the next superstep's messages.
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
