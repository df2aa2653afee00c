// Trusses by peeling edges: edges in fewer than `level` triangles are removed, and each of their triangles decrements
// the support of its other two edges, round by round; then the next level begins.
//
// Rounds follow H. Kabir, K. Madduri, "Parallel k-truss decomposition on multicore platforms", HPEC'17. All levels run
// in one launch, until half of the edges are removed. A triangle is visited when its first edge is removed. In sparse
// graphs the row of the end with lower degree is read, and each neighbour is looked up in a hash table of the other
// end's row; in dense graphs the rows are bitmaps, and the intersection of both ends' rows gives the triangles.
#pragma once
#include "persistent.cuh"
#include "search.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int TRUSS_THREADS = 256;
// For the peeling kernel: fewer blocks spend less time at barriers.
constexpr int LEVEL_THREADS = 512, LEVEL_WARPS = LEVEL_THREADS / 32;
constexpr int WORDS = 4;  // words that a lane has in flight
// Flags in an edge's word: removed, or to be removed in this round. The lower bits hold the support or, with ENDED, the
// level at which the edge was removed.
constexpr u32 ENDED = 1u << 31, GOING = 1u << 30;
constexpr u64 VACANT = ~0ull;

// Edges by both ends, sorted by upper end, then by lower end. `edge`: the edges of each vertex, ascending by the other
// end.
template <class Index>
struct Edges {
    const Index* upper;
    const Index* lower;
    const i64* indptr;
    u32* edge;
};

// The hash table of a row of length d has 2d slots: an edge, and the low 32 bits of a neighbour's id.
template <class Index>
struct HashedRows : Edges<Index> {
    static constexpr int BLOCKS = 4;  // resident blocks per multiprocessor
    Index* neighbour;
    u64* table;

    __device__ static u32 slot(Index w, u32 size) { return __umulhi(u32(w) * 2654435769u, size); }
    __device__ void put(Index v, Index w, i64 at, u32 of) const {
        this->edge[at] = of, neighbour[at] = w;
        const u32 size = u32(2 * (this->indptr[i64(v) + 1] - this->indptr[v]));
        u64* const row = table + 2 * this->indptr[v];
        u32 place = slot(w, size);
        while (atomicCAS(row + place, VACANT, u64(of) << 32 | u32(w)) != VACANT) place = place + 1 == size ? 0 : place + 1;
    }
    __device__ bool leads_to(u64 held, Index w) const {
        if (u32(held) != u32(w)) return false;
        return sizeof(Index) == 4 || this->upper[held >> 32] == w || this->lower[held >> 32] == w;
    }
    __device__ void remove(u32) const {}
};

// Neighbours in a word of a bitmap, and the number of neighbours before it in the row.
struct RankedWord {
    u32 bits, before;
};

// Each row is a bitmap of `words` words, a multiple of four. `left`: neighbours by edges not yet removed; `ranked`: all
// neighbours.
template <class Index>
struct BitRows : Edges<Index> {
    static constexpr int BLOCKS = 3;
    u32* left;
    RankedWord* ranked;
    i64 words;

    __device__ void put(Index v, Index w, i64 at, u32 of) const {
        this->edge[at] = of;
        const i64 word = v * words + (w >> 5);
        const u32 bit = 1u << (w & 31);
        atomicOr(left + word, bit), atomicOr(&ranked[word].bits, bit);
        atomicMin(&ranked[word].before, u32(at - this->indptr[v]));
    }
    __device__ u32 edge_to(Index v, Index w) const {
        const RankedWord word = ranked[v * words + (w >> 5)];
        return this->edge[this->indptr[v] + word.before + __popc(word.bits & ((1u << (w & 31)) - 1))];
    }
    __device__ void remove(u32 of) const {
        const Index v = this->upper[of], w = this->lower[of];
        atomicAnd(left + v * words + (w >> 5), ~(1u << (w & 31)));
        atomicAnd(left + w * words + (v >> 5), ~(1u << (v & 31)));
    }
};

