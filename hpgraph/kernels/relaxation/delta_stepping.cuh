// Delta-stepping and Bellman-Ford: messages lower values in place, and a vertex that changed sends again.
//
// The label-correcting loop for any idempotent monoid, as one kernel with one grid barrier a superstep. If the program
// has a priority it is delta-stepping with two buckets: vertices with a value at or beyond the threshold wait in a far
// pile until the near ones have settled (near-far, A. Davidson et al., IPDPS'14). Values are monotone and every change
// queues its vertex for the next superstep, so the result does not depend on the order of messages: it repeats bit for
// bit.
//
// The width of a bucket adapts, as in ADDS (K. Wang, D. Fussell, C. Lin, PPoPP'21): see BucketWidth.
//
// A team of several GPUs (team.cuh) divides the rows. Each part has a value for every vertex: the value of an own
// vertex, and the lowest value sent to the owner of a remote one, which avoids most remote messages. A superstep lists
// the remote vertices that it lowers and sends their final values: one remote message a vertex, however often it was
// lowered. All parts share one bucket.
#pragma once
#include "buckets.cuh"
#include "multi_gpu_barrier.cuh"
#include "one_block.cuh"

namespace hpgraph {

// Pointers to a part's arrays are offset so that elements are indexed by global vertex ids.
template <class Index, class Value>
struct RelaxSpace {
    u32 *queued, *following_queued, *waiting;  // of all vertices; of remote ones, whether listed
    Value* least;                              // a double buffer
    Frontier<Index> queue, following;
    Index *far, *far_kept;
};

// What a part needs to send messages to the others.
template <class Index, class Value>
struct RelaxExchange {
    Index* listed;  // remote vertices that a superstep lowers
    Post<Index, Value> post;
};

template <class Value>
struct Priority {
    int on, adapts;
    Value threshold, delta, ceiling, largest;  // threshold and delta: the initial ones
};

// Maximum number of vertices at which a warp of a short queue looks ahead, in sparse graphs.
constexpr int VERTICES_AHEAD = 8;

// Where supersteps are large, a warp collects 32 messages that may improve their targets, and delivers them at once:
// the latency of an atomic is the same for one lane as for all. Elsewhere it would be added to every superstep.
template <class T, class Index, class Team>
constexpr bool stages_candidates = T::BATCH > 2 && sizeof(Index) == 4 && !Team::DIVIDED;

template <class T, bool SPARSE, class Team, class Exchange, class Program, class Index, class Weight, class Value>
struct Relaxation {
    static constexpr bool STAGED = stages_candidates<T, Index, Team>;
    Team& team;
    const Exchange& exchange;
    const Program& program;
    const i64 n, all_arcs;
    const Arcs<Index, Weight>& out;
    const Priority<Value>& priority;
    const i64 limit;
    const LocalLimits& limits;
    const RelaxSpace<Index, Value>& space;
    const Trace& trace;
    LocalQueue<Index>& local;
    Stages<Index> stages;
    Stage<Index> away;  // stage of `listed`
    Stage<Candidate<Index, Value>> candidates;
    BlockSums& sums;
    // State that only one thread changes is in shared memory: blocks of many threads have few registers.
    BucketWidth<Value>& bucket;
    u32& repeated;  // arcs relaxed repeatedly in the bucket by this block
    Bounds<Value> bounds{priority.on != 0, priority.threshold, priority.ceiling};
    typename Team::Sums now{};  // sums over the team
    Tally own{};                // of this part's queue, if there are several parts
    i64 step = 0;
    u64 left = 0;  // active vertices, near and far
    u32 phase = 0;
    bool queue_turned = false, bits_turned = false, far_turned = false;

