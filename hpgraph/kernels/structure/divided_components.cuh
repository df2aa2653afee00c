// Weakly connected components of a graph whose rows are divided between GPUs.
//
// Each part begins a forest along the arcs among its own vertices (components.cuh): their labels are all that it reads and
// writes then. It tells the others whom its largest tree has, a bit a vertex, and lists who is outside and has arcs. Then it
// looks at all arcs of these, as every arc is known to both of its ends; and at those of vertices inside, until one has led
// into the largest tree of each part before. What comes of it is hooked into the part's own labels, where another's vertex
// stands for whatever this part has joined to it. The first part is told in bits who is a root and who is in the largest tree,
// and the rest, which is little, as pairs of vertices that belong together.
#pragma once
#include "components.cuh"
#include "search.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int MOST_PARTS = 8;  // as in meeting.cuh

// Pairs of vertices that belong together, in a list.
template <typename Id> struct Pairs {
    Id* ids;
    u64* count;

    __device__ void add(Id u, Id v) const {
        const u64 at = atomicAdd(count, 1ull);
        ids[2 * at] = u, ids[2 * at + 1] = v;
    }
};

template <typename Id> struct Division {
    i64 me, count;
    i64 begins[MOST_PARTS + 1];  // of the ranges: multiples of 64
    u32* marks[MOST_PARTS];      // at each part, bits of all vertices: whether they are in the largest tree of their part
    Id* largest[MOST_PARTS];     // at each part, a vertex of the largest tree of every part
    Id* labels[MOST_PARTS];      // at each part
    Pairs<Id> pairs[MOST_PARTS]; // at each part, what it has found
    u32* settled;                // at the first part, what the marks are in the end
    u32* roots;                  // at the first part, bits of who is a root
    Id* tops;                    // at the first part, the root of the largest tree of every part
    u32* reached;                // here, which parts' largest trees this one's has been joined to

    __device__ i64 first() const { return begins[me]; }
    __device__ i64 last() const { return begins[me + 1]; }
    __device__ bool owns(i64 v) const { return v >= first() && v < last(); }
    __device__ int part_of(i64 v) const {
        int part = 0;
        while (v >= begins[part + 1]) ++part;
        return part;
    }
    __device__ bool is_marked(i64 v) const { return __ldg(marks[me] + (v >> 5)) >> (v & 31) & 1; }
    // Other blocks write to it meanwhile.
    __device__ bool has_reached(int part) const { return __ldcg(reached + part) != 0; }
    __device__ bool has_reached_all_before() const {
        for (int part = 0; part < me; ++part)
            if (!has_reached(part)) return false;
        return true;
    }
};

// Where the arcs of rows to the columns from `first` to before `last` begin and end; rows ascend.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
bound_columns(const i64* __restrict__ indptr, const Id* __restrict__ indices, i64 n, i64 first, i64 last, i64* begins,
              i64* ends) {
    const i64 row = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x;
    if (row >= n) return;
    begins[row] = lower_bound(indices, indptr[row], indptr[row + 1], first);
    ends[row] = lower_bound(indices, begins[row], indptr[row + 1], last);
}

// Vertices of others that come before this part's are as yet alone.
template <typename Id> __global__ void __launch_bounds__(COMPONENT_THREADS) stand_alone(i64 n, Id* label) {
    for_each_vertex(0, [&](int, i64 v) {
        if (v < n) label[v] = Id(v);
    });
}

// Words of bits of the vertices that `for_each_vertex` gives to a block, in shared memory, go out in one piece: tell(word,
// bits). By the whole block, which has just written them.
constexpr int BLOCK_WORDS = BLOCK_VERTICES / 32, BLOCK_WARPS = COMPONENT_THREADS / 32;
template <class Tell> __device__ void tell_words(i64 first, i64 last, const u32* words, Tell tell) {
    __syncthreads();
    const i64 word = (first >> 5) + i64(blockIdx.x) * BLOCK_WORDS + threadIdx.x;
    if (threadIdx.x < BLOCK_WORDS && word * 32 < last) tell(word, words[threadIdx.x]);
}

