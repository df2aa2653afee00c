// Trusses by peeling edges: edges in fewer than `level` triangles are removed, and each of their triangles decrements
// the support of its other two edges, round by round; then the next level begins.
//
// Rounds follow H. Kabir, K. Madduri, "Parallel k-truss decomposition on multicore platforms", HPEC'17. All levels run
// in one launch, until half of the edges are removed. A triangle is visited when its first edge is removed: the row of the
// end with fewer neighbours is read, once for several edges of a warp, and each neighbour is looked up in the row of the other end: in a bitmap of the
// lowest ids, or else in a hash table. In degree order most neighbours have low ids, and as ids ascend in rows, the
// look-ups of a warp are in few sectors of the bitmap.
#pragma once
#include "persistent.cuh"
#include "search.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int TRUSS_THREADS = 256;
// For the peeling kernel: fewer blocks spend less time at barriers.
constexpr int LEVEL_THREADS = 512, LEVEL_WARPS = LEVEL_THREADS / 32;
constexpr int LEVEL_BLOCKS = 3;  // resident blocks per multiprocessor
constexpr int WORDS = 4;  // words that a lane has in flight
constexpr u32 BATCH = 16;  // edges that a warp removes at once
// Flags in an edge's word: removed, or to be removed in this round. The lower bits hold the support or, with ENDED, the
// level at which the edge was removed.
constexpr u32 ENDED = 1u << 31, GOING = 1u << 30;
constexpr u32 NONE = ~0u;
constexpr u64 VACANT = ~0ull;

// The neighbours of a vertex, ascending: `lower` of them from `below` on, and the others as if the list at `above` began
// with the former. From `table` on a bitmap of `words` elements, then a hash table of `slots`.
struct Row {
    i64 below, above, table;
    u32 lower, size, words, slots;
};

// Words of the bitmap of a row, which takes at most the bytes of a hash table of all neighbours.
__device__ inline u32 words_of_row(u32 size, u32 words) { return u32(min(2ull * size, u64(words))); }

// Edges by both ends, sorted by upper end, then by lower end: the lower neighbours of v are those from below[v] on, the
// upper ones those from above[v] on in `neighbour` and `edge`. Elements of bitmaps are the complement of 32 bits, and
// above it the number of neighbours before these; those of hash tables, two per neighbour, are the low 32 bits of its
// id, and above them the edge. `words`: of a bitmap of all ids.
template <class Index>
struct Rows {
    const Index *upper, *lower;
    const i64 *below, *above, *start;
    const Index* neighbour;
    const u32* edge;
    u64* table;
    u32 words;

    __device__ Row row(Index v) const {
        const i64 begin = below[v], other = above[v], place = start[v];
        const u32 fewer = u32(below[i64(v) + 1] - begin), size = fewer + u32(above[i64(v) + 1] - other);
        const u32 bitmap = words_of_row(size, words);
        return {begin, other - fewer, place, fewer, size, bitmap, u32(start[i64(v) + 1] - place) - bitmap};
    }
    __device__ Index neighbour_at(const Row& row, u32 place) const {
        return __ldg(place < row.lower ? lower + row.below + place : neighbour + row.above + place);
    }
    __device__ u32 edge_at(const Row& row, u32 place) const {
        return place < row.lower ? u32(row.below) + place : __ldg(edge + row.above + place);
    }
    __device__ static u32 slot(Index w, u32 slots) { return __umulhi(u32(w) * 2654435769u, slots); }

    __device__ void put(const Row& row, Index w, u32 place, u32 of) const {
        u64* const first = table + row.table;
        if (w >> 5 < row.words) {
            u32* const word = (u32*)(first + (w >> 5));
            atomicAnd(word, ~(1u << (w & 31))), atomicMin(word + 1, place);
            return;
        }
        u64* const hashed = first + row.words;
        u32 at = slot(w, row.slots);
        while (atomicCAS(hashed + at, VACANT, u64(of) << 32 | u32(w)) != VACANT) at = at + 1 == row.slots ? 0 : at + 1;
    }
    // The edge to w, or NONE.
    __device__ u32 edge_to(const Row& row, Index w) const {
        const u64* const first = table + row.table;
        if (w >> 5 < row.words) {
            const u64 held = __ldg(first + (w >> 5));
            const u32 bits = ~u32(held), bit = 1u << (w & 31);
            return bits & bit ? edge_at(row, u32(held >> 32) + __popc(bits & (bit - 1))) : NONE;
        }
        const u64* const hashed = first + row.words;
        for (u32 at = slot(w, row.slots); row.slots; at = at + 1 == row.slots ? 0 : at + 1) {
            const u64 held = __ldg(hashed + at);
            const u32 of = u32(held >> 32);
            if (held == VACANT) break;
            if (u32(held) == u32(w) && (sizeof(Index) == 4 || upper[of] == w || lower[of] == w)) return of;
        }
        return NONE;
    }
};

