// Triangles u > v > w, each found at its middle vertex v.
//
// The neighbours w below v are set in a bit filter in shared memory; then, for each neighbour u above v, the neighbours
// of u below v are read in a row and looked up there. "Below" is by rank in order of falling degree, or by id where
// degrees are even. Each pair of arcs that leave one u is looked at once, the least that any enumeration of wedges needs.
//
// The filter keeps ids modulo its size. Up to that size it is exact; beyond, a bit that is set is confirmed by binary
// search. After ordering by degree nearly all wedges have small ranks: of kron21's, 98% lie below 131,072.
//
// Vertices of up to LONG arcs take a warp each. The arcs of longer rows are cut in tasks of PIECE, each the work of one block.
// Counts are integers, so results do not depend on the schedule.
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

// A graph in the order that "below" refers to. Unordered, order and rank are not read, and row_start and lower are the
// graph's own indptr and indices.
template <class Index, bool ORDERED>
struct Ranked {
    const i64* indptr;
    const Index* indices;
    const Index* order;
    const Index* rank;
    const i64* row_start;
    const Index* lower;

    __device__ i64 vertex(i64 v) const { return ORDERED ? i64(order[v]) : v; }
    __device__ Index ranked(Index u) const { return ORDERED ? rank[u] : u; }
};

// The neighbours below v; without FILTERED they are found by binary search alone.
template <class Index, bool FILTERED>
struct Members {
    u32* filter;
    u32 mask;
    bool exact;
    const Index* sorted;
    i64 size;

    __device__ void insert(Index w) const { if (FILTERED) atomicOr(filter + ((u32(w) & mask) >> 5), 1u << (u32(w) & 31)); }
    __device__ void erase(Index w) const { if (FILTERED) filter[(u32(w) & mask) >> 5] = 0; }
    __device__ bool contains(Index w) const {
        if (FILTERED) {
            if (!(filter[(u32(w) & mask) >> 5] >> (u32(w) & 31) & 1)) return false;
            if (exact) return true;
        }
        i64 at = lower_bound(sorted, 0, size, w);
        return at < size && sorted[at] == w;
    }
};

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
            if (row < rows && batch.start[row] + sub < batch.stop[row]) head[a] = lower[batch.start[row] + sub];
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
#pragma unroll
                    for (int k = 0; k < LOADS; ++k) next[k] = at + k * LANES < stop ? lower[at + k * LANES] : v;
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
template <class Index, bool ORDERED>
__device__ __forceinline__ int gather(const Ranked<Index, ORDERED>& graph, i64 at, i64 end, Index v, Batch<Index>& batch) {
    const int lane = threadIdx.x % 32;
    Index u = v;
    if (at + lane < end) u = graph.ranked(graph.indices[at + lane]);
    const bool above = u > v;
    const u32 which = __ballot_sync(ALL, above);
    if (above) {
        int place = __popc(which & ((1u << lane) - 1));
        batch.start[place] = graph.row_start[u];
        batch.stop[place] = graph.row_start[i64(u) + 1];
        batch.vertex[place] = u;
    }
    __syncwarp();
    return __popc(which);
}

// The share of the work of one of several GPUs that hold the graph: every one of `parts` pieces, from the `part`th on.
struct OfParts {
    int part, parts;
};