// Keys that sort the edges by lower end.
template <class Index>
__global__ void __launch_bounds__(TRUSS_THREADS) edge_keys(const Index* __restrict__ lower, i64 edges, u64* keys) {
    const i64 e = i64(blockIdx.x) * TRUSS_THREADS + threadIdx.x;
    if (e < edges) keys[e] = u64(lower[e]) << 32 | u64(e);
}

// `below`: start of the edges of each upper end; `keys`: sorted.
template <class Index, class Rows>
__global__ void __launch_bounds__(TRUSS_THREADS)
list_rows(const i64* __restrict__ below, const u64* __restrict__ keys, const Rows rows, i64 edges) {
    const i64 i = i64(blockIdx.x) * TRUSS_THREADS + threadIdx.x;
    if (i >= edges) return;
    const Index upper = rows.upper[i], lower = Index(keys[i] >> 32);
    const u32 e = u32(keys[i]);
    rows.put(upper, rows.lower[i], rows.indptr[upper] + (i - below[upper]), u32(i));
    rows.put(lower, rows.upper[e], below[i64(lower) + 1] + i, e);
}

struct Levels {
    u32* word;
    u32 *going, *following;
    // Used in rotation: three list lengths, three minimum supports, and three counters of edges taken by warps; a phase
    // resets those of the next phase. Then the final level.
    u64* counters;
    unsigned* arrived;
};

// Lists the remaining edges with support below `level`, and finds the minimum support of the others.
__device__ inline void list_going(const Levels& levels, u32* going, i64 edges, u32 level, u64* tail, u64* least) {
    __shared__ u32 least_of_block;
    if (threadIdx.x == 0) least_of_block = ~0u;
    __syncthreads();
    const i64 warps = i64(gridDim.x) * LEVEL_WARPS, warp = (i64(blockIdx.x) * LEVEL_THREADS + threadIdx.x) / 32;
    u32 fewest = ~0u;
    for (i64 base = 32 * WORDS * warp; base < edges; base += 32 * WORDS * warps) {
        u32 word[WORDS];
#pragma unroll
        for (int k = 0; k < WORDS; ++k) {
            const i64 e = base + 32 * k + lane_of_warp();
            word[k] = e < edges ? __ldcg(levels.word + e) : ENDED;
        }
#pragma unroll
        for (int k = 0; k < WORDS; ++k) {
            const u32 e = u32(base + 32 * k + lane_of_warp());
            const bool goes = word[k] < level;
            if (goes) levels.word[e] = word[k] | GOING;
            else if (word[k] < ENDED) fewest = min(fewest, word[k]);
            append(goes, e, going, tail);
        }
    }
    for (int d = 16; d; d >>= 1) fewest = min(fewest, __shfl_xor_sync(ALL, fewest, d));
    if (lane_of_warp() == 0) atomicMin(&least_of_block, fewest);
    __syncthreads();
    if (threadIdx.x == 0) atomicMin(least, u64(least_of_block));
}

// An edge being removed, and one of 1 << shift parts of its triangles, processed by a warp.
struct Departure {
    u32 edge, level;
    int part, shift;
    u32* following;
    u64* tail;

    // Each lane with `closed` has a triangle, whose other edges f and g have the given words. Decrements their supports
    // unless they are being removed too or are already below `level`. Warp-collective.
    __device__ void leave(const Levels& levels, bool closed, u32 f, u32 of_f, u32 g, u32 of_g) const {
        // If two edges of the triangle are being removed, the lower one decrements the third.
        const bool f_loses = closed && of_f < GOING && of_f >= level && (of_g < GOING || edge < g);
        const bool g_loses = closed && of_g < GOING && of_g >= level && (of_f < GOING || edge < f);
        append(f_loses && atomicSub(levels.word + f, 1u) == level, f, following, tail);
        append(g_loses && atomicSub(levels.word + g, 1u) == level, g, following, tail);
    }
};

