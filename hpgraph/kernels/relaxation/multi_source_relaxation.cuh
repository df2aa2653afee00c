// Delta-stepping from up to 32 sources: an arc is read once for all sources that send along it.
//
// The values of a vertex are contiguous, and lane i of a warp works on source i: one load fetches the values of all
// sources. The queue contains a vertex once, with a word of the sources in which it changed. The loop is that of
// delta_stepping.cuh, near-far, with one threshold for all: values are relative to an origin of each source, see
// warm_up.cuh.
#pragma once
#include "offers.cuh"
#include "warm_up.cuh"

namespace hpgraph {

// Threshold between near and far; `key` is a value relative to the origin of its source.
struct SourceBounds {
    bool on;
    const double &threshold, *origins;

    template <class Value>
    __device__ double key(Value value, int source) const { return (double)value - origins[source]; }
    template <class Value>
    __device__ bool is_near(Value value, int source) const { return !on || !(key(value, source) >= threshold); }
};

// The least key in the far pile that is not below the threshold; by the whole grid, without a barrier.
template <class Program, class Index>
__device__ void find_least(const Program& program, int k, const Index* pile, u64 size, const u32* waiting,
                           const SourceBounds& bounds, double* cell) {
    double least = endless();
    for (i64 i = (i64)blockIdx.x * THREADS + threadIdx.x; i < (i64)size; i += (i64)gridDim.x * THREADS) {
        const Index v = pile[i];
        for (u32 sources = waiting[v]; sources; sources &= sources - 1) {
            const int source = __ffs(sources) - 1;
            const double key = bounds.key(program.p0[(i64)v * k + source], source);
            if (key >= bounds.threshold && key < least) least = key;
        }
    }
    for (int d = 16; d; d >>= 1) least = fmin(least, __shfl_xor_sync(ALL, least, d));
    if (lane_of_warp() == 0 && least < endless()) atomic_least(cell, least);
}

// Split the far pile by the new threshold: vertices near in some source are queued, those far in some stay. The least
// key counts as near in any case, as it might be infinite.
template <class Program, class Index, class Near, class Far>
__device__ void split_sources(const Program& program, int k, const Index* pile, u64 size, u32* words, u32* waiting,
                            double below, double least, const SourceBounds& bounds, Stages<Index>& stages, Near near,
                            Far far) {
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    for (i64 i = thread; i - lane_of_warp() < (i64)size; i += threads) {
        const bool has = i < (i64)size;
        const Index v = has ? pile[i] : 0;
        u32 kept = 0, joins = 0;
        for (u32 sources = has ? waiting[v] : 0; sources; sources &= sources - 1) {
            const int source = __ffs(sources) - 1;
            const double key = bounds.key(program.p0[(i64)v * k + source], source);
            if (key >= bounds.threshold && key != least) kept |= 1u << source;
            // Values below the old threshold were queued when they were lowered.
            else if (!(key < below)) joins |= 1u << source;
        }
        if (has) waiting[v] = kept;
        if (joins) words[v] = joins;
        stages.near.add(joins != 0, v, near);
        stages.far.add(kept != 0, v, far);
    }
}

template <class T, class Program, class Index, class Weight>
struct MultiSourceRelaxation {
    using Value = typename Program::Message;
    const Program& program;
    const i64 n;
    const int k;
    const Arcs<Index, Weight>& out;
    const SourcePriority<Value>& priority;
    const i64 limit;
    const RelaxSourcesSpace<Index>& space;
    GridBarrier barrier;
    Stages<Index> stages;
    Stage<Offer<Index, Value>> waiting_offers;
    // State that only one thread changes is in shared memory: blocks of many threads have few registers.
    BlockSums& sums;
    BucketWidth<double>& bucket;
    Tally &now, &last;
    double& threshold;
    u64 &sent, &repeated;  // pairs of an arc and a source sent in the bucket by this block, and the repeated ones
    const SourceBounds bounds;
    i64 step = 0;
    u64 left = 0;
    u32 phase = 0, turn = 0;  // rotation of the tallies; of the queues and words, three each: read, filled and cleared
    bool far_turned = false;

    __device__ void run() {
        if (Trace::is_writer()) space.least[0] = space.least[1] = endless();
        barrier.wait();
        space.trace.begin();
        while (true) {
            const u64 pile = now.count == 0 || step >= limit ? *(volatile u64*)far_tail() : 0;
            left = now.count + pile;
            if (left == 0 || step >= limit) break;
            if (Trace::is_writer()) space.header->tally[(phase + 2) % 3] = Tally{};
            Tally* const tally = &space.header->tally[++phase % 3];
            if (now.count == 0) begin_bucket(pile, tally);
            else superstep(tally);
        }
        space.trace.end(step, left);
        if (Trace::is_writer()) space.trace.outcome->passed[0] = turn % 3;
    }

private:
    __device__ u64* far_tail() const { return &space.header->far_tail[far_turned]; }
    __device__ u64* kept_tail() const { return &space.header->far_tail[1 - far_turned]; }
    __device__ u32* words(u32 at) const { return space.words + at % 3 * n; }
    __device__ Frontier<Index> queue(u32 at) const {
        return {space.light + at % 3 * n, space.pieces + at % 3 * space.heavy};
    }
    __device__ Index* far() const { return of_two(space.far, space.far_kept, far_turned); }
    __device__ Index* far_kept() const { return of_two(space.far_kept, space.far, far_turned); }

