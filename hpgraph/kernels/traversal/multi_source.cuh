// Multi-source traversal in one kernel (H. Liu, H. H. Huang, Y. Hu, "iBFS", SIGMOD'16): a vertex has one bit per
// source, and an arc is read once for all sources.
//
// As in traversal.cuh, a grid barrier separates supersteps, and every block takes the same decisions from the same
// tally. There are three kinds of superstep. A sparse one works on a list of entries (source_entries.cuh): a road
// network has thousands of those. While frontiers hardly overlap, each search continues separately
// (separate_searches.cuh). In a dense one the frontier is a bit array: its vertices push to unsettled ones
// (source_push.cuh), or unsettled vertices pull until all wanted bits are found (source_pull.cuh), and a scan over all
// vertices settles them (source_scan.cuh).
#pragma once
#include "separate_searches.cuh"
#include "source_direction.cuh"
#include "source_entries.cuh"
#include "source_pull.cuh"
#include "source_push.cuh"
#include "source_scan.cuh"
#include "one_block.cuh"
#include "persistent.cuh"

namespace hpgraph {

template <class Index>
struct SourceStarts {
    const Index* vertices;
    const int* sources;
    i64 count;  // pairs
    i64 k;      // sources
};

template <class Index>
struct MultiSourceSpace {
    MultiSourceHeader* header;
    u64* reached;          // settled bits of each vertex, one per source
    u64* front[2];         // a double buffer of frontiers
    EntryList<Index> entries[2];
    Frontier<Index> queue;
    u64* history;          // HISTORIES times as many words as `reached`
    u64* parked;           // as many words as `reached`: the frontiers of parked searches
    Bands bands;
    Trace trace;
    i64* pairs;            // as many rows as the trace
};

struct Queued {
    u64 count, arcs, light, pieces;

    __device__ explicit Queued(const MultiSourceTally& tally)
        : count(tally.count), arcs(tally.arcs), light(tally.light), pieces(tally.pieces) {}
};

// Team of one GPU; of several in multi_source_team.cuh.
struct Alone {
    static constexpr bool TOGETHER = false;
    GridBarrier& barrier;

    __device__ bool lost() const { return false; }
    __device__ void next_is(int) {}
    __device__ bool shares_push(i64) const { return false; }
    __device__ void copy_own(const u64*, u64*, i64) const {}
    template <class Index>
    __device__ void share_rows(bool, i64, const u64*, const Piece<Index>*, u64) const {}
    __device__ void end(const MultiSourceTally*) const { barrier.wait(); }
    __device__ void agree(Queued&) const {}
    __device__ u64 looked(const MultiSourceTally& tally) const { return tally.looked; }
};

// `PARTS`: searches may continue separately; false saves a third of the compilation. Not within PARTING supersteps.
template <class T, int W, bool PARTS, class Team, class Delivery, class Index, class Weight>
struct MultiSource {
    Team& team;
    GridBarrier& barrier;
    const RowShare& share;
    const Delivery& delivery;
    const i64 n;
    const Arcs<Index, Weight>&out, &in;
    const SourceStarts<Index>& starts;
    const MultiSourcePolicy& policy;
    const MultiSourceSpace<Index>& space;
    SourceBlock<W>& block;
    SourceClasses<W>& classes;
    SeparateTally* tallies;
    bool& changes;  // whether messages of a superstep change their vertices, in shared memory
    // The part of the tally that every superstep reads; the rest is loaded on demand, to save registers.
    Queued now{MultiSourceTally{}};
    bool listed = true, queued = false;  // the frontier is a list of entries; or bits, and also a queue of vertices
    bool entries_turned = false, front_turned = false;
    int direction = TOP_DOWN, histories = 0;
    u32 phase = 0;
    i64 step = 0, previous = 0;
    // Consecutive supersteps with little overlap; superstep of the next parked search; superstep of the first split.
    i64 scattered = 0, parked = NOT_PARKED, first_apart = -1, farthest = 0, began = 0;

