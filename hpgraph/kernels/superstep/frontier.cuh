// Supersteps of the general loop whose frontiers are small, one after another in one launch.
//
// Two phases with a barrier after each. Push: messages go along the arcs of the queue and meet by compare-and-swap; whoever
// receives a first one is listed. APPLY: each listed vertex is updated, and whoever changed is queued. A superstep costs
// what its frontier costs. Where the frontier fits one block, that block goes on alone: its barrier takes 40 ns, the
// grid's 1 µs (the fusion of SIMD-X, H. Liu and H. H. Huang, ATC'19, carried to a block).
#pragma once
#include "atomics.cuh"
#include "block_list.cuh"
#include "one_block.cuh"
#include "persistent.cuh"

namespace hpgraph {

// The program's monoid, in the form that atomics.cuh takes.
template <class Program>
struct Meet {
    typedef typename Program::Message Message;
    __device__ static Message apply(Message a, Message b) { return Program::join(a, b); }
};

template <class Index, class Message>
struct GeneralSpace {
    Header* header;
    u32* received_bits;       // all clear before and after
    Frontier<Index> queue, following;
    Index* received;          // after its superstep: the vertex if it changed, else its complement
    Message* message;         // all the identity before and after
    Trace trace;
};

// A vertex that an update changed, and how many arcs leave it.
template <class Index>
struct Changed {
    Index vertex;
    i64 degree;
};

// A tally as memory has it now.
__device__ inline Tally read(const volatile Tally* tally) {
    return Tally{tally->count, tally->arcs, 0, tally->light, tally->pieces, 0};
}

// Send the messages along a batch of arcs; by whole warps. Who receives a first one is given to arrive(comes, vertex).
template <int size, class Program, class Index, class Weight, class Arrive>
__device__ void deliver(const Program& program, const Arcs<Index, Weight>& out,
                        const GeneralSpace<Index, typename Program::Message>& space, const Batch<Index, size>& batch,
                        Arrive arrive) {
    typedef typename Program::Message Message;
    Index v[size];
    bool live[size];
    u32 seen[size];
    Message message[size];
    op::Wide<Message> stands[size];
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
        seen[k] = live[k] ? space.received_bits[v[k] >> 5] : ALL;
        stands[k] = live[k] ? op::read_around(space.message + v[k]) : 0;
    }
    loaded(seen);
#pragma unroll
    for (int k = 0; k < size; ++k) {
        const u32 flag = 1u << (v[k] & 31);
        if (!(seen[k] & flag)) seen[k] = atomicOr(space.received_bits + (v[k] >> 5), flag);
    }
#pragma unroll
    for (int k = 0; k < size; ++k)
        if (live[k]) op::combine_by_cas<Meet<Program>>(space.message + v[k], message[k], stands[k]);
#pragma unroll
    for (int k = 0; k < size; ++k) arrive(!(seen[k] >> (v[k] & 31) & 1), v[k]);
    if constexpr (Program::REPLIES) {
#pragma unroll
        for (int k = 0; k < size; ++k) {
            const Index u = batch.source[k];
            u32 before = ALL;
            if (says[k]) {
                before = atomicOr(space.received_bits + (u >> 5), 1u << (u & 31));
                op::combine_by_cas<Meet<Program>>(space.message + u, said[k]);
            }
            arrive(!(before >> (u & 31) & 1), u);
        }
    }
}

