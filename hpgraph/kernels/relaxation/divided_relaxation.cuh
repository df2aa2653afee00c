// The relaxation of delta_stepping.cuh over a graph whose rows are divided among several GPUs: one kernel on each of
// them, all from the first superstep to the last (multi_gpu_barrier.cuh).
//
// Each part has a value for every vertex: the value of an own vertex, and the lowest value sent to the owner of a
// remote one, which avoids most remote messages. A superstep lists the remote vertices that it lowers and sends their
// final values: one remote message a vertex, however often it was lowered. All parts share one bucket.
#pragma once
#include "delta_stepping.cuh"
#include "multi_gpu_barrier.cuh"

namespace hpgraph {

template <class Index, class Value>
struct DividedRelaxSpace {
    u32 *queued, *following_queued, *waiting;  // of all vertices; of remote ones, whether listed
    Value* least;                              // a double buffer
    Frontier<Index> queue, following;
    Index *far, *far_kept, *listed;
    Post<Index, Value> post;
};

// Pointers to a part's arrays are offset so that elements are indexed by global vertex ids.
template <class Program, class Index, class Weight, class Value, class T = Techniques<>>
__global__ void __launch_bounds__(THREADS, 1)
relax_divided(const Program program, const i64 n, const i64 all_arcs, const Arcs<Index, Weight> out,
              const Sources<Index> sources, const Priority<Value> priority, const i64 limit, const LocalLimits limits,
              const DividedRelaxSpace<Index, Value> space, const Trace trace, const Parts parts, const u64 launch) {
    __shared__ Index slots[3][WARPS * 64];
    __shared__ BlockSums sums;
    __shared__ BucketWidth<Value> bucket;
    __shared__ u32 repeated;  // arcs relaxed repeatedly in the bucket by this block
    if (threadIdx.x == 0) {
        sums.wanted[0] = sums.wanted[1] = repeated = 0;
        bucket = BucketWidth<Value>{priority.delta, 0, 0, 0, 0, 0, 0};
    }
    Stages<Index> stages{Stage<Index>(slots[0]), Stage<Index>(slots[1])};
    Stage<Index> away(slots[2]);
    __shared__ BlockFlags flags;
    MultiGpuBarrier barrier(parts, launch, flags);
    Header* const header = &barrier.barrier_state->header;
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    const int lane = lane_of_warp();
    const auto owns = [&](i64 v) { return parts.owns(v); };
    for (i64 v = thread; v < n; v += threads) program.fill(v);
    if (thread == 0) space.least[0] = space.least[1] = priority.largest;
    barrier.wait();
    const auto finish = [&](Collector<T, Index>& found, Index* far, u64* far_tail) {
        finish_found(found, stages, sums, repeated, far, far_tail);
    };
    u32 phase = 0;
    // Sums over all parts, and the tally of this part's queue.
    Report now;
    Tally own{};
    const auto meet = [&](const u64* far_tail) {
        now = barrier.meet([&](Report& report) {
            const volatile Tally& tally = header->tally[phase % 3];
            report.count = tally.count, report.arcs = tally.arcs;
            report.waiting = *(const volatile u64*)far_tail;
        });
        own = barrier.lost ? Tally{} : header->tally[phase % 3];
    };
    {
        Collector<T, Index> found(out.indptr, space.queue, &header->tally[0]);
        for (i64 i = thread; i - lane < sources.count; i += threads) {
            const bool is_source = i < sources.count;
            const Index v = is_source ? sources[i] : 0;
            const bool mine = is_source && parts.owns(v);
            if (is_source) program.start(v);
            if (mine) atomicOr(space.queued + (v >> 5), 1u << (v & 31));
            found.add(mine, v);
        }
        finish(found, space.far, header->far_tail);
        meet(header->far_tail);
    }

    trace.begin();
    i64 step = 0;
    Bounds<Value> bounds{priority.on != 0, priority.threshold, priority.ceiling};
    bool queue_turned = false, bits_turned = false, far_turned = false;
    const auto queue = [&] { return of_two(space.queue, space.following, queue_turned); };
    const auto following = [&] { return of_two(space.following, space.queue, queue_turned); };
    const auto far = [&] { return of_two(space.far, space.far_kept, far_turned); };
    const auto far_kept = [&] { return of_two(space.far_kept, space.far, far_turned); };
    const auto queued = [&](bool turned) { return of_two(space.queued, space.following_queued, turned); };
    u64* const listed_tail = &header->received_tail[0];
    while (now.count + now.waiting && step < limit && !barrier.lost) {
        u64* const far_tail = &header->far_tail[far_turned];
        const auto waits = [&](bool mine, Index v) { append(mine, v, far(), far_tail); };
        if (thread == 0) header->tally[(phase + 2) % 3] = Tally{};
        Tally* const tally = &header->tally[++phase % 3];

        if (now.count == 0) {
            if (thread == 0) space.least[1 - far_turned] = priority.largest, header->repeated[1 - far_turned] = 0;
            const u64 pile = *(volatile u64*)far_tail;
            Value* const cell = space.least + far_turned;
            u64* const part_repeated = header->repeated + far_turned;
            find_least(program, far(), pile, priority.largest, cell, threadIdx.x ? 0 : repeated, part_repeated);
            const Report joint = barrier.meet([&](Report& report) {
                *(Value*)&report.least = *(volatile Value*)cell;
                report.repeated = *(volatile u64*)part_repeated;
            });
            if (barrier.lost) break;
            Value least = priority.largest;
            for (int part = 0; part < parts.count; ++part) {
                const u64 bits = barrier.report_of(part).least;
                const Value other = *(const Value*)&bits;
                if (other < least) least = other;
            }
            // Computed redundantly by each block.
            if (threadIdx.x == 0 && priority.adapts)
                bucket.adapt(step, joint.repeated, all_arcs, priority.largest, parts.count * threads * T::BATCH);
            __syncthreads();
            if (threadIdx.x == 0) repeated = 0;
            const Value below = bounds.threshold;
            bounds.threshold = next_threshold(below, least, bucket.width, priority.largest);
            Collector<T, Index> found(out.indptr, queue(), tally);
            u64* const kept = &header->far_tail[1 - far_turned];
            split(program, far(), pile, queued(bits_turned), space.waiting, below, least, bounds.threshold, stages,
                  [&](bool mine, Index v) { found.add(mine, v); },
                  [&](bool mine, Index v) { append(mine, v, far_kept(), kept); });
            finish(found, far_kept(), kept);
            meet(kept);
            if (thread == 0) *far_tail = 0;
            far_turned = !far_turned;
            continue;
        }

        ++step;
        const i64 count = now.count, arcs = now.arcs;
        Collector<T, Index> found(out.indptr, following(), tally);
        const auto arrive_to = [&](Collector<T, Index>& collector) {
            return [&](bool comes, bool near, bool again, Index v) {
                const bool mine = comes && parts.owns(v);
                stages.near.add(near && mine, marked(v, again), [&](bool has_one, Index one) {
                    const bool sends_again = unmark(one);
                    note_repeated(repeated, sends_again, collector.add(has_one, one));
                });
                stages.far.add(mine && !near, v, waits);
                away.add(comes && !mine, v, [&](bool has_one, Index one) { append(has_one, one, space.listed, listed_tail); });
            };
        };
        const auto visit = [&](const Batch<Index, T::BATCH>& batch) {
            send(program, out, bounds, queued(!bits_turned), space.waiting, batch, arrive_to(found), owns);
        };
        if (is_short<T>(own)) for_each_arc_of_short<T, Index>(out, queue().light, own, visit);
        else for_each_arc<T, Index>(out, queue(), own.light, own.pieces, visit);
        for (u64 i = thread; i < own.light; i += threads) queued(bits_turned)[queue().light[i] >> 5] = 0;
        for (u64 i = thread; i < own.pieces; i += threads) queued(bits_turned)[queue().pieces[i].vertex >> 5] = 0;
        queue_turned = !queue_turned, bits_turned = !bits_turned;
        if (threadIdx.x == 0) bucket.sent += arcs, bucket.covered += arcs;
        Index one = 0;
        const bool has_one = away.rest(one);
        append(has_one, one, space.listed, listed_tail);
        finish(found, far(), far_tail);
        barrier.wait();
        const u64 listed = barrier.lost ? 0 : *(volatile u64*)listed_tail;
        for (u64 i = thread; i - lane < listed; i += threads) {
            const bool mine = i < listed;
            const Index v = mine ? space.listed[i] : 0;
            const Value value = mine ? *(volatile Value*)(program.p0 + v) : Value();
            if (mine) queued(bits_turned)[v >> 5] = 0;
            space.post.send(barrier, 0, mine, v, value);
        }
        meet(far_tail);
        if (now.sent) {
            if (thread == 0) *listed_tail = 0;
            Collector<T, Index> more(out.indptr, of_two(space.queue, space.following, queue_turned), tally);
            space.post.read_all(barrier, 0, [&](bool has_message, const RemoteMessage<Index, Value>& remote_message) {
                const Index v[1] = {remote_message.vertex};
                const Value message[1] = {remote_message.message};
                bool live[1] = {has_message};
                deliver(program, bounds, queued(bits_turned), space.waiting, v, message, live, arrive_to(more));
            });
            finish(more, far(), far_tail);
            meet(far_tail);
        }
        trace.add(step, 0, count, arcs);
    }
    trace.end(step, now.count + now.waiting);
    if (thread == 0) {
        trace.outcome->passed[0] = barrier.lost;
        limits.tell(0, step, bucket.sent);
    }
}

}  // namespace hpgraph
