// Minimum spanning forest by Borůvka's rounds: every tree takes its lightest arc to another tree.
//
// Arcs are totally ordered by weight, then by lower end, then by the other end: no cycle can close, and the forest is
// deterministic. A vertex keeps its lightest arc to another tree until both ends are in one tree; only then is its row
// read again. A vertex without such an arc is dropped. One tree, the largest by a sample, does not choose an arc, which
// saves most of the arcs in many graphs. A hooked root keeps the arc by which it was hooked: these arcs are the forest.
#pragma once
#include "frontier_queue.cuh"
#include "components.cuh"

namespace hpgraph {

constexpr int FOREST_THREADS = COMPONENT_THREADS;
// Arcs of a row that one thread reads, and that one warp reads; a block reads longer rows.
constexpr i64 FEW_ARCS = 8, MANY_ARCS = 4096;
constexpr u64 NOTHING = ~0ull;

// Weights as integers in the same order. NaN comes last, after infinity; both zeros are one.
__device__ inline u64 in_order(float w) {
    const u32 bits = __float_as_uint(w + 0.0f);
    return w != w ? NOTHING : bits >> 31 ? (u32)~bits : bits | 0x80000000u;
}
__device__ inline u64 in_order(double w) {
    const u64 bits = (u64)__double_as_longlong(w + 0.0);
    return w != w ? NOTHING : bits >> 63 ? ~bits : bits | 1ull << 63;
}
template <class Integer> __device__ u64 in_order(Integer w) {
    return Integer(-1) < Integer(0) ? (u64)(i64)w ^ 1ull << 63 : (u64)w;
}
template <class Weight> __device__ u64 key_of(const Weight* data, i64 at) { return in_order(data[at]); }
__device__ inline u64 key_of(const Pattern*, i64) { return 0; }

// The trees so far. `arc`: each vertex's lightest arc to another tree, -1 if not scanned, -2 if there is none. `key`
// and `ends`: the minimum over a root's vertices. `chosen` and `source`: the arc by which a root was hooked.
template <class Id>
struct Trees {
    Id *root, *above, *source;
    i64 *arc, *chosen;
    u64 *key, *ends;
};

// Counts of one round: listed rows, hooked trees, and vertices still active.
struct Counts {
    u64 listed, joined, looking_on;
};

// Whether an arc leads to another tree. At first every vertex is its own root, so no root is read.
template <bool FIRST, class Id>
__device__ bool leaves(const Id* indices, const Id* root, Id mine, i64 at) {
    return (FIRST ? indices[at] : root[indices[at]]) != mine;
}

// The lightest arc of a row to another tree; rows ascend, so of equal weights the first is the minimum.
struct Lightest {
    u64 key;
    i64 arc;

    // Whether it precedes another; an empty one precedes all.
    __device__ bool precedes(u64 other_key, i64 other) const {
        return arc < 0 || key < other_key || (key == other_key && arc < other);
    }
    // Considers an arc after `past`; all arcs up to `past` lead into the vertex's own tree.
    template <bool FIRST, class Id, class Weight>
    __device__ void look(const Id* indices, const Weight* data, const Id* root, Id mine, i64 at, const Lightest& past) {
        const u64 weight = key_of(data, at);
        if ((arc < 0 || weight < key) && past.precedes(weight, at) && leaves<FIRST>(indices, root, mine, at))
            key = weight, arc = at;
    }
    __device__ void take(u64 other_key, i64 other) {
        if (other >= 0 && (arc < 0 || other_key < key || (other_key == key && other < arc))) key = other_key, arc = other;
    }
    // Minimum over the lanes, whose arcs lie from `begin` on.
    __device__ void of_warp(i64 begin) {
#if __CUDA_ARCH__ >= 800
        const u32 high = __reduce_min_sync(ALL, arc < 0 ? ~0u : u32(key >> 32));
        bool least = arc >= 0 && u32(key >> 32) == high;
        const u32 low = __reduce_min_sync(ALL, least ? u32(key) : ~0u);
        least = least && u32(key) == low;
        const u32 place = __reduce_min_sync(ALL, least ? u32(arc - begin) : ~0u);
        key = u64(high) << 32 | low, arc = __any_sync(ALL, least) ? begin + place : -2;
#else
        for (int d = 16; d; d >>= 1) {
            const u64 other_key = __shfl_xor_sync(ALL, key, d);
            const i64 other = __shfl_xor_sync(ALL, arc, d);
            take(other_key, other);
        }
#endif
    }
};

// Millions of vertices may contend for one tree's minimum, mostly without lowering it, so it is read first. It only
// falls, so a stale value is safe.
__device__ inline void bring_least(u64* at, u64 value) {
    if (value < *at) atomicMin(at, value);
}

template <bool FIRST, class Id>
__device__ void settle_lightest(const Trees<Id>& trees, Id v, Id mine, const Lightest& found) {
    trees.arc[v] = found.arc;
    if (found.arc < 0) return;
    // At first every vertex is a tree.
    if (FIRST) trees.key[v] = found.key;
    else bring_least(trees.key + mine, found.key);
}

template <class Id>
__global__ void __launch_bounds__(FOREST_THREADS) begin_trees(i64 n, Trees<Id> trees, Counts* counts) {
    const i64 v = (i64)blockIdx.x * FOREST_THREADS + threadIdx.x;
    if (v == 0) *counts = Counts{};
    if (v >= n) return;
    // The first find_lightest writes every vertex's arc, and its weight if there is one.
    trees.root[v] = trees.above[v] = (Id)v;
    trees.chosen[v] = -1;
    trees.ends[v] = NOTHING;
}

// Active vertices: the first `count`, if there is no list.
template <class Id>
struct Looking {
    const Id* list;
    i64 count;