    // The end of a superstep or of a split.
    __device__ void finish(Collector<T, Index>& found, Index* pile, u64* pile_tail) {
        Index near_one = 0, far_one = 0;
        const bool has_near = stages.near.rest(near_one), has_far = stages.far.rest(far_one);
        found.finish(sums, has_near, near_one, has_far, far_one, pile, pile_tail);
        barrier.wait();
    }
    // Read redundantly by each block.
    __device__ void read(const Tally* tally) {
        if (threadIdx.x == 0) now = *tally;
        __syncthreads();
    }

    // No near vertex is left: the next bucket.
    __device__ void begin_bucket(u64 pile, Tally* tally) {
        u64* const of_bucket[] = {space.header->received_tail + far_turned, space.header->repeated + far_turned};
        if (Trace::is_writer()) {
            space.least[1 - far_turned] = endless();
            space.header->received_tail[1 - far_turned] = space.header->repeated[1 - far_turned] = 0;
        }
        find_least(program, k, far(), pile, space.waiting, bounds, space.least + far_turned);
        if (threadIdx.x == 0) {
            if (sent) atomicAdd(of_bucket[0], sent);
            if (repeated) atomicAdd(of_bucket[1], repeated);
            sent = repeated = 0;
        }
        barrier.wait();
        const double least = *(volatile double*)(space.least + far_turned), below = threshold;
        __syncthreads();
        if (threadIdx.x == 0) {
            if (priority.adapts && step) {
                const i64 wave = (i64)gridDim.x * THREADS * T::BATCH;
                bucket.covered += *(volatile i64*)of_bucket[0];
                bucket.adapt(step, *(volatile i64*)of_bucket[1], out.indptr[n] * k, endless(), wave);
            }
            threshold = bounds.on ? fmax(below, least) + bucket.width : endless();
        }
        __syncthreads();
        Collector<T, Index> found(out.indptr, queue(turn), tally);
        split_sources(program, k, far(), pile, words(turn), space.waiting, below, least, bounds, stages,
                      [&](bool mine, Index v) { found.add(mine, v); },
                      [&](bool mine, Index v) { append(mine, v, far_kept(), kept_tail()); });
        finish(found, far_kept(), kept_tail());
        if (Trace::is_writer()) *far_tail() = 0;
        far_turned = !far_turned;
        read(tally);
    }

    // Improve a value by an offer, if `live`; warp-collective.
    __device__ void deliver(bool live, const Offer<Index, Value>& offer, Collector<T, Index>& found) {
        const Index v = offer.target;
        Value* const where = program.p0 + (i64)v * k + offer.source;
        Value current = Value();
        if (!Program::MIN && live) current = *where;
        live = live && improve(program, where, offer.message, current);
        const Value value = Program::MIN ? offer.message : current;
        live = live && !(bounds.on && value > priority.ceiling);
        const bool near = live && bounds.is_near(value, offer.source);
        const u32 flag = 1u << offer.source;
        u32* const word = (near ? words(turn + 1) : space.waiting) + v;
        const bool first = live && !(*word & flag) && atomicOr(word, flag) == 0;
        stages.near.add(first && near, v, [&](bool mine, Index one) { found.add(mine, one); });
        stages.far.add(first && !near, v, [&](bool mine, Index one) { append(mine, one, far(), far_tail()); });
        const bool again = Program::MIN && near && bounds.on && bounds.is_near(current, offer.source);
        if (__any_sync(ALL, again)) {
            const u64 arcs = warp_sum(again ? (u64)(out.indptr[v + 1] - out.indptr[v]) : 0);
            if (lane_of_warp() == 0) atomicAdd(&repeated, arcs);
        }
    }

    // Send along the arcs of the vertex, or of the piece of one, that each lane of the warp has.
    template <class MakeOffer>
    __device__ void send(bool has, const Piece<Index>& piece, MakeOffer offer) {
        const Index u = piece.vertex;
        i64 start = 0;
        int degree = 0;
        u32 word = 0;
        if (has) {
            word = words(turn)[u];
            start = out.indptr[u] + (i64)piece.number * T::PIECE;
            degree = (int)min((i64)T::PIECE, out.indptr[u + 1] - start);
        }
        const int pairs = degree * __popc(word);
        const WarpScan scan(pairs);
        if (lane_of_warp() == 0) atomicAdd(&sent, (u64)scan.total);
        if (scan.total < MIN_SOURCES * (int)warp_sum((u64)degree)) {
            send_pairs<T, Value>(program, k, out, u, word, start, scan, pairs, offer);
            return;
        }
        for (u32 some = __ballot_sync(ALL, pairs); some; some &= some - 1) {
            const int owner = __ffs(some) - 1;
            send_row<Program, Index, Weight, Value>(
                program, k, out, __shfl_sync(ALL, u, owner), __shfl_sync(ALL, word, owner),
                __shfl_sync(ALL, start, owner), __shfl_sync(ALL, degree, owner), offer);
        }
    }

