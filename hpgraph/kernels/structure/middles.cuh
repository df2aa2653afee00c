// Triangle search: the entries of a vertex's spans (parts of rows) are looked up among its lower neighbours, which are
// in a bit filter in shared memory.
//
// "Lower" is by rank in order of falling degree, or by id if degrees are even. For a triangle u > v > w, by rank the
// vertex is the middle one, v, and the spans are the parts of its upper neighbours' rows that precede v: each pair of
// edges down from one u is examined once, the minimum for any enumeration of wedges. If degrees are even the vertex may
// as well be u, whose spans are the rows of its lower neighbours and need not be listed.
//
// The filter keeps ids modulo its size. It is exact for ids below its size; otherwise a set bit is confirmed by binary
// search. After ordering by degree nearly all wedges have small ranks: of kron21's, 98% lie below 131,072.
//
// A vertex of at most LONG spans and neighbours is processed by a warp. Other vertices are divided into tasks of PIECE
// spans, each processed by one block.
// one block.
#pragma once
#include "search.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int LONG = 256;
constexpr int PIECE = 1024;
// Bits of a warp's filter.
constexpr u32 SHORT_BITS = 16384;

// A vertex, its spans `begin` to `end`, and its lower neighbours, `low` to `stop` in `lower`.
template <class Index>
struct Middle {
    Index v;
    i64 begin, end, low, stop;

    // A triangle has two edges at the vertex.
    __device__ bool has_wedges() const { return begin < end && low < stop; }
    __device__ bool is_long() const { return end - begin > LONG || stop - low > LONG; }
};

// A range of entries of `lower`.
template <class Place>
struct alignas(2 * sizeof(Place)) Span {
    Place start, stop;
};

// By rank, a middle vertex's spans are the parts of its upper neighbours' rows that precede it, beside its own row. By
// id, each vertex has one span, its lower neighbours, and the spans to look up are those of its lower neighbours.
constexpr int BY_RANK = 0, BY_ID = 1;

// Rows of lower neighbours, ascending: by id of a graph, or of its degree order. Read-only during a kernel, hence
// __ldg.
template <class Index, class Place, int ABOVE>
struct Upwards {
    const i64* row_start;   // by rank
    const Index* lower;
    i64 entries;            // of `lower`
    const i64* span_start;  // by rank: the first of each vertex's spans
    const Span<Place>* spans;
    const Index* upper;     // by rank, if vertices are tallied: the row of each entry

    __device__ Span<Place> load(i64 at) const {
        if constexpr (sizeof(Place) == 4) {
            const int2 span = __ldg(reinterpret_cast<const int2*>(spans) + at);
            return {span.x, span.y};
        } else {
            const longlong2 span = __ldg(reinterpret_cast<const longlong2*>(spans) + at);
            return {span.x, span.y};
        }
    }
    // Span number `at` in the order in which vertices look them up.
    __device__ Span<Place> span(i64 at) const { return load(ABOVE == BY_RANK ? at : i64(__ldg(lower + at))); }
    // The vertex in whose row a span lies, and the edge to it: by rank the upper end of the edge, by id the lower end.
    __device__ Index vertex(i64 at, Span<Place> span) const {
        return ABOVE == BY_RANK ? __ldg(upper + span.stop) : __ldg(lower + at);
    }
    __device__ i64 edge(i64 at, Span<Place> span) const { return ABOVE == BY_RANK ? i64(span.stop) : at; }
    __device__ Middle<Index> middle(i64 v) const {
        if constexpr (ABOVE == BY_ID) {
            const Span<Place> own = load(v);
            return {Index(v), own.start, own.stop, own.start, own.stop};
        } else {
            return {Index(v), __ldg(span_start + v), __ldg(span_start + v + 1), __ldg(row_start + v), __ldg(row_start + v + 1)};
        }
    }
};

// By id: the lower neighbours of each vertex in its row.
template <class Index, class Place>
__global__ void own_spans(const i64* __restrict__ indptr, const Index* __restrict__ indices, i64 n, Span<Place>* spans) {
    const i64 v = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (v < n) spans[v] = {Place(indptr[v]), Place(lower_bound(ReadOnly<Index>{indices}, indptr[v], indptr[v + 1], Index(v)))};
}

