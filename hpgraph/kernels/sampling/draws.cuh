// Neighbours drawn at random, a vertex to a warp, and vertices numbered as they are first met; hpgraph.kernels.sampling.cpu
// has the same draws.
//
// I: int or long long, the type of ids. W: the type of weights, or char where there are none.
#pragma once
#include "philox.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int DRAW_THREADS = 256, DRAW_WARPS = DRAW_THREADS / 32;

// Running sums of the weights of each row, and how many are positive; a warp to a row.
template <class W>
__global__ void __launch_bounds__(DRAW_THREADS)
add_up(const i64* __restrict__ indptr, const W* __restrict__ weights, i64 rows, double* __restrict__ running,
       i64* __restrict__ positive) {
    const int lane = lane_of_warp();
    const i64 row = (i64)blockIdx.x * DRAW_WARPS + threadIdx.x / 32;
    if (row >= rows) return;
    double total = 0;
    i64 above = 0;
    const i64 end = indptr[row + 1];
    for (i64 first = indptr[row]; first < end; first += 32) {
        const double weight = first + lane < end ? (double)weights[first + lane] : 0;
        double sum = weight;
        for (int d = 1; d < 32; d <<= 1) {
            const double other = __shfl_up_sync(ALL, sum, d);
            if (lane >= d) sum += other;
        }
        // Added in another order a sum may be less than that before it, which a search would not stand.
        for (int d = 1; d < 32; d <<= 1) {
            const double other = __shfl_up_sync(ALL, sum, d);
            if (lane >= d) sum = fmax(sum, other);
        }
        // Entries of weight zero have the sum of those before, to the bit.
        const u32 some = __ballot_sync(ALL, weight > 0) & (lanes_below() | 1u << lane);
        sum = __shfl_sync(ALL, sum, some ? 31 - __clz(some) : 0);
        sum = some ? total + sum : total;
        if (first + lane < end) running[first + lane] = sum;
        above += __popc(__ballot_sync(ALL, weight > 0));
        total = __shfl_sync(ALL, sum, 31);
    }
    if (lane == 0) positive[row] = above;
}

// How many are drawn for each vertex: count[i + 1]; count[0] is 0. `positive` is null where all arcs are drawn alike.
__global__ void __launch_bounds__(DRAW_THREADS)
count_draws(const i64* __restrict__ indptr, const i64* __restrict__ positive, const i64* __restrict__ vertices, i64 many,
            i64 fanout, bool replace, i64* __restrict__ count) {
    const i64 i = (i64)blockIdx.x * DRAW_THREADS + threadIdx.x;
    if (i == 0) count[0] = 0;
    if (i >= many) return;
    const i64 v = vertices[i], there = positive ? positive[v] : indptr[v + 1] - indptr[v];
    count[i + 1] = fanout < 0 ? there : replace ? (there > 0 ? fanout : 0) : there < fanout ? there : fanout;
}

__device__ __forceinline__ bool among(const i64* place, i64 begin, i64 end, i64 x) {
    for (i64 at = begin; at < end; ++at)
        if (place[at] == x) return true;
    return false;
}

// Floyd's: entry t, or one before it, for each t of the last ones; who is there already gives way to t.
__device__ __forceinline__ void draw_uniformly(i64 row, i64 length, i64 v, u64 seed, u64 counter, i64* place, i64 begin,
                                               i64 count, int lane) {
    if (count == length) {
        for (i64 k = lane; k < count; k += 32) place[begin + k] = row + k;
        return;
    }
    if (count <= 32) {
        i64 drawn = -1;
        if (lane < count) drawn = below(random_bits(seed, v, counter + lane), length - count + lane + 1);
        i64 mine = -1;
        for (int k = 0; k < count; ++k) {
            const i64 entry = __shfl_sync(ALL, drawn, k);
            const bool taken = __any_sync(ALL, lane < k && mine == entry);
            if (lane == k) mine = taken ? length - count + k : entry;
        }
        if (lane < count) place[begin + lane] = row + mine;
        return;
    }
    for (i64 k = 0; k < count; ++k) {
        const i64 last = length - count + k, entry = below(random_bits(seed, v, counter + k), last + 1);
        bool taken = false;
        for (i64 at = lane; at < k && !taken; at += 32) taken = place[begin + at] == row + entry;
        taken = __any_sync(ALL, taken);
        if (lane == 0) place[begin + k] = row + (taken ? last : entry);
        __syncwarp();
    }
}

