// Random walks, one thread per walk, with the draws of hpgraph.kernels.sampling.cpu_walks. They are bound by two random
// reads a step; the vertices of a warp's walks are staged in shared memory, and written row by row.
//
// I: int or long long, the type of ids. WEIGHTED: whether there are running sums. BIASED: second-order walks.
#pragma once
#include "philox.cuh"
#include "search.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int WALK_THREADS = 256;
// Columns of the result that are staged before they are written: half a warp writes those of one walk.
constexpr int WALK_COLUMNS = 16;

struct Bias {
    double back, near, away;
};

// Position of a random arc of a vertex; -1 if it has none of positive weight.
template <bool WEIGHTED>
__device__ __forceinline__ i64 pick_arc(const i64* __restrict__ indptr, const double* __restrict__ running, i64 v, u64 word) {
    const i64 begin = indptr[v], end = indptr[v + 1];
    if (begin == end) return -1;
    if (!WEIGHTED) return begin + below(word, end - begin);
    return running[end - 1] > 0 ? by_weight(running, begin, end, word) : -1;
}

template <class I>
__device__ __forceinline__ double factor(const i64* __restrict__ indptr, const I* __restrict__ indices, Bias bias, i64 before,
                                         i64 x) {
    if (x == before) return bias.back;
    const i64 end = indptr[before + 1], at = lower_bound(indices, indptr[before], end, x);
    return at < end && indices[at] == x ? bias.near : bias.away;
}

template <bool WEIGHTED>
__device__ __forceinline__ double weight_at(const double* __restrict__ running, i64 begin, i64 at) {
    if (!WEIGHTED) return 1;
    return running[at] - (at > begin ? running[at - 1] : 0);
}

// Position of a random arc of a second-order walk: by rejection sampling, then by a scan of the whole row.
template <class I, bool WEIGHTED>
__device__ i64 pick_biased(const i64* __restrict__ indptr, const I* __restrict__ indices, const double* __restrict__ running,
                           Bias bias, i64 before, i64 v, u64 seed, i64 walk, i64 step) {
    const double most = fmax(bias.back, fmax(bias.near, bias.away));
    u64 counter = ((u64)step << STEP_SHIFT) + 1;
    for (int i = 0; i < TRIES; ++i, counter += 2) {
        const i64 at = pick_arc<WEIGHTED>(indptr, running, v, random_bits(seed, walk, counter));
        if (at < 0) return at;
        if (unit(random_bits(seed, walk, counter + 1)) * most < factor(indptr, indices, bias, before, indices[at])) return at;
    }
    const i64 begin = indptr[v], end = indptr[v + 1];
    double total = 0, sofar = 0;
    for (i64 at = begin; at < end; ++at)
        total += factor(indptr, indices, bias, before, indices[at]) * weight_at<WEIGHTED>(running, begin, at);
    const double x = unit(random_bits(seed, walk, counter)) * total;
    i64 last = -1;
    for (i64 at = begin; at < end; ++at) {
        const double part = factor(indptr, indices, bias, before, indices[at]) * weight_at<WEIGHTED>(running, begin, at);
        sofar += part;
        if (part > 0) {
            last = at;
            if (sofar > x) break;
        }
    }
    return last;
}

template <class I, bool WEIGHTED, bool BIASED>
__global__ void __launch_bounds__(WALK_THREADS)
walk(const i64* __restrict__ indptr, const I* __restrict__ indices, const double* __restrict__ running,
     const i64* __restrict__ starts, i64 walks, i64 length, u64 seed, double back, double near, double away,
     I* __restrict__ found) {
    __shared__ I gathered[WALK_THREADS / 32][32][WALK_COLUMNS + 1];
    I(*const rows)[WALK_COLUMNS + 1] = gathered[threadIdx.x / 32];
    const int lane = lane_of_warp();
    const i64 mine = (i64)blockIdx.x * WALK_THREADS + threadIdx.x, first = mine - lane, wide = length + 1;
    if (first >= walks) return;
    i64 v = mine < walks ? starts[mine] : -1, before = -1;
    for (i64 column = 0; column < wide; ++column) {
        if (column) {
            const i64 step = column - 1;
            i64 at = -1;
            if (v >= 0) {
                if (!BIASED) at = pick_arc<WEIGHTED>(indptr, running, v, random_bits(seed, mine, step));
                else if (before < 0)
                    at = pick_arc<WEIGHTED>(indptr, running, v, random_bits(seed, mine, (u64)step << STEP_SHIFT));
                else
                    at = pick_biased<I, WEIGHTED>(indptr, indices, running, Bias{back, near, away}, before, v, seed, mine, step);
            }
            before = v;
            v = at >= 0 ? (i64)indices[at] : -1;
        }
        const int slot = (int)(column % WALK_COLUMNS);
        rows[lane][slot] = (I)v;
        if (slot < WALK_COLUMNS - 1 && column < wide - 1) continue;
        __syncwarp();
        const i64 base = column - slot;
        for (int row = lane / WALK_COLUMNS; row < 32; row += 32 / WALK_COLUMNS)
            if (first + row < walks && lane % WALK_COLUMNS <= slot)
                found[(first + row) * wide + base + lane % WALK_COLUMNS] = rows[row][lane % WALK_COLUMNS];
        __syncwarp();
    }
}

}  // namespace hpgraph