    __device__ i64 vertex(i64 i) const { return list ? (i64)list[i] : i; }
};

// Lightest arc of every vertex to another tree, and the least weight of each tree. Rows too long for a warp are listed.
template <class Id, class Weight, bool FIRST>
__global__ void __launch_bounds__(FOREST_THREADS)
find_lightest(const i64* __restrict__ indptr, const Id* __restrict__ indices, const Weight* __restrict__ data,
              Looking<Id> looking, const Id* left_out, Trees<Id> trees, Id* listed, Counts* counts) {
    const i64 i = (i64)blockIdx.x * FOREST_THREADS + threadIdx.x;
    i64 v = 0, begin = 0, end = 0;
    Id mine = 0;
    Lightest past{NOTHING, -2};
    if (i < looking.count) {
        v = looking.vertex(i);
        mine = FIRST ? (Id)v : trees.root[v];
        const i64 known = FIRST ? -1 : trees.arc[v];
        if (known != -2 && mine != *left_out) {
            if (known >= 0 && trees.root[indices[known]] != mine) bring_least(trees.key + mine, key_of(data, known));
            else if ((begin = indptr[v]) == (end = indptr[v + 1])) trees.arc[v] = -2;
            else if (known >= 0) past = Lightest{key_of(data, known), known};
        }
    }
    if (begin < end && end - begin <= FEW_ARCS) {
        Lightest found{NOTHING, -2};
        for (i64 at = begin; at < end; ++at) found.template look<FIRST>(indices, data, trees.root, mine, at, past);
        settle_lightest<FIRST>(trees, (Id)v, mine, found);
    }
    for (u32 rest = __ballot_sync(ALL, end - begin > FEW_ARCS); rest; rest &= rest - 1) {
        const int owner = __ffs(rest) - 1, lane = threadIdx.x & 31;
        const i64 from = __shfl_sync(ALL, begin, owner), to = __shfl_sync(ALL, end, owner);
        const Id u = (Id)__shfl_sync(ALL, v, owner), its = __shfl_sync(ALL, mine, owner);
        if (to - from > MANY_ARCS) {
            if (lane == owner) listed[atomicAdd(&counts->listed, 1ull)] = u;
            continue;
        }
        // The lightest remaining arc most likely leads to another tree: check it alone before checking all.
        Lightest behind{__shfl_sync(ALL, past.key, owner), __shfl_sync(ALL, past.arc, owner)}, found{NOTHING, -2};
        for (i64 at = from + lane; at < to; at += 32)
            if (const u64 key = key_of(data, at); behind.precedes(key, at)) found.take(key, at);
        found.of_warp(from);
        if (found.arc >= 0 && !leaves<FIRST>(indices, trees.root, its, found.arc)) {
            behind = found, found = Lightest{NOTHING, -2};
            for (i64 at = from + lane; at < to; at += 32)
                found.template look<FIRST>(indices, data, trees.root, its, at, behind);
            found.of_warp(from);
        }
        if (lane == 0) settle_lightest<FIRST>(trees, u, its, found);
    }
}

// The same for the listed rows, each by a block.
template <class Id, class Weight, bool FIRST>
__global__ void __launch_bounds__(FOREST_THREADS)
find_lightest_listed(const i64* __restrict__ indptr, const Id* __restrict__ indices, const Weight* __restrict__ data,
                     Trees<Id> trees, const Id* __restrict__ listed, const Counts* counts) {
    __shared__ Lightest of_warps[FOREST_THREADS / 32];
    for (u64 i = blockIdx.x; i < counts->listed; i += gridDim.x) {
        const Id v = listed[i], mine = trees.root[v];
        Lightest found{NOTHING, -2};
        for (i64 at = indptr[v] + threadIdx.x; at < indptr[v + 1]; at += FOREST_THREADS)
            found.template look<FIRST>(indices, data, trees.root, mine, at, Lightest{NOTHING, -2});
        found.of_warp(indptr[v]);
        if ((threadIdx.x & 31) == 0) of_warps[threadIdx.x / 32] = found;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < FOREST_THREADS / 32; ++w) found.take(of_warps[w].key, of_warps[w].arc);
            settle_lightest<FIRST>(trees, v, mine, found);
        }
        __syncthreads();
    }
}

