// Which lanes of a superstep listen, and which tell.
//
// A vertex that listens leaves its row when all lanes that wait have heard. One lane whose search has hardly begun, from a
// source that lies off, would keep all vertices at all their neighbours in vain. So lanes are put in classes by the arcs
// that leave their frontiers: those of higher classes listen, while the vertices of the others' tell whom they reach.
// How many arcs those are, and who waits, is seen from a sample that every block takes for itself, and alike.
#pragma once
#include "bit_matrix.cuh"
#include "lane_words.cuh"

namespace hpgraph {

constexpr int TOP_DOWN = 0, BOTTOM_UP = 1;
// What a vertex of the sweep costs that lists who tells while others listen, in neighbours that a pull looks at. What an arc
// costs along which they tell, in arcs of other pushes: it is checked against two arrays. And the share of the cost of a
// pull of all lanes above which telling is not worth it: samples of a thousand tell no finer.
constexpr float LISTED_VERTEX = .25f, TOLD_ARC = 2, WORTH_TELLING = .75f;

// Neighbours at which vertices look at the most if each stops after 1, 2, 4, 8, ... of them, in the mean.
constexpr int LENGTHS = 32;

struct LanesPolicy {
    i64 alpha;   // arcs above which a push may turn into a pull
    i64 beta;    // vertices below which a shrinking frontier turns back
    int forced;  // TOP_DOWN, BOTTOM_UP or -1 for the choice by cost
    i64 limit;   // supersteps at the most
    i64 arcs;    // of the graph
    i64 rows;    // vertices that some arc reaches
    i64 few;     // arcs of a superstep that are not worth a sweep over all vertices
    double pushed;  // what an arc of a push costs, in neighbours that a pull looks at
    double looks[LENGTHS];  // see above
    int waits;   // whether messages may wait for the end: then all of a superstep are alike
};

// By the number of sampled arcs that a lane sends along: none, 1, 2 or 3, 4 to 7, ...
constexpr int CLASSES = 12;
static_assert(THREADS < 1 << (CLASSES - 1), "a sampled arc a thread");

// Shared memory of a block.
template <int W>
struct LaneClasses {
    u32 counts[64 * W];
    // Of each class: its lanes, and the sampled arcs they send along; sampled vertices that wait for any, and for how many.
    u32 lanes[CLASSES], sent[CLASSES], waiting[CLASSES], awaited[CLASSES];
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

// A number below some, for each thread another: Fibonacci hashing spreads them (D. Knuth, The Art of Computer Programming,
// vol. 3, 6.4).
__device__ inline i64 sampled(i64 below) { return (i64)__umul64hi(threadIdx.x * 0x9E3779B97F4A7C15ull, (u64)below); }

// By all threads of the block: an arc and a vertex each.
template <int W, class Index, class Weight>
__device__ void sample_lanes(LaneClasses<W>& classes, const Arcs<Index, Weight>& in, i64 arcs, i64 n, const u64* front,
                             const u64* reached) {
    for (int i = threadIdx.x; i < 64 * W; i += THREADS) classes.counts[i] = 0;
    if (threadIdx.x < CLASSES) {
        classes.lanes[threadIdx.x] = classes.sent[threadIdx.x] = classes.told[threadIdx.x] = 0;
        classes.waiting[threadIdx.x] = classes.awaited[threadIdx.x] = 0;
    }
    __syncthreads();
    const i64 v = sampled(n);
    const Bits<W> bits = load_bits<W>(front, in.indices[sampled(arcs)]), known = load_bits<W>(reached, v);
    const bool hears = in.indptr[v + 1] > in.indptr[v];
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
    for (int kind = 0; kind < CLASSES; ++kind) {
        u64 tells = 0;
        u32 awaits = 0;
#pragma unroll
        for (int w = 0; w < W; ++w) {
            const u64 lower = classes.lower[kind][w];
            const u64 next = kind + 1 < CLASSES ? classes.lower[kind + 1][w] : classes.live[w];
            tells |= bits.word[w] & lower;
            awaits += hears ? __popcll(next & ~lower & ~known.word[w]) : 0;
        }
        const u32 told = __popc(__ballot_sync(ALL, tells != 0)), waiting = __popc(__ballot_sync(ALL, awaits));
        const u32 awaited = (u32)warp_sum((u64)awaits);
        if (lane_of_warp() == 0) {
            if (told) atomicAdd(classes.told + kind, told);
            if (waiting) atomicAdd(classes.waiting + kind, waiting), atomicAdd(classes.awaited + kind, awaited);
        }
    }
    __syncthreads();
}

// The cheapest class to be the lowest that listens, from a sample; by whole warps, all alike. Of equally frequent lanes, of
// which one sends along an arc with probability p, a vertex has heard the last of those it waits for after some H / p
// neighbours, with H = 1 + 1/2 + ... + 1/lanes, if it has so many; of all classes, the one that takes longest counts.
template <int W>
__device__ PullCost pull_cost(const LaneClasses<W>& classes, float n, const LanesPolicy& policy) {
    const int kind = lane_of_warp();
    const float arcs = (float)policy.arcs, share = 1.0f / THREADS;
    float lanes = 0, needed = 0, all = 0;
    if (kind < CLASSES) lanes = (float)classes.lanes[kind];
    if (lanes && classes.waiting[kind]) {
        const float waiting = (float)classes.waiting[kind], each = __fdividef((float)classes.awaited[kind], waiting);
        needed = fminf(__fdividef((logf(each) + 0.6f) * lanes * THREADS, (float)classes.sent[kind]), arcs);
        const float place = log2f(fmaxf(needed, 1));
        const int below = min((int)place, LENGTHS - 2);
        const float low = (float)policy.looks[below], high = (float)policy.looks[below + 1];
        all = waiting * share * n * (low + (high - low) * fminf(place - below, 1));
    }
    for (int d = 1; d < 32; d <<= 1) {
        const float longest = __shfl_down_sync(ALL, needed, d), dearest = __shfl_down_sync(ALL, all, d);
        const float more = __shfl_down_sync(ALL, lanes, d);
        if (kind + d < 32) needed = fmaxf(needed, longest), all = fmaxf(all, dearest), lanes += more;
    }
    const float together = __shfl_sync(ALL, all, 0);
    if (kind && kind < CLASSES)
        all += classes.told[kind] * share * arcs * TOLD_ARC * (float)policy.pushed + LISTED_VERTEX * n;
    if (!lanes || (kind && all > WORTH_TELLING * together)) all = arcs * 64 * W;
    int best = kind;
    for (int d = 16; d; d >>= 1) {
        const float other = __shfl_xor_sync(ALL, all, d);
        const int of = __shfl_xor_sync(ALL, best, d);
        if (other < all || (other == all && of < best)) all = other, best = of;
    }
    return PullCost{__shfl_sync(ALL, needed, best), all, best};
}

}  // namespace hpgraph