    __device__ void run() {
        begin();
        space.trace.begin();
        while ((now.count || parked < NOT_PARKED) && step < policy.limit && !team.lost()) {
            if constexpr (PARTS)
                if (scattered == PARTING) {
                    search_apart();
                    continue;
                }
            const bool joins = PARTS && parked < NOT_PARKED && (now.count == 0 || parked == step);
            if (joins) step = parked;
            const bool few = !joins && policy.forced != BOTTOM_UP && (i64)now.arcs * (listed ? 1 : W) <= policy.few;
            if (few && !listed) list_entries();
            if (joins || (!few && listed)) {
                mark_frontier(joins);
                if (!now.count) continue;
            }
            const i64 count = now.count, arcs = now.arcs;
            ++step;
            if constexpr (Delivery::COUNTS)
                if (step > 1) delivery.account(step - 1);
            if (few) sparse_superstep();
            else dense_superstep(count, arcs);
            end_superstep(few, count, arcs);
        }
        if constexpr (Delivery::COUNTS)
            if (step) delivery.account(step);
        if (Trace::is_writer()) space.header->histories = histories;
        const u64 active = space.header->left + (step < policy.limit ? 0 : now.count);
        step = max(step, farthest);
        if constexpr (PARTS)
            if (first_apart >= 0 && blockIdx.x == 0) apart().share_time(first_apart, step, began);
        space.trace.end(step, active);
    }

private:
    __device__ u64* front() const { return of_two(space.front[0], space.front[1], front_turned); }
    __device__ u64* next() const { return of_two(space.front[1], space.front[0], front_turned); }
    __device__ EntryList<Index> entries() const { return of_two(space.entries[0], space.entries[1], entries_turned); }
    __device__ EntryList<Index> following() const { return of_two(space.entries[1], space.entries[0], entries_turned); }
    __device__ MultiSourceTally* tally() const { return &space.header->tally[phase % 3]; }
    __device__ MultiSourceTally* next_tally() {
        ++phase;
        if (Trace::is_writer()) space.header->tally[(phase + 1) % 3] = MultiSourceTally{};
        return tally();
    }
    __device__ SeparateSearches<W, Delivery, Index, Weight> apart() const {
        return {delivery, out, space.reached, space.parked, space.front[0], space.header, block, tallies, following(),
                entries(), space.trace, space.pairs, n, starts.k, policy.limit};
    }

    __device__ void begin() {
        const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
        SourceSums<W> sums;
        EntryCollector<Index, W> found(block, entries(), tally(), sums);
        for (i64 i = thread; i - lane_of_warp() < starts.count; i += threads) {
            const bool mine = i < starts.count;
            const Index v = mine ? starts.vertices[i] : 0;
            const int source = mine ? starts.sources[i] : 0;
            const u64 bit = 1ull << (source & 63);
            if (mine) {
                delivery.start(v, source);
                atomicOr(space.reached + (i64)v * W + (source >> 6), bit);
                ++sums.pairs;
            }
            const i64 begin = out.indptr[v], degree = out.indptr[v + 1] - begin;
            if (mine) sums.note(degree);
            const Entry<Index> one[1] = {found.entry(mine ? bit : 0, v, source >> 6, begin, degree)};
            found.add(one);
        }
        found.light.finish();
        flush_sums(block, sums, found.tally);
        barrier.wait();
        now = Queued(*tally());
    }

    // Frontiers hardly overlap: a block continues with each search, until all have ended or are parked.
    __device__ void search_apart() {
        const auto searches = apart();
        const bool is_first = first_apart < 0;
        if (is_first) first_apart = step, began = clock64();
        scattered = 0;
        if constexpr (Delivery::COUNTS) delivery.account(step);
        searches.clear(step, is_first);
        searches.template turn_bits<false>();
        barrier.wait();
        for_each_entry(entries(), now.light, now.pieces, [&](const Entry<Index>& one) { searches.count(one); });
        barrier.wait();
        for_each_entry(entries(), now.light, now.pieces, [&](const Entry<Index>& one) { searches.deal(one, step); });
        barrier.wait();
        for (int source = blockIdx.x; source < starts.k; source += gridDim.x) searches.run(source, step);
        barrier.wait();
        searches.template turn_bits<true>();
        step = space.header->step, now = Queued(MultiSourceTally{}), parked = searches.next_parked(0);
        farthest = max(farthest, step);
        barrier.wait();
    }

    // The frontier, as bits, becomes a list of entries.
    __device__ void list_entries() {
        // After a scan the tally's tails are still zero.
        entries_from_bits(block, front(), out.indptr, n, entries(), tally());
        barrier.wait();
        now = Queued(*tally());
        listed = true;
    }

    // The frontier becomes bits and a queue of vertices; `joins`: with the searches that were parked at this superstep.
    __device__ void mark_frontier(bool joins) {
        if (listed || now.count == 0) {
            copy_words(nullptr, front(), n * W);
            barrier.wait();
        }
        u64* const to = front();
        if (listed)
            for_each_entry(entries(), now.light, now.pieces, [&](const Entry<Index>& one) {
                atomicOr(to + (i64)one.vertex * W + one.word(), one.bits);
            });
        if constexpr (PARTS)
            if (joins) apart().join(to, step), parked = apart().next_parked(step);
        barrier.wait();
        MultiSourceTally* const tally = next_tally();
        queue_from_words<T, W>(block, front(), out.indptr, n, space.queue, tally, true);
        barrier.wait();
        now = Queued(*tally);
        listed = false, queued = true;
    }