// Both ends of an arc as one number, the lower end in the upper bits.
template <class Id> __device__ u64 ends_of(Id u, Id v) {
    return u < v ? (u64)u << 32 | (u64)v : (u64)v << 32 | (u64)u;
}

// Whether a vertex's arc has the least weight of its tree.
template <class Id, class Weight>
__device__ bool is_lightest(const Weight* data, const Trees<Id>& trees, i64 v, Id left_out, Id& mine, i64& at) {
    at = trees.arc[v], mine = trees.root[v];
    return at >= 0 && mine != left_out && key_of(data, at) == trees.key[mine];
}

template <class Id, class Weight>
__global__ void __launch_bounds__(FOREST_THREADS)
settle_ties(const Id* __restrict__ indices, const Weight* __restrict__ data, Looking<Id> looking, const Id* left_out,
            Trees<Id> trees) {
    const i64 i = (i64)blockIdx.x * FOREST_THREADS + threadIdx.x;
    if (i >= looking.count) return;
    const i64 v = looking.vertex(i);
    Id mine;
    i64 at;
    if (is_lightest(data, trees, v, *left_out, mine, at)) bring_least(trees.ends + mine, ends_of((Id)v, indices[at]));
}

// Hooks each tree under the other end of its lightest arc; if two trees chose the same arc, the one with the larger
// root. Vertices that may have an arc to another tree stay active.
template <class Id, class Weight>
__global__ void __launch_bounds__(FOREST_THREADS)
join_trees(const Id* __restrict__ indices, const Weight* __restrict__ data, Looking<Id> looking, const Id* left_out,
           Trees<Id> trees, Id* look_on, Counts* counts) {
    __shared__ BlockSums sums;
    sums.clear();
    const i64 i = (i64)blockIdx.x * FOREST_THREADS + threadIdx.x;
    const bool here = i < looking.count;
    const i64 v = here ? looking.vertex(i) : 0;
    Id mine;
    i64 at;
    bool joins = false;
    if (here && is_lightest(data, trees, v, *left_out, mine, at)) {
        const Id u = indices[at];
        const u64 ends = ends_of((Id)v, u);
        if (ends == trees.ends[mine]) {
            const Id other = trees.root[u];
            joins = mine > other || other == *left_out || trees.ends[other] != ends;
            if (joins) trees.above[mine] = other, trees.source[mine] = (Id)v, trees.chosen[mine] = at;
        }
    }
    const bool looks_on = here && trees.arc[v] != -2;
    const int count = __syncthreads_count(joins);
    if (threadIdx.x == 0 && count) atomicAdd(&counts->joined, (u64)count);
    append_of_block(sums, looks_on, (Id)v, look_on, &counts->looking_on);
}

// Points every vertex at its root, resets the minima, and finds the tree to leave out, the largest. Path halving: a
// concurrent store also writes an ancestor.
template <class Id>
__global__ void __launch_bounds__(FOREST_THREADS) flatten_trees(i64 n, Trees<Id> trees, Counts* counts, Id* left_out) {
    const i64 v = (i64)blockIdx.x * FOREST_THREADS + threadIdx.x;
    if (v == 0) *counts = Counts{};
    if (v < n) {
        const Id root = trees.root[v] = root_of<Id>(trees.above, trees.root[v]);
        if (root == v) trees.key[v] = trees.ends[v] = NOTHING;
    }
    // `root` may be old or new here: both lead to the new root.
    if (blockIdx.x == 0) note_most_frequent_root<Id>(n, trees.root, trees.above, left_out);
}

// Counts a block's roots that keep an arc; then lists them, with `tail` the inclusive sum over blocks.
template <class Id>
__global__ void __launch_bounds__(FOREST_THREADS) count_kept(i64 n, Trees<Id> trees, Id* tail) {
    const i64 v = (i64)blockIdx.x * FOREST_THREADS + threadIdx.x;
    const int count = __syncthreads_count(v < n && trees.chosen[v] >= 0);
    if (threadIdx.x == 0) tail[blockIdx.x] = (Id)count;
}

template <class Id>
__global__ void __launch_bounds__(FOREST_THREADS)
list_kept(i64 n, Trees<Id> trees, const Id* __restrict__ tail, Id* source, i64* arc) {
    __shared__ u32 votes[FOREST_THREADS / 32];
    const i64 v = (i64)blockIdx.x * FOREST_THREADS + threadIdx.x, chosen = v < n ? trees.chosen[v] : -1;
    const u32 mine = __ballot_sync(ALL, chosen >= 0), lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    if (lane == 0) votes[warp] = mine;
    __syncthreads();
    if (chosen < 0) return;
    i64 place = blockIdx.x ? (i64)tail[blockIdx.x - 1] : 0;
    for (u32 w = 0; w < warp; ++w) place += __popc(votes[w]);
    place += __popc(mine & ((1u << lane) - 1));
    source[place] = trees.source[v], arc[place] = chosen;
}

}  // namespace hpgraph
