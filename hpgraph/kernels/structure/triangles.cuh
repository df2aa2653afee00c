// Triangle counting: each triangle is found at one of its vertices, whose spans are looked up among its lower
// neighbours (middles.cuh). Counts are integers, so results do not depend on the schedule.
#pragma once
#include "middles.cuh"

namespace hpgraph {

// What is counted besides the total: nothing, triangles of each vertex, or triangles of each edge.
constexpr int TOTAL = 0, OF_VERTICES = 1, OF_EDGES = 2;

// Triangles by vertex or by edge. Those at the lower neighbours of v, or at the edges to them, are counted in shared
// memory by position and added to the tally when v is done, as most triangles share the same few vertices. Positions
// from NEAR on are added to the tally directly.
template <class Index, int TALLY, int NEAR>
struct Counts {
    u32* near;
    u64* tally;          // by vertex, or
    u32* support;        // by edge, which is its position in
    const Index* lower;  // the rows of neighbours below

    // Adds to a lower neighbour of v, or to the edge to it.
    template <bool FILTERED>
    __device__ void add_below(const Members<Index, FILTERED>& members, i64 place, u32 count) const {
        if (TALLY == OF_EDGES) atomicAdd(support + (members.sorted.values - lower) + place, count);
        else atomicAdd(tally + members.sorted[place], u64(count));
    }
    // Counts a triangle with the neighbour at `place` and the arc at `at` in the row of u.
    template <bool FILTERED>
    __device__ void add(const Members<Index, FILTERED>& members, Index place, i64 at) const {
        if (TALLY == OF_EDGES) atomicAdd(support + at, 1u);
        if (FILTERED && place < NEAR) atomicAdd(near + place, 1u);
        else add_below(members, place, 1);
    }
    template <bool FILTERED>
    __device__ void flush(const Members<Index, FILTERED>& members, i64 place) const {
        if (place >= NEAR || !near[place]) return;
        add_below(members, place, near[place]);
        near[place] = 0;
    }
};

// No tally: only the total.
struct NoCounts {};

// Returns whether w, at `at` in `lower`, is a member, and counts it if so.
template <class Index, bool FILTERED>
__device__ bool look_up(const Members<Index, FILTERED>& members, Index w, i64, NoCounts) { return members.contains(w); }
template <class Index, bool FILTERED, int TALLY, int NEAR>
__device__ bool look_up(const Members<Index, FILTERED>& members, Index w, i64 at, const Counts<Index, TALLY, NEAR>& counts) {
    const Index place = members.place(w);
    if (place >= 0) counts.add(members, place, at);
    return place >= 0;
}

// A nonempty span. Cache lines that a warp looks up are numbered consecutively over its spans; adding `origin` gives
// the line's number in `lower`.
template <class Place>
struct alignas(4 * sizeof(Place)) Numbered {
    Place start, stop, origin;
};

// The spans that a warp looks up together, and the triangles found in each.
template <class Place>
struct Batch {
    Numbered<Place> spans[32];
    u32 found[32];
};

// Returns the bits of the entries of a line, from number `first` on, that may be members. All loads are in flight at
// once.
template <int LINE, class Index, class Place, bool FILTERED>
__device__ __forceinline__ u32 filter_line(const Index* __restrict__ lower, i64 entries, Place first, const Numbered<Place>& span,
                                           const Members<Index, FILTERED>& members) {
    constexpr int QUAD = 16 / sizeof(Index), QUADS = LINE / 16;
    union {
        uint4 quads[QUADS];
        Index ids[QUADS * QUAD];
    } held;
#pragma unroll
    for (int q = 0; q < QUADS; ++q) {
        const Place at = first + q * QUAD;
        held.quads[q] = uint4{0, 0, 0, 0};
        if (QUADS > 1 && (at >= span.stop || at + QUAD <= span.start)) continue;
        if (at >= 0 && at + QUAD <= entries) {
            held.quads[q] = __ldg(reinterpret_cast<const uint4*>(lower + at));
        } else {
#pragma unroll
            for (int k = 0; k < QUAD; ++k)
                if (at + k >= span.start && at + k < span.stop) held.ids[q * QUAD + k] = __ldg(lower + at + k);
        }
    }
    u32 hits = 0;
#pragma unroll
    for (int k = 0; k < QUADS * QUAD; ++k) hits |= u32(members.may_contain(held.ids[k])) << k;
    const int skipped = int(max(span.start - first, Place(0))), end = int(min(span.stop - first, Place(QUADS * QUAD)));
    return hits & ((1u << end) - (1u << skipped));
}

// Returns this lane's share of the triangles of a vertex: the warp processes 32 spans from number `first` on, then
// advances by `stride`. Lanes take lines of LINE bytes, for any number of lines a span, so that the lines of a span are
// read together.
template <int LINE, class Index, class Place, int ABOVE, int TALLY, bool FILTERED, class Kept>
__device__ __forceinline__ u32 count_at(const Upwards<Index, Place, ABOVE>& up, const Middle<Index>& middle, int first, int stride,
                                        const Members<Index, FILTERED>& members, Batch<Place>& batch, const Kept& counts) {
    constexpr int ENTRIES = LINE / sizeof(Index);
    const int lane = lane_of_warp(), shift = int(reinterpret_cast<u64>(up.lower) / sizeof(Index) % ENTRIES);
    u32 here = 0;
    for (i64 begin = middle.begin + first; begin < middle.end; begin += stride) {
        const i64 number = begin + lane;
        Span<Place> mine{0, 0};
        if (number < middle.end) mine = up.span(number);
        const Place line = (mine.start + shift) / ENTRIES;
        const u32 lines = mine.start < mine.stop ? u32((mine.stop - 1 + shift) / ENTRIES - line) + 1 : 0;
        const u32 through = warp_prefix_sum(lines), all = __shfl_sync(ALL, through, 31), before = through - lines;
        const int place = __popc(__ballot_sync(ALL, lines) & lanes_below());
        if (lines) batch.spans[place] = {mine.start, mine.stop, line - Place(before)};
        if (TALLY) batch.found[lane] = 0;
        __syncwarp();
        int begun = -1;
        for (u32 taken = 0; taken < all; taken += 32) {
            // Bits of the lines that begin a span.
            const u32 starts = warp_or(lines && before - taken < 32 ? 1u << (before - taken) : 0);
            const int owner = begun + __popc(starts & (lanes_below() | 1u << lane));
            begun += __popc(starts);
            Place at = 0;
            u32 hits = 0;
            if (taken + lane < all) {
                const Numbered<Place> span = batch.spans[owner];
                at = (span.origin + Place(taken + lane)) * ENTRIES - shift;
                hits = filter_line<LINE>(up.lower, up.entries, at, span, members);
            }
            u32 closed = 0;
            if (!TALLY && FILTERED && members.exact) {
                closed = __popc(hits);
            } else if (TALLY != OF_EDGES) {
                for (; hits; hits &= hits - 1) {
                    const i64 entry = i64(at) + __ffs(hits) - 1;
                    closed += look_up(members, __ldg(up.lower + entry), entry, counts);
                }
            } else if (__any_sync(ALL, hits)) {
                // One lane an entry, so that adjacent entries update adjacent words together.
#pragma unroll 1
                for (int round = 0; round < ENTRIES; ++round) {
                    const int from = round * (32 / ENTRIES) + lane / ENTRIES;
                    const i64 entry = i64(__shfl_sync(ALL, at, from)) + lane % ENTRIES;
                    const bool hit = __shfl_sync(ALL, hits, from) >> (lane % ENTRIES) & 1;
                    const u32 found = __ballot_sync(ALL, hit && look_up(members, __ldg(up.lower + entry), entry, counts));
                    if (lane / (32 / ENTRIES) == round)
                        closed = __popc(found >> (lane % (32 / ENTRIES) * ENTRIES) & ((1u << ENTRIES) - 1));
                }
            }
            here += closed;
            if (TALLY && closed) atomicAdd(batch.found + owner, closed);
        }
        if constexpr (TALLY) {
            __syncwarp();
            const u32 closed = lines ? batch.found[place] : 0;
            if (closed) {
                if (TALLY == OF_EDGES) atomicAdd(counts.support + up.edge(number, mine), closed);
                else atomicAdd(counts.tally + up.vertex(number, mine), u64(closed));
            }
        }
        __syncwarp();
    }
    if constexpr (TALLY == OF_VERTICES) {
        const u64 of_warp = warp_sum((u64)here);
        if (lane == 0 && of_warp) atomicAdd(counts.tally + middle.v, of_warp);
    }
    return here;
}

// Kernel argument for the triangles by vertex or edge. `near` is shared memory.
template <int TALLY, int NEAR, class Index>
__device__ auto counts_of(u32* near, void* tally, const Index* lower) {
    if constexpr (TALLY) return Counts<Index, TALLY, NEAR>{near, (u64*)tally, (u32*)tally, lower};
    else return NoCounts{};
}

// Short rows. `total` starts at 0.
template <int LINE, class Index, class Place, int ABOVE, int TALLY, bool FILTERED>
__global__ void __launch_bounds__(THREADS, 5)
count_short(const Upwards<Index, Place, ABOVE> up, i64 begin, i64 n, int share, OfParts of, u64* next, u64* total, void* tally) {
    constexpr int NEAR = TALLY ? LONG : 1;
    __shared__ u32 filters[WARPS][SHORT_BITS / 32], near[WARPS][NEAR];
    __shared__ Batch<Place> batches[WARPS];
    const int warp = threadIdx.x / 32;
    for (u32 i = lane_of_warp(); i < SHORT_BITS / 32; i += 32) filters[warp][i] = 0;
    for (u32 i = lane_of_warp(); i < NEAR; i += 32) near[warp][i] = 0;
    __syncwarp();
    u64 found = 0;
    const auto counts = counts_of<TALLY, NEAR>(near[warp], tally, up.lower);
    for_short<FILTERED>(
        up, begin, n, share, of, next, filters[warp],
        [&](const Middle<Index>& middle, const Members<Index, FILTERED>& members) {
            found += count_at<LINE, Index, Place, ABOVE, TALLY>(up, middle, 0, 32, members, batches[warp], counts);
        },
        [&](const Members<Index, FILTERED>& members, i64 place) {
            if constexpr (TALLY) counts.flush(members, place);
        });
    found = warp_sum(found);
    if (lane_of_warp() == 0 && found) atomicAdd(total, found);
}

// For each word of an exact filter, which has a multiple of THREADS words: the number of members before it. Collective
// over the block.
__device__ inline void rank_words(const u32* filter, u32 words, unsigned short* before) {
    __shared__ u32 of_warps[WARPS];
    // An odd number of words per thread avoids bank conflicts.
    const u32 each = (words + THREADS - 1) / THREADS | 1, begin = min(threadIdx.x * each, words), end = min(begin + each, words);
    u32 mine = 0;
    for (u32 i = begin; i < end; ++i) mine += __popc(filter[i]);
    const u32 through = warp_prefix_sum(mine);
    if (lane_of_warp() == 31) of_warps[threadIdx.x / 32] = through;
    __syncthreads();
    u32 place = through - mine;
    for (int warp = 0; warp < threadIdx.x / 32; ++warp) place += of_warps[warp];
    for (u32 i = begin; i < end; ++i) before[i] = (unsigned short)place, place += __popc(filter[i]);
    __syncthreads();
}

// Long rows. Dynamic shared memory: a filter of `bits` bits, a power of two; by vertex also two bytes for each word.
template <int LINE, class Index, class Place, int ABOVE, int TALLY, bool FILTERED>
__global__ void __launch_bounds__(THREADS, TALLY ? 5 : 6)
count_long(const Upwards<Index, Place, ABOVE> up, const Tasks<Index> tasks, u32 bits, u64* next, u64* total, void* tally) {
    constexpr int NEAR = TALLY ? 2048 : 1;
    extern __shared__ u32 filter[];
    __shared__ Batch<Place> batches[WARPS];
    __shared__ u32 near[NEAR];
    const int warp = threadIdx.x / 32;
    for (u32 i = threadIdx.x; i < bits / 32; i += THREADS) filter[i] = 0;
    for (u32 i = threadIdx.x; i < NEAR; i += THREADS) near[i] = 0;
    u64 found = 0;
    const auto counts = counts_of<TALLY, NEAR>(near, tally, up.lower);
    for_tasks<FILTERED>(
        up, tasks, bits, next, filter,
        [&](const Middle<Index>& middle, Members<Index, FILTERED>& members) {
            __syncthreads();
            if constexpr (TALLY && FILTERED) {
                unsigned short* const before = (unsigned short*)(filter + bits / 32);
                if (members.exact && members.size < 65536) {
                    rank_words(filter, (u32(middle.v) + 31) / 32, before);
                    members.before = before;
                }
            }
            found += count_at<LINE, Index, Place, ABOVE, TALLY>(up, middle, warp * 32, THREADS, members, batches[warp], counts);
        },
        [&](const Members<Index, FILTERED>& members, i64 place) {
            if constexpr (TALLY) counts.flush(members, place);
        });
    found = warp_sum(found);
    if (lane_of_warp() == 0 && found) atomicAdd(total, found);
}

// Adjacency bit matrix of the first `hubs` vertices in degree order: lower neighbours or, with a tally, all neighbours.
// One warp per vertex. `hubs` is a multiple of 128, and `bits` starts at 0.
template <class Index, int TALLY>
__global__ void __launch_bounds__(THREADS)
mark_hubs(const i64* __restrict__ row_start, const Index* __restrict__ lower, i64 hubs, u32* bits) {
    const i64 v = (i64(blockIdx.x) * THREADS + threadIdx.x) / 32;
    if (v >= hubs) return;
    for (i64 at = row_start[v] + lane_of_warp(); at < row_start[v + 1]; at += 32) {
        const i64 w = lower[at];
        atomicOr(bits + v * (hubs / 32) + (w >> 5), 1u << (w & 31));
        if (TALLY) atomicOr(bits + w * (hubs / 32) + (v >> 5), 1u << (v & 31));
    }
}

// Triangles whose two lowest vertices are hubs: for each vertex u, the intersection of its bits with the row of each
// hub adjacent to it; by vertex each triangle is found at both hubs. By edge n is the number of hubs: of three hubs each
// triangle is found at all edges, so that none is counted separately, and the total is not counted. Dynamic shared memory:
// a row of bits for each warp.
template <class Index, int TALLY>
__global__ void __launch_bounds__(THREADS, 8)
count_hubs(const i64* __restrict__ row_start, const Index* __restrict__ lower, i64 n, const u32* __restrict__ bits,
           i64 hubs, int share, OfParts of, u64* next, u64* total, void* tally) {
    extern __shared__ uint4 hub_rows[];
    constexpr int LANES = 8;  // per hub
    constexpr bool EDGES = TALLY == OF_EDGES;
    const int lane = lane_of_warp(), words = int(hubs / 32);
    uint4* const row = hub_rows + threadIdx.x / 32 * (words / 4);
    u32* const word = (u32*)row;
    for (int i = lane; i < words; i += 32) word[i] = 0;
    __syncwarp();
    u64 found = 0;
    for (;;) {
        const i64 base = i64(warp_fetch_add(next, u64(share))) * of.parts + of.part * share;
        if (base >= n) break;
        for (i64 u = base; u < min(base + share, n); ++u) {
            const i64 begin = __ldg(row_start + u), end = __ldg(row_start + u + 1);
            i64 stop = EDGES ? end : begin;
            for (int i = lane; EDGES && i < words; i += 32) word[i] = __ldg(bits + u * words + i);
            for (i64 at = begin + lane; !EDGES; at += 32) {
                const Index w = at < end ? __ldg(lower + at) : Index(hubs);
                if (w < hubs) atomicOr(word + (w >> 5), 1u << (w & 31));
                const int below = __popc(__ballot_sync(ALL, w < hubs));
                stop += below;
                if (below < 32) break;
            }
            __syncwarp();
            u64 here = 0;
            for (i64 first = begin; stop - begin > !EDGES && first < stop; first += 32 / LANES) {
                const i64 at = first + lane / LANES;
                const Index v = at < stop ? __ldg(lower + at) : 0;
                const Index most = EDGES ? Index(hubs) : TALLY ? __ldg(lower + stop - 1) + 1 : v;
                const uint4* const other = (const uint4*)(bits + v * i64(words));
                u32 both = 0;
                for (int j = lane % LANES; at < stop && 128 * j < most; j += LANES) {
                    const uint4 x = __ldg(other + j), y = row[j];
                    both += __popc(x.x & y.x) + __popc(x.y & y.y) + __popc(x.z & y.z) + __popc(x.w & y.w);
                }
                if (!EDGES) here += both;
                if (TALLY) {
                    for (int d = LANES / 2; d; d >>= 1) both += __shfl_xor_sync(ALL, both, d);
                    if (lane % LANES || !both) continue;
                    if (EDGES) ((u32*)tally)[at] = both;
                    else atomicAdd((u64*)tally + v, u64(both));
                }
            }
            if (TALLY == OF_VERTICES) {
                here = warp_sum(here) / 2;
                if (lane == 0 && here) atomicAdd((u64*)tally + u, here);
                if (lane) here = 0;
            }
            found += here;
            __syncwarp();
            for (i64 at = begin + lane; !EDGES && at < stop; at += 32) word[__ldg(lower + at) >> 5] = 0;
            __syncwarp();
        }
    }
    found = warp_sum(found);
    if (lane == 0 && found) atomicAdd(total, found);
}

// For graphs whose degrees are all small: one thread per vertex.
template <class Index, int TALLY>
__global__ void __launch_bounds__(THREADS)
count_few(const i64* __restrict__ indptr, const Index* __restrict__ indices, i64 n, OfParts of, u64* total, void* tally) {
    __shared__ u64 sums[WARPS];
    const i64 v = (i64(blockIdx.x) * of.parts + of.part) * THREADS + threadIdx.x;
    u64* const by_vertex = (u64*)tally;
    u32* const by_edge = (u32*)tally;
    u64 found = 0;
    if (v < n)
        merge_rows(
            indptr, indices, Index(v),
            [&](Index w, i64 mine, i64 theirs) {
                if (TALLY == OF_VERTICES) atomicAdd(by_vertex + w, 1ull);
                if (TALLY == OF_EDGES) atomicAdd(by_edge + mine, 1u), atomicAdd(by_edge + theirs, 1u);
            },
            [&](Index u, i64 edge, u32 here) {
                if (TALLY == OF_VERTICES) atomicAdd(by_vertex + u, u64(here));
                if (TALLY == OF_EDGES) atomicAdd(by_edge + edge, here);
                found += here;
            });
    if (TALLY == OF_VERTICES && found) atomicAdd(by_vertex + v, found);
    found = warp_sum(found);
    if (lane_of_warp() == 0) sums[threadIdx.x / 32] = found;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < WARPS; ++k) found += sums[k];
        if (found) atomicAdd(total, found);
    }
}

}  // namespace hpgraph
