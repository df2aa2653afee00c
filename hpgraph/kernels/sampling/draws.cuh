// Random entries of a row, by a group of lanes or by a warp; the draws of hpgraph.kernels.sampling.cpu.
//
// W: the type of weights, or char if there are none.
#pragma once
#include "philox.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int DRAW_THREADS = 256, DRAW_WARPS = DRAW_THREADS / 32;

// Running sums of the weights of each row, and the number of positive ones; one warp a row.
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
        double sum = warp_prefix_sum(weight);
        // Sums in another order may decrease, which would break the binary search: take the running maximum.
        for (int d = 1; d < 32; d <<= 1) {
            const double other = __shfl_up_sync(ALL, sum, d);
            if (lane >= d) sum = fmax(sum, other);
        }
        // Entries of weight zero get exactly the preceding sum.
        const u32 some = __ballot_sync(ALL, weight > 0) & (lanes_below() | 1u << lane);
        sum = __shfl_sync(ALL, sum, some ? 31 - __clz(some) : 0);
        sum = some ? total + sum : total;
        if (first + lane < end) running[first + lane] = sum;
        above += __popc(__ballot_sync(ALL, weight > 0));
        total = __shfl_sync(ALL, sum, 31);
    }
    if (lane == 0) positive[row] = above;
}

__device__ __forceinline__ bool among(const i64* place, i64 begin, i64 end, i64 x) {
    for (i64 at = begin; at < end; ++at)
        if (place[at] == x) return true;
    return false;
}

// Floyd's algorithm: for each t of the last entries draw one up to t; if it is already drawn, take t. Each group of
// `width` lanes of a warp draws for one row, `fanout` <= width draws each; a lane's `row` is its group's.
__device__ __forceinline__ void draw_few(i64 row, i64 length, i64 v, i64 fanout, u64 seed, u64 counter, i64* place, i64 count,
                                         int lane, int width) {
    const u32 group = (width == 32 ? ALL : (1u << width) - 1) << (lane_of_warp() - lane);
    i64 drawn = -1, mine = -1;
    if (lane < count) drawn = below(random_bits(seed, v, counter + lane), length - count + lane + 1);
    for (int k = 0; k < fanout; ++k) {
        const i64 entry = __shfl_sync(ALL, drawn, k, width);
        const u32 taken = __ballot_sync(ALL, lane < k && mine == entry) & group;
        if (lane == k) mine = taken ? length - count + k : entry;
    }
    if (lane < count) place[lane] = row + (count == length ? lane : mine);
}

// The same for one row by a whole warp, for more draws or for all entries.
__device__ __forceinline__ void draw_many(i64 row, i64 length, i64 v, u64 seed, u64 counter, i64* place, i64 count, int lane) {
    if (count == length) {
        for (i64 k = lane; k < count; k += 32) place[k] = row + k;
        return;
    }
    for (i64 k = 0; k < count; ++k) {
        const i64 last = length - count + k, entry = below(random_bits(seed, v, counter + k), last + 1);
        bool taken = false;
        for (i64 at = lane; at < k && !taken; at += 32) taken = place[at] == row + entry;
        taken = __any_sync(ALL, taken);
        if (lane == 0) place[k] = row + (taken ? last : entry);
        __syncwarp();
    }
}

// Weighted draws without replacement: repeated draws are rejected, with 32 proposals at a time; if all are rejected,
// the entry of least exponential key is taken.
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

}  // namespace hpgraph