// Vertices whose rows are short, `share` at a time to a warp (at most 32). `next` and `total` start at 0.
template <class Index, bool ORDERED, bool TALLY, int LANES, bool FILTERED>
__global__ void __launch_bounds__(THREADS) count_short(
    const i64* __restrict__ indptr, const Index* __restrict__ indices, const Index* __restrict__ order,
    const Index* __restrict__ rank, const i64* __restrict__ row_start, const Index* __restrict__ lower, i64 n,
    int share, OfParts of, u64* next, u64* total, u64* tally) {
    __shared__ u32 filters[WARPS][SHORT_BITS / 32];
    __shared__ Batch<Index> batches[WARPS];
    const Ranked<Index, ORDERED> graph{indptr, indices, order, rank, row_start, lower};
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32* const filter = filters[warp];
    Batch<Index>& batch = batches[warp];
    for (u32 i = lane; i < SHORT_BITS / 32; i += 32) filter[i] = 0;
    __syncwarp();
    u64 found = 0;
    for (;;) {
        i64 base = 0;
        if (lane == 0) base = i64(atomicAdd(next, u64(share)));
        base = __shfl_sync(ALL, base, 0) * of.parts + of.part * share;
        if (base >= n) break;
        // Each lane loads one vertex's row bounds; the warp then processes these vertices one by one.
        i64 my_begin = 0, my_end = 0, my_low = 0, my_stop = 0;
        if (lane < share && base + lane < n) {
            const i64 vertex = graph.vertex(base + lane);
            my_begin = indptr[vertex];
            my_end = indptr[vertex + 1];
            my_low = row_start[base + lane];
            my_stop = row_start[base + lane + 1];
        }
        u32 waiting = __ballot_sync(ALL, my_low < my_stop && my_end - my_begin > 1 && my_end - my_begin <= LONG);
        while (waiting) {
            const int owner = __ffs(waiting) - 1;
            waiting &= waiting - 1;
            const Index v = Index(base + owner);
            i64 at = __shfl_sync(ALL, my_begin, owner);
            const i64 end = __shfl_sync(ALL, my_end, owner), low = __shfl_sync(ALL, my_low, owner);
            i64 stop = __shfl_sync(ALL, my_stop, owner);
            Members<Index, FILTERED> members{filter, SHORT_BITS - 1, u64(v) <= SHORT_BITS, lower + low, 0};
            for (i64 i = low; i < stop; i += 32) {
                const Index w = i + lane < stop ? lower[i + lane] : v;
                if (w < v) members.insert(w);
                const int below = __popc(__ballot_sync(ALL, w < v));
                members.size += below;
                if (below < 32) break;
            }
            stop = low + members.size;
            __syncwarp();
            // In the order of ids the neighbours above v follow those below in the same row.
            if (!ORDERED) at = stop;
            if (low < stop) {
                u32 here = 0;
                for (; at < end; at += 32) {
                    const int rows = gather(graph, at, end, v, batch);
                    here += look_up_rows<Index, TALLY, LANES, FILTERED>(lower, batch, rows, v, members, tally);
                    __syncwarp();
                }
                if (TALLY && here) atomicAdd(tally + v, u64(here));
                found += here;
                for (i64 i = low + lane; i < stop; i += 32) members.erase(lower[i]);
                __syncwarp();
            }
        }
    }
    found = warp_sum(found);
    if (lane == 0 && found) atomicAdd(total, found);
}

// Cuts the rows that are not short into tasks: vertex, and first of up to PIECE arcs. `tasks` counts them and starts at
// 0.
template <class Index, bool ORDERED>
__global__ void list_tasks(const i64* __restrict__ indptr, const Index* __restrict__ order,
                           const i64* __restrict__ row_start, i64 n, OfParts of, Index* task_vertex, i64* task_begin,
                           u64* tasks) {
    const i64 v = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (v >= n) return;
    const i64 vertex = ORDERED ? i64(order[v]) : v;
    const i64 begin = indptr[vertex], end = indptr[vertex + 1];
    if (end - begin <= LONG || row_start[v] == row_start[v + 1]) return;
    // Round-robin over the parts, starting one part further on with each vertex.
    const i64 pieces = (end - begin + PIECE - 1) / PIECE, first = (of.part + of.parts - v % of.parts) % of.parts;
    if (first >= pieces) return;
    u64 place = atomicAdd(tasks, u64((pieces - first - 1) / of.parts + 1));
    for (i64 at = begin + first * PIECE; at < end; at += i64(PIECE) * of.parts, ++place) {
        task_vertex[place] = Index(v);
        task_begin[place] = at;
    }
}

