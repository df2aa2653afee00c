// The middle vertices v of triangles u > v > w: their neighbours below, as a bit filter in shared memory, and their arcs
// from above.
//
// "Below" is by rank in order of falling degree, or by id where degrees are even. The filter keeps ids modulo its size. Up
// to that size it is exact; beyond, a bit that is set is confirmed by binary search. After ordering by degree nearly all
// wedges have small ranks: of kron21's, 98% lie below 131,072.
//
// Vertices of up to LONG arcs take a warp each. The arcs of longer rows are cut in tasks of PIECE, each the work of one block.
#pragma once
#include "search.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int LONG = 256;
constexpr int PIECE = 1024;
// Bits of a warp's own filter.
constexpr u32 SHORT_BITS = 16384;

// Source of the edges that reach a vertex from above: rows of a symmetric graph, of which those below are skipped, by
// rank or by id.
constexpr int BY_RANK = 0, BY_ID = 1;

// By id, order and rank are not read, and row_start and lower are the graph's own indptr and indices. Read-only during a
// kernel, hence __ldg.
template <class Index, int ABOVE>
struct Upwards {
    const i64* indptr;
    const Index* indices;  // of the graph
    const Index* order;
    const Index* rank;
    const i64* row_start;
    const Index* lower;

    __device__ i64 vertex(i64 v) const { return ABOVE == BY_RANK ? i64(__ldg(order + v)) : v; }
    __device__ Index neighbour(i64 at) const {
        const Index u = __ldg(indices + at);
        return ABOVE == BY_RANK ? __ldg(rank + u) : u;
    }
    __device__ i64 begin(i64 v) const { return __ldg(row_start + v); }
    __device__ Index below(i64 at) const { return __ldg(lower + at); }
};

// The neighbours below v; without FILTERED they are found by binary search alone.
template <class Index, bool FILTERED>
struct Members {
    u32* filter;
    u32 mask;
    bool exact;
    ReadOnly<Index> sorted;
    Index size;
    const unsigned short* before = nullptr;  // members before each word of an exact filter, or null

    __device__ void insert(Index w) const { if (FILTERED) atomicOr(filter + ((u32(w) & mask) >> 5), 1u << (u32(w) & 31)); }
    __device__ void erase(Index w) const { if (FILTERED) filter[(u32(w) & mask) >> 5] = 0; }
    __device__ bool contains(Index w) const {
        if (FILTERED) {
            if (!(filter[(u32(w) & mask) >> 5] >> (u32(w) & 31) & 1)) return false;
            if (exact) return true;
        }
        const Index at = lower_bound<Index>(sorted, 0, size, w);
        return at < size && sorted[at] == w;
    }
    // The place of w in its row, or -1.
    __device__ Index place(Index w) const {
        if (FILTERED) {
            const u32 word = filter[(u32(w) & mask) >> 5], bit = u32(w) & 31;
            if (!(word >> bit & 1)) return -1;
            if (before) return before[u32(w) >> 5] + __popc(word & ((1u << bit) - 1));
        }
        const Index at = lower_bound<Index>(sorted, 0, size, w);
        return at < size && sorted[at] == w ? at : -1;
    }
};

// The share of the work of one of several GPUs that hold the graph: every one of `parts` pieces, from the `part`th on.
struct OfParts {
    int part, parts;
};

// A middle vertex: its arcs begin..end that may come from above, and the neighbours below, from `low` to `stop` in `lower`.
template <class Index>
struct Middle {
    Index v;
    i64 begin, end, low, stop;
};

// Vertices from `begin` on whose rows are short, `share` at a time to a warp (at most 32): use(middle, members), by all its lanes, with
// the filter set. For each neighbour w below, insert is called with its place in `lower`, and erase with its place
// among them. `next` starts at 0.
template <bool FILTERED, class Index, int ABOVE, class Insert, class Use, class Erase>
__device__ __forceinline__ void for_short(const Upwards<Index, ABOVE>& up, i64 begin, i64 n, int share, OfParts of, u64* next,
                                          u32* filter, Insert insert, Use use, Erase erase) {
    const int lane = lane_of_warp();
    for (;;) {
        i64 base = 0;
        if (lane == 0) base = i64(atomicAdd(next, u64(share)));
        base = begin + __shfl_sync(ALL, base, 0) * of.parts + of.part * share;
        if (base >= n) break;
        // Each lane loads one vertex's row bounds; the warp then processes these vertices one by one.
        Middle<Index> mine{0, 0, 0, 0, 0};
        if (lane < share && base + lane < n) {
            const i64 vertex = up.vertex(base + lane);
            mine = {Index(base + lane), __ldg(up.indptr + vertex), __ldg(up.indptr + vertex + 1), up.begin(base + lane),
                    up.begin(base + lane + 1)};
        }
        // In a graph's row one arc alone is in no triangle.
        const i64 arcs = mine.end - mine.begin;
        u32 waiting = __ballot_sync(ALL, mine.low < mine.stop && arcs > 1 && arcs <= LONG);
        for (; waiting; waiting &= waiting - 1) {
            const int owner = __ffs(waiting) - 1;
            Middle<Index> middle{Index(base + owner), __shfl_sync(ALL, mine.begin, owner), __shfl_sync(ALL, mine.end, owner),
                                 __shfl_sync(ALL, mine.low, owner), __shfl_sync(ALL, mine.stop, owner)};
            Members<Index, FILTERED> members{filter, SHORT_BITS - 1, u64(middle.v) <= SHORT_BITS, {up.lower + middle.low}, 0};
            for (i64 i = middle.low; i < middle.stop; i += 32) {
                const Index w = i + lane < middle.stop ? up.below(i + lane) : middle.v;
                if (w < middle.v) members.insert(w);
                insert(members, i + lane, w, w < middle.v);
                const int below = __popc(__ballot_sync(ALL, w < middle.v));
                members.size += below;
                if (below < 32) break;
            }
            middle.stop = middle.low + members.size;
            __syncwarp();
            // In the order of ids the neighbours above v follow those below in the same row.
            if (ABOVE == BY_ID) middle.begin = middle.stop;
            if (middle.low == middle.stop) continue;
            use(middle, members);
            for (i64 i = middle.low + lane; i < middle.stop; i += 32) {
                const Index w = up.below(i);
                members.erase(w), erase(members, i - middle.low, w);
            }
            __syncwarp();
        }
    }
}

