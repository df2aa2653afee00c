// Parents of many breadth-first searches from their levels: in each search, the first in-neighbour of a row that is one
// level nearer. Of sorted rows that is the one of smallest id.
//
// The levels of a vertex in all searches are put side by side, in up to 128 bytes, so that an arc costs one cache line,
// and a row ends when every search has its parent. Writing a parent as soon as a search reaches a vertex would cost a
// sector of memory for each of them; here 32 consecutive vertices are written together.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int PARENT_THREADS = 256, PARENT_WARPS = PARENT_THREADS / 32;
// Vertices of a block's tile, and arcs of a lane in flight.
constexpr int PARENT_TILE = 32, PARENT_BATCH = 8;
// Arcs above which a row is searched in pieces, as in row_bins.py.
constexpr int PARENT_PIECE = 1024;

// Words of levels, `WORDS` (a power of two up to 32) of each vertex. The levels of a word are compared at once.
template <class Level, int WORDS>
struct Levels {
    static constexpr int EACH = 4 / sizeof(Level), BITS = 8 * sizeof(Level), SOURCES = WORDS * EACH;
    static constexpr u32 LOW = sizeof(Level) == 1 ? 0x7f7f7f7fu : sizeof(Level) == 2 ? 0x7fff7fffu : 0x7fffffffu;
    const u32* words;

    __device__ static Level part(u32 word, int e) { return (Level)(word >> BITS * e); }
    // The highest bit of each element that is equal in both.
    __device__ static u32 equal(u32 a, u32 b) {
        const u32 differ = a ^ b;
        return ~((((differ & LOW) + LOW) | differ) | LOW);
    }
    __device__ static u32 high(int e) { return 1u << (BITS * e + BITS - 1); }
};

// Put the levels of vertices side by side, from rows of length n for each of k sources; -1 beyond the k-th.
template <class Level, int WORDS>
__global__ void __launch_bounds__(PARENT_THREADS) gather_levels(const Level* rows, i64 n, int k, u32* words) {
    using Of = Levels<Level, WORDS>;
    constexpr int TILE = 64;
    __shared__ Level tile[Of::SOURCES][TILE + 1];  // an odd number of words apart: no bank conflicts
    const int lane = lane_of_warp(), warp = threadIdx.x / 32;
    for (i64 first = (i64)blockIdx.x * TILE; first < n; first += (i64)gridDim.x * TILE) {
        for (int s = warp; s < Of::SOURCES; s += PARENT_WARPS)
            for (int at = lane; at < TILE; at += 32)
                tile[s][at] = s < k && first + at < n ? rows[s * n + first + at] : (Level)-1;
        __syncthreads();
        for (int i = threadIdx.x; i < TILE * WORDS && first + i / WORDS < n; i += PARENT_THREADS) {
            u32 word = 0;
#pragma unroll
            for (int e = 0; e < Of::EACH; ++e)
                word |= ((u32)tile[i % WORDS * Of::EACH + e][i / WORDS] & (~0u >> (32 - Of::BITS))) << Of::BITS * e;
            words[first * WORDS + i] = word;
        }
        __syncthreads();
    }
}

// The search of a warp for the parents of one vertex. A group of WORDS lanes takes an arc.
template <class Level, int WORDS, class Index>
struct ParentSearch {
    using Of = Levels<Level, WORDS>;
    static constexpr Index NONE = sizeof(Index) == 4 ? (Index)0x7fffffff : (Index)0x7fffffffffffffffll;
    u32 wanted = 0, done = 0;  // levels of the parents; the highest bit of each element that needs no more search
    Index parent[Of::EACH];

    // Sources and vertices next to one need no search.
    __device__ ParentSearch(u32 levels, i64 v, const Index* sources, int k) {
#pragma unroll
        for (int e = 0; e < Of::EACH; ++e) {
            const Level level = Of::part(levels, e);
            const int s = lane_of_warp() % WORDS * Of::EACH + e;
            parent[e] = level < 0 ? -1 : level == 0 ? (Index)v : level == 1 ? sources[s] : NONE;
            if (level <= 1) done |= Of::high(e);
            else wanted |= (u32)(level - 1) << Of::BITS * e;
        }
    }

    __device__ bool is_over() const { return __all_sync(ALL, (done | Of::LOW) == ~0u); }

