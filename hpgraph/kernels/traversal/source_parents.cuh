// Parents in many breadth-first searches, from the levels: for each search, the first in-neighbour in a row that is one
// level nearer. In sorted rows that is the smallest id.
//
// The level codes of a vertex in all searches are contiguous, in up to 128 bytes, so that an arc costs one cache line,
// and a row exits once every search has its parent. If each arc has its reverse, levels of neighbours differ by at most
// one, so the level modulo three tells which is nearer: two bits per search. Writing a parent as soon as a search
// reaches a vertex would cost a sector of memory for each parent; here the parents of 32 consecutive vertices are
// written together.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int PARENT_THREADS = 256, PARENT_WARPS = PARENT_THREADS / 32;
// Vertices of a block's tile, and arcs of a lane in flight.
constexpr int PARENT_TILE = 32, PARENT_BATCH = 8;
// Arcs above which a row is searched in pieces, as in row_bins.py.
constexpr int PARENT_PIECE = 1024;

// `WORDS` words (a power of two up to 32) of level codes for each vertex, BITS bits a code: the level, or with two bits
// the level modulo three; all ones if the search does not reach the vertex. All codes of a word are compared at once.
template <int BITS, int WORDS>
struct Codes {
    static constexpr int EACH = 32 / BITS, SOURCES = WORDS * EACH;
    static constexpr u32 CODE = ~0u >> (32 - BITS), ONES = ~0u / CODE, HIGH = ONES << (BITS - 1);

    __device__ static u32 of(i64 level) { return BITS > 2 ? u32(level) & CODE : level < 0 ? 3 : u32(level % 3); }
    // The highest bit of each code that is equal in both words.
    __device__ static u32 equal(u32 a, u32 b) {
        const u32 differ = a ^ b;
        return ~((((differ & ~HIGH) + ~HIGH) | differ) | ~HIGH);
    }
    // The codes of the levels one nearer.
    __device__ static u32 nearer(u32 word) {
        if (BITS > 2) return ((word | HIGH) - ONES) & ~HIGH;
        return (~(word | word >> 1) & ONES) << 1 | (word >> 1 & ONES);
    }
};

// Pack the level codes of each vertex, from rows of length n for each of k sources.
template <class Level, int BITS, int WORDS>
__global__ void __launch_bounds__(PARENT_THREADS) gather_levels(const Level* rows, i64 n, int k, u32* words) {
    using Of = Codes<BITS, WORDS>;
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
            for (int e = 0; e < Of::EACH; ++e) word |= Of::of(tile[i % WORDS * Of::EACH + e][i / WORDS]) << BITS * e;
            words[first * WORDS + i] = word;
        }
        __syncthreads();
    }
}

// The search of a warp for the parents of one vertex. A group of WORDS lanes takes an arc.
template <int BITS, int WORDS, class Index>
struct ParentSearch {
    using Of = Codes<BITS, WORDS>;
    static constexpr Index NONE = sizeof(Index) == 4 ? (Index)0x7fffffff : (Index)0x7fffffffffffffffll;
    u32 wanted, done;  // codes of the parents; the highest bit of each code that needs no more search

    __device__ explicit ParentSearch(u32 codes) : wanted(Of::nearer(codes)), done(Of::equal(codes, ~0u)) {
        // A source has no parent. With two bits no neighbour has the code that is wanted there.
        if (BITS > 2) done |= Of::equal(codes, 0);
    }

    __device__ bool is_over() const { return __all_sync(ALL, (done | ~Of::HIGH) == ~0u); }

