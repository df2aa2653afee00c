// Triangles u > v > w, each found at its middle vertex v (middles.cuh): for each neighbour u above v, the neighbours of u
// below v are read in a row and looked up among those of v. Each pair of arcs that leave one u is looked at once, the least
// that any enumeration of wedges needs. Counts are integers, so results do not depend on the schedule.
#pragma once
#include "middles.cuh"

namespace hpgraph {

// The rows of up to 32 neighbours above v, in shared memory.
template <class Index>
struct Batch {
    i64 start[32], stop[32];
    Index vertex[32];
};

template <class Index, bool TALLY, bool FILTERED>
__device__ u32 look_up(const Members<Index, FILTERED>& members, Index w, u64* tally) {
    if (!members.contains(w)) return 0;
    if (TALLY) atomicAdd(tally + w, 1ull);
    return 1;
}

// Look up the rows of a batch as far as they are below v, LANES lanes to a row; returns what this lane found. The first
// loads of four rows, and then four loads along a row, are in flight at once.
template <class Index, bool TALLY, int LANES, bool FILTERED>
__device__ __forceinline__ u32 look_up_rows(const Index* __restrict__ lower, const Batch<Index>& batch, int rows, Index v,
                            const Members<Index, FILTERED>& members, u64* tally) {
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
                here = look_up<Index, TALLY, FILTERED>(members, head[a], tally);
                const i64 stop = batch.stop[row];
                for (i64 at = batch.start[row] + sub + LANES; at < stop; at += LOADS * LANES) {
                    Index next[LOADS];
                    const Index* const from = lower + at;
                    const int left = (int)min(stop - at, (i64)LOADS * LANES);
#pragma unroll
                    for (int k = 0; k < LOADS; ++k) next[k] = k * LANES < left ? __ldg(from + k * LANES) : v;
#pragma unroll
                    for (int k = 0; k < LOADS; ++k)
                        if (next[k] < v) here += look_up<Index, TALLY, FILTERED>(members, next[k], tally);
                    // Rows ascend: what follows is not below v either.
                    if (next[LOADS - 1] >= v) break;
                }
            }
            found += here;
            if (TALLY && here) atomicAdd(tally + batch.vertex[row], u64(here));
        }
    }
    return found;
}

// Put those of 32 neighbours that are above v into the batch; returns how many. All lanes of the warp call it.
template <class Index, int ABOVE>
__device__ __forceinline__ int gather(const Upwards<Index, ABOVE>& up, i64 at, i64 end, Index v, Batch<Index>& batch) {
    Index u = v;
    if (at + lane_of_warp() < end) u = up.neighbour(at + lane_of_warp());
    const bool above = u > v;
    const u32 which = __ballot_sync(ALL, above);
    if (above) {
        const int place = __popc(which & lanes_below());
        batch.start[place] = up.begin(u);
        batch.stop[place] = up.begin(i64(u) + 1);
        batch.vertex[place] = u;
    }
    __syncwarp();
    return __popc(which);
}

// This lane's share of the triangles at a middle vertex: every `stride` of its arcs, from number `first` on, a warp's 32.
template <class Index, int ABOVE, bool TALLY, int LANES, bool FILTERED>
__device__ __forceinline__ u32 count_at(const Upwards<Index, ABOVE>& up, const Middle<Index>& middle, int first, int stride,
                                        const Members<Index, FILTERED>& members, Batch<Index>& batch, u64* tally) {
    u32 here = 0;
    for (i64 at = middle.begin + first; at < middle.end; at += stride) {
        const int rows = gather(up, at, middle.end, middle.v, batch);
        here += look_up_rows<Index, TALLY, LANES, FILTERED>(up.lower, batch, rows, middle.v, members, tally);
        __syncwarp();
    }
    if (TALLY && here) atomicAdd(tally + middle.v, u64(here));
    return here;
}

// Short rows. `total` starts at 0.
template <class Index, int ABOVE, bool TALLY, int LANES, bool FILTERED>
__global__ void __launch_bounds__(THREADS, 5)
count_short(const Upwards<Index, ABOVE> up, i64 n, int share, OfParts of, u64* next, u64* total, u64* tally) {
    __shared__ u32 filters[WARPS][SHORT_BITS / 32];
    __shared__ Batch<Index> batches[WARPS];
    const int warp = threadIdx.x / 32;
    for (u32 i = lane_of_warp(); i < SHORT_BITS / 32; i += 32) filters[warp][i] = 0;
    __syncwarp();
    u64 found = 0;
    const auto nothing = [](auto&&...) {};
    for_short<FILTERED>(
        up, n, share, of, next, filters[warp], nothing,
        [&](const Middle<Index>& middle, const Members<Index, FILTERED>& members) {
            found += count_at<Index, ABOVE, TALLY, LANES>(up, middle, 0, 32, members, batches[warp], tally);
        },
        nothing);
    found = warp_sum(found);
    if (lane_of_warp() == 0 && found) atomicAdd(total, found);
}

// Long rows. Dynamic shared memory: a filter of `bits` bits, a power of two.
template <class Index, int ABOVE, bool TALLY, int LANES, bool FILTERED>
__global__ void __launch_bounds__(THREADS, ABOVE == BY_ID ? 6 : 8)
count_long(const Upwards<Index, ABOVE> up, const Tasks<Index> tasks, u32 bits, u64* next, u64* total, u64* tally) {
    extern __shared__ u32 filter[];
    __shared__ Batch<Index> batches[WARPS];
    const int warp = threadIdx.x / 32;
    for (u32 i = threadIdx.x; i < bits / 32; i += THREADS) filter[i] = 0;
    u64 found = 0;
    const auto nothing = [](auto&&...) {};
    for_tasks<FILTERED>(
        up, tasks, bits, next, filter, nothing,
        [&](const Middle<Index>& middle, const Members<Index, FILTERED>& members) {
            __syncthreads();
            found += count_at<Index, ABOVE, TALLY, LANES>(up, middle, warp * 32, THREADS, members, batches[warp], tally);
        },
        nothing);
    found = warp_sum(found);
    if (lane_of_warp() == 0 && found) atomicAdd(total, found);
}

// If all degrees are small: one thread a vertex.
template <class Index, bool TALLY>
__global__ void __launch_bounds__(THREADS)
count_few(const i64* __restrict__ indptr, const Index* __restrict__ indices, i64 n, OfParts of, u64* total, u64* tally) {
    __shared__ u64 sums[WARPS];
    const i64 v = (i64(blockIdx.x) * of.parts + of.part) * THREADS + threadIdx.x;
    u64 found = 0;
    if (v < n)
        merge_rows(
            indptr, indices, Index(v),
            [&](Index w, i64, i64) {
                if (TALLY) atomicAdd(tally + w, 1ull);
            },
            [&](Index u, i64, u32 here) {
                if (TALLY) atomicAdd(tally + u, u64(here));
                found += here;
            });
    if (TALLY && found) atomicAdd(tally + v, found);
    found = warp_sum(found);
    if (lane_of_warp() == 0) sums[threadIdx.x / 32] = found;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < WARPS; ++k) found += sums[k];
        if (found) atomicAdd(total, found);
    }
}

}  // namespace hpgraph
