// Support of each edge (its number of triangles), exact only below `cap`.
//
// Triangles u > v > w are found at their middle vertex v, as in triangles.cuh. An edge is identified by its position in
// the row of its upper end, among the neighbours below; a bit says that its support has reached `cap`. A stretch of a
// row in which all edges have that bit is searched only for those that meet in v and still count. Vertices come in the
// order of their numbers, so that in degree order most edges reach `cap` before the long rows come, and nearly all
// triangles of a graph with many are skipped.
#pragma once
#include "middles.cuh"

namespace hpgraph {

struct Support {
    u32* count;
    u32* enough;  // bits
    u32 cap;

    __device__ bool has_enough(i64 edge) const { return enough[edge >> 5] >> (edge & 31) & 1; }
    __device__ void add(i64 edge, u32 found) const {
        const u32 before = atomicAdd(count + edge, found);
        if (before < cap && before + found >= cap) atomicOr(enough + (edge >> 5), 1u << (edge & 31));
    }
};

// A filter of the edges below v that are below `cap`, of the same size as that of the members. An edge that has reached
// it is removed, unless several share a bit.
template <class Index>
struct Wanting {
    u32* filter;
    bool any;

    __device__ void insert(const Members<Index, true>& members, Index w) const {
        atomicOr(filter + ((u32(w) & members.mask) >> 5), 1u << (u32(w) & 31));
    }
    __device__ void erase(const Members<Index, true>& members, Index w) const { filter[(u32(w) & members.mask) >> 5] = 0; }
    __device__ void found(const Members<Index, true>& members, i64 low, Index w, const Support& support) const {
        const u32 bit = u32(w) & members.mask;
        if (!(filter[bit >> 5] >> (bit & 31) & 1)) return;
        const i64 edge = low + lower_bound<Index>(members.sorted, 0, members.size, w);
        if (!support.has_enough(edge)) support.add(edge, 1);
        else if (members.exact) atomicAnd(filter + (bit >> 5), ~(1u << (bit & 31)));
    }
};

// Up to 32 edges from above to one vertex: where the rows of their upper ends begin, and the edges' positions.
struct EdgeBatch {
    i64 start[32], edge[32];
    bool wants[32];
};

template <class Index, int ABOVE>
__device__ __forceinline__ int gather_edges(const Upwards<Index, ABOVE>& up, const Support& support, i64 at, i64 end,
                                            Index v, EdgeBatch& batch) {
    i64 start = 0, edge = 0;
    if (at + lane_of_warp() < end) {
        if (ABOVE == LISTED) {
            edge = up.edges[at + lane_of_warp()];
            start = up.begin(up.row[edge]);
        } else if (const Index u = up.neighbour(at + lane_of_warp()); u > v) {
            start = up.begin(u);
            edge = lower_bound(up.lower, start, up.begin(i64(u) + 1), v);
        }
    }
    const bool closes = start < edge;
    const u32 which = __ballot_sync(ALL, closes);
    if (closes) {
        const int place = __popc(which & lanes_below());
        batch.start[place] = start;
        batch.edge[place] = edge;
        batch.wants[place] = !support.has_enough(edge);
    }
    __syncwarp();
    return __popc(which);
}

// Look up the rows of a batch as far as they are below v, LANES lanes to a row. The first loads of four rows are in
// flight at once.
template <class Index, int LANES>
__device__ __forceinline__ void close_wedges(const Index* __restrict__ lower, const EdgeBatch& batch, int rows, i64 low,
                                             const Members<Index, true>& members, const Wanting<Index>& wanting,
                                             const Support& support) {
    constexpr int GROUPS = 32 / LANES, LOADS = 4;
    const int lane = lane_of_warp(), sub = lane % LANES, group = lane / LANES;
    const u32 mine = (LANES == 32 ? ALL : (1u << LANES % 32) - 1) << group * LANES % 32;
    for (int first = group; first < rows; first += LOADS * GROUPS) {
        Index head[LOADS];
#pragma unroll
        for (int a = 0; a < LOADS; ++a) {
            const int row = first + a * GROUPS;
            head[a] = 0;
            if (row < rows && batch.start[row] + sub < batch.edge[row]) head[a] = lower[batch.start[row] + sub];
        }
#pragma unroll
        for (int a = 0; a < LOADS; ++a) {
            const int row = first + a * GROUPS;
            if (row >= rows) continue;
            const i64 start = batch.start[row], edge = batch.edge[row];
            const bool wants = batch.wants[row];
            u32 found = 0;
            for (i64 base = start; base < edge; base += LANES) {
                const i64 at = base + sub;
                bool looks = at < edge;
                if (!wanting.any && !(wants && found < support.cap)) {
                    looks = looks && !support.has_enough(at);
                    if (!__any_sync(mine, looks)) continue;
                }
                bool hit = false;
                if (looks) {
                    const Index w = base == start ? head[a] : lower[at];
                    hit = members.contains(w);
                    if (hit && !support.has_enough(at)) support.add(at, 1);
                    if (hit && wanting.any) wanting.found(members, low, w, support);
                }
                if (wants) found += __popc(__ballot_sync(mine, hit));
            }
            if (found && sub == 0) support.add(edge, found);
        }
    }
}

template <class Index, int ABOVE, int LANES>
__device__ __forceinline__ void support_at(const Upwards<Index, ABOVE>& up, const Middle<Index>& middle, int first, int stride,
                                           const Members<Index, true>& members, const Wanting<Index>& wanting,
                                           EdgeBatch& batch, const Support& support) {
    for (i64 at = middle.begin + first; at < middle.end; at += stride) {
        const int rows = gather_edges(up, support, at, middle.end, middle.v, batch);
        close_wedges<Index, LANES>(up.lower, batch, rows, middle.low, members, wanting, support);
        __syncwarp();
    }
}

// Short rows.
template <class Index, int ABOVE, int LANES>
__global__ void __launch_bounds__(THREADS)
support_short(const Upwards<Index, ABOVE> up, i64 n, int share, OfParts of, u64* next, Support support) {
    __shared__ u32 filters[WARPS][2][SHORT_BITS / 32];
    __shared__ EdgeBatch batches[WARPS];
    const int warp = threadIdx.x / 32;
    for (u32 i = lane_of_warp(); i < SHORT_BITS / 16; i += 32) filters[warp][0][i] = 0;
    __syncwarp();
    Wanting<Index> wanting{filters[warp][1], false};
    for_short<true>(
        up, n, share, of, next, filters[warp][0],
        [&](const Members<Index, true>& members, i64 edge, Index w, bool below) {
            const bool wants = below && !support.has_enough(edge);
            if (wants) wanting.insert(members, w);
            wanting.any = __any_sync(ALL, wants) || wanting.any;
        },
        [&](const Middle<Index>& middle, const Members<Index, true>& members) {
            support_at<Index, ABOVE, LANES>(up, middle, 0, 32, members, wanting, batches[warp], support);
            wanting.any = false;
        },
        [&](const Members<Index, true>& members, i64, Index w) { wanting.erase(members, w); });
}

// Long rows. Dynamic shared memory: two filters of `bits` bits, a power of two.
template <class Index, int ABOVE, int LANES>
__global__ void __launch_bounds__(THREADS)
support_long(const Upwards<Index, ABOVE> up, const Tasks<Index> tasks, u32 bits, u64* next, Support support) {
    extern __shared__ u32 filter[];
    __shared__ EdgeBatch batches[WARPS];
    const int warp = threadIdx.x / 32;
    for (u32 i = threadIdx.x; i < bits / 16; i += THREADS) filter[i] = 0;
    Wanting<Index> wanting{filter + bits / 32, false};
    for_tasks<true>(
        up, tasks, bits, next, filter,
        [&](const Members<Index, true>& members, i64 edge, Index w, bool) {
            if (support.has_enough(edge)) return;
            wanting.any = true;
            wanting.insert(members, w);
        },
        [&](const Middle<Index>& middle, const Members<Index, true>& members) {
            wanting.any = __syncthreads_or(wanting.any);
            support_at<Index, ABOVE, LANES>(up, middle, warp * 32, THREADS, members, wanting, batches[warp], support);
            wanting.any = false;
        },
        [&](const Members<Index, true>& members, i64, Index w) { wanting.erase(members, w); });
}

}  // namespace hpgraph
