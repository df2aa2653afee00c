// Forward pass of betweenness: levels, and path counts of each vertex in each source, in one persistent kernel.
//
// A level is found by a push, in which the vertices of the level before send their bits, and the vertices reached then
// sum their numbers; or by a pull, in which all vertices not reached in some source scan for neighbours on the level
// before. Numbers are summed in the order of a row's arcs, by a tree that depends on the row alone. The order of the
// list varies from run to run, without effect on the results.
#pragma once
#include "path_sources.cuh"

namespace hpgraph {

// Vertices that a block buffers before they go to the list.
constexpr int FOUND = 2048;

template <class Index>
struct ForwardShare {
    WarpShare<Index> warps[PATH_WARPS];
    Index found[FOUND];
    u32 count;
    u64 tally[3], base;
};

template <class Index, bool SCALED, bool WEIGHTED>
struct PathsForward {
    const PathArcs<Index>&out, &in;
    const PathState<Index>& state;
    ForwardShare<Index>& share;
    LevelSlot* slot;  // of the level being built
    i64 end;          // its start in the list
    u64 *front, *next;
    u64 leaving = 0, reaching = 0, full = 0;

    using Pull = PathPull<Index, SCALED, false, false, WEIGHTED>;
    using Sum = typename Pull::Sum;

    // Counts a vertex whose sources of this level are complete; called once for each.
    __device__ void note(i64 v, u64 met) {
        const u64 to = in.indptr[v + 1] - in.indptr[v], from = out.indptr[v + 1] - out.indptr[v];
        leaving += from, reaching += to;
        if (met == state.every) full += to;
        if (i64(from) > PIECE_ARCS || i64(to) > PIECE_ARCS) slot->heavy = 1;
    }

    __device__ void store(i64 v, int k, Sum sum) {
        if (SCALED) {
            sum.normalize();
            state.exponents[v * state.stride + k] = sum.e;
        } else if (sum.m >= PATH_LIMIT) {
            slot->large = 1;
        }
        state.numbers[v * state.stride + k] = sum.m;
    }

    __device__ void store(const Pull& pull, i64 v, u64 received, const Sum (&sum)[2]) {
        if (pull.group) return;
#pragma unroll
        for (int c = 0; c < 2; ++c)
            if (received >> (2 * pull.pair + c) & 1) store(v, 2 * pull.pair + c, sum[c]);
    }

    // Lists a vertex; its sources are written when all are known.
    __device__ void append(Index v) {
        const u32 at = atomicAdd(&share.count, 1u);
        if (at < FOUND) share.found[at] = v;
        else state.listed[end + atomicAdd(&slot->count, 1ull)] = v;
    }

    __device__ void send(Index v, u64 mask) {
        const u64 fresh = mask & ~state.seen[v];
        if (fresh & ~next[v])
            if (!atomicOr(next + v, fresh)) append(v);
    }

    // Visits an arc that is tight in some sources; a vertex is reached with its last pending arc.
    __device__ void send(Index u, Index v, double weight, u64 mask) {
        u64 ready = 0;
        for (; mask; mask &= mask - 1) {
            const int k = __ffsll(mask) - 1;
            const i64 at = i64(v) * state.stride + k;
            if (Pull::tight(state.distances[i64(u) * state.stride + k], weight, state.distances[at]))
                if (atomicSub(state.pending + at, 1) == 1) ready |= 1ull << k;
        }
        if (ready && !atomicOr(next + v, ready)) append(v);
    }

    __device__ void send_arcs(i64 u, u64 mask, i64 begin, i64 stop, int stride) {
#pragma unroll 1
        for (i64 j = begin; j < stop; j += stride) {
            if constexpr (WEIGHTED) send(Index(u), out.indices[j], out.weights[j], mask);
            else send(out.indices[j], mask);
        }
    }

    __device__ void push(u64* counter, i64 first, i64 count, bool has_long) {
        const auto send = [&](i64 u, u64 mask, i64 begin, i64 end, int stride) { send_arcs(u, mask, begin, end, stride); };
        for_listed_arcs(out, state, counter, first, count, send);
        if (has_long) for_long_arcs(out, front, send);
    }

    // Block-collective: moves the buffer to the list.
    __device__ void flush() {
        __syncthreads();
        const u32 count = min(share.count, u32(FOUND));
        if (count) {
            if (threadIdx.x == 0) share.base = atomicAdd(&slot->count, u64(count));
            __syncthreads();
            for (u32 i = threadIdx.x; i < count; i += PATH_THREADS) state.listed[end + share.base + i] = share.found[i];
        }
        __syncthreads();
        if (threadIdx.x == 0) share.count = 0;
    }

