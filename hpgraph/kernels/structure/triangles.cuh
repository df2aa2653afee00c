// Triangles u > v > w, each found at its middle vertex v (middles.cuh): for each neighbour u above v, the neighbours of u
// below v are read in a row and looked up among those of v. Each pair of arcs that leave one u is looked at once, the least
// that any enumeration of wedges needs. Counts are integers, so results do not depend on the schedule.
#pragma once
#include "middles.cuh"

namespace hpgraph {

// What is counted: triangles in all, and besides those of each vertex or of each edge.
constexpr int TOTAL = 0, OF_VERTICES = 1, OF_EDGES = 2;

// The rows of up to 32 neighbours above v, in shared memory; `found`: triangles at each, if they are tallied. By edge a row
// stops at v, and that is where the edge to v is tallied.
template <class Index>
struct Batch {
    i64 start[32], stop[32];
    Index vertex[32];
    u32 found[32];
};

// Triangles by vertex or by edge. Those at the neighbours below v, or at the edges to them, are counted in shared memory,
// by place, and added to the tally when v is done: of many triangles most have the same few vertices. Places from NEAR on
// go to the tally at once.
template <class Index, int TALLY, int NEAR>
struct Counts {
    u32* near;
    u64* tally;          // by vertex, or
    u32* support;        // by edge, which is its position in
    const Index* lower;  // the rows of neighbours below

