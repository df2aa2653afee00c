// Weakly connected components by hooking trees under each other (Afforest, Sutton et al., IPDPS'18).
#pragma once

namespace hpgraph {

typedef long long i64;

constexpr int COMPONENT_THREADS = 256;
// Arcs that one thread follows in link_arcs.
constexpr int ARCS_OF_A_THREAD = 8;

// A root found with the path to it halved. Labels only ever fall, so a stale one is merely a longer way.
template <typename Id> __device__ Id root_of(Id* label, Id v) {
    volatile Id* seen = label;
    Id above = seen[v];
    while (above != v) {
        const Id next = seen[above];
        if (next != above) seen[v] = next;
        v = above;
        above = next;
    }
    return v;
}

__device__ inline int swap_if(int* at, int expected, int desired) { return atomicCAS(at, expected, desired); }
__device__ inline i64 swap_if(i64* at, i64 expected, i64 desired) {
    return i64(atomicCAS(reinterpret_cast<unsigned long long*>(at), (unsigned long long)expected, (unsigned long long)desired));
}

// The larger of two roots goes under the smaller.
template <typename Id> __device__ void hook(Id* label, Id u, Id v) {
    Id a = root_of(label, u), b = root_of(label, v);
    while (a != b) {
        const Id high = a > b ? a : b, low = a > b ? b : a;
        if (swap_if(label + high, high, low) == high) return;
        a = root_of(label, high);
        b = low;
    }
}

// The first few arcs of every vertex.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
link_first(const i64* __restrict__ indptr, const Id* __restrict__ indices, i64 n, int neighbours, Id* label) {
    const i64 v = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x;
    if (v >= n) return;
    const i64 end = min(indptr[v] + neighbours, indptr[v + 1]);
    for (i64 at = indptr[v]; at < end; ++at) hook<Id>(label, Id(v), indices[at]);
}

// The other arcs, of vertices outside the largest component; for symmetric graphs, where those are few.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
link_rest(const i64* __restrict__ indptr, const Id* __restrict__ indices, i64 n, int neighbours, i64 largest, Id* label) {
    const i64 v = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x;
    if (v >= n || label[v] == largest) return;
    for (i64 at = indptr[v] + neighbours; at < indptr[v + 1]; ++at) hook<Id>(label, Id(v), indices[at]);
}

// All arcs, the same number to each thread.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
link_arcs(const i64* __restrict__ indptr, const Id* __restrict__ indices, i64 n, i64 arcs, Id* label) {
    i64 at = (i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x) * ARCS_OF_A_THREAD;
    if (at >= arcs) return;
    const i64 end = min(at + ARCS_OF_A_THREAD, arcs);
    i64 low = 0, high = n;  // indptr[low] <= at < indptr[high]
    while (high - low > 1) {
        const i64 middle = (low + high) / 2;
        if (indptr[middle] <= at) low = middle; else high = middle;
    }
    for (; at < end; ++at) {
        while (indptr[low + 1] <= at) ++low;
        hook<Id>(label, Id(low), indices[at]);
    }
}

template <typename Id> __global__ void __launch_bounds__(COMPONENT_THREADS) flatten(i64 n, Id* label) {
    const i64 v = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x;
    if (v < n) label[v] = root_of<Id>(label, Id(v));
}

}  // namespace hpgraph