    __device__ void sparse_superstep() {
        direction = TOP_DOWN;
        SourceSums<W> sums;
        MultiSourceTally* const tally = next_tally();
        EntryCollector<Index, W> found(block, following(), tally, sums);
        Claiming<W, Delivery, Index, Weight> claiming{delivery, out, space.reached, step, found};
        claiming.run(entries(), (u32)now.light, (u32)now.pieces);
        found.light.finish();
        flush_sums(block, sums, tally);
        entries_turned = !entries_turned;
    }

    __device__ void dense_superstep(i64 count, i64 arcs) {
        SourceSums<W> sums;
        MultiSourceTally* const last = tally();
        if (threadIdx.x < W) classes.live[threadIdx.x] = last->live[threadIdx.x];
        const float each = __fdividef((float)policy.arcs, (float)policy.rows);
        PullCost pulling{each, (float)policy.arcs};
        bool pulls = policy.forced == BOTTOM_UP;
        if (policy.forced < 0 && arcs > policy.alpha &&
            !(direction == BOTTOM_UP && count < policy.beta && count < previous)) {
            __syncthreads();
            sample_sources<W>(classes, in, policy.arcs, n, front(), space.reached);
            // Every block must sample the same bits, before pulls that deliver by arc set more.
            if constexpr (Delivery::BY_ARC) barrier.wait();
            pulling = pull_cost<W>(classes, (float)n, policy);
            pulls = pulling.all < (float)arcs * (float)policy.pushed;
        }
        direction = pulls ? BOTTOM_UP : TOP_DOWN;
        const bool shared = pulls || team.shares_push(arcs);
        if (shared) team.next_is(!front_turned);
        u64* history = nullptr;
        if (policy.waits && histories < HISTORIES) history = space.history + histories * n * W;
        if (threadIdx.x == 0) changes = !history || delivery.sample(histories, in.weight(0), step);
        __syncthreads();
        if (pulls) pull(pulling, each, last, sums);
        else push(shared, last, sums);
        if (shared) team.share_rows(!pulls, n * W, space.reached, space.queue.pieces, last->put_off);
        MultiSourceTally* const tally = next_tally();
        settle<T, W>(delivery, out, in, n, step, space.reached, next(), history, changes, sums);
        histories += history != nullptr;
        if constexpr (Delivery::COUNTS) __syncthreads();
        flush_sums(block, sums, tally);
        front_turned = !front_turned, queued = false;
    }

    __device__ void pull(const PullCost& pulling, float each, MultiSourceTally* last, SourceSums<W>& sums) {
        // The queue's memory is free for deferred rows.
        u64* const tail = &last->put_off;
        const int round = pulling.needed < each ? max(FIRST_ROUND, (int)pulling.needed / 2) : T::PIECE;
        MultiSourcePull<T, W, Team, Delivery, Index, Weight> rows{delivery, in, front(), space.reached, next(), n, step,
                                                            classes.live, round, sums, block, space.queue.pieces,
                                                            tail, share, team};
        // One band if most rows exit early, or few arcs are examined.
        const bool banded = pulling.needed >= each / 2 &&
                            pulling.all > BANDED_ROW * (float)space.bands.count * (float)n;
        const Bands bands{space.bands.ends, banded ? space.bands.count : 1};
        for (int band = 0; band < bands.count; ++band) {
            rows.all_rows(bands, band);
            barrier.wait();
        }
        const u64 put_off = *tail;
        if (put_off) {
            rows.pieces_put_off(put_off);
            barrier.wait();
        }
    }

    __device__ void push(bool shared, MultiSourceTally* last, SourceSums<W>& sums) {
        if (!queued) queue_from_words<T, W>(block, front(), out.indptr, n, space.queue, last, false);
        if (!shared) copy_words(Delivery::BY_ARC ? nullptr : space.reached, next(), n * W);
        else team.copy_own(space.reached, next(), n * W);
        barrier.wait();
        MultiSourcePush<T, W, Delivery, Index, Weight> visit{delivery, out, front(), space.reached, next(),
                                                       shared, step, sums, share};
        for_each_arc<T, Index>(out, space.queue, last->light, last->pieces, visit);
        barrier.wait();
    }

