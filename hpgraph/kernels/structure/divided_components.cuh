// Weakly connected components of a graph whose rows are divided between GPUs.
//
// Each part builds a forest along the arcs among its own vertices (components.cuh), reading and writing only their
// labels. It sends the others its largest tree as a bitmap, and lists the vertices outside it that have arcs. Then it
// links all arcs of these, as every arc is known to both of its ends; and arcs of vertices inside, until one has led
// into the largest tree of each part before. The results are hooked into the part's own labels, where a remote vertex
// stands for all that this part has joined to it. The first part receives bitmaps of the roots and of the largest
// trees, and the rest, which is little, as pairs of vertices in the same component.
#pragma once
#include "components.cuh"
#include "search.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int MAX_PARTS = 8;  // as in multi_gpu_barrier.cuh

// Position of a lane's first entry in a list to which the lanes of a warp append `count` entries each.
__device__ inline u64 places_of(u32 count, u64* tail) {
    const u32 up_to = warp_prefix_sum(count);
    u64 begin = 0;
    if (lane_of_warp() == 31 && up_to) begin = atomicAdd(tail, u64(up_to));
    return __shfl_sync(ALL, begin, 31) + up_to - count;
}

// A list of pairs of vertices in the same component.
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
    i64 begins[MAX_PARTS + 1];  // of the ranges: multiples of 64
    u32* marks[MAX_PARTS];      // at each part, bits of all vertices: whether they are in the largest tree of their part
    Id* largest[MAX_PARTS];     // at each part, a vertex of the largest tree of every part
    Id* labels[MAX_PARTS];      // at each part
    Pairs<Id> pairs[MAX_PARTS]; // at each part, the pairs it has found
    u32* settled;               // at the first part, the final marks
    u32* roots;                 // at the first part, bitmap of the roots
    Id* tops;                    // at the first part, the root of the largest tree of every part
    u32* reached;               // here, the parts whose largest trees are joined to this one's

    __device__ i64 first() const { return begins[me]; }
    __device__ i64 last() const { return begins[me + 1]; }
    __device__ bool owns(i64 v) const { return v >= first() && v < last(); }
    __device__ int part_of(i64 v) const {
        int part = 0;
        while (v >= begins[part + 1]) ++part;
        return part;
    }
    __device__ bool is_marked(i64 v) const { return __ldg(marks[me] + (v >> 5)) >> (v & 31) & 1; }
    // Past L1: other blocks write to it.
    __device__ bool has_reached(int part) const { return __ldcg(reached + part) != 0; }
    __device__ bool has_reached_all_before() const {
        for (int part = 0; part < me; ++part)
            if (!has_reached(part)) return false;
        return true;
    }
};

// Bounds of each row's arcs to the columns first..last; rows ascend.
template <typename Id, typename Offset>
__global__ void __launch_bounds__(COMPONENT_THREADS)
bound_columns(const i64* __restrict__ indptr, const Id* __restrict__ indices, i64 n, i64 first, i64 last, Offset* begins,
              Offset* ends) {
    const i64 row = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x;
    if (row >= n) return;
    const i64 begin = lower_bound(indices, indptr[row], indptr[row + 1], first);
    begins[row] = Offset(begin);
    ends[row] = Offset(lower_bound(indices, begin, indptr[row + 1], last));
}

// Vertices of the parts before this one start as singletons.
template <typename Id> __global__ void __launch_bounds__(COMPONENT_THREADS) stand_alone(i64 n, Id* label) {
    for_each_vertex([&](int, i64 v) {
        if (v < n) label[v] = Id(v);
    });
}

// The words of the bitmap of first..last, and some past it, one a lane: call(the first vertex of a warp's 1,024).
constexpr int SPAN = 32 * 32;
// Resident blocks per multiprocessor: a part of 2²³ vertices has as many spans as there are resident warps.
constexpr int RESIDENT = 8;
template <class Call> __device__ void for_each_span(i64 first, i64 last, Call call) {
    const i64 warp = (i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x) / 32, warps = i64(gridDim.x) * BLOCK_WARPS;
    for (i64 from = first + warp * SPAN; from < last; from += warps * SPAN) call(from);
}