// By rank: for each entry v of a row, from row `first` on, append the part of the row before v to the spans of v; a warp
// for each row. `next`: the first span of each vertex; their order does not matter.
template <class Index, class Place>
__global__ void list_spans(const i64* __restrict__ row_start, const Index* __restrict__ lower, i64 first, i64 n, u64* next,
                           Span<Place>* spans) {
    const i64 u = first + (i64(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    if (u >= n) return;
    const i64 begin = row_start[u], end = row_start[u + 1];
    for (i64 at = begin + lane_of_warp(); at < end; at += 32)
        spans[atomicAdd(next + lower[at], 1ull)] = {Place(begin), Place(at)};
}

// The lower neighbours of v; without FILTERED they are found by binary search alone.
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
    __device__ bool may_contain(Index w) const {
        return !FILTERED || filter[(u32(w) & mask) >> 5] >> (u32(w) & 31) & 1;
    }
    __device__ bool contains(Index w) const {
        if (!may_contain(w)) return false;
        if (FILTERED && exact) return true;
        const Index at = lower_bound<Index>(sorted, 0, size, w);
        return at < size && sorted[at] == w;
    }
    // Position of w among the lower neighbours, or -1.
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

// Share of one of several GPUs that each hold the graph: piece number `part`, and every `parts`-th piece after it.
struct OfParts {
    int part, parts;
};

// Processes vertices from `begin` on that are not long, `share` at a time per warp (at most 32): all lanes call
// use(middle, members) with the filter set; erase is called for each lower neighbour with its position. `next` starts
// at 0.
template <bool FILTERED, class Index, class Place, int ABOVE, class Use, class Erase>
__device__ __forceinline__ void for_short(const Upwards<Index, Place, ABOVE>& up, i64 begin, i64 n, int share, OfParts of,
                                          u64* next, u32* filter, Use use, Erase erase) {
    const int lane = lane_of_warp();
    for (;;) {
        const i64 base = begin + i64(warp_fetch_add(next, u64(share))) * of.parts + of.part * share;
        if (base >= n) break;
        // Each lane loads one vertex's bounds; the warp then processes these vertices one by one.
        Middle<Index> mine{0, 0, 0, 0, 0};
        if (lane < share && base + lane < n) mine = up.middle(base + lane);
        u32 waiting = __ballot_sync(ALL, mine.has_wedges() && !mine.is_long());
        for (; waiting; waiting &= waiting - 1) {
            const int owner = __ffs(waiting) - 1;
            const Middle<Index> middle{Index(base + owner), __shfl_sync(ALL, mine.begin, owner), __shfl_sync(ALL, mine.end, owner),
                                       __shfl_sync(ALL, mine.low, owner), __shfl_sync(ALL, mine.stop, owner)};
            const Members<Index, FILTERED> members{filter, SHORT_BITS - 1, u64(middle.v) <= SHORT_BITS,
                                                   {up.lower + middle.low}, Index(middle.stop - middle.low)};
            for (i64 i = middle.low + lane; i < middle.stop; i += 32) members.insert(__ldg(up.lower + i));
            __syncwarp();
            use(middle, members);
            __syncwarp();
            for (i64 i = middle.low + lane; i < middle.stop; i += 32) {
                members.erase(__ldg(up.lower + i)), erase(members, i - middle.low);
            }
            __syncwarp();
        }
    }
}

// Tasks: pieces of the spans of long vertices.
template <class Index>
struct Tasks {
    Index* vertex;
    i64* begin;  // the first of up to PIECE spans
    u64* count;  // starts at 0
};

template <class Index, class Place, int ABOVE>
__global__ void list_tasks(const Upwards<Index, Place, ABOVE> up, i64 begin, i64 n, OfParts of, Tasks<Index> tasks) {
    const i64 v = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (v < begin || v >= n) return;
    const Middle<Index> middle = up.middle(v);
    if (!middle.has_wedges() || !middle.is_long()) return;
    // Round-robin over the parts, starting one part further on with each vertex.
    const i64 pieces = (middle.end - middle.begin + PIECE - 1) / PIECE, first = (of.part + of.parts - v % of.parts) % of.parts;
    if (first >= pieces) return;
    u64 place = atomicAdd(tasks.count, u64((pieces - first - 1) / of.parts + 1));
    for (i64 at = middle.begin + first * PIECE; at < middle.end; at += i64(PIECE) * of.parts, ++place) {
        tasks.vertex[place] = Index(v);
        tasks.begin[place] = at;
    }
}

// The counterpart of for_short for tasks, by blocks; `filter` has `bits` bits, a power of two.
template <bool FILTERED, class Index, class Place, int ABOVE, class Use, class Erase>
__device__ __forceinline__ void for_tasks(const Upwards<Index, Place, ABOVE>& up, const Tasks<Index>& tasks, u32 bits, u64* next,
                                          u32* filter, Use use, Erase erase) {
    __shared__ u64 task;
    for (;;) {
        // All threads have finished with the last task's filter, and have read its number.
        __syncthreads();
        if (threadIdx.x == 0) task = atomicAdd(next, 1ull);
        __syncthreads();
        if (task >= *tasks.count) break;
        Middle<Index> middle = up.middle(tasks.vertex[task]);
        middle.begin = tasks.begin[task], middle.end = min(middle.begin + PIECE, middle.end);
        Members<Index, FILTERED> members{filter, bits - 1, u64(middle.v) <= bits, {up.lower + middle.low},
                                         Index(middle.stop - middle.low)};
        for (i64 i = middle.low + threadIdx.x; i < middle.stop; i += THREADS) members.insert(__ldg(up.lower + i));
        use(middle, members);
        __syncthreads();
        for (i64 i = middle.low + threadIdx.x; i < middle.stop; i += THREADS) {
            members.erase(__ldg(up.lower + i)), erase(members, i - middle.low);
        }
    }
}

// For graphs whose degrees are all small, such as road networks: triangles of one middle vertex, by merging rows in the
// order of ids. Calls found(w, arc v to w, arc u to w) for each triangle, and found_at(u, position of v in u's row,
// count) for each u with triangles.
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