// The tasks that list_tasks made. Dynamic shared memory: a filter of `bits` bits, a power of two.
template <class Index, bool ORDERED, bool TALLY, int LANES, bool FILTERED>
__global__ void __launch_bounds__(THREADS) count_long(
    const i64* __restrict__ indptr, const Index* __restrict__ indices, const Index* __restrict__ order,
    const Index* __restrict__ rank, const i64* __restrict__ row_start, const Index* __restrict__ lower,
    const Index* __restrict__ task_vertex, const i64* __restrict__ task_begin, const u64* tasks, u32 bits, u64* next,
    u64* total, u64* tally) {
    extern __shared__ u32 filter[];
    __shared__ Batch<Index> batches[WARPS];
    __shared__ u64 task;
    const Ranked<Index, ORDERED> graph{indptr, indices, order, rank, row_start, lower};
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Batch<Index>& batch = batches[warp];
    for (u32 i = threadIdx.x; i < bits / 32; i += THREADS) filter[i] = 0;
    u64 found = 0;
    for (;;) {
        // All threads have finished with the last task's filter, and have read its number.
        __syncthreads();
        if (threadIdx.x == 0) task = atomicAdd(next, 1ull);
        __syncthreads();
        if (task >= *tasks) break;
        const Index v = task_vertex[task];
        const i64 begin = task_begin[task], row_end = indptr[graph.vertex(v) + 1];
        const i64 end = begin + PIECE < row_end ? begin + PIECE : row_end;
        const i64 low = row_start[v];
        i64 stop = row_start[i64(v) + 1];
        if (!ORDERED) {
            if (indices[end - 1] <= v) continue;
            stop = lower_bound(lower, low, stop, v);
        }
        const Members<Index, FILTERED> members{filter, bits - 1, u64(v) <= bits, lower + low, stop - low};
        for (i64 i = low + threadIdx.x; i < stop; i += THREADS) members.insert(lower[i]);
        __syncthreads();
        u32 here = 0;
        for (i64 at = begin + warp * 32; at < end; at += THREADS) {
            const int rows = gather(graph, at, end, v, batch);
            here += look_up_rows<Index, TALLY, LANES, FILTERED>(lower, batch, rows, v, members, tally);
            __syncwarp();
        }
        if (TALLY && here) atomicAdd(tally + v, u64(here));
        found += here;
        __syncthreads();
        for (i64 i = low + threadIdx.x; i < stop; i += THREADS) members.erase(lower[i]);
    }
    found = warp_sum(found);
    if (lane == 0 && found) atomicAdd(total, found);
}

// If all degrees are small, as in road networks: one thread a vertex, merging rows in the order of ids.
template <class Index, bool TALLY>
__global__ void __launch_bounds__(THREADS) count_few(const i64* __restrict__ indptr,
                                                     const Index* __restrict__ indices, i64 n, OfParts of,
                                                     u64* total, u64* tally) {
    __shared__ u64 sums[WARPS];
    const i64 i = (i64(blockIdx.x) * of.parts + of.part) * THREADS + threadIdx.x;
    u64 found = 0;
    if (i < n) {
        const Index v = Index(i);
        const i64 begin = indptr[i], end = indptr[i + 1];
        i64 stop = begin;
        while (stop < end && indices[stop] < v) ++stop;
        if (begin < stop)
            for (i64 j = stop; j < end; ++j) {
                const Index u = indices[j];
                if (u == v) continue;
                u32 here = 0;
                i64 mine = begin, theirs = indptr[u];
                // v is in the row of u and ends the loop.
                for (Index w = indices[theirs]; w < v; w = indices[++theirs]) {
                    while (mine < stop && indices[mine] < w) ++mine;
                    if (mine == stop) break;
                    if (indices[mine] != w) continue;
                    ++here;
                    if (TALLY) atomicAdd(tally + w, 1ull);
                }
                if (TALLY && here) atomicAdd(tally + u, u64(here));
                found += here;
            }
        if (TALLY && found) atomicAdd(tally + i, found);
    }
    found = warp_sum(found);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = found;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < WARPS; ++k) found += sums[k];
        if (found) atomicAdd(total, found);
    }
}

}  // namespace hpgraph