// Sends all parts a bitmap of this one's largest tree, which contains `largest`; and lists the other vertices that have
// arcs. `empty` is a bitmap of this part's vertices without arcs.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS, RESIDENT)
mark_largest(const __grid_constant__ Division<Id> division, const Id* largest, const u32* __restrict__ empty, Id* outside,
             u64* tail) {
    Id* const label = division.labels[division.me];
    const Id root = root_of<Id>(label, *largest);
    const i64 first = division.first(), last = division.last();
    const int lane = lane_of_warp();
    for_each_span(first, last, [&](i64 from) {
        u32 inside = 0, others = 0;
#pragma unroll 1
        for (int w = 0; w < 32; w += VERTICES_EACH) {
            Id above[VERTICES_EACH];
#pragma unroll
            for (int k = 0; k < VERTICES_EACH; ++k) {
                const i64 v = from + (w + k) * 32 + lane;
                above[k] = v < last ? label[v] : root;
            }
            find_roots<Id>(label, above);
#pragma unroll
            for (int k = 0; k < VERTICES_EACH; ++k) {
                const bool there = from + (w + k) * 32 + lane < last;
                const u32 in = __ballot_sync(ALL, there && above[k] == root);
                const u32 out = __ballot_sync(ALL, there && above[k] != root);
                if (lane == w + k) inside = in, others = out;
            }
        }
        const i64 word = (from >> 5) + lane;
        if (word * 32 < last) {
            for (int part = 0; part < division.count; ++part) division.marks[part][word] = inside;
            others &= ~__ldg(empty + word - (first >> 5));
        }
        for (u64 place = places_of(__popc(others), tail); others; others &= others - 1)
            outside[place++] = Id(word * 32 + __ffs(others) - 1);
    });
    if (blockIdx.x == 0 && threadIdx.x < division.count) {
        division.largest[threadIdx.x][division.me] = root;
        // Parts before this one see a larger vertex, the only one of this part that they may hook.
        if (threadIdx.x < division.me) division.labels[threadIdx.x][root] = root;
    }
}

// Joins two vertices. A hooked root of another part is recorded as a pair.
template <typename Id> __device__ void link(const Division<Id>& division, Id u, Id v) {
    hook<Id>(division.labels[division.me], u, v, [&](Id high, Id low) {
        if (!division.owns(high)) division.pairs[division.me].add(high, low);
    });
}

// Links the arcs of vertices outside the largest tree: one arc into the largest tree of each part suffices, and arcs to
// others outside are linked from one of the two ends.
template <typename Id> struct LinkOutside {
    const Division<Id>& division;
    Id vertex = -1;   // last processed by this thread
    u32 reached = 0;  // the parts whose largest trees it is joined to

    __device__ void operator()(Id v, Id u) {
        if (v != vertex) vertex = v, reached = 0;
        if (division.is_marked(u)) {
            const int part = division.part_of(u);
            if (!(reached >> part & 1)) link<Id>(division, v, division.largest[division.me][part]);
            reached |= 1u << part;
        } else if (u < v) link<Id>(division, v, u);
    }
};

// Links an arc of a vertex inside if it is the first into the largest tree of an earlier part. Returns false to stop.
template <typename Id> __device__ bool link_inside(const Division<Id>& division, Id v, Id u) {
    if (u >= division.first() || division.has_reached_all_before()) return false;
    const int part = division.part_of(u);
    if (division.is_marked(u) && !division.has_reached(part)) {
        link<Id>(division, v, division.largest[division.me][part]);
        division.reached[part] = 1;
    }
    return true;
}

// The first few arcs of every `step`-th row, from number `row` on.
constexpr int FIRST_ARCS = 32;
template <typename Id>
__device__ void link_insides(const Rows<Id>& rows, const Division<Id>& division, i64 row, i64 last, i64 step) {
    for (; row < last && !division.has_reached_all_before(); row += step) {
        const i64 v = rows.base + row;
        if (!division.is_marked(v)) continue;
        const i64 begin = rows.begin(row), end = min(begin + FIRST_ARCS, rows.end(row));
        for (i64 at = begin; at < end && link_inside(division, Id(v), rows.target(at)); ++at) {}
    }
}

template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
link_others(Rows<Id> rows, const __grid_constant__ Division<Id> division, const Id* __restrict__ outside,
            const u64* __restrict__ count, Id* listed, u64* tail) {
    const i64 thread = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x, threads = i64(gridDim.x) * COMPONENT_THREADS;
    const i64 all = i64(*count);
    for (i64 i = thread; i - lane_of_warp() < all; i += threads)
        for_each_arc(rows, i < all, i < all ? i64(outside[i]) : 0, 0, listed, tail, LinkOutside<Id>{division});
    // Nearly always one of these rows leads into an earlier part's tree. With more than one block, all would find it at
    // once and contend for the same label.
    if (blockIdx.x == 0) link_insides(rows, division, threadIdx.x, min(rows.n, i64(BLOCK_VERTICES)), COMPONENT_THREADS);
}