    // Tasks of a warp: up to 4 pieces, which are much work each, or up to 32 light vertices. The first task of each
    // warp is fixed; further ones are taken from a shared counter.
    template <class MakeOffer>
    __device__ void send_all(u64* taken, MakeOffer offer) {
        const int lane = lane_of_warp();
        const u64 warp = blockIdx.x + gridDim.x * (threadIdx.x >> 5), warps = gridDim.x * WARPS;
        const u64 heavy = min((u64)4, (now.pieces + warps - 1) / warps);
        const u64 rows = min((u64)32, (now.light + warps - 1) / warps);
        const u64 shares = heavy ? (now.pieces + heavy - 1) / heavy : 0;
        const u64 all = shares + (rows ? (now.light + rows - 1) / rows : 0);
        const Frontier<Index> current = queue(turn);
        for (u64 task = warp; task < all;) {
            const bool is_piece = task < shares;
            const u64 t = is_piece ? task * heavy + lane : (task - shares) * rows + lane;
            const bool has = is_piece ? lane < heavy && t < now.pieces : lane < rows && t < now.light;
            Piece<Index> piece{0, 0};
            if (has) piece = is_piece ? current.pieces[t] : Piece<Index>{current.light[t], 0};
            send(has, piece, offer);
            if (all <= warps) break;
            if (lane == 0) task = warps + atomicAdd(taken, (u64)1);
            task = __shfl_sync(ALL, task, 0);
        }
    }

    __device__ void superstep(Tally* tally) {
        const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
        ++step;
        Collector<T, Index> found(out.indptr, queue(turn + 1), tally);
        const auto take = [&](bool live, const Offer<Index, Value>& one) { deliver(live, one, found); };
        send_all(&space.header->tally[(phase + 2) % 3].put_off,
                 [&](bool mine, const Offer<Index, Value>& one) { waiting_offers.add(mine, one, take); });
        Offer<Index, Value> rest{};
        const bool has = waiting_offers.rest(rest);
        take(has, rest);
        const Frontier<Index> sent_before = queue(turn + 2);
        for (u64 i = thread; i < last.light; i += threads) words(turn + 2)[sent_before.light[i]] = 0;
        for (u64 i = thread; i < last.pieces; i += threads) words(turn + 2)[sent_before.pieces[i].vertex] = 0;
        ++turn;
        finish(found, far(), far_tail());
        if (threadIdx.x == 0) last = now;
        read(tally);
        space.trace.add(step, 0, last.count, last.arcs);
    }
};

template <class Program, class Index, class Weight, class T = Techniques<>>
__global__ void __launch_bounds__(THREADS, 1)
relax_sources(const Program program, const i64 n, const int k, const Arcs<Index, Weight> out,
              const SourcePriority<typename Program::Message> priority, const i64 limit,
              const RelaxSourcesSpace<Index> space) {
    using Value = typename Program::Message;
    __shared__ Index slots[2][WARPS * 64];
    extern __shared__ __align__(16) char offers[];  // 64 a warp
    __shared__ BlockSums sums;
    __shared__ BucketWidth<double> bucket;
    __shared__ Tally now, last;
    __shared__ double threshold, origins[32];
    __shared__ u64 sent, repeated;
    if (threadIdx.x == 0) {
        sums.wanted[0] = sums.wanted[1] = 0, sent = repeated = 0;
        bucket = BucketWidth<double>{priority.delta, 0, 0, 0, 0, 0, 0};
        now = last = Tally{}, threshold = -endless();
    }
    if (threadIdx.x < 32) origins[threadIdx.x] = threadIdx.x < k ? space.origins[threadIdx.x] : 0;
    __syncthreads();
    MultiSourceRelaxation<T, Program, Index, Weight> relaxation{
        program, n, k, out, priority, limit, space, GridBarrier(&space.header->barrier),
        Stages<Index>{Stage<Index>(slots[0]), Stage<Index>(slots[1])},
        Stage<Offer<Index, Value>>((Offer<Index, Value>*)offers), sums, bucket, now, last, threshold, sent, repeated,
        SourceBounds{priority.on != 0, threshold, origins}};
    relaxation.run();
}

// Values (n, k) to rows (k, n), by tiles of 32 x 32.
template <class Program>
__global__ void __launch_bounds__(256) transpose_values(const typename Program::Message* values, i64 n, int k,
                                                  typename Program::Message* rows) {
    __shared__ typename Program::Message tile[32][33];
    const int x = threadIdx.x & 31;
    for (i64 base = (i64)blockIdx.x * 32; base < n; base += (i64)gridDim.x * 32) {
        for (int y = threadIdx.x >> 5; y < 32; y += 8)
            if (x < k && base + y < n) tile[y][x] = values[(base + y) * k + x];
        __syncthreads();
        for (int y = threadIdx.x >> 5; y < k; y += 8)
            if (base + x < n) rows[y * n + base + x] = tile[x][y];
        __syncthreads();
    }
}

}  // namespace hpgraph
