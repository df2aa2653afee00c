// Weakly connected components by union-find with path halving (Afforest, M. Sutton, T. Ben-Nun, A. Barak, IPDPS'18).
//
// `label` is a forest: every vertex points to one with a smaller id, or to itself. As in ECL-CC (J. Jaiganesh,
// M. Burtscher, HPDC'18) a vertex begins below its first neighbour if that is smaller, which costs no atomic operation,
// and long rows are shared by a warp, very long ones by the grid.
#pragma once
#include "types.cuh"

namespace hpgraph {

constexpr int COMPONENT_THREADS = 256;
// Arcs of a row that one thread follows, and that one warp follows.
constexpr i64 THREAD_ARCS = 32, WARP_ARCS = 4096;

// Find, with path halving: a root, or what was one a moment ago. Labels may be stale in L1, which spares the few roots from
// all reads; safe, since labels only ever fall and a stale one is merely a longer path.
template <typename Id> __device__ Id root_of(Id* label, Id v) {
    Id above = label[v];
    while (above != v) {
        const Id next = label[above];
        if (next != above) label[v] = next;
        v = above;
        above = next;
    }
    return v;
}

__device__ inline int swap_if(int* at, int expected, int desired) { return atomicCAS(at, expected, desired); }
__device__ inline i64 swap_if(i64* at, i64 expected, i64 desired) {
    return i64(atomicCAS(reinterpret_cast<u64*>(at), u64(expected), u64(desired)));
}

// Union: hook the larger of two roots under the smaller by compare-and-swap. If it is no root any more, go on from what the
// swap found there.
template <typename Id> __device__ void hook(Id* label, Id u, Id v) {
    Id a = root_of(label, u), b = root_of(label, v);
    while (a != b) {
        const Id high = a > b ? a : b, low = a > b ? b : a;
        const Id found = swap_if(label + high, high, low);
        if (found == high) return;
        a = root_of(label, found);
        b = low;
    }
}

// How near a neighbour is whose label mostly lies in the first-level cache: on the same line, or the one before.
constexpr i64 NEAR = 32;

// The arc by which a vertex begins below another: the first, which leads to the smallest neighbour; or with `near`, the last
// among the first few that leads to a smaller one, if that is near by.
template <typename Id>
__device__ i64 first_link(const Id* __restrict__ indices, i64 begin, i64 end, i64 v, bool near) {
    i64 at = begin;
    if (near)
        while (at + 1 < end && indices[at + 1] < v) ++at;
    return at > begin && v - indices[at] >= NEAR ? begin : at;
}

// Every vertex below a neighbour, where that is smaller. Rows are those of the `n` vertices from number `base` on, here and
// below. `left`, whether arcs are left for link_rest, begins as false.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
begin_forest(const i64* __restrict__ indptr, const Id* __restrict__ indices, i64 base, i64 n, int neighbours, bool near,
             Id* label, bool* left) {
    const i64 row = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x, v = base + row;
    if (row == 0) *left = false;
    if (row >= n) return;
    const i64 begin = indptr[row], end = min(begin + neighbours, indptr[row + 1]);
    const Id above = begin < end ? indices[first_link(indices, begin, end, v, near)] : Id(v);
    label[v] = above < v ? above : Id(v);
}

// Every vertex below one that is up to `hops` above the one above it.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS) shorten_paths(i64 n, int hops, Id* label) {
    const i64 v = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x;
    if (v >= n) return;
    const Id first = label[v];
    Id above = first;
    for (int i = 0; i < hops; ++i) {
        const Id next = label[above];
        if (next == above) break;
        above = next;
    }
    if (above != first) label[v] = above;
}

// The first few arcs of every vertex but the one followed already. Where every arc has its reverse, only those to smaller
// ids: rows ascend, so they come first, and most arcs to larger ones are among the first of another. If no row has more of
// them, as in a road network, all arcs are linked.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
link_first(const i64* __restrict__ indptr, const Id* __restrict__ indices, i64 base, i64 n, int neighbours,
           bool symmetric, bool near, Id* label, bool* left) {
    const i64 row = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x, v = base + row;
    if (row >= n) return;
    const i64 begin = indptr[row], last = indptr[row + 1], end = min(begin + neighbours, last);
    const i64 done = first_link(indices, begin, end, v, near);
    for (i64 at = begin; at < end; ++at) {
        const Id u = indices[at];
        if (u < v ? at != done : !symmetric) hook<Id>(label, Id(v), u);
    }
    if (end < last && (!symmetric || indices[end] < v) && !*left) *left = true;
}

// The root that most of a sample of the vertices have; by one block. `near` has for each some vertex above it, or itself.
template <typename Id> __device__ void note_most_frequent_root(i64 n, const Id* near, Id* label, Id* largest) {
    __shared__ Id roots[COMPONENT_THREADS];
    __shared__ int most;
    // Fibonacci hashing spreads the sample over the ids (D. Knuth, The Art of Computer Programming, vol. 3, 6.4).
    const u64 place = (u64(threadIdx.x) * 0x9E3779B97F4A7C15ull) >> 1;
    const Id mine = roots[threadIdx.x] = root_of<Id>(label, near[place % u64(n)]);
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    int count = 0;
    for (int i = 0; i < COMPONENT_THREADS; ++i) count += roots[i] == mine;
    atomicMax(&most, count << 8 | threadIdx.x);
    __syncthreads();
    if (threadIdx.x == (most & 255)) *largest = mine;
}

template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS) most_frequent_root(i64 n, Id* label, Id* largest) {
    note_most_frequent_root(n, label, label, largest);
}