// Elements of the table of each vertex.
template <class Index>
__global__ void __launch_bounds__(TRUSS_THREADS)
size_tables(const i64* __restrict__ below, const Index* __restrict__ lower, const i64* __restrict__ above,
            const Index* __restrict__ neighbour, i64 n, i64* size) {
    const i64 v = i64(blockIdx.x) * TRUSS_THREADS + threadIdx.x;
    if (v >= n) return;
    const i64 begin = below[v], other = above[v], end = below[v + 1], last = above[v + 1];
    const u32 words = words_of_row(u32(end - begin + last - other), u32((n + 31) / 32));
    const i64 limit = 32 * i64(words);
    const i64 hashed = end - lower_bound(lower, begin, end, limit) + last - lower_bound(neighbour, other, last, limit);
    size[v] = words + 2 * hashed;
}

// Fills the tables.
template <class Index>
__global__ void __launch_bounds__(TRUSS_THREADS) fill_tables(const Rows<Index> rows, i64 edges) {
    const i64 i = i64(blockIdx.x) * TRUSS_THREADS + threadIdx.x;
    if (i >= edges) return;
    const u32 e = rows.edge[i];
    const Row up = rows.row(rows.upper[i]), down = rows.row(rows.lower[e]);
    rows.put(up, rows.lower[i], u32(i - up.below), u32(i));
    rows.put(down, rows.neighbour[i], u32(i - down.above), e);
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

// Edges being removed from `first` on, and one of 1 << shift parts of their triangles, processed by a warp.
struct Departures {
    const u32* first;
    u32 count, level;
    int part, shift;
    u32* following;
    u64* tail;
};

// Decrements the supports of the other two edges of each triangle, unless they are being removed too. A row is read once
// for all edges of its vertex, so that an edge from there loses all their triangles at once. Warp-collective.
template <class Index>
__device__ __forceinline__ void leave_triangles(const Rows<Index>& rows, const Levels& levels, const Departures& batch) {
    __shared__ Row walked[LEVEL_WARPS][BATCH], others[LEVEL_WARPS][BATCH];
    const u32 lane = lane_of_warp(), warp = threadIdx.x / 32, level = batch.level;
    u32 removed = NONE, left = 0;
    Index v = 0;
    if (lane < batch.count) {
        removed = __ldcg(batch.first + lane);
        left = __ldcg(levels.word + removed) & (GOING - 1);
        const Index upper = rows.upper[removed], lower = rows.lower[removed];
        const Row up = rows.row(upper), down = rows.row(lower);
        const bool turned = down.size < up.size;
        walked[warp][lane] = turned ? down : up, others[warp][lane] = turned ? up : down;
        v = turned ? lower : upper;
    }
    __syncwarp();
    for (u32 pending; (pending = __ballot_sync(ALL, left != 0));) {
        const u32 leader = __ffs(pending) - 1;
        const bool mine = v == __shfl_sync(ALL, v, leader);
        const Row row = walked[warp][leader];
        u32 run = __ballot_sync(ALL, left && mine);
        for (u32 place = 32 * batch.part + lane; run && place - lane < row.size; place += 32 << batch.shift) {
            const Index w = place < row.size ? rows.neighbour_at(row, place) : 0;
            u32 f = NONE, of_f = place < row.size ? 0 : ENDED, lost = 0;
            for (u32 rest = run; rest; rest &= rest - 1) {
                const u32 j = __ffs(rest) - 1, e = __shfl_sync(ALL, removed, j);
                u32 g = NONE, of_g = ENDED;
                if (!(of_f & ENDED)) g = rows.edge_to(others[warp][j], w);
                if (g != NONE) {
                    if (f == NONE) f = rows.edge_at(row, place), of_f = __ldcg(levels.word + f);
                    of_g = __ldcg(levels.word + g);
                }
                const bool closed = !((of_f | of_g) & ENDED);
                // If two edges of the triangle are being removed, the lower one decrements the third.
                lost += closed && of_f < GOING && of_f >= level && (of_g < GOING || e < g);
                const bool g_loses = closed && of_g < GOING && of_g >= level && (of_f < GOING || e < f);
                append(g_loses && atomicSub(levels.word + g, 1u) == level, g, batch.following, batch.tail);
                const u32 found = __popc(__ballot_sync(ALL, closed));
                if (lane == j) left -= found;
            }
            u32 before = 0;
            if (lost) before = atomicSub(levels.word + f, lost);
            append(before >= level && before - lost < level, f, batch.following, batch.tail);
            run &= __ballot_sync(ALL, left != 0);
        }
        if (mine) left = 0;
    }
    __syncwarp();
}

// Removes edges level by level, up to level `last` or until more than half of them are gone.
template <class Index>
__global__ void __launch_bounds__(LEVEL_THREADS, LEVEL_BLOCKS)
peel_levels(const Rows<Index> rows, const Levels levels, i64 edges, u32 level, u32 last) {
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
            const u32 some = shift ? 1 : min(u32(shares) / u32(2 * warps) + 1, BATCH);
            for (i64 first = some * warp; first < shares;) {
                u64 taken = shares;
                if (lane_of_warp() == 0 && shares > some * warps) taken = some * warps + atomicAdd(tail + 6, u64(some));
                leave_triangles(rows, levels, Departures{going + (first >> shift), min(some, u32(shares - first)), level,
                                                         int(first) & ((1 << shift) - 1), shift, following, tail});
                first = i64(__shfl_sync(ALL, taken, 0));
            }
            barrier.wait();
            const i64 next = i64(counters[phase % 3]);
            ++phase;
            for (i64 i = thread; i < count; i += threads) {
                const u32 e = __ldcg(going + i);
                levels.word[e] = ENDED | level;
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
