// Greedy choices. Independent sets and colours are decided vertex by vertex in a given order, in one launch: warps take
// vertices in that order, and a vertex waits until its earlier neighbours have settled. The first unsettled vertex
// waits for none, and all earlier unsettled vertices are held by running warps, so there is no deadlock. (The order of
// M. Jones, P. Plassmann, "A parallel graph coloring heuristic", SIAM J. Sci. Comput. 14, 1993, and of M. Luby, "A
// simple parallel algorithm for the maximal independent set problem", STOC'85, drawn once.) Matchings proceed by rounds
// of mutual preference.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int GREEDY_THREADS = 256, GREEDY_WARPS = GREEDY_THREADS / 32;
// Words of the bitmap of colours that a warp checks at once.
constexpr int COLOR_WORDS = 64;
// Loads that each lane has in flight.
constexpr int LOADS = 4;
// Arcs of a row that one warp processes; a block processes longer ones.
constexpr i64 WARP_ARCS = 4096;

// State written by other warps while this kernel runs: bypasses L1.
template <class Id> __device__ Id settled(const Id* state, Id v) { return *(volatile const Id*)(state + v); }

// Vertices are numbered by position in the order; rows hold the earlier neighbours, ascending, so the last to settle is
// read last. `state` is -1 at first; 1 is in the set, 0 is not.
template <class Id>
__global__ void __launch_bounds__(GREEDY_THREADS)
take_independent(const i64* __restrict__ indptr, const Id* __restrict__ indices, i64 n, Id* state, u64* next) {
    const int lane = lane_of_warp();
    for (;;) {
        const u64 v = warp_fetch_add(next, u64(1));
        if (v >= (u64)n) return;
        const i64 end = indptr[v + 1];
        bool barred = false;
        for (i64 at = indptr[v]; at < end && !barred; at += 32) {
            const bool live = at + lane < end;
            const Id u = live ? indices[at + lane] : 0;
            for (;;) {
                const Id found = live ? settled(state, u) : 0;
                barred = __any_sync(ALL, found == 1);
                if (barred || !__any_sync(ALL, found < 0)) break;
                __nanosleep(100);
            }
        }
        if (lane == 0) *(volatile Id*)(state + v) = barred ? 0 : 1;
    }
}

// The same for colours: the least colour that no earlier neighbour has. A warp that waits for several neighbours polls
// only the first: the earliest in the order is the likeliest to settle first.
template <class Id>
__global__ void __launch_bounds__(GREEDY_THREADS)
take_colors(const i64* __restrict__ indptr, const Id* __restrict__ indices, i64 n, Id* color, u64* next) {
    __shared__ u32 words_of_warps[GREEDY_WARPS][COLOR_WORDS];
    u32* const words = words_of_warps[threadIdx.x / 32];
    const int lane = lane_of_warp();
    for (;;) {
        const u64 v = warp_fetch_add(next, u64(1));
        if (v >= (u64)n) return;
        const i64 begin = indptr[v], end = indptr[v + 1];
        i64 least = -1;
        for (i64 base = 0; least < 0; base += COLOR_WORDS * 32) {
            for (int w = lane; w < COLOR_WORDS; w += 32) words[w] = 0;
            __syncwarp();
            for (i64 first = begin; first < end; first += 32 * LOADS) {
                Id u[LOADS], found[LOADS];
#pragma unroll
                for (int k = 0; k < LOADS; ++k) u[k] = first + k * 32 + lane < end ? indices[first + k * 32 + lane] : -1;
#pragma unroll
                for (int k = 0; k < LOADS; ++k) found[k] = u[k] < 0 ? 0 : settled(color, u[k]);
#pragma unroll
                for (int k = 0; k < LOADS; ++k) {
                    while (const u32 late = __ballot_sync(ALL, found[k] < 0)) {
                        if (lane == __ffs(late) - 1)
                            while (settled(color, u[k]) < 0) __nanosleep(100);
                        __syncwarp();
                        if (found[k] < 0) found[k] = settled(color, u[k]);
                    }
                    const i64 c = (i64)found[k] - base;
                    if (u[k] >= 0 && c >= 0 && c < COLOR_WORDS * 32) atomicOr(words + (c >> 5), 1u << (c & 31));
                }
            }
            __syncwarp();
            for (int w = 0; w < COLOR_WORDS && least < 0; w += 32) {
                const u32 open = ~words[w + lane], any = __ballot_sync(ALL, open != 0);
                if (!any) continue;
                const int owner = __ffs(any) - 1;
                least = base + (w + owner) * 32 + __ffs(__shfl_sync(ALL, open, owner)) - 1;
            }
            __syncwarp();
        }
        if (lane == 0) *(volatile Id*)(color + v) = (Id)least;
    }
}

