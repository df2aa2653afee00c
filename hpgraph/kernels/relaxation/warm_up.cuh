// Warm-up phase of a multi-source relaxation: a separate search from each source, up to the same number of arcs.
//
// The vertices that make a search grow, such as hubs, are nearer to some sources than to others. With origins at the
// start, each search would reach a hub in a different bucket, and no arc would be read for two of them. The origin of a
// source is the value at which its warm-up ends: then most searches reach the hub in the same bucket.
#pragma once
#include "buckets.cuh"
#include "one_block.cuh"
#include "persistent.cuh"

namespace hpgraph {

// Arcs of a search in the warm-up phase; vertices, as each takes a chain of loads; and starts.
constexpr int WARM_UP_ARCS = 1024, WARM_UP_VERTICES = 128, MAX_STARTS = 32;

// More than any value.
__device__ inline double endless() { return __longlong_as_double(0x7ff0000000000000LL); }

template <class Value>
struct SourcePriority {
    int on, adapts;
    double delta;
    Value ceiling;
};

template <class Index>
struct RelaxSourcesSpace {
    Header* header;
    u32* words;       // three buffers of n, used in rotation: bits of the sources in which a vertex sends
    u32* waiting;     // bits of the sources in which it waits in the far pile
    double* origins;  // the origin of each source's values
    double* least;    // a double buffer
    Index* light;     // three buffers of n, and of `heavy` pieces
    Piece<Index>* pieces;
    i64 heavy;
    Index *far, *far_kept;
    Trace trace;
};

// Put each thread's vertex, if `mine`, into the far pile in a source; warp-collective.
template <class Index>
__device__ void wait_in_source(const RelaxSourcesSpace<Index>& space, bool mine, Index v, int source) {
    const bool first = mine && atomicOr(space.waiting + v, 1u << source) == 0;
    append(first, v, space.far, &space.header->far_tail[0]);
}

// One start per thread, without a warm-up phase.
template <class Program, class Index>
__global__ void __launch_bounds__(256) start_together(const Index* vertices, const int* sources, i64 count,
                                                      const RelaxSourcesSpace<Index> space) {
    const i64 i = (i64)blockIdx.x * 256 + threadIdx.x;
    wait_in_source(space, i < count, i < count ? vertices[i] : 0, i < count ? sources[i] : 0);
}

// A warp for each source s, whose starts begin at vertices[ends[s - 1]], at most MAX_STARTS: relax the arcs of the
// vertex with the least value, repeatedly. The remaining vertices wait.
template <class Program, class Index, class Weight>
__global__ void __launch_bounds__(32) start_apart(const Program program, const int k, const Arcs<Index, Weight> out,
                                                  const SourcePriority<typename Program::Message> priority,
                                                  const Index* vertices, const i64* ends,
                                                  const RelaxSourcesSpace<Index> space) {
    using Value = typename Program::Message;
    __shared__ Index known[WARM_UP_ARCS + MAX_STARTS];
    __shared__ Value reached[WARM_UP_ARCS + MAX_STARTS];
    const int of = blockIdx.x, lane = lane_of_warp();
    // Volatile: other warps write neighbouring values, and atomics bypass the first-level cache.
    const auto value = [&](Index v) { return *(volatile Value*)(program.p0 + (i64)v * k + of); };
    const i64 begin = of ? ends[of - 1] : 0;
    int count = (int)(ends[of] - begin);
    if (lane < count) known[lane] = vertices[begin + lane], reached[lane] = value(known[lane]);
    __syncwarp();
    i64 arcs = 0;
    for (int processed = 0; processed < WARM_UP_VERTICES && count;) {
        Value least = Value();
        int at = -1;
        for (int i = lane; i < count; i += 32)
            if (at < 0 || reached[i] < least) least = reached[i], at = i;
        for (int d = 16; d; d >>= 1) {
            const Value other = __shfl_xor_sync(ALL, least, d);
            const int there = __shfl_xor_sync(ALL, at, d);
            if (there >= 0 && (at < 0 || other < least || (!(least < other) && there < at))) least = other, at = there;
        }
        const Index u = known[at];
        const i64 start = out.indptr[u], degree = out.indptr[u + 1] - start;
        const bool is_last = value(u) == least;  // it may have been improved since
        if (is_last && (arcs += degree) > WARM_UP_ARCS) break;
        __syncwarp();
        --count;
        if (lane == 0) known[at] = known[count], reached[at] = reached[count];
        __syncwarp();
        if (!is_last) continue;
        ++processed;
        for (i64 j = lane; j - lane < degree; j += 32) {
            const bool has = j < degree;
            const Index v = has ? out.indices[start + j] : 0;
            const auto weight = has ? out.weight(start + j) : 0;
            const Value current = has ? value(v) : Value();
            bool live = has && Program::allows(u, least, weight, v, current);
            const Value message = live ? Program::gather(u, least, weight, v, current) : Value();
            live = live && message < current && message < atomic_least(program.p0 + (i64)v * k + of, message);
            live = live && !(message > priority.ceiling);
            const u32 votes = __ballot_sync(ALL, live);
            const int place = count + __popc(votes & lanes_below());
            if (live) known[place] = v, reached[place] = message;
            count += __popc(votes);
        }
        __syncwarp();
    }
    double least = endless();
    for (int i = lane; i - lane < count; i += 32) {
        const bool waits = i < count && value(known[i]) == reached[i];
        if (waits && (double)reached[i] < least) least = (double)reached[i];
        wait_in_source(space, waits, i < count ? known[i] : 0, of);
    }
    for (int d = 16; d; d >>= 1) least = fmin(least, __shfl_xor_sync(ALL, least, d));
    if (lane == 0) space.origins[of] = least < endless() ? least : 0;
}

}  // namespace hpgraph