// Tell all parts whom this one's largest tree has, in which `largest` is; and list the other vertices that have arcs. `empty`
// has bits of this part's vertices that have none.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
mark_largest(const __grid_constant__ Division<Id> division, const Id* largest, const u32* __restrict__ empty, Id* outside,
             u64* tail) {
    __shared__ u32 words[BLOCK_WORDS], before[BLOCK_WORDS];
    __shared__ u64 base;
    Id* const label = division.labels[division.me];
    const Id root = root_of<Id>(label, *largest);
    const i64 first = division.first(), last = division.last();
    const int warp = threadIdx.x / 32;
    Id above[VERTICES_EACH];
    u32 listed[VERTICES_EACH];
    for_each_vertex(first, [&](int k, i64 v) { above[k] = v < last ? label[v] : root; });
    for_each_vertex(first, [&](int k, i64 v) {
        const u32 there = __ballot_sync(ALL, v < last);
        const u32 bits = __ballot_sync(ALL, v < last && root_of<Id>(label, above[k]) == root);
        listed[k] = there ? there & ~bits & ~__ldg(empty + ((v - first) >> 5)) : 0;
        if (lane_of_warp() == 0) words[k * BLOCK_WARPS + warp] = bits, before[k * BLOCK_WARPS + warp] = __popc(listed[k]);
    });
    tell_words(first, last, words, [&](i64 word, u32 bits) {
        for (int part = 0; part < division.count; ++part) division.marks[part][word] = bits;
    });
    if (threadIdx.x == 0) {
        u32 sum = 0;
        for (int w = 0; w < BLOCK_WORDS; ++w) {
            const u32 count = before[w];
            before[w] = sum, sum += count;
        }
        base = sum ? atomicAdd(tail, u64(sum)) : 0;
    }
    __syncthreads();
    for_each_vertex(first, [&](int k, i64 v) {
        if (listed[k] >> lane_of_warp() & 1)
            outside[base + before[k * BLOCK_WARPS + warp] + __popc(listed[k] & lanes_below())] = Id(v);
    });
    if (blockIdx.x == 0 && threadIdx.x < division.count) {
        division.largest[threadIdx.x][division.me] = root;
        // To parts before this one it is a larger vertex, the only one of this part that they may hook.
        if (threadIdx.x < division.me) division.labels[threadIdx.x][root] = root;
    }
}

// Two vertices belong together. A root of another part that is hooked is noted.
template <typename Id> __device__ void link(const Division<Id>& division, Id u, Id v) {
    hook<Id>(division.labels[division.me], u, v, [&](Id high, Id low) {
        if (!division.owns(high)) division.pairs[division.me].add(high, low);
    });
}

// An arc of a vertex outside the largest tree.
template <typename Id> __device__ void link_outside(const Division<Id>& division, Id v, Id u) {
    const int part = division.part_of(u);
    if (part == division.me) link<Id>(division, v, u);
    else if (division.is_marked(u)) link<Id>(division, v, division.largest[division.me][part]);
    // Else the other part looks at its reverse.
    else if (part < division.me) link<Id>(division, v, u);
}

// An arc of a vertex inside, which may be the first that leads into the largest tree of a part before; whether to go on.
template <typename Id> __device__ bool link_inside(const Division<Id>& division, Id v, Id u) {
    if (u >= division.first() || division.has_reached_all_before()) return false;
    const int part = division.part_of(u);
    if (division.is_marked(u) && !division.has_reached(part)) {
        link<Id>(division, v, division.largest[division.me][part]);
        division.reached[part] = 1;
    }
    return true;
}

// Arcs of a row that one thread looks at for a way into other largest trees. Nearly always the first will do.
constexpr int FIRST_ARCS = 32;

template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
link_others(Rows<Id> rows, const __grid_constant__ Division<Id> division, const Id* __restrict__ outside,
            const u64* __restrict__ count, Id* listed, u64* tail) {
    const i64 thread = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x, threads = i64(gridDim.x) * COMPONENT_THREADS;
    const i64 all = i64(*count);
    for (i64 i = thread; i - lane_of_warp() < all; i += threads)
        for_each_arc(rows, i < all, i < all ? i64(outside[i]) : 0, 0, listed, tail,
                     [&](Id v, Id u) { link_outside(division, v, u); });
    for (i64 row = thread; row < rows.n && !division.has_reached_all_before(); row += threads) {
        const i64 v = rows.base + row;
        if (!division.is_marked(v)) continue;
        const i64 begin = rows.begin(row), end = min(begin + FIRST_ARCS, rows.end(row));
        for (i64 at = begin; at < end && link_inside(division, Id(v), rows.target(at)); ++at) {}
    }
}

// What that has left: the longest rows outside; and of those inside, a warp to a row, all arcs if none has led there yet.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
link_long_others(Rows<Id> rows, const __grid_constant__ Division<Id> division, const Id* listed, const u64* tail) {
    for_each_listed(rows, 0, listed, tail, [&](Id v, Id u) { link_outside(division, v, u); });
    const i64 warp = (i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x) / 32, warps = i64(gridDim.x) * BLOCK_WARPS;
    for (i64 row = warp; row < rows.n && !division.has_reached_all_before(); row += warps) {
        const i64 v = rows.base + row;
        if (!division.is_marked(v)) continue;
        const i64 end = rows.end(row);
        for (i64 at = rows.begin(row) + FIRST_ARCS + lane_of_warp(); at < end; at += 32)
            if (!link_inside(division, Id(v), rows.target(at))) break;
    }
}

