// Many searches of one graph at once, whole, in one kernel (H. Liu, H. H. Huang, Y. Hu, "iBFS", SIGMOD'16): a vertex has
// one bit a lane, and an arc is read once for all lanes.
//
// As in traversal.cuh, a barrier of the grid separates supersteps, and every block takes the same decision from the same
// tally. There are three kinds of superstep. One of few arcs runs errands (one barrier): a road network has thousands of
// those; where its lanes hardly meet, each goes on by itself for as long as that holds (lane_apart.cuh). Otherwise the
// frontier is joint, a bit array: its vertices tell whoever has not heard, or every vertex listens until all lanes have
// heard, and a sweep over all vertices settles what came of it.
#pragma once
#include "lane_apart.cuh"
#include "lane_direction.cuh"
#include "lane_errands.cuh"
#include "lane_pull.cuh"
#include "lane_push.cuh"
#include "lane_sweep.cuh"
#include "one_block.cuh"
#include "persistent.cuh"

namespace hpgraph {

template <class Index>
struct LaneStarts {
    const Index* vertices;
    const int* lanes;
    i64 count;  // pairs
    i64 k;      // lanes
};

template <class Index>
struct LanesSpace {
    LanesHeader* header;
    u64* reached;          // a bit a lane: who receives nothing any more
    u64* front[2];         // used in turn: one read, one filled; side by side
    Errands<Index> errands[2];
    Frontier<Index> queue;
    u64* history;          // HISTORIES times as many words as `reached`
    u64* parked;           // as many words: the frontiers of lanes that wait for others
    Bands bands;
    Trace trace;
    i64* pairs;            // as many rows as the trace
};

struct Queued {
    u64 count, arcs, light, pieces;

    __device__ explicit Queued(const LanesTally& tally)
        : count(tally.count), arcs(tally.arcs), light(tally.light), pieces(tally.pieces) {}
};

// One GPU searches; several do in lanes_together.cuh.
struct Alone {
    static constexpr bool TOGETHER = false;
    GridBarrier& barrier;

