// The normalization at the end of an iteration, and the change since the iteration before.
#pragma once
#include "apply.cuh"

namespace hpgraph {

// values *= factor; a block writes the sum over its SPAN values of |values - before|.
template <class T>
__global__ void __launch_bounds__(THREADS) rescale(i64 n, T factor, const T* __restrict__ before, T* values, double* sums) {
    double mine[1] = {};
    const i64 begin = (i64)blockIdx.x * SPAN;
    for (i64 v = begin + threadIdx.x; v < begin + SPAN && v < n; v += THREADS) {
        const T value = values[v] * factor, change = value - before[v];
        values[v] = value;
        mine[0] += (double)(change < 0 ? -change : change);
    }
    sum_block(mine, sums + blockIdx.x);
}

}  // namespace hpgraph
