// Which lanes of a superstep listen, and which tell.
//
// A vertex that listens leaves its row when all lanes that wait have heard. One lane whose search has hardly begun, from a
// source that lies off, would keep all vertices at all their neighbours in vain. So lanes are put in classes by the arcs
// that leave their frontiers: those of higher classes listen, while the vertices of the others' tell whom they reach.
// How many arcs those are is seen from a sample of arcs, that every block takes for itself, and alike.
#pragma once
#include "bit_matrix.cuh"
#include "lane_words.cuh"

namespace hpgraph {

constexpr int TOP_DOWN = 0, BOTTOM_UP = 1;
// What a vertex of the sweep costs that lists who tells while others listen, in neighbours that a pull looks at.
constexpr float LISTED_VERTEX = .25f;

struct LanesPolicy {
    i64 alpha;   // arcs above which a push may turn into a pull
    i64 beta;    // vertices below which a shrinking frontier turns back
    int forced;  // TOP_DOWN, BOTTOM_UP or -1 for the choice by cost
    i64 limit;   // supersteps at the most
    i64 arcs;    // of the graph
    i64 rows;    // vertices that some arc reaches
    i64 few;     // arcs of a superstep that are not worth a sweep over all vertices
    double pushed;  // what an arc of a push costs, in neighbours that a pull looks at
    int waits;   // whether messages may wait for the end: then all of a superstep are alike
};

// By the number of sampled arcs that a lane sends along: none, 1, 2 or 3, 4 to 7, ...
constexpr int CLASSES = 12;
static_assert(THREADS < 1 << (CLASSES - 1), "a sampled arc a thread");

// Shared memory of a block.
template <int W>
struct LaneClasses {
    u32 counts[64 * W];
    // Of each class: its lanes, and the sampled arcs they send along.
    u32 lanes[CLASSES], sent[CLASSES];
    // Of all lower classes: the lanes, and the sampled arcs that any of them sends along.
    u64 lower[CLASSES][W];
    u32 told[CLASSES];
    // What comes of it: lanes whose frontier is not empty, that listen, and that tell.
    u64 live[W], listening[W], telling[W];
};

// What a pull is expected to cost, in neighbours looked at, by vertex and in all.
struct PullCost {
    float needed, all;
    int lowest;  // class that listens
};

// By all threads of the block.
template <int W, class Index, class Weight>
__device__ void sample_lanes(LaneClasses<W>& classes, const Arcs<Index, Weight>& in, i64 arcs, const u64* front) {
    for (int i = threadIdx.x; i < 64 * W; i += THREADS) classes.counts[i] = 0;
    if (threadIdx.x < CLASSES) classes.lanes[threadIdx.x] = classes.sent[threadIdx.x] = classes.told[threadIdx.x] = 0;
    __syncthreads();
    // Fibonacci hashing spreads the sample over the arcs (D. Knuth, The Art of Computer Programming, vol. 3, 6.4).
    const u64 arc = __umul64hi(threadIdx.x * 0x9E3779B97F4A7C15ull, (u64)arcs);
    const Bits<W> bits = load_bits<W>(front, in.indices[arc]);
#pragma unroll
    for (int half = 0; half < 2 * W; ++half) {
        const u32 sends = __popc(transpose_bits((u32)(bits.word[half / 2] >> 32 * (half & 1))));
        if (sends) atomicAdd(classes.counts + 32 * half + lane_of_warp(), sends);
    }
    __syncthreads();
    if (threadIdx.x < 64 * W) {
        const u32 count = classes.counts[threadIdx.x];
        const bool live = classes.live[threadIdx.x >> 6] >> (threadIdx.x & 63) & 1;
        const int kind = 32 - __clz(count);
        if (live) atomicAdd(classes.lanes + kind, 1u), atomicAdd(classes.sent + kind, count);
        for (int other = 0; other < CLASSES; ++other) {
            const u32 lower = __ballot_sync(ALL, live && kind < other);
            if (lane_of_warp() == 0) ((u32*)classes.lower[other])[threadIdx.x >> 5] = lower;
        }
    }
    __syncthreads();
    for (int kind = 1; kind < CLASSES; ++kind) {
        Bits<W> lower;
#pragma unroll
        for (int w = 0; w < W; ++w) lower.word[w] = classes.lower[kind][w];
        lower.keep(bits);
        const u32 votes = __ballot_sync(ALL, lower.any());
        if (votes && lane_of_warp() == 0) atomicAdd(classes.told + kind, (u32)__popc(votes));
    }
    __syncthreads();
}

// The cheapest class to be the lowest that listens, from a sample; by whole warps, all alike. `waiting` vertices of so many
// arcs `each` wait. Of equally frequent lanes, of which one sends along an arc with probability p, the last has been heard
// after some H / p neighbours, with H = 1 + 1/2 + ... + 1/lanes; of all classes, that of the class which takes longest.
template <int W>
__device__ PullCost pull_cost(const LaneClasses<W>& classes, float n, float arcs, float waiting, float each,
                               float pushed) {
    const int kind = lane_of_warp();
    const bool exists = kind < CLASSES;
    float lanes = exists ? (float)classes.lanes[kind] : 0, needed = 0;
    if (lanes) needed = fminf(__fdividef((logf(lanes) + 0.6f) * lanes * THREADS, (float)classes.sent[kind]), arcs);
    for (int d = 1; d < 32; d <<= 1) {
        const float above = __shfl_down_sync(ALL, needed, d), more = __shfl_down_sync(ALL, lanes, d);
        if (kind + d < 32) needed = fmaxf(needed, above), lanes += more;
    }
    float all = waiting * fminf(each, needed);
    if (exists && kind) all += __fdividef((float)classes.told[kind], (float)THREADS) * arcs * pushed + LISTED_VERTEX * n;
    if (!lanes) all = arcs * 64 * W;
    int best = kind;
    for (int d = 16; d; d >>= 1) {
        const float other = __shfl_xor_sync(ALL, all, d);
        const int of = __shfl_xor_sync(ALL, best, d);
        if (other < all || (other == all && of < best)) all = other, best = of;
    }
    return PullCost{__shfl_sync(ALL, needed, best), all, best};
}

}  // namespace hpgraph
