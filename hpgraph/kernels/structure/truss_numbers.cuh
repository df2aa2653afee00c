// Truss numbers: edges in fewer than `level` triangles are removed, and each of their triangles takes one from its other
// two edges, by rounds; then those of the next level.
//
// Rounds are those of H. Kabir, K. Madduri, "Parallel k-truss decomposition on multicore platforms", HPEC'17. All levels
// run in one launch, until half of the edges are gone. A triangle is visited when its first edge is removed: the row of the
// edge's end that has fewer is read, and each neighbour is looked up among those of the other, in a hash table of the row.
#pragma once
#include "persistent.cuh"
#include "truss.cuh"

namespace hpgraph {

constexpr int LEVEL_BLOCKS = 8;  // that a multiprocessor holds at once
constexpr int WORDS = 4;         // of edges, that a lane has in flight
// Of an edge's word. Below them lies its support; with ENDED the level at which it was removed.
constexpr u32 ENDED = 1u << 31, GOING = 1u << 30;
constexpr u64 VACANT = ~0ull;

// Edges by both ends. A row of length d has its hash table in slots 2d: an edge, and the lower half of a neighbour's number.
template <class Index>
struct EdgeRows {
    const Index* upper;  // ends of each edge
    const Index* lower;
    const i64* indptr;
    Index* neighbour;
    u32* edge;
    u64* table;

    __device__ static u32 slot(Index w, u32 size) { return __umulhi(u32(w) * 2654435769u, size); }
    __device__ void put(Index v, Index w, u32 of) const {
        const u32 size = u32(2 * (indptr[i64(v) + 1] - indptr[v]));
        u64* const row = table + 2 * indptr[v];
        u32 at = slot(w, size);
        while (atomicCAS(row + at, VACANT, u64(of) << 32 | u32(w)) != VACANT) at = at + 1 == size ? 0 : at + 1;
    }
    __device__ bool leads_to(u64 held, Index w) const {
        if (u32(held) != u32(w)) return false;
        return sizeof(Index) == 4 || upper[held >> 32] == w || lower[held >> 32] == w;
    }
};

// `cursor` starts where each row's neighbours above begin.
template <class Index>
__global__ void __launch_bounds__(TRUSS_THREADS)
list_rows(const i64* __restrict__ below, const EdgeRows<Index> rows, i64 edges, u64* cursor) {
    const i64 e = i64(blockIdx.x) * TRUSS_THREADS + threadIdx.x;
    if (e >= edges) return;
    const Index upper = rows.upper[e], lower = rows.lower[e];
    const i64 mine = rows.indptr[upper] + (e - below[upper]), theirs = i64(atomicAdd(cursor + lower, 1ull));
    rows.neighbour[mine] = lower, rows.edge[mine] = u32(e);
    rows.neighbour[theirs] = upper, rows.edge[theirs] = u32(e);
    rows.put(upper, lower, u32(e)), rows.put(lower, upper, u32(e));
}

struct Levels {
    u32* word;
    u32 *going, *following;
    // Three lengths of lists and three least supports, of which those of the next phase are reset in this one; and the
    // level and the number of removed edges at the end.
    u64* counters;
    unsigned* arrived;
};

// Lists the edges with support below `level`, of which none has gone, and finds the least support of the others.
__device__ inline void list_going(const Levels& levels, i64 edges, u32 level, u64* tail, u64* least) {
    __shared__ u32 least_of_block;
    if (threadIdx.x == 0) least_of_block = ~0u;
    __syncthreads();
    const i64 warps = i64(gridDim.x) * (TRUSS_THREADS / 32), warp = (i64(blockIdx.x) * TRUSS_THREADS + threadIdx.x) / 32;
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
            append(goes, e, levels.going, tail);
        }
    }
    for (int d = 16; d; d >>= 1) fewest = min(fewest, __shfl_xor_sync(ALL, fewest, d));
    if (lane_of_warp() == 0) atomicMin(&least_of_block, fewest);
    __syncthreads();
    if (threadIdx.x == 0) atomicMin(least, u64(least_of_block));
}