    // To a neighbour of v below, w.
    template <bool FILTERED>
    __device__ void add_below(const Members<Index, FILTERED>& members, i64 place, u32 count) const {
        if (TALLY == OF_EDGES) atomicAdd(support + (members.sorted.values - lower) + place, count);
        else atomicAdd(tally + members.sorted[place], u64(count));
    }
    // A triangle with w, at that place among the neighbours, and at `at` in the row of u.
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

// No tally: only the total is wanted.
struct NoCounts {};

template <class Index, bool FILTERED>
__device__ u32 look_up(const Members<Index, FILTERED>& members, Index w, i64, NoCounts) { return members.contains(w); }
template <class Index, bool FILTERED, int TALLY, int NEAR>
__device__ u32 look_up(const Members<Index, FILTERED>& members, Index w, i64 at, const Counts<Index, TALLY, NEAR>& counts) {
    const Index place = members.place(w);
    if (place >= 0) counts.add(members, place, at);
    return place >= 0;
}

// Look up the rows of a batch as far as they are below v, LANES lanes to a row; returns what this lane found. The first
// loads of four rows, and then four loads along a row, are in flight at once.
template <class Index, int TALLY, int LANES, bool FILTERED, class Kept>
__device__ __forceinline__ u32 look_up_rows(const Index* __restrict__ lower, Batch<Index>& batch, int rows, Index v,
                            const Members<Index, FILTERED>& members, const Kept& counts) {
    constexpr int GROUPS = 32 / LANES, LOADS = 4;  // in flight at once
    const int lane = threadIdx.x % 32, sub = lane % LANES, group = lane / LANES;
    u32 found = 0;
    for (int first = group; first < rows; first += LOADS * GROUPS) {
        Index head[LOADS];
#pragma unroll
        for (int a = 0; a < LOADS; ++a) {
            int row = first + a * GROUPS;
            head[a] = v;
            if (row < rows && batch.start[row] + sub < batch.stop[row]) head[a] = __ldg(lower + batch.start[row] + sub);
        }
#pragma unroll
        for (int a = 0; a < LOADS; ++a) {
            u32 here = 0;
            int row = first + a * GROUPS;
            if (head[a] < v) {
                here = look_up(members, head[a], batch.start[row] + sub, counts);
                const i64 stop = batch.stop[row];
                for (i64 at = batch.start[row] + sub + LANES; at < stop; at += LOADS * LANES) {
                    Index next[LOADS];
                    const Index* const from = lower + at;
                    const int left = (int)min(stop - at, (i64)LOADS * LANES);
#pragma unroll
                    for (int k = 0; k < LOADS; ++k) next[k] = k * LANES < left ? __ldg(from + k * LANES) : v;
#pragma unroll
                    for (int k = 0; k < LOADS; ++k)
                        if (next[k] < v) here += look_up(members, next[k], at + k * LANES, counts);
                    // Rows ascend: what follows is not below v either.
                    if (next[LOADS - 1] >= v) break;
                }
            }
            found += here;
            if (TALLY && here) atomicAdd(batch.found + row, here);
        }
    }
    return found;
}

// Put those of 32 neighbours that are above v into the batch; returns how many. All lanes of the warp call it.
template <int TALLY, class Index, int ABOVE>
__device__ __forceinline__ int gather(const Upwards<Index, ABOVE>& up, i64 at, i64 end, Index v, Batch<Index>& batch) {
    Index u = v;
    if (at + lane_of_warp() < end) u = up.neighbour(at + lane_of_warp());
    const bool above = u > v;
    const u32 which = __ballot_sync(ALL, above);
    if (above) {
        const int place = __popc(which & lanes_below());
        batch.start[place] = up.begin(u);
        batch.stop[place] = up.begin(i64(u) + 1);
        if (TALLY == OF_EDGES) batch.stop[place] = lower_bound(up.lower, batch.start[place], batch.stop[place], v);
        batch.vertex[place] = u;
        batch.found[place] = 0;
    }
    __syncwarp();
    return __popc(which);
}

// This lane's share of the triangles at a middle vertex: every `stride` of its arcs, from number `first` on, a warp's 32.
template <class Index, int ABOVE, int TALLY, int LANES, bool FILTERED, class Kept>
__device__ __forceinline__ u32 count_at(const Upwards<Index, ABOVE>& up, const Middle<Index>& middle, int first, int stride,
                                        const Members<Index, FILTERED>& members, Batch<Index>& batch, const Kept& counts) {
    u32 here = 0;
    for (i64 at = middle.begin + first; at < middle.end; at += stride) {
        const int rows = gather<TALLY>(up, at, middle.end, middle.v, batch);
        here += look_up_rows<Index, TALLY, LANES, FILTERED>(up.lower, batch, rows, middle.v, members, counts);
        __syncwarp();
        if constexpr (TALLY) {
            const int row = lane_of_warp();
            if (row < rows && batch.found[row]) {
                if (TALLY == OF_EDGES) atomicAdd(counts.support + batch.stop[row], batch.found[row]);
                else atomicAdd(counts.tally + batch.vertex[row], u64(batch.found[row]));
            }
            __syncwarp();
        }
    }
    if constexpr (TALLY == OF_VERTICES) {
        const u64 of_warp = warp_sum((u64)here);
        if (lane_of_warp() == 0 && of_warp) atomicAdd(counts.tally + middle.v, of_warp);
    }
    return here;
}

// What a kernel keeps of the triangles by vertex or edge. `near` is shared memory.
template <int TALLY, int NEAR, class Index>
__device__ auto counts_of(u32* near, void* tally, const Index* lower) {
    if constexpr (TALLY) return Counts<Index, TALLY, NEAR>{near, (u64*)tally, (u32*)tally, lower};
    else return NoCounts{};
}

// Short rows. `total` starts at 0.
template <class Index, int ABOVE, int TALLY, int LANES, bool FILTERED>
__global__ void __launch_bounds__(THREADS, 5)
count_short(const Upwards<Index, ABOVE> up, i64 begin, i64 n, int share, OfParts of, u64* next, u64* total, void* tally) {
    constexpr int NEAR = TALLY ? LONG : 1;
    __shared__ u32 filters[WARPS][SHORT_BITS / 32], near[WARPS][NEAR];
    __shared__ Batch<Index> batches[WARPS];
    const int warp = threadIdx.x / 32;
    for (u32 i = lane_of_warp(); i < SHORT_BITS / 32; i += 32) filters[warp][i] = 0;
    for (u32 i = lane_of_warp(); i < NEAR; i += 32) near[warp][i] = 0;
    __syncwarp();
    u64 found = 0;
    const auto counts = counts_of<TALLY, NEAR>(near[warp], tally, up.lower);
    const auto nothing = [](auto&&...) {};
    for_short<FILTERED>(
        up, begin, n, share, of, next, filters[warp], nothing,
        [&](const Middle<Index>& middle, const Members<Index, FILTERED>& members) {
            found += count_at<Index, ABOVE, TALLY, LANES>(up, middle, 0, 32, members, batches[warp], counts);
        },
        [&](const Members<Index, FILTERED>& members, i64 place, Index) {
            if constexpr (TALLY) counts.flush(members, place);
        });
    found = warp_sum(found);
    if (lane_of_warp() == 0 && found) atomicAdd(total, found);
}

// Of an exact filter, whose words are multiples of the block: the members before each word. Collective over the block.
__device__ inline void rank_words(const u32* filter, u32 words, unsigned short* before) {
    __shared__ u32 of_warps[WARPS];
    // An odd number of words each, as of an even one threads would wait for each other at the banks.
    const u32 each = (words + THREADS - 1) / THREADS | 1, begin = min(threadIdx.x * each, words), end = min(begin + each, words);
    u32 mine = 0;
    for (u32 i = begin; i < end; ++i) mine += __popc(filter[i]);
    u32 through = mine;
    for (int d = 1; d < 32; d <<= 1) {
        const u32 below = __shfl_up_sync(ALL, through, d);
        if (lane_of_warp() >= d) through += below;
    }
    if (lane_of_warp() == 31) of_warps[threadIdx.x / 32] = through;
    __syncthreads();
    u32 place = through - mine;
    for (int warp = 0; warp < threadIdx.x / 32; ++warp) place += of_warps[warp];
    for (u32 i = begin; i < end; ++i) before[i] = (unsigned short)place, place += __popc(filter[i]);
    __syncthreads();
}

// Long rows. Dynamic shared memory: a filter of `bits` bits, a power of two; by vertex also two bytes for each word.
template <class Index, int ABOVE, int TALLY, int LANES, bool FILTERED>
__global__ void __launch_bounds__(THREADS, TALLY ? 5 : ABOVE == BY_ID ? 6 : 8)
count_long(const Upwards<Index, ABOVE> up, const Tasks<Index> tasks, u32 bits, u64* next, u64* total, void* tally) {
    constexpr int NEAR = TALLY ? 2048 : 1;
    extern __shared__ u32 filter[];
    __shared__ Batch<Index> batches[WARPS];
    __shared__ u32 near[NEAR];
    const int warp = threadIdx.x / 32;
    for (u32 i = threadIdx.x; i < bits / 32; i += THREADS) filter[i] = 0;
    for (u32 i = threadIdx.x; i < NEAR; i += THREADS) near[i] = 0;
    u64 found = 0;
    const auto counts = counts_of<TALLY, NEAR>(near, tally, up.lower);
    for_tasks<FILTERED>(
        up, tasks, bits, next, filter, [](auto&&...) {},
        [&](const Middle<Index>& middle, Members<Index, FILTERED>& members) {
            __syncthreads();
            if constexpr (TALLY && FILTERED) {
                unsigned short* const before = (unsigned short*)(filter + bits / 32);
                if (members.exact && members.size < 65536) {
                    rank_words(filter, (u32(middle.v) + 31) / 32, before);
                    members.before = before;
                }
            }
            found += count_at<Index, ABOVE, TALLY, LANES>(up, middle, warp * 32, THREADS, members, batches[warp], counts);
        },
        [&](const Members<Index, FILTERED>& members, i64 place, Index) {
            if constexpr (TALLY) counts.flush(members, place);
        });
    found = warp_sum(found);
    if (lane_of_warp() == 0 && found) atomicAdd(total, found);
}

// Neighbours of the first `hubs` vertices in the order of degrees among each other, as bits: below each, or by vertex all.
// A warp a vertex. `hubs` is a multiple of 128, and `bits` starts at 0.
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

// Triangles whose two least vertices are hubs: for each vertex u, what the bits of its row share with those of each hub in
// it; by vertex each triangle is found at both hubs. Dynamic shared memory: a row of bits for each warp.
template <class Index, int TALLY>
__global__ void __launch_bounds__(THREADS, 8)
count_hubs(const i64* __restrict__ row_start, const Index* __restrict__ lower, i64 n, const u32* __restrict__ bits,
           i64 hubs, int share, OfParts of, u64* next, u64* total, u64* tally) {
    extern __shared__ uint4 hub_rows[];
    constexpr int LANES = 8;  // to a hub
    const int lane = lane_of_warp(), words = int(hubs / 32);
    uint4* const row = hub_rows + threadIdx.x / 32 * (words / 4);
    u32* const word = (u32*)row;
    for (int i = lane; i < words; i += 32) word[i] = 0;
    __syncwarp();
    u64 found = 0;
    for (;;) {
        i64 base = 0;
        if (lane == 0) base = i64(atomicAdd(next, u64(share)));
        base = __shfl_sync(ALL, base, 0) * of.parts + of.part * share;
        if (base >= n) break;
        for (i64 u = base; u < min(base + share, n); ++u) {
            const i64 begin = __ldg(row_start + u), end = __ldg(row_start + u + 1);
            i64 stop = begin;
            for (i64 at = begin + lane;; at += 32) {
                const Index w = at < end ? __ldg(lower + at) : Index(hubs);
                if (w < hubs) atomicOr(word + (w >> 5), 1u << (w & 31));
                const int below = __popc(__ballot_sync(ALL, w < hubs));
                stop += below;
                if (below < 32) break;
            }
            __syncwarp();
            u64 here = 0;
            for (i64 first = begin; stop - begin > 1 && first < stop; first += 32 / LANES) {
                const i64 at = first + lane / LANES;
                const Index v = at < stop ? __ldg(lower + at) : 0;
                const Index most = TALLY ? __ldg(lower + stop - 1) + 1 : v;
                const uint4* const other = (const uint4*)(bits + v * i64(words));
                u32 both = 0;
                for (int j = lane % LANES; at < stop && 128 * j < most; j += LANES) {
                    const uint4 x = __ldg(other + j), y = row[j];
                    both += __popc(x.x & y.x) + __popc(x.y & y.y) + __popc(x.z & y.z) + __popc(x.w & y.w);
                }
                here += both;
                if (TALLY) {
                    for (int d = LANES / 2; d; d >>= 1) both += __shfl_xor_sync(ALL, both, d);
                    if (lane % LANES == 0 && both) atomicAdd(tally + v, u64(both));
                }
            }
            if (TALLY) {
                here = warp_sum(here) / 2;
                if (lane == 0 && here) atomicAdd(tally + u, here);
                if (lane) here = 0;
            }
            found += here;
            __syncwarp();
            for (i64 at = begin + lane; at < stop; at += 32) word[__ldg(lower + at) >> 5] = 0;
            __syncwarp();
        }
    }
    found = warp_sum(found);
    if (lane == 0 && found) atomicAdd(total, found);
}

// If all degrees are small: one thread a vertex.
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
