// The cost of a pull (bottom-up) in a dense superstep, beside that of a push (top-down).
//
// A vertex that pulls exits its row when all wanted bits are found, so that a source with a small frontier makes rows
// be read to their end. Sources are put in classes by the out-arcs of their frontiers; the arcs and the unsettled
// vertices of each class are estimated from a sample, which every block draws redundantly. (Letting the lower classes
// push while the others pull gained 3% at the most, and lost 10% on Kronecker graphs.)
#pragma once
#include "warp.cuh"
#include "source_words.cuh"

namespace hpgraph {

constexpr int TOP_DOWN = 0, BOTTOM_UP = 1;
// `looks[i]` is the mean number of in-neighbours examined if each row ends after 2^i.
constexpr int LENGTHS = 32;

struct MultiSourcePolicy {
    i64 alpha;   // a pull is considered above this number of out-arcs
    i64 beta;    // switch back to push when a shrinking frontier has fewer vertices
    int forced;  // TOP_DOWN, BOTTOM_UP or -1 for the choice by cost
    i64 limit;   // maximum number of supersteps
    i64 arcs;    // arcs of the graph
    i64 rows;    // vertices with in-arcs
    i64 few;     // arcs up to which a superstep is sparse, without a scan of all vertices
    double pushed;  // cost of an arc of a push, in arcs that a pull examines
    double looks[LENGTHS];  // see above
    int waits;   // whether messages may be delivered at the end: then all messages of a superstep are equal
};

// Classes of sources by the number of sampled arcs that they send along: none, 1, 2 or 3, 4 to 7, ...
constexpr int CLASSES = 12;
static_assert(THREADS < 1 << (CLASSES - 1), "a sampled arc a thread");

// Shared memory of a block.
template <int W>
struct SourceClasses {
    u32 counts[64 * W];
    // For each class: the sources, and their number; the sampled arcs they send along; sampled vertices unsettled in
    // any, and the pairs.
    u64 members[CLASSES][W];
    u32 sources[CLASSES], sent[CLASSES], waiting[CLASSES], awaited[CLASSES];
    u64 live[W];  // sources whose frontier is not empty
};

// Expected cost of a pull in arcs examined, per vertex and in total.
struct PullCost {
    float needed, all;
};

// A sample below `below` for each thread, by Fibonacci hashing (D. Knuth, The Art of Computer Programming, vol. 3,
// 6.4).
__device__ inline i64 sampled(i64 below) { return (i64)__umul64hi(threadIdx.x * 0x9E3779B97F4A7C15ull, (u64)below); }

// Sample an arc and a vertex per thread; collective over the block.
template <int W, class Index, class Weight>
__device__ void sample_sources(SourceClasses<W>& classes, const Arcs<Index, Weight>& in, i64 arcs, i64 n,
                               const u64* front, const u64* reached) {
    for (int i = threadIdx.x; i < 64 * W; i += THREADS) classes.counts[i] = 0;
    if (threadIdx.x < CLASSES) {
        classes.sources[threadIdx.x] = classes.sent[threadIdx.x] = 0;
        classes.waiting[threadIdx.x] = classes.awaited[threadIdx.x] = 0;
    }
    __syncthreads();
    const i64 v = sampled(n);
    const Bits<W> bits = load_bits<W>(front, in.indices[sampled(arcs)]), known = load_bits<W>(reached, v);
    const bool has_in_arcs = in.indptr[v + 1] > in.indptr[v];
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
        if (live) atomicAdd(classes.sources + kind, 1u), atomicAdd(classes.sent + kind, count);
        for (int other = 0; other < CLASSES; ++other) {
            const u32 members = __ballot_sync(ALL, live && kind == other);
            if (lane_of_warp() == 0) ((u32*)classes.members[other])[threadIdx.x >> 5] = members;
        }
    }
    __syncthreads();
    for (int kind = 0; kind < CLASSES; ++kind) {
        u32 awaits = 0;
#pragma unroll
        for (int w = 0; w < W; ++w)
            awaits += has_in_arcs ? __popcll(classes.members[kind][w] & ~known.word[w]) : 0;
        const u32 waiting = __popc(__ballot_sync(ALL, awaits)), awaited = (u32)warp_sum((u64)awaits);
        if (lane_of_warp() == 0 && waiting)
            atomicAdd(classes.waiting + kind, waiting), atomicAdd(classes.awaited + kind, awaited);
    }
    __syncthreads();
}

// The cost of a pull, from a sample; warp-collective. If each of k sources sends along an
// arc with probability p, a row has found all of them after about H / p neighbours, with H = 1 + 1/2 + ... + 1/k, if it
// has so many; the slowest class determines the cost.
template <int W>
__device__ PullCost pull_cost(const SourceClasses<W>& classes, float n, const MultiSourcePolicy& policy) {
    const int kind = lane_of_warp();
    const float arcs = (float)policy.arcs, share = 1.0f / THREADS;
    float sources = 0, needed = 0, all = 0;
    if (kind < CLASSES) sources = (float)classes.sources[kind];
    if (sources && classes.waiting[kind]) {
        const float waiting = (float)classes.waiting[kind], each = __fdividef((float)classes.awaited[kind], waiting);
        needed = fminf(__fdividef((logf(each) + 0.6f) * sources * THREADS, (float)classes.sent[kind]), arcs);
        const float place = log2f(fmaxf(needed, 1));
        const int below = min((int)place, LENGTHS - 2);
        const float low = (float)policy.looks[below], high = (float)policy.looks[below + 1];
        all = waiting * share * n * (low + (high - low) * fminf(place - below, 1));
    }
    for (int d = 16; d; d >>= 1)
        needed = fmaxf(needed, __shfl_xor_sync(ALL, needed, d)), all = fmaxf(all, __shfl_xor_sync(ALL, all, d));
    return PullCost{needed, all};
}

}  // namespace hpgraph