// Tell the first part what has become of this one's vertices.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS) settle(const __grid_constant__ Division<Id> division) {
    __shared__ u32 settled[BLOCK_WORDS], roots[BLOCK_WORDS];
    Id* const label = division.labels[division.me];
    const Id largest = division.largest[division.me][division.me], top = root_of<Id>(label, largest);
    const i64 first = division.first(), last = division.last();
    const int warp = threadIdx.x / 32;
    Id above[VERTICES_EACH];
    for_each_vertex(first, [&](int k, i64 v) {
        above[k] = v >= last ? Id(-1) : division.is_marked(v) ? top : label[v];
    });
    for_each_vertex(first, [&](int k, i64 v) {
        const Id root = above[k] < 0 || above[k] == v ? above[k] : root_of<Id>(label, above[k]);
        // The first part has the labels of its own vertices.
        if (division.me > 0 && v < last && root != v && (root != top || v == largest))
            division.pairs[division.me].add(Id(v), root);
        const u32 inside = __ballot_sync(ALL, root == top), alone = __ballot_sync(ALL, root == v);
        if (lane_of_warp() == 0) settled[k * BLOCK_WARPS + warp] = inside, roots[k * BLOCK_WARPS + warp] = alone;
    });
    tell_words(first, last, settled, [&](i64 word, u32 bits) { division.settled[word] = bits; });
    tell_words(first, last, roots, [&](i64 word, u32 bits) { division.roots[word] = bits; });
    if (blockIdx.x == 0 && threadIdx.x == 0) division.tops[division.me] = top;
}

// All that follows runs at the first part, which has labels of its own vertices. Those of others that pairs name get one: the
// root of the largest tree of their part where they are in it, else they are alone before the pairs are joined.
template <typename Id> __device__ void begin_label(const Division<Id>& division, Id v) {
    if (v < division.begins[1]) return;
    const bool is_settled = __ldg(division.settled + (v >> 5)) >> (v & 31) & 1;
    division.labels[0][v] = is_settled ? division.tops[division.part_of(v)] : v;
}

template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS) begin_pairs(const __grid_constant__ Division<Id> division) {
    const i64 thread = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x;
    for (int part = 0; part < division.count; ++part) {
        if (division.begins[part] == division.begins[part + 1]) continue;
        if (thread == part) begin_label(division, division.tops[part]);
        const Pairs<Id>& pairs = division.pairs[part];
        const i64 ids = 2 * i64(*pairs.count);
        for (i64 at = thread; at < ids; at += i64(gridDim.x) * COMPONENT_THREADS) begin_label(division, pairs.ids[at]);
    }
}

template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS) join_pairs(const __grid_constant__ Division<Id> division) {
    const i64 thread = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x;
    for (int part = 0; part < division.count; ++part) {
        if (division.begins[part] == division.begins[part + 1]) continue;
        const Pairs<Id>& pairs = division.pairs[part];
        const i64 count = i64(*pairs.count);
        for (i64 at = thread; at < count; at += i64(gridDim.x) * COMPONENT_THREADS)
            hook<Id>(division.labels[0], pairs.ids[2 * at], pairs.ids[2 * at + 1],
                     [&](Id high, Id) { atomicAnd(division.roots + (high >> 5), ~(1u << (high & 31))); });
    }
}

template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
number_divided(i64 n, const __grid_constant__ Division<Id> division, Ranks<Id> ranks, Id* number) {
    __shared__ Id of_largest[MOST_PARTS];
    // A root that nobody has joined to another may have no label here.
    const auto number_of = [&](Id v) { return ranks.of(ranks.has(v) ? v : root_of<Id>(division.labels[0], v)); };
    const int part = threadIdx.x;
    if (part < division.count && division.begins[part] < division.begins[part + 1])
        of_largest[part] = number_of(division.tops[part]);
    __syncthreads();
    // Blocks that stay ask for that once.
    const i64 threads = i64(gridDim.x) * COMPONENT_THREADS;
#pragma unroll 4
    for (i64 v = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x; v < n; v += threads) {
        const u32 settled = __ldg(division.settled + (v >> 5)), roots = __ldg(ranks.roots + (v >> 5));
        const Id before = __ldg(ranks.before + (v >> 5));
        const int lane = lane_of_warp();
        if (settled >> lane & 1) number[v] = of_largest[division.part_of(v)];
        else if (roots >> lane & 1) number[v] = before + Id(__popc(roots & lanes_below()));
        else number[v] = number_of(Id(v));
    }
}

}  // namespace hpgraph