// One after the other by weight from those that are left: what was drawn before is drawn again, 32 proposals at a time; where
// all were in vain, the entry of the least exponential key.
template <class W>
__device__ void draw_weighted(const double* __restrict__ running, const W* __restrict__ weights, i64 row, i64 row_end, i64 v,
                              u64 seed, u64 counter, i64* place, i64 begin, i64 end, int lane) {
    u64 draws = counter;
    for (i64 at = begin; at < end; ++at) {
        i64 found = -1;
        for (int round = 0; round < TRIES / 32 && found < 0; ++round) {
            const i64 drawn = by_weight(running, row, row_end, random_bits(seed, v, draws + lane));
            const u32 fresh = __ballot_sync(ALL, !among(place, begin, at, drawn));
            const int first = fresh ? __ffs(fresh) - 1 : 31;
            if (fresh) found = __shfl_sync(ALL, drawn, first);
            draws += first + 1;
        }
        if (found < 0) {
            double best = 0;
            i64 mine = -1;
            for (i64 p = row + lane; p < row_end; p += 32) {
                const double weight = (double)weights[p];
                if (!(weight > 0) || among(place, begin, at, p)) continue;
                const double key = -log1p(-unit(random_bits(seed, v, counter + KEYS + (p - row)))) / weight;
                if (mine < 0 || key < best) best = key, mine = p;
            }
            for (int d = 16; d; d >>= 1) {
                const double key = __shfl_xor_sync(ALL, best, d);
                const i64 other = __shfl_xor_sync(ALL, mine, d);
                if (other >= 0 && (mine < 0 || key < best || (key == best && other < mine))) best = key, mine = other;
            }
            found = mine;
        }
        if (lane == 0) place[at] = found;
        __syncwarp();
    }
}

template <class W>
__global__ void __launch_bounds__(DRAW_THREADS)
draw(const i64* __restrict__ indptr, const double* __restrict__ running, const W* __restrict__ weights,
     const i64* __restrict__ vertices, const i64* __restrict__ offsets, i64 many, u64 seed, u64 counter, bool replace,
     i64* __restrict__ owner, i64* place) {
    const int lane = lane_of_warp();
    const i64 i = (i64)blockIdx.x * DRAW_WARPS + threadIdx.x / 32;
    if (i >= many) return;
    const i64 v = vertices[i], row = indptr[v], row_end = indptr[v + 1], begin = offsets[i], end = offsets[i + 1];
    for (i64 at = begin + lane; at < end; at += 32) owner[at] = i;
    if (replace) {
        for (i64 at = begin + lane; at < end; at += 32) {
            const u64 word = random_bits(seed, v, counter + (at - begin));
            place[at] = running ? by_weight(running, row, row_end, word) : row + below(word, row_end - row);
        }
    } else if (!running) {
        draw_uniformly(row, row_end - row, v, seed, counter, place, begin, end - begin, lane);
    } else {
        draw_weighted(running, weights, row, row_end, v, seed, counter, place, begin, end, lane);
    }
}

// A table of all vertices holds the number of who is known, and of others the first place where they were found, from NEW on.
constexpr i64 NEW = 1ll << 62;

template <class I>
__global__ void __launch_bounds__(DRAW_THREADS) meet(const I* __restrict__ found, i64 many, i64* table) {
    const i64 i = (i64)blockIdx.x * DRAW_THREADS + threadIdx.x;
    if (i < many) atomicMin(table + found[i], NEW + i);
}

template <class I>
__global__ void __launch_bounds__(DRAW_THREADS)
mark_first(const I* __restrict__ found, i64 many, const i64* __restrict__ table, i64* __restrict__ first) {
    const i64 i = (i64)blockIdx.x * DRAW_THREADS + threadIdx.x;
    if (i < many) first[i] = table[found[i]] == NEW + i;
}

// `ends`: how many are first up to and with each. Who reads the table before or after a vertex got its number comes to the
// same number.
template <class I>
__global__ void __launch_bounds__(DRAW_THREADS)
number(const I* __restrict__ found, i64 many, i64 known, const i64* __restrict__ ends, volatile i64* table,
       i64* __restrict__ vertices, i64* __restrict__ numbers) {
    const i64 i = (i64)blockIdx.x * DRAW_THREADS + threadIdx.x;
    if (i >= many) return;
    const I v = found[i];
    i64 at = table[v];
    if (at >= NEW) {
        const i64 mine = known + ends[at - NEW] - 1;
        if (at == NEW + i) {
            vertices[mine] = v;
            table[v] = mine;
        }
        at = mine;
    }
    numbers[i] = at;
}

}  // namespace hpgraph