    __device__ void run(const Sources<Index>& sources) {
        begin(sources);
        trace.begin();
        while (goes_on()) {
            if (holds()) run_on_one_block();
            else if (now.count == 0) begin_bucket();
            else if (is_short<T>(queue_tally())) run_short();
            else superstep([&](auto visit) {
                for_each_arc<T, Index>(out, queue(), queue_tally().light, queue_tally().pieces, visit);
            });
        }
    }

private:
    __device__ const Tally& queue_tally() const {
        if constexpr (Team::DIVIDED) return own;
        else return now;
    }
    __device__ Frontier<Index> queue() const { return of_two(space.queue, space.following, queue_turned); }
    __device__ Frontier<Index> following() const { return of_two(space.following, space.queue, queue_turned); }
    __device__ Index* far() const { return of_two(space.far, space.far_kept, far_turned); }
    __device__ Index* far_kept() const { return of_two(space.far_kept, space.far, far_turned); }
    __device__ u64* far_tail() const { return &team.header->far_tail[far_turned]; }
    __device__ u64* kept_tail() const { return &team.header->far_tail[1 - far_turned]; }
    __device__ u32* queued(bool turned) const { return of_two(space.queued, space.following_queued, turned); }
    __device__ Tally* next_tally() {
        if (Trace::is_writer()) team.header->tally[(phase + 2) % 3] = Tally{};
        return &team.header->tally[++phase % 3];
    }
    __device__ auto owns() const {
        return [this](i64 v) { return team.owns(v); };
    }
    // Append a vertex to the far pile; warp-collective.
    __device__ auto waits() const {
        return [this](bool mine, Index v) { append(mine, v, far(), far_tail()); };
    }

    __device__ bool goes_on() {
        if constexpr (Team::DIVIDED) {
            left = now.count + now.waiting;
            return left && step < limit && !team.lost;
        } else {
            left = now.count + (now.count == 0 || step >= limit ? *(volatile u64*)far_tail() : 0);
            return left && step < limit && !(now.count && limits.leave(now, team.header->local.thin));
        }
    }
    // Several GPUs neither run supersteps on one block nor leave them to the host.
    __device__ bool holds() const {
        if constexpr (Team::DIVIDED) return false;
        else return now.count && limits.hold<Index>(now);
    }

    // The end of a superstep: a barrier of the team, and the tallies after it; `far_tail` of the pile that waits.
    __device__ void meet(const u64* far_tail) {
        const Tally& tally = team.header->tally[phase % 3];
        if constexpr (Team::DIVIDED) {
            now = team.meet([&](Report& report) {
                const volatile Tally& here = tally;
                report.count = here.count, report.arcs = here.arcs;
                report.waiting = *(const volatile u64*)far_tail;
            });
            own = team.lost ? Tally{} : tally;
        } else {
            team.wait();
            now = tally;
        }
    }

    __device__ void begin(const Sources<Index>& sources) {
        const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
        for (i64 v = thread; v < n; v += threads) program.fill(v);
        if (thread == 0) space.least[0] = space.least[1] = priority.largest;
        team.wait();
        Collector<T, Index> found(out.indptr, space.queue, &team.header->tally[0]);
        for (i64 i = thread; i - lane_of_warp() < sources.count; i += threads) {
            const bool is_source = i < sources.count;
            const Index v = is_source ? sources[i] : 0;
            const bool mine = is_source && team.owns(v);
            if (is_source) program.start(v);
            if (mine) atomicOr(space.queued + (v >> 5), 1u << (v & 31));
            found.add(mine, v);
        }
        finish_found(found, stages, sums, repeated, far(), far_tail());
        meet(far_tail());
    }

