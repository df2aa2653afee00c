// Support of each edge (its number of triangles), exact only below `cap`.
//
// Triangles u > v > w are found at their middle vertex v, as in triangles.cuh. An edge is identified by its position in
// the row of its upper end, among the neighbours below; a bit says that its support has reached `cap`. A stretch of a
// row in which all edges have that bit is searched only for those that meet in v and still count. Vertices come in the
// order of their numbers, so that in degree order most edges reach `cap` before the long rows come, and nearly all
// triangles of a graph with many are skipped.
#pragma once
#include "triangles.cuh"

namespace hpgraph {

// Source of the edges that reach a vertex from above: rows of a symmetric graph, of which those below are skipped, by
// rank or by id, or lists by the lower end.
constexpr int BY_RANK = 0, BY_ID = 1, LISTED = 2;

template <class Index, int ABOVE>
struct Upwards {
    const i64* indptr;
    const Index* indices;  // of the graph
    const Index* order;
    const Index* rank;
    const i64* edges;  // listed, and the rows that they stand in
    const Index* row;
    const i64* row_start;
    const Index* lower;

    __device__ i64 vertex(i64 v) const { return ABOVE == BY_RANK ? i64(order[v]) : v; }
};

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

    __device__ void found(const Members<Index, true>& members, i64 low, Index w, const Support& support) const {
        const u32 bit = u32(w) & members.mask;
        if (!(filter[bit >> 5] >> (bit & 31) & 1)) return;
        const i64 edge = low + lower_bound(members.sorted, 0, members.size, w);
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
            start = up.row_start[up.row[edge]];
        } else {
            Index u = up.indices[at + lane_of_warp()];
            if (ABOVE == BY_RANK) u = up.rank[u];
            if (u > v) {
                start = up.row_start[u];
                edge = lower_bound(up.lower, start, up.row_start[i64(u) + 1], v);
            }
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

// Vertices whose rows are short, `share` at a time to a warp (at most 32). `next` starts at 0.
template <class Index, int ABOVE, int LANES>
__global__ void __launch_bounds__(THREADS)
support_short(const Upwards<Index, ABOVE> up, i64 n, int share, u64* next, Support support) {
    __shared__ u32 filters[WARPS][2][SHORT_BITS / 32];
    __shared__ EdgeBatch batches[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32* const filter = filters[warp][0];
    u32* const wanted = filters[warp][1];
    EdgeBatch& batch = batches[warp];
    for (u32 i = lane; i < SHORT_BITS / 16; i += 32) filter[i] = 0;
    __syncwarp();
    for (;;) {
        i64 base = 0;
        if (lane == 0) base = i64(atomicAdd(next, u64(share)));
        base = __shfl_sync(ALL, base, 0);
        if (base >= n) break;
        i64 my_begin = 0, my_end = 0, my_low = 0, my_stop = 0;
        if (lane < share && base + lane < n) {
            const i64 vertex = up.vertex(base + lane);
            my_begin = up.indptr[vertex];
            my_end = up.indptr[vertex + 1];
            my_low = up.row_start[base + lane];
            my_stop = up.row_start[base + lane + 1];
        }
        u32 waiting = __ballot_sync(ALL, my_low < my_stop && my_begin < my_end && my_end - my_begin <= LONG);
        while (waiting) {
            const int owner = __ffs(waiting) - 1;
            waiting &= waiting - 1;
            const Index v = Index(base + owner);
            i64 at = __shfl_sync(ALL, my_begin, owner);
            const i64 end = __shfl_sync(ALL, my_end, owner), low = __shfl_sync(ALL, my_low, owner);
            i64 stop = __shfl_sync(ALL, my_stop, owner);
            Members<Index, true> members{filter, SHORT_BITS - 1, u64(v) <= SHORT_BITS, up.lower + low, 0};
            Wanting<Index> wanting{wanted, false};
            for (i64 i = low; i < stop; i += 32) {
                const Index w = i + lane < stop ? up.lower[i + lane] : v;
                const bool wants = w < v && !support.has_enough(i + lane);
                if (w < v) members.insert(w);
                if (wants) atomicOr(wanted + ((u32(w) & members.mask) >> 5), 1u << (u32(w) & 31));
                wanting.any = __any_sync(ALL, wants) || wanting.any;
                const int below = __popc(__ballot_sync(ALL, w < v));
                members.size += below;
                if (below < 32) break;
            }
            stop = low + members.size;
            __syncwarp();
            // In the order of ids the neighbours above v follow those below in the same row.
            if (ABOVE == BY_ID) at = stop;
            if (low == stop) continue;
            for (; at < end; at += 32) {
                const int rows = gather_edges(up, support, at, end, v, batch);
                close_wedges<Index, LANES>(up.lower, batch, rows, low, members, wanting, support);
                __syncwarp();
            }
            for (i64 i = low + lane; i < stop; i += 32) {
                const u32 word = (u32(up.lower[i]) & members.mask) >> 5;
                filter[word] = wanted[word] = 0;
            }
            __syncwarp();
        }
    }
}

// The tasks that list_tasks made. Dynamic shared memory: two filters of `bits` bits, a power of two.
template <class Index, int ABOVE, int LANES>
__global__ void __launch_bounds__(THREADS)
support_long(const Upwards<Index, ABOVE> up, const Index* __restrict__ task_vertex, const i64* __restrict__ task_begin,
             const u64* tasks, u32 bits, u64* next, Support support) {
    extern __shared__ u32 filter[];
    __shared__ EdgeBatch batches[WARPS];
    __shared__ u64 task;
    u32* const wanted = filter + bits / 32;
    EdgeBatch& batch = batches[threadIdx.x / 32];
    for (u32 i = threadIdx.x; i < bits / 16; i += THREADS) filter[i] = 0;
    for (;;) {
        // All threads have finished with the last task's filters, and have read its number.
        __syncthreads();
        if (threadIdx.x == 0) task = atomicAdd(next, 1ull);
        __syncthreads();
        if (task >= *tasks) break;
        const Index v = task_vertex[task];
        const i64 begin = task_begin[task], row_end = up.indptr[up.vertex(v) + 1];
        const i64 end = begin + PIECE < row_end ? begin + PIECE : row_end;
        const i64 low = up.row_start[v];
        i64 stop = up.row_start[i64(v) + 1];
        if (ABOVE == BY_ID) {
            if (up.indices[end - 1] <= v) continue;
            stop = lower_bound(up.lower, low, stop, v);
        }
        const Members<Index, true> members{filter, bits - 1, u64(v) <= bits, up.lower + low, stop - low};
        bool wants = false;
        for (i64 i = low + threadIdx.x; i < stop; i += THREADS) {
            const Index w = up.lower[i];
            members.insert(w);
            if (support.has_enough(i)) continue;
            wants = true;
            atomicOr(wanted + ((u32(w) & members.mask) >> 5), 1u << (u32(w) & 31));
        }
        const Wanting<Index> wanting{wanted, bool(__syncthreads_or(wants))};
        for (i64 at = begin + threadIdx.x / 32 * 32; at < end; at += THREADS) {
            const int rows = gather_edges(up, support, at, end, v, batch);
            close_wedges<Index, LANES>(up.lower, batch, rows, low, members, wanting, support);
            __syncwarp();
        }
        __syncthreads();
        for (i64 i = low + threadIdx.x; i < stop; i += THREADS) {
            const u32 word = (u32(up.lower[i]) & members.mask) >> 5;
            filter[word] = wanted[word] = 0;
        }
    }
}

// If all degrees are small: one thread a vertex, merging rows in the order of ids.
template <class Index>
__global__ void __launch_bounds__(THREADS)
support_few(const i64* __restrict__ indptr, const Index* __restrict__ indices, i64 n, u32* count) {
    const i64 i = i64(blockIdx.x) * THREADS + threadIdx.x;
    if (i >= n) return;
    const Index v = Index(i);
    const i64 begin = indptr[i], end = indptr[i + 1];
    i64 stop = begin;
    while (stop < end && indices[stop] < v) ++stop;
    if (begin == stop) return;
    for (i64 j = stop; j < end; ++j) {
        const Index u = indices[j];
        if (u == v) continue;
        u32 found = 0;
        i64 mine = begin, theirs = indptr[u];
        // v is in the row of u and ends the loop.
        for (Index w = indices[theirs]; w < v; w = indices[++theirs]) {
            while (mine < stop && indices[mine] < w) ++mine;
            if (mine == stop || indices[mine] != w) continue;
            ++found;
            atomicAdd(count + mine, 1u);
            atomicAdd(count + theirs, 1u);
        }
        if (found) atomicAdd(count + theirs, found);
    }
}

}  // namespace hpgraph
