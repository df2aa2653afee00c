// k nearest neighbours on the GPU, one warp per row. Its lanes compare a tile of distances with the largest distance
// kept; smaller ones, which are few after the first tile, are inserted into the sorted list one by one, by all lanes.
#pragma once
#include "warp.cuh"

namespace hpgraph {

// Distances that a lane loads before the first comparison: a single load in flight does not saturate the memory
// bandwidth.
constexpr int LOADS = 4;

template <class Real>
__global__ void keep_nearest(const Real* products, const Real* squares, i64 rows, i64 columns, i64 row, i64 column, int k,
                             Real* distance, i64* index) {
    const i64 i = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (i >= rows) return;
    const int lane = lane_of_warp();
    const Real* const one = products + i * columns;
    Real* const kept = distance + i * k;
    i64* const numbers = index + i * k;
    Real limit = kept[k - 1];
    for (i64 begin = 0; begin < columns; begin += 32 * LOADS) {
        Real values[LOADS];
        bool any = false;
#pragma unroll
        for (int load = 0; load < LOADS; load++) {
            const i64 j = begin + 32 * load + lane;
            values[load] = j < columns ? squares[j] - 2 * one[j] : limit;
            any |= values[load] < limit;
        }
        if (!__any_sync(ALL, any)) continue;
#pragma unroll
        for (int load = 0; load < LOADS; load++) {
            const Real value = values[load];
            const bool other = column + begin + 32 * load + lane != row + i;
            u32 below = __ballot_sync(ALL, value < limit && other);
            while (below) {
                const int from = __ffs(below) - 1;
                below &= below - 1;
                const Real next = __shfl_sync(ALL, value, from);
                if (!(next < limit)) continue;
                const i64 number = column + begin + 32 * load + from;
                // From the end on, so that an element is read before the element above it is overwritten.
                for (int top = (k - 1) / 32 * 32; top >= 0; top -= 32) {
                    const int at = top + lane;
                    const bool held = at < k;
                    const Real here = held ? kept[at] : next, before = held && at ? kept[at - 1] : next;
                    const i64 before_number = held && at ? numbers[at - 1] : 0;
                    __syncwarp();
                    if (held && here > next) {
                        const bool first = at == 0 || !(before > next);
                        kept[at] = first ? next : before;
                        numbers[at] = first ? number : before_number;
                    }
                    __syncwarp();
                }
                limit = kept[k - 1];
            }
        }
    }
}

}  // namespace hpgraph