    __device__ void run_on_one_block() {
        if constexpr (!Team::DIVIDED) {
            LocalReturn& result = team.header->local;
            const i64 entry = step;
            const auto bits = [&](i64 at) { return queued(bits_turned != ((at - entry) & 1)); };
            if (blockIdx.x == 0) {
                // Other blocks may still be reading the number of thin supersteps, which this block writes.
                if (limits.may_leave) team.barrier.await_others();
                run_local<T>(
                    local, limits, out.indptr, queue(), following(), now, step, result.thin, &result,
                    [&](const Batch<Index, T::BATCH>& batch, LocalCollector<T, Index>& found, i64 at) {
                        send(program, out, bounds, bits(at), space.waiting, batch,
                             [&](bool comes, bool near, bool, Index v) {
                                 found.add(near, v);
                                 stages.far.add(comes && !near, v, waits());
                             });
                    },
                    [&](const Index* slots, const LocalTally& here, i64 at) {
                        // No more bits of the current queue are set: clear them for the superstep after the next.
                        for (u32 i = threadIdx.x; i < here.light; i += THREADS)
                            bits(at - 1)[slots[i] >> 5] = 0;
                        trace.add(at, 0, here.count, here.arcs);
                    },
                    [&](const LocalTally&, i64 at) { return at < limit; });
                Index v = 0;
                const bool mine = stages.far.rest(v);
                waits()(mine, v);
            }
            team.wait();
            if (threadIdx.x == 0) bucket.sent += now.arcs + result.sent;
            now = result.tally, step = result.step;
            bits_turned = bits_turned != ((step - entry) & 1);
            queue_turned = !queue_turned;
            // All blocks read it before a block alone writes it again.
            team.wait();
        }
    }

    // The least value of `cell` over the team, after a barrier of it; `arcs` becomes the sum of `part_repeated`.
    __device__ Value least_of_team(const Value* cell, const u64* part_repeated, i64& arcs) {
        if constexpr (Team::DIVIDED) {
            arcs = team.meet([&](Report& report) {
                *(Value*)&report.least = *(const volatile Value*)cell;
                report.repeated = *(const volatile u64*)part_repeated;
            }).repeated;
            Value least = priority.largest;
            for (int part = 0; part < team.parts.count && !team.lost; ++part) {
                const u64 bits = team.report_of(part).least;
                const Value other = *(const Value*)&bits;
                if (other < least) least = other;
            }
            return least;
        } else {
            team.wait();
            arcs = *(const volatile i64*)part_repeated;
            return *(const volatile Value*)cell;
        }
    }

    // No near vertex is left: the next bucket.
    __device__ void begin_bucket() {
        Tally* const tally = next_tally();
        if (Trace::is_writer())
            space.least[1 - far_turned] = priority.largest, team.header->repeated[1 - far_turned] = 0;
        const u64 pile = Team::DIVIDED ? *(volatile u64*)far_tail() : left;
        Value* const cell = space.least + far_turned;
        u64* const part_repeated = team.header->repeated + far_turned;
        find_least(program, far(), pile, priority.largest, cell, threadIdx.x ? 0 : repeated, part_repeated);
        i64 arcs;
        const Value least = least_of_team(cell, part_repeated, arcs);
        if (team.lost) return;
        // Computed redundantly by each block.
        if (threadIdx.x == 0 && priority.adapts)
            bucket.adapt(step, arcs, all_arcs, priority.largest, team.size() * gridDim.x * THREADS * T::BATCH);
        __syncthreads();
        if (threadIdx.x == 0) repeated = 0;
        const Value below = bounds.threshold;
        bounds.threshold = next_threshold(below, least, bucket.width, priority.largest);
        Collector<T, Index> found(out.indptr, queue(), tally);
        split(program, far(), pile, queued(bits_turned), space.waiting, below, least, bounds.threshold, found, far_kept(),
              kept_tail());
        finish_found(found, stages, sums, repeated, far_kept(), kept_tail());
        meet(kept_tail());
        if (Trace::is_writer()) *far_tail() = 0;
        far_turned = !far_turned;
    }

    // Newly queued or waiting vertices; see `deliver`.
    __device__ auto arrivals(Collector<T, Index>& found) {
        return [this, &found](bool comes, bool near, bool again, Index v) {
            const bool mine = comes && team.owns(v);
            stages.near.add(near && mine, marked(v, again), [&](bool has_one, Index one) {
                const bool sends_again = unmark(one);
                note_repeated(repeated, sends_again, found.add(has_one, one));
            });
            stages.far.add(mine && !near, v, waits());
            if constexpr (Team::DIVIDED) away.add(comes && !mine, v, lists());
        };
    }
    __device__ auto lists() const {
        return [this](bool has_one, Index v) { append(has_one, v, exchange.listed, team.header->received_tail); };
    }

