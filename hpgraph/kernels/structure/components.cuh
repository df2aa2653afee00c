// Weakly connected components by union-find with path halving (Afforest, M. Sutton, T. Ben-Nun, A. Barak, IPDPS'18).
//
// `label` is a forest: every vertex points to one with a smaller id, or to itself. As in ECL-CC (J. Jaiganesh, M.
// Burtscher, HPDC'18) a vertex starts with its first neighbour as parent if that is smaller, which costs no atomic
// operation; long rows are shared by a warp, very long ones by the grid.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int COMPONENT_THREADS = 256;
// Arcs of a row that one thread processes, and that one warp processes.
constexpr i64 THREAD_ARCS = 32, WARP_ARCS = 4096;

// Find with path halving: returns a root, or a vertex that was one recently. Labels may be stale in L1, which keeps
// reads off the few roots; safe, since labels only fall and a stale one is merely a longer path.
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

// Union: hook the larger of two roots under the smaller by compare-and-swap. If the larger is no longer a root,
// continue from the label that the swap returned. Calls hooked(high, low) if a root was hooked.
template <typename Id, class Hooked> __device__ void hook(Id* label, Id u, Id v, Hooked hooked) {
    Id a = root_of(label, u), b = root_of(label, v);
    while (a != b) {
        const Id high = a > b ? a : b, low = a > b ? b : a;
        const Id found = swap_if(label + high, high, low);
        if (found == high) return hooked(high, low);
        a = root_of(label, found);
        b = low;
    }
}
template <typename Id> __device__ void hook(Id* label, Id u, Id v) {
    hook<Id>(label, u, v, [](Id, Id) {});
}

// Rows of the `n` vertices from id `base` on; row i has the arcs `begins[i]` to `ends[i]`, which may be restricted to a
// range of columns. Ids and labels are global.
template <typename Id, typename Offset = i64> struct Rows {
    const Offset* begins;
    const Offset* ends;
    const Id* indices;
    i64 base, n;

    // Read-only during a kernel, hence __ldg: the compiler need not order these loads after the atomics of hook().
    __device__ i64 begin(i64 row) const { return __ldg(begins + row); }
    __device__ i64 end(i64 row) const { return __ldg(ends + row); }
    __device__ Id target(i64 at) const { return __ldg(indices + at); }
};

// Distance in ids up to which a neighbour's label is probably in L1.
constexpr i64 NEAR = 32;

// The arc that gives a vertex its initial parent: the first, which leads to the smallest neighbour; or with `near`, the
// last of the first few that leads to a smaller neighbour, if that is within NEAR.
template <class Rows>
__device__ i64 first_link(const Rows& rows, i64 begin, i64 end, i64 v, bool near) {
    i64 at = begin;
    if (near)
        while (at + 1 < end && rows.target(at + 1) < v) ++at;
    return at > begin && v - rows.target(at) >= NEAR ? begin : at;
}

// Points every vertex at a smaller neighbour. `left`, whether arcs are left for link_rest, is reset here.
template <typename Id, typename Offset>
__global__ void __launch_bounds__(COMPONENT_THREADS)
begin_forest(Rows<Id, Offset> rows, int neighbours, bool near, Id* label, bool* left) {
    const i64 row = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x, v = rows.base + row;
    if (row == 0) *left = false;
    if (row >= rows.n) return;
    const i64 begin = rows.begin(row), end = min(begin + neighbours, rows.end(row));
    const Id above = begin < end ? rows.target(first_link(rows, begin, end, v, near)) : Id(v);
    label[v] = above < v ? above : Id(v);
}

// Moves the label of each of the `n` vertices from id `base` on up to `hops` steps towards its root.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS) shorten_paths(i64 base, i64 n, int hops, Id* label) {
    const i64 row = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x, v = base + row;
    if (row >= n) return;
    const Id first = label[v];
    Id above = first;
    for (int i = 0; i < hops; ++i) {
        const Id next = label[above];
        if (next == above) break;
        above = next;
    }
    if (above != first) label[v] = above;
}

// Links the first few arcs of every vertex, except the one to its initial parent. If every arc has its reverse, links
// only arcs to smaller ids: rows ascend, so these come first, and most arcs to larger ids are among the first arcs of
// the other end. If no row has further such arcs, as in a road network, all arcs are linked.
template <typename Id, typename Offset>
__global__ void __launch_bounds__(COMPONENT_THREADS)
link_first(Rows<Id, Offset> rows, int neighbours, bool symmetric, bool near, Id* label, bool* left) {
    const i64 row = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x, v = rows.base + row;
    if (row >= rows.n) return;
    const i64 begin = rows.begin(row), last = rows.end(row), end = min(begin + neighbours, last);
    const i64 done = first_link(rows, begin, end, v, near);
    for (i64 at = begin; at < end; ++at) {
        const Id u = rows.target(at);
        if (u < v ? at != done : !symmetric) hook<Id>(label, Id(v), u);
    }
    if (end < last && (!symmetric || rows.target(end) < v) && !*left) *left = true;
}