// As mixed() of cpu_greedy.py: the finalizer of MurmurHash3, of the ends of an edge and a seed.
template <class Id> __device__ u64 key_of_edge(Id u, Id v, u64 seed) {
    u64 x = (u < v ? (u64)u << 32 | (u64)v : (u64)v << 32 | (u64)u) + seed;
    x ^= x >> 33, x *= 0xFF51AFD7ED558CCDull, x ^= x >> 33, x *= 0xC4CEB9FE1A85EC53ull;
    return x ^ x >> 33;
}

// The first edge of a row to an unmatched vertex, searched by `step` threads.
template <class Id> struct First {
    u64 key = ~0ull;
    Id other = -1;

    __device__ void take(u64 its_key, Id its_other) {
        if (its_other >= 0 && (other < 0 || its_key < key)) key = its_key, other = its_other;
    }
    __device__ void look(const Id* indices, const Id* mate, Id v, u64 seed, i64 begin, i64 end, int step) {
        for (i64 at = begin; at < end; at += step) {
            const Id u = indices[at];
            if (u != v && mate[u] < 0) take(key_of_edge(u, v, seed), u);
        }
        for (int d = 16; d; d >>= 1) {
            const u64 its_key = __shfl_xor_sync(ALL, key, d);
            take(its_key, __shfl_xor_sync(ALL, other, d));
        }
    }
};

// Preferred neighbour of each unmatched vertex: -1 if none, -2 before the first scan. `waiting` counts unfinished
// vertices. Rows too long for a warp are listed.
template <class Id>
__global__ void __launch_bounds__(GREEDY_THREADS)
prefer(const i64* __restrict__ indptr, const Id* __restrict__ indices, i64 n, u64 seed, const Id* __restrict__ mate,
       Id* preferred, Id* listed, u64* tail, u64* waiting) {
    const int lane = lane_of_warp();
    u64 mine = 0;
    for (i64 v = (i64)blockIdx.x * GREEDY_WARPS + threadIdx.x / 32; v < n; v += (i64)gridDim.x * GREEDY_WARPS) {
        const Id before = preferred[v];
        if (before == -1 || mate[v] >= 0) continue;
        ++mine;
        // The preferred neighbour stays the first as long as it is unmatched.
        if (before >= 0 && mate[before] < 0) continue;
        const i64 begin = indptr[v], end = indptr[v + 1];
        if (end - begin > WARP_ARCS) {
            if (lane == 0) listed[atomicAdd(tail, 1ull)] = (Id)v;
            continue;
        }
        First<Id> first;
        first.look(indices, mate, (Id)v, seed, begin + lane, end, 32);
        if (lane == 0) preferred[v] = first.other;
    }
    if (lane == 0 && mine) atomicAdd(waiting, mine);
}

template <class Id>
__global__ void __launch_bounds__(GREEDY_THREADS)
prefer_listed(const i64* __restrict__ indptr, const Id* __restrict__ indices, u64 seed, const Id* __restrict__ mate,
              Id* preferred, const Id* __restrict__ listed, const u64* tail) {
    __shared__ u64 keys[GREEDY_WARPS];
    __shared__ Id others[GREEDY_WARPS];
    for (u64 i = blockIdx.x; i < *tail; i += gridDim.x) {
        const Id v = listed[i];
        First<Id> first;
        first.look(indices, mate, v, seed, indptr[v] + threadIdx.x, indptr[v + 1], GREEDY_THREADS);
        if (lane_of_warp() == 0) keys[threadIdx.x / 32] = first.key, others[threadIdx.x / 32] = first.other;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < GREEDY_WARPS; ++w) first.take(keys[w], others[w]);
            preferred[v] = first.other;
        }
        __syncthreads();
    }
}

// Matches mutual preferences.
template <class Id>
__global__ void __launch_bounds__(GREEDY_THREADS) match(i64 n, const Id* __restrict__ preferred, Id* mate) {
    const i64 v = (i64)blockIdx.x * GREEDY_THREADS + threadIdx.x;
    if (v >= n || mate[v] >= 0) return;
    const Id u = preferred[v];
    if (u >= 0 && preferred[u] == v) mate[v] = u;
}

}  // namespace hpgraph