// The arcs but the first `done`, of vertices outside the tree of `largest` (-1: of all vertices), if any are left. Rows too
// long for a warp are listed.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
link_rest(const i64* __restrict__ indptr, const Id* __restrict__ indices, i64 base, i64 n, int done,
          const Id* largest, Id* label, Id* listed, u64* tail, const bool* left) {
    if (!*left) return;
    const i64 row = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x, v = base + row;
    const int lane = threadIdx.x & 31;
    i64 begin = 0, end = 0;
    // Most are in that tree: their row pointers need not be loaded.
    if (row < n && root_of<Id>(label, Id(v)) != *largest) begin = indptr[row] + done, end = indptr[row + 1];
    if (end - begin <= THREAD_ARCS)
        for (i64 at = begin; at < end; ++at) hook<Id>(label, Id(v), indices[at]);
    for (u32 rest = __ballot_sync(~0u, end - begin > THREAD_ARCS); rest; rest &= rest - 1) {
        const int owner = __ffs(rest) - 1;
        const i64 from = __shfl_sync(~0u, begin, owner), to = __shfl_sync(~0u, end, owner);
        const Id source = Id(__shfl_sync(~0u, v, owner));
        if (to - from > WARP_ARCS) {
            if (lane == owner) listed[atomicAdd(tail, 1ull)] = source;
            continue;
        }
        for (i64 at = from + lane; at < to; at += 32) hook<Id>(label, source, indices[at]);
    }
}

// The rows that link_rest listed, each by the whole grid.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
link_listed(const i64* __restrict__ indptr, const Id* __restrict__ indices, i64 base, int done, Id* label,
            const Id* __restrict__ listed, const u64* tail) {
    for (u64 i = 0; i < *tail; ++i) {
        const Id v = listed[i];
        const i64 end = indptr[v - base + 1];
        for (i64 at = indptr[v - base] + done + i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x; at < end;
             at += i64(gridDim.x) * COMPONENT_THREADS)
            hook<Id>(label, v, indices[at]);
    }
}

// The trees of another forest of the same vertices, which may lie on another GPU, join these.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS) join_forest(i64 n, const Id* __restrict__ other, Id* label) {
    const i64 v = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x;
    if (v >= n) return;
    const Id above = other[v];
    if (above != v) hook<Id>(label, Id(v), above);
}

// Every vertex right below its root. Who halves the path of another by a stale label must not undo what that one has
// stored: by the least of both.
template <typename Id> __global__ void __launch_bounds__(COMPONENT_THREADS) flatten(i64 n, Id* label) {
    const i64 v = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x;
    if (v >= n) return;
    Id at = Id(v), above = label[at];
    while (above != at) {
        const Id next = label[above];
        if (next != above) atomicMin(label + at, next);
        at = above;
        above = next;
    }
    if (at != v) label[v] = at;
}

// Which of a block's vertices are roots, several a thread, so that as many loads are under way: call(k, v, is_root).
constexpr int VERTICES_EACH = 4;
template <typename Id, class Call> __device__ void for_each_root(i64 n, const Id* label, Call call) {
    const i64 first = i64(blockIdx.x) * VERTICES_EACH * COMPONENT_THREADS + threadIdx.x;
    const auto vertex = [&](int k) { return first + k * COMPONENT_THREADS; };
    Id above[VERTICES_EACH];
#pragma unroll
    for (int k = 0; k < VERTICES_EACH; ++k) above[k] = vertex(k) < n ? label[vertex(k)] : Id(-1);
#pragma unroll
    for (int k = 0; k < VERTICES_EACH; ++k) call(k, vertex(k), above[k] == vertex(k));
}

// How many roots each block has.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS) count_roots(i64 n, const Id* __restrict__ label, Id* roots) {
    int count = 0;
    for_each_root<Id>(n, label, [&](int, i64, bool is_root) { count += __syncthreads_count(is_root); });
    if (threadIdx.x == 0) roots[blockIdx.x] = Id(count);
}

// Roots by number, in their order; `roots` holds how many there are up to the end of each block.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS) number_roots(i64 n, const Id* __restrict__ label,
                                                                  const Id* __restrict__ roots, Id* number) {
    constexpr int PARTS = COMPONENT_THREADS / 32;
    __shared__ u32 votes[VERTICES_EACH * PARTS];
    const int warp = threadIdx.x >> 5;
    for_each_root<Id>(n, label, [&](int k, i64, bool is_root) {
        const u32 mine = __ballot_sync(~0u, is_root);
        if ((threadIdx.x & 31) == 0) votes[k * PARTS + warp] = mine;
    });
    __syncthreads();
    Id before = blockIdx.x ? roots[blockIdx.x - 1] : Id(0);
    const u32 below = (1u << (threadIdx.x & 31)) - 1;
    for (int w = 0; w < VERTICES_EACH * PARTS; ++w) {
        if (w % PARTS == warp && (votes[w] >> (threadIdx.x & 31) & 1)) {
            const i64 v = (i64(blockIdx.x) * VERTICES_EACH + w / PARTS) * COMPONENT_THREADS + threadIdx.x;
            number[v] = before + __popc(votes[w] & below);
        }
        before += __popc(votes[w]);
    }
}

// The other vertices by the numbers of their roots.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS) number_others(i64 n, Id* label, Id* number) {
    for_each_root<Id>(n, label, [&](int, i64 v, bool is_root) {
        if (v < n && !is_root) number[v] = number[root_of<Id>(label, Id(v))];
    });
}

}  // namespace hpgraph