template <class Index>
__device__ __forceinline__ void leave_triangles(const HashedRows<Index>& rows, const Levels& levels, const Departure& one) {
    const u32 e = one.edge;
    u32 left = __ldcg(levels.word + e) & (GOING - 1);
    const Index upper = rows.upper[e], lower = rows.lower[e];
    i64 begin = rows.indptr[upper], other = rows.indptr[lower];
    u32 size = u32(rows.indptr[i64(upper) + 1] - begin), slots = u32(rows.indptr[i64(lower) + 1] - other);
    if (slots < size) {
        const i64 begins = begin;
        const u32 sized = size;
        begin = other, other = begins, size = slots, slots = sized;
    }
    slots *= 2;
    const u64* const table = rows.table + 2 * other;
    for (u32 first = 32 * one.part; left && first < size; first += 32 << one.shift) {
        const u32 place = first + lane_of_warp();
        u32 f = e, g = 0, of_f = ENDED, of_g = ENDED;
        if (place < size) {
            f = __ldg(rows.edge + begin + place);
            of_f = __ldcg(levels.word + f);
        }
        // If e and f are both removed and f comes first, f decrements g: no look-up is needed.
        if (f != e && !(of_f & ENDED) && (of_f < GOING || e < f)) {
            const Index w = __ldg(rows.neighbour + begin + place);
            u32 at = rows.slot(w, slots);
            u64 held = __ldg(table + at);
            while (held != VACANT && !rows.leads_to(held, w)) {
                at = at + 1 == slots ? 0 : at + 1;
                held = __ldg(table + at);
            }
            g = u32(held >> 32);
            if (held != VACANT) of_g = __ldcg(levels.word + g);
        }
        const bool closed = !(of_g & ENDED);
        one.leave(levels, closed, f, of_f, g, of_g);
        left -= __popc(__ballot_sync(ALL, closed));
    }
}

template <class Index>
__device__ __forceinline__ void leave_triangles(const BitRows<Index>& rows, const Levels& levels, const Departure& one) {
    __shared__ u32 queues[LEVEL_WARPS][64];
    u32* const queue = queues[threadIdx.x / 32];
    u32 left = __ldcg(levels.word + one.edge) & (GOING - 1), filled = 0;
    const Index upper = rows.upper[one.edge], lower = rows.lower[one.edge];
    const u32 *const a = rows.left + upper * rows.words, *const b = rows.left + lower * rows.words;
    const auto look_up = [&](bool mine, u32 w) {
        u32 f = 0, g = 0, of_f = ENDED, of_g = ENDED;
        if (mine) {
            f = rows.edge_to(upper, w), g = rows.edge_to(lower, w);
            of_f = __ldcg(levels.word + f), of_g = __ldcg(levels.word + g);
        }
        one.leave(levels, mine, f, of_f, g, of_g);
    };
    for (i64 first = 128 * one.part; left && first < rows.words; first += 128 << one.shift) {
        const i64 at = first + 4 * lane_of_warp();
        uint4 shared{0, 0, 0, 0};
        if (at < rows.words) {
            const uint4 x = *(const uint4*)(a + at), y = *(const uint4*)(b + at);
            shared = uint4{x.x & y.x, x.y & y.y, x.z & y.z, x.w & y.w};
        }
#pragma unroll 1
        for (int k = 0; k < 4; ++k) {
            u32 word = k == 0 ? shared.x : k == 1 ? shared.y : k == 2 ? shared.z : shared.w;
            for (u32 which; (which = __ballot_sync(ALL, word)); word &= word - 1) {
                if (word) queue[filled + __popc(which & lanes_below())] = u32(32 * (at + k)) + __ffs(word) - 1;
                filled += __popc(which), left -= __popc(which);
                if (filled < 32) continue;
                __syncwarp();
                filled -= 32;
                const u32 w = queue[filled + lane_of_warp()];
                __syncwarp();
                look_up(true, w);
            }
        }
    }
    __syncwarp();
    if (filled) look_up(lane_of_warp() < filled, queue[lane_of_warp()]);
    __syncwarp();
}