    // `few`: it was a sparse one; `count` and `arcs` of its frontier.
    __device__ void end_superstep(bool few, i64 count, i64 arcs) {
        if constexpr (Delivery::COUNTS) delivery.flush_sums(step);
        team.end(tally());
        previous = count;
        const MultiSourceTally& left = *tally();
        now = Queued(left), team.agree(now);
        const bool parts = !Team::TOGETHER && few && parked == NOT_PARKED && left.pairs < 2 * now.count &&
                           should_part(starts.k, now.arcs);
        scattered = parts ? scattered + 1 : 0;
        if (!Trace::is_writer()) return;
        const i64 looked = direction == TOP_DOWN ? arcs : (i64)team.looked(left);
        if (first_apart < 0) space.trace.add(step, direction, count, looked);
        if (step > space.trace.room) return;
        if (first_apart < 0) {
            space.pairs[step - 1] = left.pairs;
            return;
        }
        TraceRow& row = space.trace.rows[step - 1];
        space.pairs[step - 1] += left.pairs, row.active += count, row.looked += looked;
    }
};

// Run a multi-source traversal by the calling kernel, whose shared memory it takes.
template <class T, int W, bool PARTS = true, class Team, class Delivery, class Index, class Weight>
__device__ void run_multi_source(Team& team, GridBarrier& barrier, const RowShare& share, const Delivery& delivery,
                                i64 n, const Arcs<Index, Weight>& out, const Arcs<Index, Weight>& in,
                                const SourceStarts<Index>& starts, const MultiSourcePolicy& policy,
                                const MultiSourceSpace<Index>& space) {
    __shared__ SourceBlock<W> block;
    __shared__ SourceClasses<W> classes;
    __shared__ SeparateTally tallies[3];
    __shared__ bool changes;
    if (threadIdx.x == 0) block.filled = 0;
    __syncthreads();
    MultiSource<T, W, PARTS, Team, Delivery, Index, Weight> search{team, barrier, share, delivery, n, out, in, starts, policy,
                                                            space, block, classes, tallies, changes};
    search.run();
}

template <class Program, class Index, class Weight, int W, bool by_arc, class T = Techniques<>, bool PARTS = true>
__global__ void __launch_bounds__(THREADS, 1)
traverse_sources(const Program program, const Program samples, const i64 n, const Arcs<Index, Weight> out,
               const Arcs<Index, Weight> in, const SourceStarts<Index> starts, const MultiSourcePolicy policy,
               const MultiSourceSpace<Index> space) {
    GridBarrier barrier(&space.header->barrier);
    Alone alone{barrier};
    const Messages<Program, by_arc> messages{program, samples, n};
    if constexpr (Program::CHOOSES_VERTICES) {
        // Vertices masked by `cond`. Other blocks may already set the bits of starts, which are set in any case.
        for (i64 v = (i64)blockIdx.x * THREADS + threadIdx.x; v < n; v += (i64)gridDim.x * THREADS)
            for (int word = 0; word < W; ++word) {
                u64 bits = 0;
                for (int bit = 0; bit < 64 && 64 * word + bit < starts.k; ++bit)
                    bits |= (u64)!messages.of(64 * word + bit).cond(v) << bit;
                if (bits) atomicOr(space.reached + v * W + word, bits);
            }
    }
    run_multi_source<T, W, PARTS>(alone, barrier, all_rows(n), messages, n, out, in, starts, policy, space);
}

struct TotalsSpace {
    u64* of_level[2];
    i64 *reached, *total, *farthest;
    double* inverse;
};

template <class Index, int W, class T = Techniques<>, bool PARTS = true>
__global__ void __launch_bounds__(THREADS, 1)
multi_source_totals(const i64 n, const Arcs<Index, Pattern> out, const Arcs<Index, Pattern> in,
                    const SourceStarts<Index> starts, const MultiSourcePolicy policy,
                    const MultiSourceSpace<Index> space, const TotalsSpace totals) {
    GridBarrier barrier(&space.header->barrier);
    Alone alone{barrier};
    __shared__ u32 counts[64 * W];
    for (int i = threadIdx.x; i < 64 * W; i += THREADS) counts[i] = 0;
    const Counts<W> counting{counts, {totals.of_level[0], totals.of_level[1]}, starts.k,
                             totals.reached, totals.total, totals.farthest, totals.inverse};
    run_multi_source<T, W, PARTS>(alone, barrier, all_rows(n), counting, n, out, in, starts, policy, space);
}

}  // namespace hpgraph
