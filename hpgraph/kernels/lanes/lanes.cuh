// Many searches of one graph at once, whole, in one kernel (H. Liu, H. H. Huang, Y. Hu, "iBFS", SIGMOD'16): a vertex has
// one bit a lane, and an arc is read once for all lanes.
//
// As in traversal.cuh, a barrier of the grid separates supersteps, and every block takes the same decision from the same
// tally. There are three kinds of superstep. One of few arcs runs errands (one barrier): a road network has thousands of
// those. Otherwise the frontier is joint, a bit array: its vertices tell whoever has not heard, or every vertex listens
// until all lanes have heard, and a sweep over all vertices settles what came of it.
#pragma once
#include "grid_barrier.cuh"
#include "lane_errands.cuh"
#include "lane_pull.cuh"
#include "lane_push.cuh"
#include "lane_sweep.cuh"
#include "one_block.cuh"
#include "trace.cuh"

namespace hpgraph {

constexpr int TOP_DOWN = 0, BOTTOM_UP = 1;
// What an arc of a push costs, in neighbours that a pull looks at: besides a look it has its bits set.
constexpr float PUSHED_ARC = 1.5f;

struct LanesPolicy {
    i64 alpha;   // arcs above which a push may turn into a pull
    i64 beta;    // vertices below which a shrinking frontier turns back
    int forced;  // TOP_DOWN, BOTTOM_UP or -1 for the choice by cost
    i64 limit;   // supersteps at the most
    i64 arcs;    // of the graph
    i64 rows;    // vertices that some arc reaches
    i64 few;     // arcs of a superstep that are not worth a sweep over all vertices
    int waits;   // whether messages may wait for the end: then all of a superstep are alike
};

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
    u64* front[2];         // used in turn: one read, one filled
    Errands<Index> errands[2];
    Frontier<Index> queue;
    u64* history;          // HISTORIES times as many words as `reached`
    Trace trace;
    i64* pairs;            // as many rows as the trace
};

struct Queued {
    u64 count, arcs, light, pieces;

    __device__ explicit Queued(const LanesTally& tally)
        : count(tally.count), arcs(tally.arcs), light(tally.light), pieces(tally.pieces) {}
};

// Neighbours at which a vertex is expected to look in a pull. One sends in a lane with probability p, so the last of all
// lanes has heard after some H / p of them, with H = 1 + 1/2 + ... + 1/lanes.
template <int W>
__device__ float neighbours_needed(const LanesPolicy& policy, const LanesTally& now) {
    int lanes = 0;
#pragma unroll
    for (int w = 0; w < W; ++w) lanes += __popcll(now.live[w]);
    return __fdividef((logf((float)lanes) + 0.6f) * lanes * (float)policy.arcs, (float)now.sent);
}

