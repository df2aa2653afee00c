// SDDMM, a product of two dense matrices at the entries of a sparse one.
//
// LANES adjacent threads share a row, each with WIDTH adjacent columns, which one load takes; four entries are gathered at
// a time, and their sums added over the lanes together.
#pragma once
#include "dense_rows.cuh"

namespace hpgraph {

// Adds up each of four values over LANES lanes; lane l ends with that of number l / (LANES / 4), if so many share.
template <int LANES, class Sum>
__device__ Sum add_lanes(Sum (&sum)[4], u32 group) {
    int distance = LANES / 2;
#pragma unroll
    for (int kept = 2; kept && distance; kept /= 2, distance /= 2) {
        const bool upper = threadIdx.x & distance;
#pragma unroll
        for (int b = 0; b < kept; ++b) {
            const Sum own = upper ? sum[b + kept] : sum[b], other = upper ? sum[b] : sum[b + kept];
            sum[b] = own + __shfl_xor_sync(group, other, distance);
        }
    }
    for (; distance; distance /= 2) sum[0] += __shfl_xor_sync(group, sum[0], distance);
    return sum[0];
}

// out[e, h] = sum over c of x[i, h, c] * y[j, h, c] for entry e = (i, j); columns are those of a head.
template <class Index, class Value, int LANES, int WIDTH>
__global__ void __launch_bounds__(BLOCK)
sample_dense(const i64* __restrict__ indptr, const Index* __restrict__ indices, Bins bins, i64 short_rows, i64 entries,
             i64 heads, i64 columns, const Value* __restrict__ x, const Value* __restrict__ y, Value* __restrict__ out) {
    static_assert(LANES >= 4, "each of four entries needs a lane");
    typedef typename Wide<Value>::type Sum;
    const i64 task = (i64(blockIdx.x) * BLOCK + threadIdx.x) / LANES;
    if (task >= bins.pieces + short_rows) return;
    const RowPart row(indptr, bins, task);
    const int lane = threadIdx.x % LANES;
    const u32 group = LANES == 32 ? ALL : ((1u << LANES % 32) - 1) << (threadIdx.x % 32 / LANES * LANES);
    const bool in_fours = u64(indices) % 16 == 0;
#pragma unroll 1
    for (i64 j = row.begin & ~i64(3); j < row.end; j += 4) {
        Four<Index> u;
        u.load(indices, j, entries, in_fours);
        for (i64 h = 0; h < heads; ++h) {
            Sum sum[4] = {};
            for (i64 c = lane * WIDTH; c < columns; c += LANES * WIDTH) {
                const auto own = *(const Pack<Value, WIDTH>*)(x + (row.v * heads + h) * columns + c);
                Pack<Value, WIDTH> other[4];
#pragma unroll
                for (int b = 0; b < 4; ++b)
                    if (j + b >= row.begin && j + b < row.end)
                        other[b] = *(const Pack<Value, WIDTH>*)(y + (i64(u.of[b]) * heads + h) * columns + c);
#pragma unroll
                for (int b = 0; b < 4; ++b)
                    if (j + b >= row.begin && j + b < row.end)
#pragma unroll
                        for (int i = 0; i < WIDTH; ++i) sum[b] += widened(own.of[i]) * widened(other[b].of[i]);
            }
            const Sum total = add_lanes<LANES>(sum, group);
            const i64 e = j + lane / (LANES / 4);
            if (lane % (LANES / 4) == 0 && e >= row.begin && e < row.end) narrow(total, out[e * heads + h]);
        }
    }
}

}  // namespace hpgraph