// The most frequent root in a sample of the `n` vertices from id `base` on; by one block. `near` holds an ancestor of
// each vertex, or the vertex itself.
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
__global__ void __launch_bounds__(COMPONENT_THREADS) most_frequent_root(i64 base, i64 n, Id* label, Id* largest) {
    note_most_frequent_root(n, label + base, label, largest);
}

// Calls call(v, u) for the arcs after the first `done` of each lane's vertex, if it is wanted; warp-collective. Rows
// too long for a warp are listed.
template <typename Id, class Call>
__device__ void for_each_arc(const Rows<Id>& rows, bool wanted, i64 v, int done, Id* listed, u64* tail, Call call) {
    const int lane = threadIdx.x & 31;
    i64 begin = 0, end = 0;
    // Few vertices are wanted: skip the row pointers of the others.
    if (wanted) begin = rows.begin(v - rows.base) + done, end = rows.end(v - rows.base);
    if (end - begin <= THREAD_ARCS)
        for (i64 at = begin; at < end; ++at) call(Id(v), rows.target(at));
    for (u32 rest = __ballot_sync(~0u, end - begin > THREAD_ARCS); rest; rest &= rest - 1) {
        const int owner = __ffs(rest) - 1;
        const i64 from = __shfl_sync(~0u, begin, owner), to = __shfl_sync(~0u, end, owner);
        const Id source = Id(__shfl_sync(~0u, v, owner));
        if (to - from > WARP_ARCS) {
            if (lane == owner) listed[atomicAdd(tail, 1ull)] = source;
            continue;
        }
        for (i64 at = from + lane; at < to; at += 32) call(source, rows.target(at));
    }
}

// The same for the listed rows, each by the whole grid.
template <typename Id, class Call>
__device__ void for_each_listed(const Rows<Id>& rows, int done, const Id* listed, const u64* tail, Call call) {
    for (u64 i = 0; i < *tail; ++i) {
        const Id v = listed[i];
        const i64 row = v - rows.base, end = rows.end(row);
        for (i64 at = rows.begin(row) + done + i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x; at < end;
             at += i64(gridDim.x) * COMPONENT_THREADS)
            call(v, rows.target(at));
    }
}

// Link those arcs of vertices outside the tree of `largest` (-1: of all vertices), if any are left.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
link_rest(Rows<Id> rows, int done, const Id* largest, Id* label, Id* listed, u64* tail, const bool* left) {
    if (!*left) return;
    const i64 row = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x, v = rows.base + row;
    const bool is_outside = row < rows.n && root_of<Id>(label, Id(v)) != *largest;
    for_each_arc(rows, is_outside, v, done, listed, tail, [&](Id from, Id to) { hook<Id>(label, from, to); });
}

template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
link_listed(Rows<Id> rows, int done, Id* label, const Id* listed, const u64* tail) {
    for_each_listed(rows, done, listed, tail, [&](Id v, Id u) { hook<Id>(label, v, u); });
}

// Link the arcs to smaller vertices of the same group.
template <typename Id> struct LinkWithin {
    const Id* group;
    Id* label;

    __device__ void operator()(Id v, Id u) const {
        if (u < v && group[u] == group[v]) hook<Id>(label, v, u);
    }
};
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
link_within(Rows<Id> rows, const Id* group, Id* label, Id* listed, u64* tail) {
    const i64 v = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x;
    for_each_arc(rows, v < rows.n, v, 0, listed, tail, LinkWithin<Id>{group, label});
}

template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
link_listed_within(Rows<Id> rows, const Id* group, Id* label, const Id* listed, const u64* tail) {
    for_each_listed(rows, 0, listed, tail, LinkWithin<Id>{group, label});
}

// Several vertices per thread (some past the last), to have several loads in flight: call(k, v). A warp takes 32
// consecutive vertices at once.
constexpr int VERTICES_EACH = 4;
constexpr int BLOCK_VERTICES = VERTICES_EACH * COMPONENT_THREADS;
template <class Call> __device__ void for_each_vertex(Call call) {
#pragma unroll
    for (int k = 0; k < VERTICES_EACH; ++k)
        call(k, i64(blockIdx.x) * BLOCK_VERTICES + k * COMPONENT_THREADS + threadIdx.x);
}

