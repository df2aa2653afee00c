// Random permutations of arrays: those of hpgraph.kernels.sampling.shuffles.
#pragma once
#include "splitmix.cuh"

namespace hpgraph {

template <class Value>
__global__ void __launch_bounds__(256)
shuffle(u64 seed, i64 rows, i64 columns, const Value* __restrict__ values, i64 count, Value* __restrict__ out) {
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    i64 place = i;
    do {
        i64 row = place / columns, column = place - row * columns;
#pragma unroll
        for (int turn = 0; turn < ROUNDS; ++turn) {
            const u64 key = seed + turn * GOLDEN;
            if (turn & 1) {
                column += (i64)((mixed(key ^ (u64)row * GOLDEN) >> 32) * (u64)columns >> 32);
                if (column >= columns) column -= columns;
            } else {
                row += (i64)((mixed(key ^ (u64)column * GOLDEN) >> 32) * (u64)rows >> 32);
                if (row >= rows) row -= rows;
            }
        }
        place = row * columns + column;
    } while (place >= count);
    out[i] = values[place];
}

}  // namespace hpgraph