    __device__ void search(const u32* words, const Index* indices, i64 begin, i64 end) {
        constexpr int GROUPS = 32 / WORDS, STEP = GROUPS * PARENT_BATCH;
        const int word = lane_of_warp() % WORDS, group = lane_of_warp() / WORDS;
        Index u[PARENT_BATCH], next[PARENT_BATCH];
        const auto load = [&](i64 j, Index (&to)[PARENT_BATCH]) {
#pragma unroll
            for (int b = 0; b < PARENT_BATCH; ++b) to[b] = j + b * GROUPS < end ? indices[j + b * GROUPS] : 0;
        };
        load(begin + group, u);
        for (i64 j = begin + group; !is_over() && __any_sync(ALL, j < end); j += STEP) {
            u32 levels[PARENT_BATCH];
#pragma unroll
            for (int b = 0; b < PARENT_BATCH; ++b)
                levels[b] = j + b * GROUPS < end ? words[(i64)u[b] * WORDS + word] : ~0u;
            load(j + STEP, next);
            // Else the compiler puts each load behind the comparison of the one before.
            __syncwarp();
#pragma unroll
            for (int b = 0; b < PARENT_BATCH; ++b) {
                const u32 hits = Of::equal(levels[b], wanted) & ~done;
                if (!hits) continue;
#pragma unroll
                for (int e = 0; e < Of::EACH; ++e)
                    if (hits & Of::high(e)) parent[e] = u[b];
                done |= hits;
            }
#pragma unroll
            for (int d = WORDS; d < 32; d <<= 1) {
                done |= __shfl_xor_sync(ALL, done, d);
#pragma unroll
                for (int e = 0; e < Of::EACH; ++e) {
                    const Index other = __shfl_xor_sync(ALL, parent[e], d);
                    if (other < parent[e]) parent[e] = other;
                }
            }
#pragma unroll
            for (int b = 0; b < PARENT_BATCH; ++b) u[b] = next[b];
        }
    }
};

// Parents of the vertices whose rows are not cut in pieces; of the others, NONE where pieces find them.
template <class Level, int WORDS, class Index>
__global__ void __launch_bounds__(PARENT_THREADS)
find_parents(const i64* indptr, const Index* indices, i64 n, const u32* words, const Index* sources, int k, Index* parents) {
    using Of = Levels<Level, WORDS>;
    __shared__ Index tile[Of::SOURCES][PARENT_TILE + 1];
    const int lane = lane_of_warp(), warp = threadIdx.x / 32;
    for (i64 first = (i64)blockIdx.x * PARENT_TILE; first < n; first += (i64)gridDim.x * PARENT_TILE) {
        for (int at = warp; at < PARENT_TILE && first + at < n; at += PARENT_WARPS) {
            const i64 v = first + at, begin = indptr[v], end = indptr[v + 1];
            ParentSearch<Level, WORDS, Index> mine(words[v * WORDS + lane % WORDS], v, sources, k);
            if (end - begin <= PARENT_PIECE) mine.search(words, indices, begin, end);
            if (lane < WORDS)
#pragma unroll
                for (int e = 0; e < Of::EACH; ++e) tile[lane * Of::EACH + e][at] = mine.parent[e];
        }
        __syncthreads();
        for (int s = warp; s < k; s += PARENT_WARPS)
            if (first + lane < n) parents[s * n + first + lane] = tile[s][lane];
        __syncthreads();
    }
}

// A warp for each piece of a long row.
template <class Level, int WORDS, class Index>
__global__ void __launch_bounds__(PARENT_THREADS)
find_in_pieces(const i64* indptr, const Index* indices, i64 n, const u32* words, const Index* sources, int k,
               Index* parents, i64 pieces, const u32* piece_slot, const u32* piece_order) {
    using Of = Levels<Level, WORDS>;
    const i64 p = (i64)blockIdx.x * PARENT_WARPS + threadIdx.x / 32;
    if (p >= pieces) return;
    const int lane = lane_of_warp();
    const i64 v = piece_slot[p], begin = indptr[v] + (i64)piece_order[p] * PARENT_PIECE;
    ParentSearch<Level, WORDS, Index> mine(words[v * WORDS + lane % WORDS], v, sources, k);
    const u32 known = mine.done;
    mine.search(words, indices, begin, min(begin + PARENT_PIECE, indptr[v + 1]));
    if (lane >= WORDS) return;
#pragma unroll
    for (int e = 0; e < Of::EACH; ++e)
        if (mine.done & ~known & Of::high(e)) atomicMin(parents + (lane * Of::EACH + e) * n + v, mine.parent[e]);
}

}  // namespace hpgraph