    // A separate loop, to keep values of the other paths out of its registers.
    __device__ void run_short() {
        do superstep<SPARSE>([&](auto visit) { for_each_arc_of_short<T, Index>(out, queue().light, queue_tally(), visit); });
        while (!Team::DIVIDED && now.count && step < limit && is_short<T>(queue_tally()) && !holds());
    }

    // One superstep over the arcs that `each_arc` enumerates in batches.
    template <bool sparse = false, class EachArc>
    __device__ void superstep(EachArc each_arc) {
        const u64 thread = (u64)blockIdx.x * THREADS + threadIdx.x, threads = (u64)gridDim.x * THREADS;
        Collector<T, Index> found(out.indptr, following(), next_tally());
        ++step;
        const auto arrive = arrivals(found);
        if constexpr (STAGED) {
            const auto take = [&](bool mine, const Candidate<Index, Value>& one) {
                const Index v[1] = {one.target};
                const Value message[1] = {one.message()};
                bool live[1] = {mine};
                deliver(program, bounds, queued(!bits_turned), space.waiting, v, message, live, arrive, owns());
            };
            each_arc([&](const Batch<Index, T::BATCH>& batch) {
                offer_along(program, out, batch, [&](bool mine, const Candidate<Index, Value>& one) {
                    candidates.add(mine, one, take);
                });
            });
            Candidate<Index, Value> one{};
            const bool has_one = candidates.rest(one);
            take(has_one, one);
        } else {
            const auto send_along = [&](const Batch<Index, T::BATCH>& batch) {
                send<sparse>(program, out, bounds, queued(!bits_turned), space.waiting, batch, arrive, owns());
            };
            each_arc(send_along);
            if constexpr (sparse)
                if (bounds.on) look_ahead(send_along);
        }
        for (u64 i = thread; i < queue_tally().light; i += threads) queued(bits_turned)[queue().light[i] >> 5] = 0;
        for (u64 i = thread; i < queue_tally().pieces; i += threads)
            queued(bits_turned)[queue().pieces[i].vertex >> 5] = 0;
        queue_turned = !queue_turned, bits_turned = !bits_turned;
        const i64 count = now.count, arcs = now.arcs;
        if (threadIdx.x == 0) bucket.sent += arcs, bucket.covered += arcs;
        if constexpr (Team::DIVIDED) {
            Index one = 0;
            const bool has_one = away.rest(one);
            lists()(has_one, one);
        }
        finish_found(found, stages, sums, repeated, far(), far_tail());
        send_listed();
        meet(far_tail());
        receive_remote();
        trace.add(step, 0, count, arcs);
    }

    // If a warp has lowered only a few vertices, they send at once: along a road a superstep then advances two arcs.
    // They stay queued, as other warps may lower them further.
    template <class Send>
    __device__ void look_ahead(Send send_along) {
        const int count = stages.near.filled;
        if (count == 0 || count > VERTICES_AHEAD) return;
        __syncwarp();
        const bool mine = lane_of_warp() < count;
        Index v = mine ? stages.near.slots[lane_of_warp()] : 0;
        __syncwarp();
        unmark(v);
        const i64 start = out.indptr[v];
        deal_arcs<T::BATCH>(v, start, mine ? (int)min(out.indptr[v + 1] - start, (i64)32) : 0, send_along);
    }

    // Send the values of the listed remote vertices to their owners.
    __device__ void send_listed() {
        if constexpr (Team::DIVIDED) {
            const u64 thread = (u64)blockIdx.x * THREADS + threadIdx.x, threads = (u64)gridDim.x * THREADS;
            team.wait();
            const u64 listed = team.lost ? 0 : *(volatile u64*)team.header->received_tail;
            for (u64 i = thread; i - lane_of_warp() < listed; i += threads) {
                const bool mine = i < listed;
                const Index v = mine ? exchange.listed[i] : 0;
                const Value value = mine ? *(volatile Value*)(program.p0 + v) : Value();
                if (mine) queued(bits_turned)[v >> 5] = 0;
                exchange.post.send(team, 0, mine, v, value);
            }
        }
    }

