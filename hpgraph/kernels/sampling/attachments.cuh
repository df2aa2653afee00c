// Preferential attachment: the draws of hpgraph.kernels.sampling.draws.attachments.
//
// The first m of the m (n - m) edges are a star; any other edge e belongs to vertex e / m + m. Its target is an end of
// an earlier edge, drawn by position: 2 e' and 2 e' + 1 are the ends of edge e' (P. Sanders, C. Schulz, Information
// Processing Letters 116 (2016)). Edges below `done` are final; others are followed to one of those.
//
// The target is that of the edge's first draw whose end no earlier edge of the vertex has. Targets depend on those of
// earlier edges alone, so they are the fixpoint of passes in which every edge finds its draw again by the targets of the
// pass before: as if edges were drawn one after another.
#pragma once
#include "splitmix.cuh"

namespace hpgraph {

// What an edge draws after some attempts: one of the ends of the edges before `begin`.
__device__ __forceinline__ i64 drawn_end(u64 seed, i64 edge, i64 begin, int attempt) {
    const u64 word = mixed(mixed(seed + (u64)attempt * GOLDEN) + (u64)edge * GOLDEN);
    return (i64)((double)(word >> 11) * 0x1p-53 * (double)(2 * begin));
}

template <class Index>
__device__ __forceinline__ Index followed(const i64* place, const Index* target, i64 done, i64 m, i64 at) {
    while (at & 1 && at >> 1 >= done) at = place[at >> 1];
    const i64 edge = at >> 1;
    return at & 1 ? target[edge] : (Index)(edge < m ? 0 : edge / m + m);
}

// A vertex of many edges finds repeated targets by a hash table of 2 m slots, with the first of its edges to each target:
// a scan of its earlier edges would be quadratic in m. No table where m is small.
using Slots = unsigned*;
constexpr unsigned NO_EDGE = ~0u;

__device__ __forceinline__ unsigned first_slot(i64 target, i64 m) {
    return __umulhi((unsigned)mixed((u64)target), (unsigned)(2 * m));
}

// Slots are the same for any order of the edges; `slots`: of the vertices from edge `done` on, all NO_EDGE before.
template <class Index>
__device__ __forceinline__ void enter_target(i64 edge, i64 m, i64 done, const Index* target, Slots slots) {
    const i64 begin = edge / m * m;
    const unsigned own = (unsigned)(edge - begin);
    slots += 2 * (begin - done);
    for (unsigned at = first_slot(target[edge], m);; at = at + 1 == 2 * m ? 0 : at + 1) {
        const unsigned other = atomicCAS(slots + at, NO_EDGE, own);
        if (other == NO_EDGE) return;
        if (target[begin + other] == target[edge]) {
            atomicMin(slots + at, own);
            return;
        }
    }
}

// Whether an earlier edge of the same vertex has this target.
template <class Index>
__device__ __forceinline__ bool is_taken(Index drawn, i64 edge, i64 m, i64 done, const Index* target,
                                         const unsigned* slots) {
    const i64 begin = edge / m * m;
    if (slots == nullptr) {
        bool taken = false;
        for (i64 other = begin; other < edge; ++other) taken |= target[other] == drawn;
        return taken;
    }
    slots += 2 * (begin - done);
    for (unsigned at = first_slot(drawn, m); slots[at] != NO_EDGE; at = at + 1 == 2 * m ? 0 : at + 1)
        if (target[begin + slots[at]] == drawn) return begin + slots[at] < edge;
    return false;
}

// Finds the first draw whose end no earlier edge of the vertex has, if the lane is `valid`; returns whether that is another
// than before. By whole warps, which try 32 draws of an edge at once: the first vertices need thousands.
template <class Index>
__device__ __forceinline__ bool drawn_again(u64 seed, i64 edge, bool valid, i64 m, i64 done, const Index* target,
                                            const unsigned* slots, i64* place) {
    const i64 before = valid ? place[edge] : 0;
    i64 found = before;
    u32 open = __ballot_sync(ALL, valid && (drawn_end(seed, edge, edge / m * m, 0) != before ||
                                            is_taken(target[edge], edge, m, done, target, slots)));
    for (; open; open &= open - 1) {
        const int source = __ffs(open) - 1;
        const i64 own = warp_shuffle(edge, source), held = warp_shuffle(before, source), begin = own / m * m;
        i64 at;
        u32 fits = 0;
        for (int attempt = lane_of_warp(); !fits; attempt += 32) {
            at = drawn_end(seed, own, begin, attempt);
            const Index drawn = at == held ? target[own] : followed(place, target, done, m, at);
            fits = __ballot_sync(ALL, !is_taken(drawn, own, m, done, target, slots));
        }
        at = warp_shuffle(at, __ffs(fits) - 1);
        if (lane_of_warp() == source) found = at;
    }
    if (found != before) place[edge] = found;
    return found != before;
}

// The first `count` edges, by one block: the star of vertex 0, then rounds that each double the number of edges.
template <class Index>
__global__ void __launch_bounds__(1024)
attach_first(u64 seed, i64 m, i64 count, i64* place, Index* source, Index* target, Slots slots) {
    for (i64 edge = threadIdx.x; edge < m; edge += blockDim.x) source[edge] = 0, target[edge] = (Index)(edge + 1);
    for (i64 done = m, end; done < count; done = end) {
        end = 2 * done < count ? 2 * done : count;
        for (i64 edge = done + threadIdx.x; edge < end; edge += blockDim.x) {
            place[edge] = drawn_end(seed, edge, edge / m * m, 0);
            source[edge] = (Index)(edge / m + m);
        }
        for (bool again = true; again;) {
            __syncthreads();
            for (i64 edge = done + threadIdx.x; edge < end; edge += blockDim.x)
                target[edge] = followed(place, target, done, m, place[edge]);
            if (slots != nullptr) {
                for (i64 slot = threadIdx.x; slot < 2 * (end - done); slot += blockDim.x) slots[slot] = NO_EDGE;
                __syncthreads();
                for (i64 edge = done + threadIdx.x; edge < end; edge += blockDim.x)
                    enter_target(edge, m, done, target, slots);
            }
            __syncthreads();
            again = false;
            for (i64 edge = done + threadIdx.x; edge - threadIdx.x < end; edge += blockDim.x)
                again |= drawn_again(seed, edge, edge < end, m, done, target, slots, place);
            again = __syncthreads_or(again);
        }
    }
}

template <class Index>
__global__ void draw_places(u64 seed, i64 m, i64 done, i64 end, i64* __restrict__ place, Index* __restrict__ source) {
    const i64 edge = done + (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (edge < end) place[edge] = drawn_end(seed, edge, edge / m * m, 0), source[edge] = (Index)(edge / m + m);
}

// Targets of the edges drawn in a round; `dependent`: only of those that follow an edge of the same round.
template <class Index>
__global__ void follow_places(const i64* __restrict__ place, i64 m, i64 done, i64 end, bool dependent, Index* target) {
    const i64 edge = done + (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (edge >= end) return;
    const i64 at = place[edge];
    if (dependent && !(at & 1 && at >> 1 >= done)) return;
    target[edge] = followed(place, target, done, m, at);
}

template <class Index>
__global__ void enter_targets(i64 m, i64 done, i64 end, const Index* __restrict__ target, Slots slots) {
    const i64 edge = done + (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (edge < end) enter_target(edge, m, done, target, slots);
}

// Lists the edges whose draws changed, in any order.
template <class Index>
__global__ void draw_again(u64 seed, i64 m, i64 done, i64 end, const Index* __restrict__ target,
                           const unsigned* __restrict__ slots, i64* place, i64* list, u64* again) {
    const i64 edge = done + (i64)blockIdx.x * blockDim.x + threadIdx.x;
    append(drawn_again(seed, edge, edge < end, m, done, target, slots, place), edge, list, again);
}

template <class Index>
__global__ void follow_listed(const i64* __restrict__ list, i64 count, const i64* __restrict__ place, i64 m, i64 done,
                              Index* target) {
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) target[list[i]] = followed(place, target, done, m, place[list[i]]);
}

}  // namespace hpgraph
