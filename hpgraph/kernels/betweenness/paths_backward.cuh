// Backward pass of betweenness: level by level, from the last, each vertex sums over its neighbours on the level below
// (of weighted paths, those after it), and adds its own dependency to the results.
#pragma once
#include "path_sources.cuh"

namespace hpgraph {

// Results: dependencies on vertices, and on arcs. Each source's dependencies on vertices are multiplied by its share,
// if shares are given.
struct PathSums {
    double *vertices, *arcs;
    const double* shares;
};

template <class Index, bool SCALED, bool PLACES, bool WEIGHTED>
struct PathsBackward {
    const PathArcs<Index>&out, &in;
    const PathState<Index>& state;
    PathSums sums;
    WarpShare<Index>* shares;
    u64 *front, *next;
    bool marked, first;  // whether `seen` marks vertices with neighbours below; whether this is level 0, the sources

    using Pull = PathPull<Index, SCALED, true, PLACES, WEIGHTED>;
    using Sum = typename Pull::Sum;

    // Dependency of one source, as it counts; (1 + dependency) / paths replaces its path count.
    __device__ double depend(i64 at, double sum) const {
        const double number = state.numbers[at], dependency = number * sum;
        state.numbers[at] = (1 + dependency) / number;
        return sums.shares ? dependency * sums.shares[at & (state.stride - 1)] : dependency;
    }

    __device__ void credit(i64 v, double total) const {
        if (!first) sums.vertices[v] += total;
    }

    // Warp-collective: a vertex whose sums are known.
    __device__ void finish(const Pull& pull, i64 v, u64 mask, const Sum (&sum)[2]) const {
        double total = 0;
        // Only one group stores, after all reads of what it overwrites.
        if (pull.group == 0)
#pragma unroll
            for (int c = 0; c < 2; ++c)
                if (mask >> (2 * pull.pair + c) & 1) total += depend(v * state.stride + 2 * pull.pair + c, sum[c].m);
        for (int d = pull.width / 2; d; d /= 2) total += __shfl_xor_sync(ALL, total, d);
        if (lane_of_warp() == 0) credit(v, total);
    }

    // Marks the in-neighbours of listed vertices: they may have dependencies.
    __device__ void mark(u64* counter, i64 first, i64 count, bool has_long) {
        const auto mark_arcs = [&](i64, u64 mask, i64 begin, i64 end, int stride) {
            for (i64 j = begin; j < end; j += stride) {
                const i64 u = in.indices[j];
                if (mask & ~state.seen[u]) atomicOr(state.seen + u, mask);
            }
        };
        for_listed_arcs(in, state, counter, first, count, mark_arcs);
        if (has_long) for_long_arcs(in, front, mark_arcs);
    }

    // The vertices of the level; long rows come later. Vertices without neighbours below read nothing.
    __device__ void take_level(u64* counter, i64 first_listed, i64 count, bool last) {
        const int lane = lane_of_warp();
        Pull pull(out, state, front, sums.arcs, shares[threadIdx.x / 32]);
        for_chunks(counter, count, [&](i64 at) {
            i64 v = 0, arcs = PIECE_ARCS + 1;
            u64 mask = 0, want = 0;
            if (at + lane < count) {
                v = state.listed[first_listed + at + lane];
                next[v] = want = mask = state.masks[first_listed + at + lane];
                arcs = out.indptr[v + 1] - out.indptr[v];
                // Long rows ignore the marks: their pieces read their sources from `next`.
                if (marked && arcs <= PIECE_ARCS) want &= state.seen[v];
                if (last) want = 0;
                if (!want) arcs = 0;
                state.seen[v] = 0;
            }
            const bool few = arcs * __popcll(mask) <= FEW;
            if (few && mask) {
                double total = 0;
                for (u64 rest = mask; rest; rest &= rest - 1) {
                    const int k = __ffsll(rest) - 1;
                    const double sum = want >> k & 1 ? pull.gather_one(v, k).m : 0;
                    total += depend(v * state.stride + k, sum);
                }
                credit(v, total);
            }
            for (u32 rest = __ballot_sync(ALL, !few && arcs <= PIECE_ARCS); rest; rest &= rest - 1) {
                const int owner = __ffs(rest) - 1;
                const i64 row = __shfl_sync(ALL, v, owner);
                Sum sum[2];
                pull.gather(row, __shfl_sync(ALL, want, owner), out.indptr[row], out.indptr[row + 1], sum);
                __syncwarp();
                finish(pull, row, __shfl_sync(ALL, mask, owner), sum);
            }
        });
    }

    __device__ void take_pieces() {
        Pull pull(out, state, front, sums.arcs, shares[threadIdx.x / 32]);
        for_pieces(out.lengthy, [&](i64 piece, i64 v) {
            if (const u64 mask = next[v]) pull.gather_piece(piece, mask);
        });
    }

    __device__ void join_rows() {
        Pull pull(out, state, front, sums.arcs, shares[threadIdx.x / 32]);
        for_long_rows(out.lengthy, [&](i64 row, i64 v) {
            const u64 mask = next[v];
            if (!mask) return;
            Sum sum[2];
            pull.join_pieces(row, sum);
            finish(pull, v, mask, sum);
        });
    }
};

// All levels from the last to the first; level 0 contributes only to arcs. Fronts and `seen` are zero at first.
template <class Index, bool SCALED, bool PLACES, bool WEIGHTED>
__global__ void __launch_bounds__(PATH_THREADS, PATH_BLOCKS)
paths_backward(PathArcs<Index> out, PathArcs<Index> in, PathState<Index> state, PathSums sums, i64 depth) {
    __shared__ WarpShare<Index> shares[PATH_WARPS];
    GridBarrier barrier(state.barrier);
    const i64 me = i64(blockIdx.x) * PATH_THREADS + threadIdx.x, all = i64(gridDim.x) * PATH_THREADS;
    int step = 0;
    const auto counter = [&] {
        if (me == 0) state.chunks[(step + 2) & 3] = 0;
        return state.chunks + (step++ & 3);
    };
    // The list ends at the start of the level after the last.
    const i64 end_of_list = state.levels[depth].begin;
    const auto begins = [&](i64 level) { return level < depth ? state.levels[level].begin : end_of_list; };
    for (i64 level = depth - 1; level >= (PLACES ? 0 : 1); --level) {
        const bool last = level == depth - 1;
        const i64 begin = begins(level), end = begins(level + 1), below = begins(level + 2), far = begins(level + 3);
        const LevelRow row = state.levels[level], row_below = state.levels[level + 1];
        PathsBackward<Index, SCALED, PLACES, WEIGHTED> run{
            out, in, state, sums, shares, state.front(level + 1), state.front(level),
            !WEIGHTED && !last && PUSH_COST * (row_below.reaching + u64(below - end)) < row.leaving, level == 0};
        if (run.marked) {
            run.mark(counter(), end, below - end, row_below.heavy && in.lengthy.count);
            barrier.wait();
        }
        run.take_level(counter(), begin, end - begin, last);
        u64* old = state.front(level + 2);
        for (i64 i = below + me; i < far; i += all) old[state.listed[i]] = 0;
        barrier.wait();
        if (!last && row.heavy && out.lengthy.count) {
            run.take_pieces();
            barrier.wait();
            run.join_rows();
            barrier.wait();
        }
    }
}

}  // namespace hpgraph