    __device__ void receive_remote() {
        if constexpr (Team::DIVIDED) {
            if (!now.sent) return;
            if (Trace::is_writer()) *team.header->received_tail = 0;
            Collector<T, Index> more(out.indptr, queue(), &team.header->tally[phase % 3]);
            exchange.post.read_all(team, 0, [&](bool has_message, const RemoteMessage<Index, Value>& remote) {
                const Index v[1] = {remote.vertex};
                const Value message[1] = {remote.message};
                bool live[1] = {has_message};
                deliver(program, bounds, queued(bits_turned), space.waiting, v, message, live, arrivals(more));
            });
            finish_found(more, stages, sums, repeated, far(), far_tail());
            meet(far_tail());
        }
    }
};

// Run a relaxation by the calling kernel, whose shared memory it takes.
template <class T, bool SPARSE, class Team, class Exchange, class Program, class Index, class Weight, class Value>
__device__ void run_relaxation(Team& team, const Exchange& exchange, const Program& program, i64 n, i64 arcs,
                               const Arcs<Index, Weight>& out, const Sources<Index>& sources,
                               const Priority<Value>& priority, i64 limit, const LocalLimits& limits,
                               const RelaxSpace<Index, Value>& space, const Trace& trace) {
    __shared__ LocalQueue<Index> local;
    __shared__ Index slots[2 + Team::DIVIDED][WARPS * 64];
    __shared__ Candidate<Index, Value> candidates[stages_candidates<T, Index, Team> ? WARPS * 64 : 1];
    __shared__ BlockSums sums;
    __shared__ BucketWidth<Value> bucket;
    __shared__ u32 repeated;
    if (threadIdx.x == 0) {
        sums.wanted[0] = sums.wanted[1] = repeated = 0;
        bucket = BucketWidth<Value>{priority.delta, 0, 0, 0, 0, 0, 0};
    }
    Relaxation<T, SPARSE, Team, Exchange, Program, Index, Weight, Value> relaxation{
        team, exchange, program, n, arcs, out, priority, limit, limits, space, trace, local,
        Stages<Index>{Stage<Index>(slots[0]), Stage<Index>(slots[1])}, Stage<Index>(slots[1 + Team::DIVIDED]),
        Stage<Candidate<Index, Value>>(candidates), sums, bucket, repeated};
    relaxation.run(sources);
    trace.end(relaxation.step, relaxation.left);
    if (Trace::is_writer()) {
        if constexpr (Team::DIVIDED) trace.outcome->passed[0] = team.lost;
        limits.report(team.header->local.thin, relaxation.step, bucket.sent);
    }
}

template <class Program, class Index, class Weight, class Value, class T = Techniques<>, bool SPARSE = false>
__global__ void __launch_bounds__(THREADS, 1)
relax(const Program program, const i64 n, const i64 arcs, const Arcs<Index, Weight> out, const Sources<Index> sources,
      const Priority<Value> priority, const i64 limit, const LocalLimits limits, const RelaxSpace<Index, Value> space,
      const Trace trace, Header* const header) {
    OneGpu team(header);
    run_relaxation<T, SPARSE>(team, 0, program, n, arcs, out, sources, priority, limit, limits, space, trace);
}

template <class Program, class Index, class Weight, class Value, class T = Techniques<>>
__global__ void __launch_bounds__(THREADS, 1)
relax_divided(const Program program, const i64 n, const i64 arcs, const Arcs<Index, Weight> out,
              const Sources<Index> sources, const Priority<Value> priority, const i64 limit, const LocalLimits limits,
              const RelaxSpace<Index, Value> space, const Trace trace, const RelaxExchange<Index, Value> exchange,
              const Parts parts, const u64 launch) {
    __shared__ BlockFlags flags;
    MultiGpuBarrier team(parts, launch, flags);
    run_relaxation<T, false>(team, exchange, program, n, arcs, out, sources, priority, limit, limits, space, trace);
}

}  // namespace hpgraph