    // Calls found(s, u) for each search s and each neighbour u that may be its parent; the first such u comes first.
    template <class Found>
    __device__ __forceinline__ void search(const u32* words, const Index* indices, i64 begin, i64 end, Found found) {
        constexpr int GROUPS = 32 / WORDS, STEP = GROUPS * PARENT_BATCH;
        const int word = lane_of_warp() % WORDS, group = lane_of_warp() / WORDS;
        Index u[PARENT_BATCH], next[PARENT_BATCH];
        const auto load = [&](i64 j, Index (&to)[PARENT_BATCH]) {
#pragma unroll
            for (int b = 0; b < PARENT_BATCH; ++b) to[b] = j + b * GROUPS < end ? indices[j + b * GROUPS] : 0;
        };
        load(begin + group, u);
        for (i64 j = begin + group; !is_over() && __any_sync(ALL, j < end); j += STEP) {
            u32 codes[PARENT_BATCH], any = 0;
#pragma unroll
            for (int b = 0; b < PARENT_BATCH; ++b)
                codes[b] = j + b * GROUPS < end ? words[(i64)u[b] * WORDS + word] : ~wanted;
            load(j + STEP, next);
            // Without this the compiler places each load after the preceding comparison.
            __syncwarp();
#pragma unroll
            for (int b = 0; b < PARENT_BATCH; ++b) any |= codes[b] = Of::equal(codes[b], wanted);
            if (any & ~done) {
#pragma unroll
                for (int b = 0; b < PARENT_BATCH; ++b) {
                    u32 hits = codes[b] & ~done;
                    done |= hits;
                    for (; hits; hits &= hits - 1) found(word * Of::EACH + (__ffs(hits) - 1) / BITS, u[b]);
                }
            }
            __syncwarp();
#pragma unroll
            for (int d = WORDS; d < 32; d <<= 1) done |= __shfl_xor_sync(ALL, done, d);
#pragma unroll
            for (int b = 0; b < PARENT_BATCH; ++b) u[b] = next[b];
        }
    }
};

// Parents of vertices whose rows are not divided into pieces; for the others, NONE where the pieces write them.
template <int BITS, int WORDS, class Index>
__global__ void __launch_bounds__(PARENT_THREADS)
find_parents(const i64* indptr, const Index* indices, i64 n, const u32* words, const Index* sources, int k, Index* parents) {
    using Of = Codes<BITS, WORDS>;
    using Search = ParentSearch<BITS, WORDS, Index>;
    __shared__ Index tile[Of::SOURCES][PARENT_TILE + 1];
    const int lane = lane_of_warp(), warp = threadIdx.x / 32;
    for (i64 first = (i64)blockIdx.x * PARENT_TILE; first < n; first += (i64)gridDim.x * PARENT_TILE) {
        for (int at = warp; at < PARENT_TILE && first + at < n; at += PARENT_WARPS) {
            const i64 v = first + at, begin = indptr[v], end = indptr[v + 1];
            Search mine(words[v * WORDS + lane % WORDS]);
#pragma unroll
            for (int base = 0; base < Of::SOURCES; base += 32) {
                const int s = base + lane;
                const u32 done = __shfl_sync(ALL, mine.done, s / Of::EACH % WORDS);
                if (s < Of::SOURCES) tile[s][at] = done >> s % Of::EACH * BITS & Of::CODE ? -1 : Search::NONE;
            }
            __syncwarp();
            if (end - begin <= PARENT_PIECE)
                mine.search(words, indices, begin, end, [&](int s, Index u) { atomicMin(&tile[s][at], u); });
        }
        __syncthreads();
        for (int s = warp; s < k; s += PARENT_WARPS)
            if (first + lane < n) parents[s * n + first + lane] = sources[s] == first + lane ? sources[s] : tile[s][lane];
        __syncthreads();
    }
}

// Parents from the pieces of long rows; a warp for each piece.
template <int BITS, int WORDS, class Index>
__global__ void __launch_bounds__(PARENT_THREADS)
find_in_pieces(const i64* indptr, const Index* indices, i64 n, const u32* words, Index* parents, i64 pieces,
               const u32* piece_slot, const u32* piece_order) {
    const i64 p = (i64)blockIdx.x * PARENT_WARPS + threadIdx.x / 32;
    if (p >= pieces) return;
    const i64 v = piece_slot[p], begin = indptr[v] + (i64)piece_order[p] * PARENT_PIECE;
    ParentSearch<BITS, WORDS, Index> mine(words[v * WORDS + lane_of_warp() % WORDS]);
    mine.search(words, indices, begin, min(begin + PARENT_PIECE, indptr[v + 1]),
                [&](int s, Index u) { atomicMin(parents + s * n + v, u); });
}

}  // namespace hpgraph