// The longest rows of vertices outside; and if no arc has led to the earlier trees yet, all arcs of vertices inside.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS)
link_long_others(Rows<Id> rows, const __grid_constant__ Division<Id> division, const Id* listed, const u64* tail) {
    for_each_listed(rows, 0, listed, tail, LinkOutside<Id>{division});
    const i64 thread = i64(blockIdx.x) * COMPONENT_THREADS + threadIdx.x, threads = i64(gridDim.x) * COMPONENT_THREADS;
    link_insides(rows, division, thread, rows.n, threads);
    // The rest of long rows, a warp for each row.
    for (i64 row = thread / 32; row < rows.n && !division.has_reached_all_before(); row += threads / 32) {
        const i64 v = rows.base + row;
        if (!division.is_marked(v)) continue;
        const i64 end = rows.end(row);
        for (i64 at = rows.begin(row) + FIRST_ARCS + lane_of_warp(); at < end; at += 32)
            if (!link_inside(division, Id(v), rows.target(at))) break;
    }
}

// Sends the first part the final state of this part's vertices.
template <typename Id>
__global__ void __launch_bounds__(COMPONENT_THREADS, RESIDENT) settle(const __grid_constant__ Division<Id> division) {
    Id* const label = division.labels[division.me];
    const Id largest = division.largest[division.me][division.me], top = root_of<Id>(label, largest);
    const i64 last = division.last();
    const int lane = lane_of_warp();
    for_each_span(division.first(), last, [&](i64 from) {
        const i64 word = (from >> 5) + lane;
        const u32 marked = word * 32 < last ? __ldg(division.marks[division.me] + word) : ALL;
        u32 settled = 0, roots = 0;
#pragma unroll 1
        for (int w = 0; w < 32; w += VERTICES_EACH) {
            Id root[VERTICES_EACH];
#pragma unroll
            for (int k = 0; k < VERTICES_EACH; ++k) {
                const i64 v = from + (w + k) * 32 + lane;
                const bool is_inside = __shfl_sync(ALL, marked, w + k) >> lane & 1;
                root[k] = is_inside || v >= last ? top : label[v];
            }
            find_roots<Id>(label, root);
#pragma unroll
            for (int k = 0; k < VERTICES_EACH; ++k) {
                const i64 v = from + (w + k) * 32 + lane;
                // The first part has the labels of its own vertices.
                if (division.me > 0 && v < last && root[k] != v && (root[k] != top || v == largest))
                    division.pairs[division.me].add(Id(v), root[k]);
                const u32 of_top = __ballot_sync(ALL, v < last && root[k] == top);
                const u32 alone = __ballot_sync(ALL, root[k] == v);
                if (lane == w + k) settled = of_top, roots = alone;
            }
        }
        if (word * 32 < last) division.settled[word] = settled, division.roots[word] = roots;
    });
    if (blockIdx.x == 0 && threadIdx.x == 0) division.tops[division.me] = top;
}

// The rest runs at the first part, which has labels of its own vertices. Remote vertices named by pairs get one: the
// root of their part's largest tree if they are in it, else their own.
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
    __shared__ Id of_largest[MAX_PARTS];
    // A root that no pair names may have no label here.
    const auto number_of = [&](Id v) { return ranks.of(ranks.has(v) ? v : root_of<Id>(division.labels[0], v)); };
    const int part = threadIdx.x;
    if (part < division.count && division.begins[part] < division.begins[part + 1])
        of_largest[part] = number_of(division.tops[part]);
    __syncthreads();
    const int lane = lane_of_warp();
    for_each_span(0, n, [&](i64 from) {
        const i64 word = (from >> 5) + lane;
        const bool there = word * 32 < n;
        const u32 settled = there ? __ldg(division.settled + word) : 0, roots = there ? __ldg(ranks.roots + word) : 0;
        const Id before = there ? __ldg(ranks.before + word) : Id(0);
        // A word lies in one part.
        const Id of_part = there ? of_largest[division.part_of(word * 32)] : Id(0);
#pragma unroll 8
        for (int w = 0; w < 32; ++w) {
            const i64 v = from + w * 32 + lane;
            const u32 inside = __shfl_sync(ALL, settled, w), alone = __shfl_sync(ALL, roots, w);
            const Id of_inside = __shfl_sync(ALL, of_part, w), rank = __shfl_sync(ALL, before, w);
            const Id found = inside >> lane & 1 ? of_inside : rank + Id(__popc(alone & lanes_below()));
            if (v < n && (inside | alone) >> lane & 1) number[v] = found;
        }
        // Vertices of other trees are few, and take the most time.
        const u32 all = !there ? 0 : n - word * 32 < 32 ? (1u << (n - word * 32)) - 1 : ALL;
        for (u32 rest = all & ~(settled | roots); rest; rest &= rest - 1) {
            const Id v = Id(word * 32 + __ffs(rest) - 1);
            number[v] = number_of(v);
        }
    });
}

}  // namespace hpgraph