// Tasks: pieces of rows that are not short.
template <class Index>
struct Tasks {
    Index* vertex;
    i64* begin;  // the first of up to PIECE arcs
    u64* count;  // starts at 0
};

template <class Index, bool ORDERED>
__global__ void list_tasks(const i64* __restrict__ indptr, const Index* __restrict__ order,
                           const i64* __restrict__ row_start, i64 begin, i64 n, OfParts of, Tasks<Index> tasks) {
    const i64 v = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (v < begin || v >= n) return;
    const i64 vertex = ORDERED ? i64(order[v]) : v;
    const i64 row = indptr[vertex], end = indptr[vertex + 1];
    if (end - row <= LONG || row_start[v] == row_start[v + 1]) return;
    // Round-robin over the parts, starting one part further on with each vertex.
    const i64 pieces = (end - row + PIECE - 1) / PIECE, first = (of.part + of.parts - v % of.parts) % of.parts;
    if (first >= pieces) return;
    u64 place = atomicAdd(tasks.count, u64((pieces - first - 1) / of.parts + 1));
    for (i64 at = row + first * PIECE; at < end; at += i64(PIECE) * of.parts, ++place) {
        tasks.vertex[place] = Index(v);
        tasks.begin[place] = at;
    }
}

// The same as for_short, of the tasks, by blocks; `filter` has `bits` bits, a power of two.
template <bool FILTERED, class Index, int ABOVE, class Insert, class Use, class Erase>
__device__ __forceinline__ void for_tasks(const Upwards<Index, ABOVE>& up, const Tasks<Index>& tasks, u32 bits, u64* next,
                                          u32* filter, Insert insert, Use use, Erase erase) {
    __shared__ u64 task;
    for (;;) {
        // All threads have finished with the last task's filter, and have read its number.
        __syncthreads();
        if (threadIdx.x == 0) task = atomicAdd(next, 1ull);
        __syncthreads();
        if (task >= *tasks.count) break;
        const Index v = tasks.vertex[task];
        const i64 begin = tasks.begin[task], row_end = __ldg(up.indptr + up.vertex(v) + 1);
        Middle<Index> middle{v, begin, begin + PIECE < row_end ? begin + PIECE : row_end, up.begin(v), up.begin(i64(v) + 1)};
        if (ABOVE == BY_ID) {
            if (up.neighbour(middle.end - 1) <= v) continue;
            middle.stop = lower_bound(ReadOnly<Index>{up.lower}, middle.low, middle.stop, v);
        }
        Members<Index, FILTERED> members{filter, bits - 1, u64(v) <= bits, {up.lower + middle.low},
                                         Index(middle.stop - middle.low)};
        for (i64 i = middle.low + threadIdx.x; i < middle.stop; i += THREADS) {
            const Index w = up.below(i);
            members.insert(w), insert(members, i, w, true);
        }
        use(middle, members);
        __syncthreads();
        for (i64 i = middle.low + threadIdx.x; i < middle.stop; i += THREADS) {
            const Index w = up.below(i);
            members.erase(w), erase(members, i - middle.low, w);
        }
    }
}

// If all degrees are small, as in road networks: the triangles of one middle vertex, by merging rows in the order of ids.
// found(w, to w from v, to w from u) for each, and found_at(u, place of v in u's row, how many) for each u with any.
template <class Index, class Found, class FoundAt>
__device__ __forceinline__ void merge_rows(const i64* __restrict__ indptr, const Index* __restrict__ indices, Index v,
                                           Found found, FoundAt found_at) {
    const i64 begin = indptr[v], end = indptr[i64(v) + 1];
    i64 stop = begin;
    while (stop < end && indices[stop] < v) ++stop;
    if (begin == stop) return;
    for (i64 j = stop; j < end; ++j) {
        const Index u = indices[j];
        if (u == v) continue;
        u32 here = 0;
        i64 mine = begin, theirs = indptr[u];
        // v is in the row of u and ends the loop.
        for (Index w = indices[theirs]; w < v; w = indices[++theirs]) {
            while (mine < stop && indices[mine] < w) ++mine;
            if (mine == stop || indices[mine] != w) continue;
            ++here;
            found(w, mine, theirs);
        }
        if (here) found_at(u, theirs, here);
    }
}

}  // namespace hpgraph