    // After a push the vertices reached sum their numbers; in a pull all vertices not reached in some source scan for
    // neighbours on the level before. Long rows come later.
    __device__ void take_vertices(u64* counter, i64 count, bool pushed) {
        const int lane = lane_of_warp();
        Pull pull(in, state, front, nullptr, share.warps[threadIdx.x / 32]);
        for_chunks(counter, count, [&](i64 first) {
            i64 v = first + lane, arcs = 0;
            u64 want = 0, mine = 0;
            if (v < count) {
                if (pushed) {
                    const i64 at = end + v;
                    v = state.listed[at];
                    want = state.masks[at] = next[v];
                    const u64 met = state.seen[v] | want;
                    state.seen[v] = met;
                    note(v, met);
                } else {
                    want = state.every & ~state.seen[v];
                }
                arcs = in.indptr[v + 1] - in.indptr[v];
                if (arcs == 0 || arcs > PIECE_ARCS) want = 0;
            }
            const bool few = pushed && arcs * __popcll(want) <= FEW;
            if (few)
                for (u64 rest = want; rest; rest &= rest - 1) {
                    const int k = __ffsll(rest) - 1;
                    store(v, k, pull.gather_one(v, k));
                }
            for (u32 rest = __ballot_sync(ALL, want && !few); rest; rest &= rest - 1) {
                const int owner = __ffs(rest) - 1;
                const i64 row = __shfl_sync(ALL, v, owner);
                Sum sum[2];
                const u64 bits = __shfl_sync(ALL, want, owner);
                const u64 received = pull.gather(row, bits, in.indptr[row], in.indptr[row + 1], sum);
                store(pull, row, received, sum);
                if (lane == owner) mine = received;
            }
            if (!pushed) found(v, mine);
        });
    }

    // Warp-collective: lists the vertices that have found sources.
    __device__ void found(i64 v, u64 mine) {
        const u32 hits = __ballot_sync(ALL, mine != 0);
        if (!hits) return;
        const u64 base = warp_fetch_add(&slot->count, u64(__popc(hits)));
        if (!mine) return;
        const i64 at = end + base + __popc(hits & lanes_below());
        state.listed[at] = Index(v);
        state.masks[at] = next[v] = mine;
        state.seen[v] |= mine;
        note(v, state.seen[v]);
    }

    // The wanted sources of a vertex: those that reached it or, in a pull, all that have not.
    __device__ u64 wanted(i64 v, bool pushed) const { return pushed ? next[v] : state.every & ~state.seen[v]; }
    __device__ void take_pieces(bool pushed) {
        Pull pull(in, state, front, nullptr, share.warps[threadIdx.x / 32]);
        for_pieces(in.lengthy, [&](i64 piece, i64 v) {
            if (const u64 want = wanted(v, pushed)) pull.gather_piece(piece, want);
        });
    }
    __device__ void join_rows(bool pushed) {
        Pull pull(in, state, front, nullptr, share.warps[threadIdx.x / 32]);
        for_long_rows(in.lengthy, [&](i64 row, i64 v) {
            if (!wanted(v, pushed)) return;
            Sum sum[2];
            const u64 received = pull.join_pieces(row, sum);
            store(pull, v, received, sum);
            if (!pushed) found(v, lane_of_warp() ? 0 : received);
        });
    }

