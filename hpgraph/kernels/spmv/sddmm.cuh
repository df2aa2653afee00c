// SDDMM, a product of two dense matrices at the entries of a sparse one.
//
// LANES adjacent threads share a row; each keeps LOADS vectors of WIDTH of its columns. BATCH entries are gathered at a
// time, and their sums are reduced over the lanes together.
#pragma once
#include "dense_rows.cuh"

namespace hpgraph {

// Reduces each of BATCH values over LANES lanes; lane l ends with the sum of value l / (LANES / BATCH).
template <int LANES, int BATCH, class Sum>
__device__ Sum add_lanes(Sum (&sum)[BATCH], u32 group) {
    int distance = LANES / 2;
#pragma unroll
    for (int kept = BATCH / 2; kept; kept /= 2, distance /= 2) {
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

// Columns c, c + apart, ... of a row: all of them if WHOLE, else those that exist.
template <class Value, int LOADS, int WIDTH, bool WHOLE>
struct Part {
    Pack<Value, WIDTH> of[LOADS];

    __device__ void load(const Value* row, i64 c, i64 apart, i64 columns) {
#pragma unroll
        for (int l = 0; l < LOADS; ++l)
            if (WHOLE || c + l * apart < columns) of[l] = *(const Pack<Value, WIDTH>*)(row + c + l * apart);
    }
    __device__ auto dot(const Part& other, i64 c, i64 apart, i64 columns) const {
        typename Wide<Value>::type sum = 0;
#pragma unroll
        for (int l = 0; l < LOADS; ++l)
            if (WHOLE || c + l * apart < columns)
#pragma unroll
                for (int i = 0; i < WIDTH; ++i) sum += widened(of[l].of[i]) * widened(other.of[l].of[i]);
        return sum;
    }
};

// out[e, h] = sum over c of x[i, h, c] * y[j, h, c] for entry e = (i, j). WHOLE: a head has exactly the number of
// columns that the lanes keep.
template <class Index, class Value, int LANES, int LOADS, int BATCH, int WIDTH, bool WHOLE>
__global__ void __launch_bounds__(BLOCK)
sample_dense(const i64* __restrict__ indptr, const Index* __restrict__ indices, Bins bins, i64 short_rows, i64 heads,
             i64 columns, const Value* __restrict__ x, const Value* __restrict__ y, Value* __restrict__ out) {
    static_assert(LANES >= BATCH, "each entry of a batch needs a lane");
    typedef typename Wide<Value>::type Sum;
    const i64 task = (i64(blockIdx.x) * BLOCK + threadIdx.x) / LANES;
    if (task >= bins.pieces + short_rows) return;
    const RowPart row(indptr, bins, task);
    const int lane = threadIdx.x % LANES;
    const u32 group = LANES == 32 ? ALL : ((1u << LANES % 32) - 1) << (threadIdx.x % 32 / LANES * LANES);
    constexpr i64 APART = LANES * WIDTH, STEP = APART * LOADS;
    const i64 apart_rows = WHOLE ? heads * STEP : heads * columns;
    for (i64 h = 0; h < heads; ++h) {
        const Value* const own_row = x + (row.v * heads + h) * columns;
        const i64 first = lane * WIDTH;
        const Value* const others = y + h * columns;
        Part<Value, LOADS, WIDTH, WHOLE> own;
        own.load(own_row, first, APART, columns);
        Index u[BATCH];
        int left = int(row.end - row.begin);
#pragma unroll
        for (int b = 0; b < BATCH; ++b)
            if (b < left) u[b] = indices[row.begin + b];
#pragma unroll 1
        for (i64 j = row.begin; left > 0; j += BATCH, left -= BATCH) {
            Sum sum[BATCH] = {};
            Index now[BATCH];
#pragma unroll
            for (int b = 0; b < BATCH; ++b) {
                now[b] = u[b];
                if (BATCH + b < left) u[b] = indices[j + BATCH + b];
            }
            for (i64 c = first; WHOLE || c < columns; c += STEP) {
                // If the columns exceed what the lanes keep, the further ones are reloaded for each batch.
                if (!WHOLE && columns > STEP) own.load(own_row, c, APART, columns);
                Part<Value, LOADS, WIDTH, WHOLE> other[BATCH];
#pragma unroll
                for (int b = 0; b < BATCH; ++b)
                    if (b < left) other[b].load(others + i64(now[b]) * apart_rows, c, APART, columns);
#pragma unroll
                for (int b = 0; b < BATCH; ++b)
                    if (b < left) sum[b] += own.dot(other[b], c, APART, columns);
                if (WHOLE) break;
            }
            const Sum total = add_lanes<LANES, BATCH>(sum, group);
            const int b = lane / (LANES / BATCH);
            if (lane % (LANES / BATCH) == 0 && b < left) narrow(total, out[(j + b) * heads + h]);
        }
    }
}

}  // namespace hpgraph