// A warp's share, one of 1 << shift, of the triangles of a going edge: its other edges lose one, unless they go too or are
// below `level` already.
template <class Index>
__device__ __forceinline__ void leave_triangles(const EdgeRows<Index>& rows, const Levels& levels, u32 e, int part, int shift,
                                                u32 level, u32* following, u64* tail) {
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
    for (u32 first = 32 * part; left && first < size; first += 32 << shift) {
        const u32 place = first + lane_of_warp();
        u32 f = 0, g = 0;
        bool closed = false, f_loses = false, g_loses = false;
        if (place < size) {
            f = __ldg(rows.edge + begin + place);
            const Index w = __ldg(rows.neighbour + begin + place);
            u32 at = rows.slot(w, slots);
            u64 held = __ldg(table + at);
            const u32 of_f = __ldcg(levels.word + f);
            if (f != e && !(of_f & ENDED)) {
                while (held != VACANT && !rows.leads_to(held, w)) {
                    at = at + 1 == slots ? 0 : at + 1;
                    held = __ldg(table + at);
                }
                g = u32(held >> 32);
                const u32 of_g = held == VACANT ? ENDED : __ldcg(levels.word + g);
                closed = !(of_g & ENDED);
                // Of two that go, the first decrements the third.
                f_loses = closed && of_f < GOING && of_f >= level && (of_g < GOING || e < g);
                g_loses = closed && of_g < GOING && of_g >= level && (of_f < GOING || e < f);
            }
        }
        append(f_loses && atomicSub(levels.word + f, 1u) == level, f, following, tail);
        append(g_loses && atomicSub(levels.word + g, 1u) == level, g, following, tail);
        left -= __popc(__ballot_sync(ALL, closed));
    }
}

// Removes edges level by level until more than half of them are gone.
template <class Index>
__global__ void __launch_bounds__(TRUSS_THREADS, LEVEL_BLOCKS)
peel_levels(const EdgeRows<Index> rows, const Levels levels, i64 edges, u32 level) {
    GridBarrier barrier(levels.arrived);
    const i64 threads = i64(gridDim.x) * TRUSS_THREADS, thread = i64(blockIdx.x) * TRUSS_THREADS + threadIdx.x;
    const i64 warps = threads / 32, warp = thread / 32;
    volatile u64* const counters = levels.counters;
    u32 *going = levels.going, *following = levels.following;
    i64 gone = 0;
    int phase = 0;
    const auto begin_phase = [&] {
        const int next = (phase + 1) % 3;
        if (thread == 0) counters[next] = 0, counters[3 + next] = ~0u;
        return levels.counters + phase % 3;
    };
    while (2 * gone <= edges) {
        u64* const found = begin_phase();
        list_going({levels.word, going, following, levels.counters, levels.arrived}, edges, level, found, found + 3);
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
            // With warps to spare several share an edge: a round takes as long as its edge of highest degree.
            int shift = 0;
            while (shift < 5 && count << (shift + 1) <= warps) ++shift;
            // If all that are left go, nothing is to be told.
            if (gone + count < edges)
                for (i64 i = warp; i < count << shift; i += warps)
                    leave_triangles(rows, levels, __ldcg(going + (i >> shift)), int(i) & ((1 << shift) - 1), shift, level,
                                    following, tail);
            barrier.wait();
            const i64 next = i64(counters[phase % 3]);
            ++phase;
            for (i64 i = thread; i < count; i += threads) levels.word[__ldcg(going + i)] = ENDED | level;
            for (i64 i = thread; i < next; i += threads) atomicOr(levels.word + __ldcg(following + i), GOING);
            barrier.wait();
            gone += count;
            u32* const other = going;
            going = following, following = other, count = next;
        }
        ++level;
    }
    if (thread == 0) counters[6] = level, counters[7] = u64(gone);
}

// Writes the truss numbers of the removed edges.
template <class Index>
__global__ void __launch_bounds__(TRUSS_THREADS)
number_arcs(const EdgeRows<Index> rows, const u32* __restrict__ word, i64 edges, const ToArcs<Index, i64> arcs) {
    const i64 e = i64(blockIdx.x) * TRUSS_THREADS + threadIdx.x;
    if (e < edges && (word[e] & ENDED)) arcs.write(rows.upper[e], rows.lower[e], i64(word[e] & ~ENDED) + 1);
}

// Loops are in no truss.
template <class Index>
__global__ void __launch_bounds__(TRUSS_THREADS)
number_loops(const i64* __restrict__ indptr, const Index* __restrict__ indices, i64 n, i64* number) {
    const i64 v = i64(blockIdx.x) * TRUSS_THREADS + threadIdx.x;
    if (v >= n) return;
    const i64 end = indptr[v + 1], at = lower_bound(indices, indptr[v], end, Index(v));
    if (at < end && indices[at] == v) number[at] = 0;
}

}  // namespace hpgraph