    // Block-collective: adds its counts to the level's slot.
    __device__ void add_counts() {
        const u64 counts[3] = {warp_sum(leaving), warp_sum(reaching), warp_sum(full)};
        leaving = reaching = full = 0;
        if (lane_of_warp() == 0)
            for (int i = 0; i < 3; ++i)
                if (counts[i]) atomicAdd(share.tally + i, counts[i]);
        __syncthreads();
        if (threadIdx.x < 3 && share.tally[threadIdx.x]) {
            atomicAdd(&slot->leaving + threadIdx.x, share.tally[threadIdx.x]);
            share.tally[threadIdx.x] = 0;
        }
    }
};

// From a finished level to the last, or to one in which a number reaches the limit; there SCALED takes over. `open`
// counts the in-arcs of vertices not reached in some source. The outcome: the last finished level, the list's end,
// `open`, and whether a number reached the limit.
template <class Index, bool SCALED, bool WEIGHTED>
__global__ void __launch_bounds__(PATH_THREADS, PATH_BLOCKS)
paths_forward(PathArcs<Index> out, PathArcs<Index> in, PathState<Index> state, i64 level, i64 begin, i64 end, u64 open) {
    __shared__ ForwardShare<Index> share;
    if (threadIdx.x < 3) share.tally[threadIdx.x] = 0;
    if (threadIdx.x == 0) share.count = 0;
    __syncthreads();
    GridBarrier barrier(state.barrier);
    const i64 me = i64(blockIdx.x) * PATH_THREADS + threadIdx.x, all = i64(gridDim.x) * PATH_THREADS;
    i64 before = level ? state.levels[level - 1].begin : 0;
    u64 leaving = state.levels[level].leaving, heavy = state.levels[level].heavy, large = 0;
    int step = 0;
    if (SCALED) {
        for (i64 i = begin * state.stride + me; i < end * state.stride; i += all) {
            const i64 k = i % state.stride, at = i64(state.listed[i / state.stride]) * state.stride + k;
            if ((state.masks[i / state.stride] >> k & 1) && state.numbers[at] >= PATH_LIMIT)
                state.numbers[at] *= STEP_DOWN, state.exponents[at] = 1;
        }
        barrier.wait();
    }
    // The counter of the step after the next is not in use.
    const auto counter = [&] {
        if (me == 0) state.chunks[(step + 2) & 3] = 0;
        return state.chunks + (step++ & 3);
    };
    while (begin < end && !large) {
        LevelSlot* slot = state.slots + ((level + 1) & 3);
        if (me == 0) state.slots[(level + 2) & 3] = {0, 0, 0, 0, 0, 0};
        PathsForward<Index, SCALED, WEIGHTED> run{
            out, in, state, share, slot, end, state.front(level), state.front(level + 1)};
        u64* old = state.front(level + 2);
        const bool pushed = WEIGHTED || PUSH_COST * (leaving + u64(end - begin)) < open + u64(state.n);
        if (pushed) {
            run.push(counter(), begin, end - begin, heavy && out.lengthy.count);
            run.flush();
            barrier.wait();
        }
        run.take_vertices(counter(), pushed ? i64(slot->count) : state.n, pushed);
        for (i64 i = before + me; i < begin; i += all) old[state.listed[i]] = 0;
        run.add_counts();
        barrier.wait();
        if (in.lengthy.count && (!pushed || slot->heavy)) {
            run.take_pieces(pushed);
            barrier.wait();
            run.join_rows(pushed);
            run.add_counts();
            barrier.wait();
        }
        before = begin, begin = end, end += i64(slot->count), ++level;
        leaving = slot->leaving, heavy = slot->heavy, open -= slot->full;
        if (!SCALED) large = slot->large;
        if (me == 0) state.levels[level] = {begin, leaving, slot->reaching, heavy};
    }
    if (me == 0) state.outcome[0] = level, state.outcome[1] = end, state.outcome[2] = i64(open), state.outcome[3] = i64(large);
}

// Level 0, by one block: the sources, each vertex once.
template <class Index>
__global__ void paths_begin(PathArcs<Index> out, PathState<Index> state, const i64* sources, i64 count) {
    __shared__ u32 listed;
    __shared__ u64 leaving, heavy;
    if (threadIdx.x == 0) listed = 0, leaving = heavy = 0;
    __syncthreads();
    if (threadIdx.x < count) {
        const i64 v = sources[threadIdx.x];
        const u64 bit = 1ull << threadIdx.x;
        state.numbers[v * state.stride + threadIdx.x] = 1;
        atomicOr(state.seen + v, bit);
        if (!atomicOr(state.fronts + v, bit)) {
            const u64 arcs = out.indptr[v + 1] - out.indptr[v];
            state.listed[atomicAdd(&listed, 1u)] = Index(v);
            atomicAdd(&leaving, arcs);
            if (i64(arcs) > PIECE_ARCS) heavy = 1;
        }
    }
    __syncthreads();
    if (threadIdx.x < listed) state.masks[threadIdx.x] = __ldcg(state.fronts + state.listed[threadIdx.x]);
    if (threadIdx.x == 0) state.levels[0] = {0, leaving, 0, heavy}, state.outcome[0] = listed;
}

// Weighted paths: number of tight in-arcs of each vertex in each source, one thread each.
template <class Index>
__global__ void __launch_bounds__(PATH_THREADS) paths_pending(PathArcs<Index> in, PathState<Index> state) {
    const i64 all = i64(gridDim.x) * PATH_THREADS;
    for (i64 at = i64(blockIdx.x) * PATH_THREADS + threadIdx.x; at < state.n * state.stride; at += all) {
        const i64 v = at / state.stride, k = at % state.stride;
        const double own = state.distances[at];
        int count = 0;
        if (own < 1.0 / 0.0)
            for (i64 j = in.indptr[v]; j < in.indptr[v + 1]; ++j)
                count += state.distances[i64(in.indices[j]) * state.stride + k] + in.weights[j] == own;
        state.pending[at] = count;
    }
}

// Number of sources that reach each vertex, and of vertices that each source reaches: integers, added in any order.
template <class Index>
__global__ void __launch_bounds__(PATH_THREADS) paths_reach(PathState<Index> state, i64* reached, u64* reach) {
    __shared__ u64 counts[64];
    if (threadIdx.x < 64) counts[threadIdx.x] = 0;
    __syncthreads();
    for (i64 first = i64(blockIdx.x) * PATH_THREADS; first < state.n; first += i64(gridDim.x) * PATH_THREADS) {
        const i64 v = first + threadIdx.x;
        const u64 mine = v < state.n ? state.seen[v] : 0;
        if (reached && v < state.n) reached[v] += __popcll(mine);
        for (u64 any = warp_or(mine); any; any &= any - 1) {
            const int k = __ffsll(any) - 1, hits = __popc(__ballot_sync(ALL, mine >> k & 1));
            if (lane_of_warp() == 0) atomicAdd(counts + k, u64(hits));
        }
    }
    __syncthreads();
    if (threadIdx.x < 64 && counts[threadIdx.x]) atomicAdd(reach + threadIdx.x, counts[threadIdx.x]);
}

}  // namespace hpgraph