template <class Program, class Index, class Weight, class T = Techniques<>>
__global__ void __launch_bounds__(THREADS, 1)
run_small(const Program program, const i64 n, const Arcs<Index, Weight> out, const Sources<Index> sources,
          const typename Program::Message identity, const i64 done, const i64 limit, const i64 most, const i64 alone,
          const GeneralSpace<Index, typename Program::Message> space) {
    __shared__ Index arrivals[WARPS * 64];
    __shared__ Changed<Index> changes[WARPS * 64];
    __shared__ BlockSums sums;
    if (threadIdx.x == 0) sums.wanted[0] = sums.wanted[1] = 0;
    Stage<Index> arrived(arrivals);
    Stage<Changed<Index>> changed(changes);
    GridBarrier barrier(&space.header->barrier);
    const i64 grid_thread = (i64)blockIdx.x * THREADS + threadIdx.x, grid_threads = (i64)gridDim.x * THREADS;
    const int lane = lane_of_warp();
    {
        Collector<T, Index> found(out.indptr, space.queue, &space.header->tally[0]);
        for (i64 i = grid_thread; i - lane < sources.count; i += grid_threads)
            found.add(i < sources.count, i < sources.count ? sources[i] : 0);
        found.finish(sums, false, 0);
        barrier.wait();
    }
    space.trace.begin();
    i64 step = 0;
    u32 phase = 0;
    u64 received = 0;
    bool turned = false;
    Tally now = space.header->tally[0];
    const auto goes_on = [&] { return now.count && (i64)now.arcs <= most && done + step < limit; };
    const auto queue = [&] { return of_two(space.queue, space.following, turned); };
    const auto following = [&] { return of_two(space.following, space.queue, turned); };

    // One superstep, by `threads` threads of which this is number `thread`; `sync` is their barrier.
    const auto superstep = [&](i64 thread, i64 threads, auto each_arc, auto sync) {
        u64* const tail = &space.header->received_tail[step & 1];
        each_arc([&](const Batch<Index, T::BATCH>& batch) {
            deliver(program, out, space, batch, [&](bool comes, Index v) {
                arrived.add(comes, v, [&](bool mine, Index one) { append(mine, one, space.received, tail); });
            });
        });
        Index v = 0;
        const bool mine = arrived.rest(v);
        append_of_block(sums, mine, v, space.received, tail);
        sync();
        // Nobody reads the world before the next superstep's messages.
        if constexpr (Program::READS_WORLD)
            if (thread == 0) program.turn(done + step + 2);
        // Read before it is known how many there are: one chain of loads less. What lies behind them is no vertex.
        Index u = thread < n ? *(volatile Index*)(space.received + thread) : 0;
        received = *(volatile u64*)tail;
        ++step;
        // Read by all in the phase before the last barrier.
        if (thread == 0) space.header->tally[(phase + 2) % 3] = Tally{}, space.header->received_tail[step & 1] = 0;
        Tally* const tally = &space.header->tally[++phase % 3];
        Collector<T, Index> found(out.indptr, following(), tally);
        for (i64 i = thread; i - lane < (i64)received; i += threads) {
            bool changes_it = false;
            i64 degree = 0;
            if (i < (i64)received) {
                if (i != thread) u = space.received[i];
                degree = out.indptr[u + 1] - out.indptr[u];
                double no_sums[Program::SUMS + 1];
                changes_it = program.apply(u, space.message[u], done + step, no_sums);
                space.message[u] = identity;
                // All of the word's vertices are cleared in this phase, and none is set.
                space.received_bits[u >> 5] = 0;
                if (!changes_it) space.received[i] = ~u;
            }
            changed.add(changes_it, Changed<Index>{u, degree}, [&](bool mine, const Changed<Index>& one) {
                found.add_row(one.vertex, found.note(mine, one.degree));
            });
        }
        Changed<Index> left{0, 0};
        const bool has_left = changed.rest(left);
        found.finish_row(sums, left.vertex, found.note(has_left, left.degree));
        const i64 count = now.count, arcs = now.arcs;
        sync();
        now = read(tally);
        turned = !turned;
        if (thread == 0) space.trace.add(step, 0, count, arcs);
    };
    const auto row = [&](const Index* light) {
        return [&, light](u32 i) {
            const Index u = light[i];
            const i64 start = out.indptr[u];
            return Row<Index>{u, start, (int)(out.indptr[u + 1] - start)};
        };
    };
    const auto fits_a_block = [&] { return (i64)now.arcs <= alone && now.pieces == 0; };
    while (goes_on()) {
        if (fits_a_block()) {
            // What the others have to know afterwards passes through the outcome.
            i64* const passed = space.trace.outcome->passed;
            const i64 entry = step;
            if (blockIdx.x == 0) {
                do superstep(threadIdx.x, THREADS, [&](auto visit) {
                    for_each_arc_of_few<T::BATCH, Index>((u32)now.light, now.arcs, threadIdx.x, THREADS, row(queue().light), visit);
                }, [] { __syncthreads(); });
                while (goes_on() && fits_a_block());
                if (threadIdx.x == 0) passed[0] = step, passed[1] = (i64)received;
            }
            barrier.wait();
            if (blockIdx.x) {
                step = *(volatile i64*)&passed[0], received = *(volatile i64*)&passed[1];
                phase += (u32)(step - entry), turned = turned != ((step - entry) & 1);
                now = read(&space.header->tally[phase % 3]);
            }
            // Read by all before the block alone writes it again.
            barrier.wait();
        } else {
            superstep(grid_thread, grid_threads, [&](auto visit) {
                if (is_short<T>(now)) for_each_arc_of_short<T, Index>(out, queue().light, now, visit);
                else for_each_arc<T, Index>(out, queue(), now.light, now.pieces, visit);
            }, [&] { barrier.wait(); });
        }
    }
    space.trace.end(step, now.count);
    if (grid_thread == 0) space.trace.outcome->passed[0] = (i64)received, space.trace.outcome->passed[1] = now.arcs;
}

}  // namespace hpgraph