template <class T, int W, class Delivery, class Index, class Weight>
__device__ void search_in_lanes(const Delivery& delivery, const i64 n, const Arcs<Index, Weight>& out,
                                const Arcs<Index, Weight>& in, const LaneStarts<Index>& starts,
                                const LanesPolicy& policy, const LanesSpace<Index>& space) {
    __shared__ LanesBlock<W> block;
    __shared__ u64 live[W];
    __shared__ bool changes;
    if (threadIdx.x == 0) block.filled = 0;
    __syncthreads();
    GridBarrier barrier(&space.header->barrier);
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
    i64 settled = space.header->tally[0].pairs;
    // What every superstep asks of the tally; the rest is read where it is wanted, and takes no registers.
    Queued now(space.header->tally[0]);
    bool listed = true, queued = false;  // the frontier is errands; or a joint one, and a list of vertices besides
    const auto next_tally = [&] {
        ++phase;
        if (thread == 0) space.header->tally[(phase + 1) % 3] = LanesTally{};
        return &space.header->tally[phase % 3];
    };

    while (now.count && step < policy.limit) {
        const bool few = policy.forced != BOTTOM_UP && (i64)now.arcs * (listed ? 1 : W) <= policy.few;
        if (few && !listed) {
            // After a sweep the tally's tails are still zero.
            errands_from_lanes(block, front(), out.indptr, n, errands(), &space.header->tally[phase % 3]);
            barrier.wait();
            now = Queued(space.header->tally[phase % 3]);
            listed = true;
        }
        if (!few && listed) {
            copy_words(nullptr, front(), n * W);
            barrier.wait();
            u64* const to = front();
            for_each_errand(errands(), now.light, now.pieces, [&](const Errand<Index>& one) {
                atomicOr(to + (i64)one.vertex * W + one.word(), one.bits);
            });
            barrier.wait();
            LanesTally* const tally = next_tally();
            queue_from_lanes<T, W, true>(block, front(), out.indptr, n, space.queue, tally);
            barrier.wait();
            now = Queued(*tally);
            listed = false, queued = true;
            if (!now.count) break;
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
            const float needed = neighbours_needed<W>(policy, *last);
            const float each = __fdividef((float)policy.arcs, (float)policy.rows);
            const i64 waiting = last->waiting ? (i64)last->waiting : min(policy.rows, policy.rows * starts.k - settled);
            const float cost = (float)waiting * fminf(each, needed);
            if (policy.forced >= 0) direction = policy.forced;
            else if (arcs <= policy.alpha || (direction == BOTTOM_UP && count < policy.beta && count < previous))
                direction = TOP_DOWN;
            else direction = cost < (float)arcs * PUSHED_ARC ? BOTTOM_UP : TOP_DOWN;
            u64* history = nullptr;
            if (policy.waits && histories < HISTORIES) history = space.history + histories * n * W;
            if (threadIdx.x == 0) {
#pragma unroll
                for (int w = 0; w < W; ++w) live[w] = last->live[w];
                changes = !history || delivery.sample(histories, in.weight(0), step);
            }
            if (direction == TOP_DOWN) {
                if (!queued) queue_from_lanes<T, W, false>(block, front(), out.indptr, n, space.queue, last);
                copy_words(Delivery::BY_ARC ? nullptr : space.reached, next(), n * W);
                barrier.wait();
                const Tally all{now.count, now.arcs, 0, last->light, last->pieces, 0};
                Telling<T, W, Delivery, Index, Weight> telling{delivery, out, front(), space.reached, next(), step, sums};
                if (is_short<T>(all))
                    for_each_arc_of_short<T, Index>(out, space.queue.light, all, telling);
                else
                    for_each_arc<T, Index>(out, space.queue, all.light, all.pieces, telling);
                barrier.wait();
            } else {
                __syncthreads();
                // Tails of lists: the queue of a joint frontier is not wanted any more.
                u64* const tail = &last->put_off;
                const int round = needed < each ? max(FIRST_ROUND, (int)needed / 2) : T::PIECE;
                LanesPull<T, W, Delivery, Index, Weight> pull{
                    delivery, in, front(), space.reached, next(), n, step, live, round, sums, space.queue.pieces, tail};
                pull.all_rows();
                barrier.wait();
                const u64 put_off = *tail;
                if (put_off) {
                    pull.pieces_put_off(put_off);
                    barrier.wait();
                }
            }
            LanesTally* const tally = next_tally();
            settle<T, W>(delivery, out, in, n, step, live, space.reached, next(), history, changes, sums);
            histories += history != nullptr;
            if constexpr (Delivery::COUNTS) __syncthreads();
            bring(block, sums, tally);
            front_turned = !front_turned, queued = false;
        }
        if constexpr (Delivery::COUNTS) delivery.bring(step);
        barrier.wait();
        previous = count;
        const LanesTally& left = space.header->tally[phase % 3];
        now = Queued(left);
        settled += left.pairs;
        if (!Trace::is_writer()) continue;
        space.trace.add(step, direction, count, direction == TOP_DOWN ? arcs : (i64)left.looked);
        if (step <= space.trace.room) space.pairs[step - 1] = left.pairs;
    }
    if constexpr (Delivery::COUNTS)
        if (step) delivery.account(step);
    if (thread == 0) space.header->histories = histories;
    space.trace.end(step, step < policy.limit ? 0 : now.count);
}

template <class Program, class Index, class Weight, int W, bool by_arc, class T = Techniques<>>
__global__ void __launch_bounds__(THREADS, 1)
traverse_lanes(const Program program, const Program samples, const i64 n, const Arcs<Index, Weight> out,
               const Arcs<Index, Weight> in, const LaneStarts<Index> starts, const LanesPolicy policy,
               const LanesSpace<Index> space) {
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
    search_in_lanes<T, W>(messages, n, out, in, starts, policy, space);
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
    __shared__ u32 counts[64 * W];
    for (int i = threadIdx.x; i < 64 * W; i += THREADS) counts[i] = 0;
    const Counts<W> counting{counts, {totals.of_level[0], totals.of_level[1]}, starts.k,
                             totals.reached, totals.total, totals.farthest, totals.inverse};
    search_in_lanes<T, W>(counting, n, out, in, starts, policy, space);
}

}  // namespace hpgraph
