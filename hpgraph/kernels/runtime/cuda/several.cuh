// Several numbers of one type as one value, for templates that only move values.
#pragma once
#include "warp.cuh"

namespace hpgraph {

template <class T, int N>
struct Several {
    T number[N];
};

// Overload of spmv.cuh's for numbers, found by argument-dependent lookup.
template <class T, int N>
__device__ Several<T, N> shuffle_down(u32 lanes, Several<T, N> value, int distance, int width) {
    Several<T, N> moved;
#pragma unroll
    for (int k = 0; k < N; ++k) {
        if constexpr (sizeof(T) >= 4) moved.number[k] = __shfl_down_sync(lanes, value.number[k], distance, width);
        else moved.number[k] = T(__shfl_down_sync(lanes, int(value.number[k]), distance, width));
    }
    return moved;
}

}  // namespace hpgraph