    __device__ bool lost() const { return false; }
    __device__ void next_is(int) {}
    __device__ bool shares_push(i64) const { return false; }
    __device__ void copy_own(const u64*, u64*, i64) const {}
    template <class Index>
    __device__ void share_rows(bool, i64, const u64*, const Piece<Index>*, u64) const {}
    __device__ void end(const LanesTally*) const { barrier.wait(); }
    __device__ void agree(Queued&) const {}
    __device__ u64 looked(const LanesTally& tally) const { return tally.looked; }
};

template <class T, int W, class Team, class Delivery, class Index, class Weight>
__device__ void search_in_lanes(Team& team, GridBarrier& barrier, const RowShare& share, const Delivery& delivery,
                                const i64 n, const Arcs<Index, Weight>& out, const Arcs<Index, Weight>& in,
                                const LaneStarts<Index>& starts, const LanesPolicy& policy,
                                const LanesSpace<Index>& space) {
    __shared__ LanesBlock<W> block;
    __shared__ LaneClasses<W> classes;
    __shared__ ApartTally tallies[3];
    __shared__ bool changes;
    if (threadIdx.x == 0) block.filled = 0;
    __syncthreads();
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    bool errands_turned = false, front_turned = false;
    const auto front = [&] { return of_two(space.front[0], space.front[1], front_turned); };
    const auto next = [&] { return of_two(space.front[1], space.front[0], front_turned); };
    const auto errands = [&] { return of_two(space.errands[0], space.errands[1], errands_turned); };
    const auto following = [&] { return of_two(space.errands[1], space.errands[0], errands_turned); };
    {
        LanesSums<W> sums;
        ErrandCollector<Index, W> found(block, errands(), &space.header->tally[0], sums);
        for (i64 i = thread; i - lane_of_warp() < starts.count; i += threads) {
            const bool mine = i < starts.count;
            const Index v = mine ? starts.vertices[i] : 0;
            const int lane = mine ? starts.lanes[i] : 0;
            const u64 bit = 1ull << (lane & 63);
            if (mine) {
                delivery.start(v, lane);
                atomicOr(space.reached + (i64)v * W + (lane >> 6), bit);
                ++sums.pairs;
            }
            const i64 begin = out.indptr[v], degree = out.indptr[v + 1] - begin;
            if (mine) sums.note(degree);
            const Errand<Index> one[1] = {found.errand(mine ? bit : 0, v, lane >> 6, begin, degree)};
            found.add(one);
        }
        found.light.finish();
        bring(block, sums, found.tally);
    }
    barrier.wait();

    space.trace.begin();
    int direction = TOP_DOWN, histories = 0;
    u32 phase = 0;
    i64 step = 0, previous = 0;
    // What every superstep asks of the tally; the rest is read where it is wanted, and takes no registers.
    Queued now(space.header->tally[0]);
    bool listed = true, queued = false;  // the frontier is errands; or a joint one, and a list of vertices besides
    const auto next_tally = [&] {
        ++phase;
        if (thread == 0) space.header->tally[(phase + 1) % 3] = LanesTally{};
        return &space.header->tally[phase % 3];
    };

    // Supersteps in a row in which lanes hardly met; where the next lane is parked; since when lanes have been apart.
    i64 scattered = 0, parked = NOT_PARKED, first_apart = -1, farthest = 0, began = 0;
    const auto lanes_apart = [&] {
        return Apart<W, Delivery, Index, Weight>(delivery, out, space.reached, space.parked, space.front[0],
                                                 space.header, block, tallies, following(), errands(), space.trace,
                                                 space.pairs, n, starts.k, policy.limit);
    };

    while ((now.count || parked < NOT_PARKED) && step < policy.limit && !team.lost()) {
        if (scattered == PARTING) {
            const auto apart = lanes_apart();
            const bool is_first = first_apart < 0;
            if (is_first) first_apart = step, began = clock64();
            scattered = 0;
            if constexpr (Delivery::COUNTS) delivery.account(step);
            apart.clear(step, is_first);
            apart.template turn_bits<false>();
            barrier.wait();
            for_each_errand(errands(), now.light, now.pieces, [&](const Errand<Index>& one) { apart.count(one); });
            barrier.wait();
            for_each_errand(errands(), now.light, now.pieces, [&](const Errand<Index>& one) { apart.deal(one, step); });
            barrier.wait();
            for (int lane = blockIdx.x; lane < starts.k; lane += gridDim.x) apart.run(lane, step);
            barrier.wait();
            apart.template turn_bits<true>();
            step = space.header->step, now = Queued(LanesTally{}), parked = apart.next_parked(0);
            farthest = max(farthest, step);
            barrier.wait();
            continue;
        }
        const bool joins = parked < NOT_PARKED && (now.count == 0 || parked == step);
        if (joins) step = parked;
        const bool few = !joins && policy.forced != BOTTOM_UP && (i64)now.arcs * (listed ? 1 : W) <= policy.few;
        if (few && !listed) {
            // After a sweep the tally's tails are still zero.
            errands_from_lanes(block, front(), out.indptr, n, errands(), &space.header->tally[phase % 3]);
            barrier.wait();
            now = Queued(space.header->tally[phase % 3]);
            listed = true;
        }
        if (joins || (!few && listed)) {
            if (listed || now.count == 0) {
                copy_words(nullptr, front(), n * W);
                barrier.wait();
            }
            u64* const to = front();
            if (listed)
                for_each_errand(errands(), now.light, now.pieces, [&](const Errand<Index>& one) {
                    atomicOr(to + (i64)one.vertex * W + one.word(), one.bits);
                });
            if (joins) lanes_apart().join(to, step), parked = lanes_apart().next_parked(step);
            barrier.wait();
            LanesTally* const tally = next_tally();
            queue_from_lanes<T, W, true>(block, front(), nullptr, out.indptr, n, space.queue, tally, &tally->light,
                                         &tally->pieces);
            barrier.wait();
            now = Queued(*tally);
            listed = false, queued = true;
            if (!now.count) continue;
        }
        const i64 count = now.count, arcs = now.arcs;
        ++step;
        if constexpr (Delivery::COUNTS)
            if (step > 1) delivery.account(step - 1);
        LanesSums<W> sums;
        if (few) {
            direction = TOP_DOWN;
            LanesTally* const tally = next_tally();
            ErrandCollector<Index, W> found(block, following(), tally, sums);
            Claiming<T, W, Delivery, Index, Weight> claiming{delivery, out, space.reached, step, found};
            claiming.run(errands(), (u32)now.light, (u32)now.pieces);
            found.light.finish();
            bring(block, sums, tally);
            errands_turned = !errands_turned;
        } else {
            LanesTally* const last = &space.header->tally[phase % 3];
            if (threadIdx.x < W) classes.live[threadIdx.x] = last->live[threadIdx.x];
            const float each = __fdividef((float)policy.arcs, (float)policy.rows);
            PullCost pulling{each, (float)policy.arcs, 0};
            bool pulls = policy.forced == BOTTOM_UP;
            if (policy.forced < 0 && arcs > policy.alpha &&
                !(direction == BOTTOM_UP && count < policy.beta && count < previous)) {
                __syncthreads();
                sample_lanes<W>(classes, in, policy.arcs, n, front(), space.reached);
                // Every block must decide by the same bits, and messages of single arcs reach vertices while others pull.
                if constexpr (Delivery::BY_ARC) barrier.wait();
                pulling = pull_cost<W>(classes, (float)n, policy);
                pulls = pulling.all < (float)arcs * (float)policy.pushed;
            }
            direction = pulls ? BOTTOM_UP : TOP_DOWN;
            const bool shared = pulls || team.shares_push(arcs);
            if (shared) team.next_is(!front_turned);
            u64* history = nullptr;
            if (policy.waits && histories < HISTORIES) history = space.history + histories * n * W;
            if (threadIdx.x < W) {
                const u64 told = !pulls ? ~0ull : pulling.lowest ? classes.lower[pulling.lowest][threadIdx.x] : 0;
                classes.telling[threadIdx.x] = told, classes.listening[threadIdx.x] = classes.live[threadIdx.x] & ~told;
            }
            if (threadIdx.x == 0) changes = !history || delivery.sample(histories, in.weight(0), step);
            __syncthreads();
            if (pulls) {
                // The queue of a joint frontier is not wanted any more.
                u64* const tail = &last->put_off;
                const int round = pulling.needed < each ? max(FIRST_ROUND, (int)pulling.needed / 2) : T::PIECE;
                LanesPull<T, W, Team, Delivery, Index, Weight> pull{delivery, in, front(), space.reached, next(), n, step,
                                                              classes.listening, round, sums, block, space.queue.pieces,
                                                              tail, share, team};
                // Where most rows are left early, or few neighbours looked at, they are in one band.
                const bool banded = pulling.needed >= each / 2 &&
                                    pulling.all > BANDED_ROW * (float)space.bands.count * (float)n;
                const Bands bands{space.bands.ends, banded ? space.bands.count : 1};
                for (int band = 0; band < bands.count; ++band) {
                    pull.all_rows(bands, band);
                    barrier.wait();
                }
                const u64 put_off = *tail;
                if (put_off) {
                    pull.pieces_put_off(put_off);
                    barrier.wait();
                }
            }
            if (!pulls || pulling.lowest) {
                // Who tells while others listen has a queue with tails of its own.
                u64* const light = pulls ? &last->told : &last->light;
                u64* const pieces = pulls ? &last->told_pieces : &last->pieces;
                if (pulls || !queued)
                    queue_from_lanes<T, W, false>(block, front(), classes.telling, out.indptr, n, space.queue, last, light,
                                                  pieces);
                if (!shared) copy_words(Delivery::BY_ARC ? nullptr : space.reached, next(), n * W);
                else if (!pulls) team.copy_own(space.reached, next(), n * W);
                barrier.wait();
                const Tally all{now.count, now.arcs, 0, *light, *pieces, 0};
                Telling<T, W, Delivery, Index, Weight> telling{delivery, out, front(), classes.telling, space.reached,
                                                               next(), pulls, shared, step, sums, share};
                if (!pulls && is_short<T>(all))
                    for_each_arc_of_short<T, Index>(out, space.queue.light, all, telling);
                else
                    for_each_arc<T, Index>(out, space.queue, all.light, all.pieces, telling);
                barrier.wait();
            }
            if (shared)
                team.share_rows(!pulls || pulling.lowest != 0, n * W, space.reached, space.queue.pieces, last->put_off);
            LanesTally* const tally = next_tally();
            settle<T, W>(delivery, out, in, n, step, space.reached, next(), history, changes, sums);
            histories += history != nullptr;
            if constexpr (Delivery::COUNTS) __syncthreads();
            bring(block, sums, tally);
            front_turned = !front_turned, queued = false;
        }
        if constexpr (Delivery::COUNTS) delivery.bring(step);
        team.end(&space.header->tally[phase % 3]);
        previous = count;
        const LanesTally& left = space.header->tally[phase % 3];
        now = Queued(left), team.agree(now);
        const bool parts = !Team::TOGETHER && few && parked == NOT_PARKED && left.pairs < 2 * now.count && should_part(starts.k, now.arcs);
        scattered = parts ? scattered + 1 : 0;
        if (!Trace::is_writer()) continue;
        const i64 looked = direction == TOP_DOWN ? arcs : (i64)team.looked(left);
        if (first_apart < 0) space.trace.add(step, direction, count, looked);
        if (step > space.trace.room) continue;
        if (first_apart < 0) {
            space.pairs[step - 1] = left.pairs;
            continue;
        }
        TraceRow& row = space.trace.rows[step - 1];
        space.pairs[step - 1] += left.pairs, row.active += count, row.looked += looked;
    }
    if constexpr (Delivery::COUNTS)
        if (step) delivery.account(step);
    if (thread == 0) space.header->histories = histories;
    const u64 active = space.header->left + (step < policy.limit ? 0 : now.count);
    step = max(step, farthest);
    if (first_apart >= 0 && blockIdx.x == 0) lanes_apart().share_time(first_apart, step, began);
    space.trace.end(step, active);
}

template <class Program, class Index, class Weight, int W, bool by_arc, class T = Techniques<>>
__global__ void __launch_bounds__(THREADS, 1)
traverse_lanes(const Program program, const Program samples, const i64 n, const Arcs<Index, Weight> out,
               const Arcs<Index, Weight> in, const LaneStarts<Index> starts, const LanesPolicy policy,
               const LanesSpace<Index> space) {
    GridBarrier barrier(&space.header->barrier);
    Alone alone{barrier};
    const Messages<Program, by_arc> messages{program, samples, n};
    if constexpr (Program::CHOOSES_VERTICES) {
        // Whom `cond` keeps from receiving. Starts may be under way already: their bits are set in any case.
        for (i64 v = (i64)blockIdx.x * THREADS + threadIdx.x; v < n; v += (i64)gridDim.x * THREADS)
            for (int word = 0; word < W; ++word) {
                u64 bits = 0;
                for (int bit = 0; bit < 64 && 64 * word + bit < starts.k; ++bit)
                    bits |= (u64)!messages.of(64 * word + bit).cond(v) << bit;
                if (bits) atomicOr(space.reached + v * W + word, bits);
            }
    }
    search_in_lanes<T, W>(alone, barrier, all_rows(n), messages, n, out, in, starts, policy, space);
}

struct SurveySpace {
    u64* of_level[2];
    i64 *reached, *total, *farthest;
    double* inverse;
};

template <class Index, int W, class T = Techniques<>>
__global__ void __launch_bounds__(THREADS, 1)
survey_lanes(const i64 n, const Arcs<Index, Pattern> out, const Arcs<Index, Pattern> in, const LaneStarts<Index> starts,
             const LanesPolicy policy, const LanesSpace<Index> space, const SurveySpace totals) {
    GridBarrier barrier(&space.header->barrier);
    Alone alone{barrier};
    __shared__ u32 counts[64 * W];
    for (int i = threadIdx.x; i < 64 * W; i += THREADS) counts[i] = 0;
    const Counts<W> counting{counts, {totals.of_level[0], totals.of_level[1]}, starts.k,
                             totals.reached, totals.total, totals.farthest, totals.inverse};
    search_in_lanes<T, W>(alone, barrier, all_rows(n), counting, n, out, in, starts, policy, space);
}

}  // namespace hpgraph
