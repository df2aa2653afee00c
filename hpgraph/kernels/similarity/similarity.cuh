// Common neighbours of pairs of rows. The entries of all shorter rows are concatenated, as if they were the rows of one
// matrix, and warps process stretches of equal length (S. Baxter, Modern GPU: load-balancing search), so that a pair of
// hubs costs no more than many pairs of leaves. Each entry is looked up in the longer row; if all 32 of a batch belong
// to one pair, only in the range that the batch spans. The order of a pair's sum depends on the pairs alone.
//
// I: int or long long, the type of ids. D: float or double, the type of weights, or char if there are none. TERM: the
// contribution of a common neighbour.
#pragma once
#include "search.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int PAIR_THREADS = 256, PAIR_WARPS = PAIR_THREADS / 32;
constexpr int ONE = 0, VALUE = 1, LESSER = 2, PRODUCT = 3;

// The longer and the shorter row of each pair, and the length of the latter: length[k + 1]; length[0] is 0.
template <class I>
__global__ void __launch_bounds__(PAIR_THREADS)
order_pairs(const i64* __restrict__ indptr, const i64* __restrict__ source, const i64* __restrict__ target, i64 pairs,
            I* __restrict__ longer, I* __restrict__ shorter, i64* __restrict__ length) {
    const i64 k = (i64)blockIdx.x * PAIR_THREADS + threadIdx.x;
    if (k == 0) length[0] = 0;
    if (k >= pairs) return;
    const i64 u = source[k], v = target[k];
    const i64 a = indptr[u + 1] - indptr[u], b = indptr[v + 1] - indptr[v];
    longer[k] = (I)(a < b ? v : u);
    shorter[k] = (I)(a < b ? u : v);
    length[k + 1] = a < b ? a : b;
}

// row_of, warp-collective: 33-ary search.
__device__ __forceinline__ i64 warp_row_of(const i64* __restrict__ indptr, i64 low, i64 high, i64 p) {
    while (low < high) {
        const i64 part = (high - low) / 33 + 1, probe = low + (lane_of_warp() + 1) * part;
        const int below = __popc(__ballot_sync(ALL, probe <= high && indptr[probe] <= p));
        low += below * part;
        high = high < low + part - 1 ? high : low + part - 1;
    }
    return low;
}

// Destination of a pair's sum: the pair, if all its entries lie in this stretch; else the stretch.
struct Sums {
    const i64* offsets;
    i64 begin, end, stretch;
    double *found, *head, *tail;

    __device__ __forceinline__ void put(i64 pair, double sum) const {
        if (offsets[pair] < begin) head[stretch] = sum;
        else if (offsets[pair + 1] > end) tail[stretch] = sum;
        else found[pair] = sum;
    }
};

template <class I, class D, int TERM>
__device__ __forceinline__ double term(const D* __restrict__ data, const double* __restrict__ values, i64 at, i64 other, I w) {
    if (TERM == ONE) return 1;
    if (TERM == VALUE) return values[w];
    const double x = (double)data[at], y = (double)data[other];
    return TERM == PRODUCT ? x * y : fmin(x, y);
}