// Roots of a thread's vertices. Most labels already point at a root: the first loads are issued together.
template <typename Id> __device__ void find_roots(Id* label, Id (&above)[VERTICES_EACH]) {
    Id next[VERTICES_EACH];
#pragma unroll
    for (int k = 0; k < VERTICES_EACH; ++k) next[k] = label[above[k]];
#pragma unroll
    for (int k = 0; k < VERTICES_EACH; ++k)
        if (next[k] != above[k]) above[k] = root_of<Id>(label, next[k]);
}

// Components numbered in the order of their roots: a bitmap of the roots, the number of roots before each of its words,
// and then the rank of every vertex's root.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS) mark_roots(i64 n, const Id* __restrict__ label, u32* roots) {
    Id above[VERTICES_EACH];
    for_each_vertex([&](int k, i64 v) { above[k] = v < n ? label[v] : Id(-1); });
    for_each_vertex([&](int k, i64 v) {
        const u32 bits = __ballot_sync(ALL, above[k] == v);
        if ((threadIdx.x & 31) == 0 && v < n) roots[v >> 5] = bits;
    });
}

// State of a block of `rank_words`, in the bits above the count: only its own roots are known, or the inclusive prefix;
// 0 before either.
constexpr u64 OWN_ROOTS = 1ull << 62, ALL_ROOTS = 2ull << 62;
constexpr int WORDS_EACH = 4, BLOCK_WARPS = COMPONENT_THREADS / 32;

// Decoupled look-back: the number of roots in all blocks before this one. Called by the first warp, after its block has
// published its own.
__device__ inline u64 roots_before_block(const u64* state) {
    u64 sum = 0;
    for (i64 last = i64(blockIdx.x) - 1; last >= 0; last -= 32) {
        const i64 block = last - lane_of_warp();
        u64 found;
        do found = block < 0 ? ALL_ROOTS : __ldcg(state + block);
        while (__any_sync(ALL, found == 0));
        const u32 whole = __ballot_sync(ALL, found >= ALL_ROOTS);
        const bool counts = lane_of_warp() < (whole ? __ffs(whole) : 32);
        sum += warp_sum(counts ? found & (OWN_ROOTS - 1) : u64(0));
        if (whole) break;
    }
    return sum;
}

// Roots before each word, in one pass (D. Merrill, M. Garland, "Single-pass parallel prefix scan with decoupled look-back",
// NVIDIA, 2016). `state` begins as 0; its last element ends with the number of all roots.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
rank_words(i64 words, const u32* __restrict__ roots, u64* state, Id* before) {
    __shared__ u32 of_warps[BLOCK_WARPS];
    __shared__ u64 of_blocks;
    const int warp = threadIdx.x / 32;
    const i64 word = (i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x) * WORDS_EACH;
    u32 counts[WORDS_EACH], own = 0;
#pragma unroll
    for (int k = 0; k < WORDS_EACH; ++k) own += counts[k] = word + k < words ? __popc(roots[word + k]) : 0;
    const u32 up_to = warp_prefix_sum(own);
    if (lane_of_warp() == 31) of_warps[warp] = up_to;
    __syncthreads();
    u32 before_warp = 0, of_block = 0;
    for (int w = 0; w < BLOCK_WARPS; ++w) {
        if (w == warp) before_warp = of_block;
        of_block += of_warps[w];
    }
    if (warp == 0) {
        if (threadIdx.x == 0 && blockIdx.x > 0) __stcg(state + blockIdx.x, OWN_ROOTS | of_block);
        __syncwarp();
        const u64 sum = roots_before_block(state);
        if (threadIdx.x == 0) __stcg(state + blockIdx.x, ALL_ROOTS | (sum + of_block)), of_blocks = sum;
    }
    __syncthreads();
    Id rank = Id(of_blocks) + Id(before_warp + up_to - own);
#pragma unroll
    for (int k = 0; k < WORDS_EACH; ++k) {
        if (word + k < words) before[word + k] = rank;
        rank += Id(counts[k]);
    }
}

template <typename Id> struct Ranks {
    const u32* roots;
    const Id* before;  // roots before each word

    __device__ bool has(i64 v) const { return __ldg(roots + (v >> 5)) >> (v & 31) & 1; }
    __device__ Id of(i64 root) const {
        return __ldg(before + (root >> 5)) + Id(__popc(__ldg(roots + (root >> 5)) & ((1u << (root & 31)) - 1)));
    }
};

template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS) number(i64 n, Ranks<Id> ranks, Id* label, Id* number) {
    Id above[VERTICES_EACH];
    for_each_vertex([&](int k, i64 v) { above[k] = v < n ? label[v] : Id(0); });
    find_roots<Id>(label, above);
    for_each_vertex([&](int k, i64 v) {
        if (v < n) number[v] = ranks.of(above[k]);
    });
}

}  // namespace hpgraph