// Removes edges level by level, up to level `last` or until more than half of them are gone.
template <class Rows>
__global__ void __launch_bounds__(LEVEL_THREADS, Rows::BLOCKS)
peel_levels(const Rows rows, const Levels levels, i64 edges, u32 level, u32 last) {
    GridBarrier barrier(levels.arrived);
    const i64 threads = i64(gridDim.x) * LEVEL_THREADS, thread = i64(blockIdx.x) * LEVEL_THREADS + threadIdx.x;
    const i64 warps = threads / 32, warp = thread / 32;
    volatile u64* const counters = levels.counters;
    u32 *going = levels.going, *following = levels.following;
    i64 gone = 0;
    int phase = 0;
    const auto begin_phase = [&] {
        const int next = (phase + 1) % 3;
        if (thread == 0) counters[next] = 0, counters[3 + next] = ~0u, counters[6 + next] = 0;
        return levels.counters + phase % 3;
    };
    while (2 * gone <= edges && level <= last) {
        u64* const found = begin_phase();
        list_going(levels, going, edges, level, found, found + 3);
        barrier.wait();
        i64 count = i64(counters[phase % 3]);
        const u32 least = u32(counters[3 + phase % 3]);
        ++phase;
        if (!count) {
            level = least + 1;
            continue;
        }
        while (count) {
            u64* const tail = begin_phase();
            // With spare warps several share an edge: a round takes as long as its edge of highest degree. With many
            // edges a warp takes several at a time, and fetches the next batch while it searches for triangles.
            int shift = 0;
            while (shift < 5 && count << (shift + 1) <= warps) ++shift;
            // If all remaining edges are removed, no support needs an update.
            const i64 shares = gone + count < edges ? count << shift : 0;
            const u32 some = min(u32(shares) / u32(4 * warps) + 1, 16u);
            for (i64 first = some * warp; first < shares;) {
                u64 taken = shares;
                if (lane_of_warp() == 0 && shares > some * warps) taken = some * warps + atomicAdd(tail + 6, u64(some));
                for (i64 i = first; i < first + some && i < shares; ++i)
                    leave_triangles(rows, levels, Departure{__ldcg(going + (i >> shift)), level, int(i) & ((1 << shift) - 1),
                                                            shift, following, tail});
                first = i64(__shfl_sync(ALL, taken, 0));
            }
            barrier.wait();
            const i64 next = i64(counters[phase % 3]);
            ++phase;
            for (i64 i = thread; i < count; i += threads) {
                const u32 e = __ldcg(going + i);
                levels.word[e] = ENDED | level, rows.remove(e);
            }
            for (i64 i = thread; i < next; i += threads) atomicOr(levels.word + __ldcg(following + i), GOING);
            barrier.wait();
            gone += count;
            u32* const other = going;
            going = following, following = other, count = next;
        }
        ++level;
    }
    if (thread == 0) counters[9] = level;
}

// Positions of both arcs of an edge in the graph. Its vertices are `order[rank]` or, if that is null, the ranks.
template <class Index, class Value>
struct ToArcs {
    const i64* indptr;
    const Index* indices;
    const Index* order;
    Value* values;

    __device__ void write(Index a, Index b, Value value) const {
        if (order) a = order[a], b = order[b];
        values[lower_bound(indices, indptr[a], indptr[i64(a) + 1], b)] = value;
        values[lower_bound(indices, indptr[b], indptr[i64(b) + 1], a)] = value;
    }
};

// Writes the truss numbers of the removed edges, or the flag `left` for edges that remain or that were removed.
template <class Index, class Value>
__global__ void __launch_bounds__(TRUSS_THREADS)
write_arcs(const Index* __restrict__ upper, const Index* __restrict__ lower, const u32* __restrict__ word, i64 edges,
           bool left, const ToArcs<Index, Value> arcs) {
    const i64 e = i64(blockIdx.x) * TRUSS_THREADS + threadIdx.x;
    if (e >= edges || (word[e] < ENDED) != left) return;
    arcs.write(upper[e], lower[e], sizeof(Value) == 1 ? Value(left) : Value((word[e] & ~ENDED) + 1));
}

// Self-loops have number 0.
template <class Index>
__global__ void __launch_bounds__(TRUSS_THREADS)
number_loops(const i64* __restrict__ indptr, const Index* __restrict__ indices, i64 n, i64* number) {
    const i64 v = i64(blockIdx.x) * TRUSS_THREADS + threadIdx.x;
    if (v >= n) return;
    const i64 end = indptr[v + 1], at = lower_bound(indices, indptr[v], end, Index(v));
    if (at < end && indices[at] == v) number[at] = 0;
}

}  // namespace hpgraph
