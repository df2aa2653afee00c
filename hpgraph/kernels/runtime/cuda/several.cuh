// Several numbers of one type as one value, for templates that only move values.
#pragma once
#include "warp.cuh"

namespace hpgraph {

template <class T, int N>
struct Several {
    T number[N];
};

// Overload of warp.cuh's for numbers, found by argument-dependent lookup.
template <class T, int N>
__device__ Several<T, N> shuffle_down(u32 lanes, Several<T, N> value, int distance, int width = 32) {
    Several<T, N> moved;
#pragma unroll
    for (int k = 0; k < N; ++k) moved.number[k] = shuffle_down(lanes, value.number[k], distance, width);
    return moved;
}

}  // namespace hpgraph
