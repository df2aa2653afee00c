// Weakly connected components of a graph whose arcs are not in memory: the union-find of components.cuh, first along
// the resident neighbour of every vertex, then along the arcs of vertices outside the largest tree.
#pragma once
#include "components.cuh"
#include "spread.cuh"

namespace hpgraph {

template <class Id>
__global__ void __launch_bounds__(THREADS) link_heads(i64 n, const Id* head, Id* label) {
    const i64 v = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (v < n && head[v] >= 0) hook<Id>(label, (Id)v, head[v]);
}

// Bitmap of the vertices outside the tree of `largest`.
template <class Id>
__global__ void __launch_bounds__(THREADS) mark_outside(i64 n, const Id* largest, Id* label, u32* outside) {
    const i64 v = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (v - lane_of_warp() >= n) return;
    const u32 bits = __ballot_sync(ALL, v < n && root_of<Id>(label, (Id)v) != *largest);
    if (lane_of_warp() == 0) outside[v >> 5] = bits;
}

// Links a row and the target of its arc.
template <class Id>
struct Hook {
    Id* label;

    __device__ bool wants(i64) const { return true; }

    template <class Weight>
    __device__ void operator()(i64 u, i64 v, Weight) const { hook<Id>(label, (Id)u, (Id)v); }
};

}  // namespace hpgraph