template <class I, class D, int TERM>
__global__ void __launch_bounds__(PAIR_THREADS)
add_common(const i64* __restrict__ indptr, const I* __restrict__ indices, const D* __restrict__ data,
           const double* __restrict__ values, const I* __restrict__ longer, const I* __restrict__ shorter,
           const i64* __restrict__ offsets, i64 pairs, i64 span, double* __restrict__ found, double* __restrict__ head,
           double* __restrict__ tail) {
    const int lane = lane_of_warp();
    const i64 stretch = (i64)blockIdx.x * PAIR_WARPS + threadIdx.x / 32, begin = stretch * span, all = offsets[pairs];
    if (begin >= all) return;
    const i64 end = begin + span < all ? begin + span : all;
    const Sums sums{offsets, begin, end, stretch, found, head, tail};
    i64 pair = warp_row_of(offsets, 0, pairs - 1, begin);
    const i64 last_pair = warp_row_of(offsets, pair, pairs - 1, end - 1);
    double sum = 0;  // of `pair`, the lane's part
    i64 pair_end = -1, shift = 0, low = 0, long_end = 0, reach = 0;
    for (i64 first = begin; first < end; first += 32) {
        const i64 p = first + lane;
        const bool live = p < end;
        const i64 stop = first + 32 < end ? first + 32 : end;
        if (pair_end < first + 1) {
            // Advance to the pair of this batch's first entry.
            const i64 next = pair_end < 0 ? pair : warp_row_of(offsets, pair, last_pair, first);
            if (next != pair) {
                sum = warp_sum(sum);
                if (lane == 0) sums.put(pair, sum);
                sum = 0, pair = next;
            }
            pair_end = offsets[pair + 1];
            const i64 u = longer[pair], v = shorter[pair];
            shift = indptr[v] - offsets[pair];
            low = indptr[u], long_end = indptr[u + 1];
            // Entries of the longer row that 32 of the shorter one span if both are equally distributed.
            reach = 32 * ((long_end - low) / (pair_end - offsets[pair]) + 1);
            if (pair_end >= stop) low = lower_bound(indices, low, long_end, indices[first + shift]);
        }
        if (pair_end >= stop) {
            const I w = live ? indices[p + shift] : 0;
            const I most = __shfl_sync(ALL, w, (int)(stop - first) - 1);
            i64 high = low;
            for (i64 step = reach; high < long_end && indices[high] < most; step *= 2) high += step;
            if (high > long_end) high = long_end;
            i64 at = 0;
            if (live) {
                at = lower_bound(indices, low, high, w);
                if (at < long_end && indices[at] == w) sum += term<I, D, TERM>(data, values, p + shift, at, w);
            }
            low = __shfl_sync(ALL, at, (int)(stop - first) - 1);
            continue;
        }
        // Several pairs: each lane finds its own, and a segmented scan sums them.
        const i64 mine = live ? row_of(offsets, pair, last_pair, p) : -1;
        double part = 0;
        if (live) {
            const i64 u = longer[mine], place = indptr[shorter[mine]] + (p - offsets[mine]), row_end = indptr[u + 1];
            const I w = indices[place];
            const i64 at = lower_bound(indices, indptr[u], row_end, w);
            if (at < row_end && indices[at] == w) part = term<I, D, TERM>(data, values, place, at, w);
        }
        // The sum of the first pair so far.
        sum = warp_sum(sum);
        if (lane == 0) part += sum;
        for (int d = 1; d < 32; d <<= 1) {
            const double other = __shfl_up_sync(ALL, part, d);
            const i64 other_pair = __shfl_up_sync(ALL, mine, d);
            if (lane >= d && other_pair == mine) part += other;
        }
        const int last = (int)(stop - first) - 1;
        const i64 following = __shfl_down_sync(ALL, mine, 1);
        if (live && lane < last && following != mine) sums.put(mine, part);
        // The last pair may continue.
        pair = __shfl_sync(ALL, mine, last);
        part = __shfl_sync(ALL, part, last);
        sum = lane == 0 ? part : 0;
        pair_end = offsets[pair + 1];
        if (pair_end > stop) {
            const i64 u = longer[pair];
            shift = indptr[shorter[pair]] - offsets[pair];
            low = indptr[u], long_end = indptr[u + 1];
            reach = 32 * ((long_end - low) / (pair_end - offsets[pair]) + 1);
            low = lower_bound(indices, low, long_end, indices[stop + shift]);
        }
    }
    sum = warp_sum(sum);
    if (lane == 0) sums.put(pair, sum);
}

// The measure of each pair, from its sum or from those of its stretches.
template <class I>
__global__ void __launch_bounds__(PAIR_THREADS)
measure_pairs(const i64* __restrict__ offsets, i64 pairs, i64 span, const double* __restrict__ head,
              const double* __restrict__ tail, const I* __restrict__ longer, const I* __restrict__ shorter,
              const double* __restrict__ sizes, int measure, double* __restrict__ found) {
    const i64 k = (i64)blockIdx.x * PAIR_THREADS + threadIdx.x;
    if (k >= pairs) return;
    double common = 0, whole = 1;
    if (offsets[k + 1] > offsets[k]) {
        const i64 first = offsets[k] / span, last = (offsets[k + 1] - 1) / span;
        common = first == last ? found[k] : tail[first];
        for (i64 stretch = first + 1; stretch <= last; ++stretch) common += head[stretch];
    }
    if (measure != COMMON) {
        const I u = longer[k], v = shorter[k];
        // Lower vertex first, so that a swapped pair gives the same bits.
        const double a = sizes[u < v ? u : v], b = sizes[u < v ? v : u];
        if (measure == JACCARD) whole = a + b - common;
        else if (measure == OVERLAP) whole = fmin(a, b);
        else if (measure == SORENSEN) common *= 2, whole = a + b;
        else whole = sqrt(a) * sqrt(b);
    }
    found[k] = whole > 0 ? common / whole : 0;
}

}  // namespace hpgraph
