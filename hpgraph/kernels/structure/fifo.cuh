// A FIFO queue that one block processes, across levels: breadth-first order of a graph's vertices, while the queue is
// too short to be worth a grid.
//
// Arcs are numbered in the order of the queue. A vertex belongs to the first arc that leads to it: atomicMin leaves the
// smallest number in earliest[]. Vertices discovered earlier have smaller numbers than all later arcs.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int THREADS = 1024;
constexpr int WARPS = THREADS / 32;
// Arcs that a thread follows together, so that their loads are in flight at once.
constexpr int EACH = 4;

// Inclusive prefix sum over the block's threads; `sums` has room for the warps. All threads of the block call it.
__device__ inline i64 sum_through(i64 amount, i64* sums) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    amount = warp_prefix_sum(amount);
    if (lane == 31) sums[warp] = amount;
    __syncthreads();
    for (int w = 0; w < warp; ++w) amount += sums[w];
    return amount;
}

// Replaces the counts of all warps, EACH per lane of the first warp, by their exclusive prefix sum; returns the total.
__device__ inline int sums_before(int* counts) {
    int mine[EACH], sum = 0;
    for (int k = 0; k < EACH; ++k) mine[k] = counts[threadIdx.x * EACH + k], sum += mine[k];
    const int through = warp_prefix_sum(sum);
    for (int k = 0, before = through - sum; k < EACH; before += mine[k++]) counts[threadIdx.x * EACH + k] = before;
    return __shfl_sync(ALL, through, 31);
}

// Read and write positions of the queue, and the number of the next arc.
struct Progress {
    i64 head, tail, arc;
};

// Runs until the queue is empty, or its estimated number of arcs exceeds `most`.
template <class Index>
__global__ void __launch_bounds__(THREADS) empty_queue(const i64* __restrict__ indptr, const Index* __restrict__ indices,
                                                       i64 most, Progress* progress, Index* queue, Index* predecessors,
                                                       i64* earliest) {
    __shared__ i64 first[THREADS], ends[THREADS], sums[WARPS];
    __shared__ Index vertex[THREADS];
    __shared__ int found[EACH * WARPS], all;
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    Progress now = *progress;
    while (now.head < now.tail) {
        // The next vertices, with their arcs concatenated.
        const i64 waiting = now.tail - now.head;
        const int size = waiting < THREADS ? int(waiting) : THREADS;
        i64 degree = 0;
        if (threadIdx.x < size) {
            vertex[threadIdx.x] = queue[now.head + threadIdx.x];
            first[threadIdx.x] = indptr[vertex[threadIdx.x]];
            degree = indptr[i64(vertex[threadIdx.x]) + 1] - first[threadIdx.x];
        }
        ends[threadIdx.x] = sum_through(degree, sums);
        __syncthreads();
        const i64 arcs = ends[THREADS - 1];
        if (arcs * waiting > most * size) break;
        for (i64 base = threadIdx.x; base - threadIdx.x < arcs; base += EACH * THREADS) {
            int slot[EACH];
            Index target[EACH];
            u32 news = 0, which[EACH];
#pragma unroll
            for (int k = 0; k < EACH; ++k) {
                const i64 arc = base + k * THREADS;
                slot[k] = 0, target[k] = 0;
                if (arc >= arcs) continue;
                // Binary search for the source of the arc.
                for (int step = THREADS / 2; step; step /= 2)
                    if (ends[slot[k] + step - 1] <= arc) slot[k] += step;
                target[k] = indices[first[slot[k]] + arc - (slot[k] ? ends[slot[k] - 1] : 0)];
            }
#pragma unroll
            for (int k = 0; k < EACH; ++k) {
                const i64 arc = base + k * THREADS;
                if (arc < arcs && atomicMin(earliest + target[k], now.arc + arc) > now.arc + arc) news |= 1u << k;
            }
            if (!__syncthreads_or(news)) continue;
#pragma unroll
            for (int k = 0; k < EACH; ++k) {
                if (news >> k & 1 && __ldcg(earliest + target[k]) != now.arc + base + k * THREADS) news &= ~(1u << k);
                which[k] = __ballot_sync(ALL, news >> k & 1);
                if (lane == 0) found[k * WARPS + warp] = __popc(which[k]);
            }
            __syncthreads();
            if (warp == 0) all = sums_before(found);
            __syncthreads();
#pragma unroll
            for (int k = 0; k < EACH; ++k) {
                if (!(news >> k & 1)) continue;
                queue[now.tail + found[k * WARPS + warp] + __popc(which[k] & ((1u << lane) - 1))] = target[k];
                predecessors[target[k]] = vertex[slot[k]];
            }
            now.tail += all;
        }
        now.head += size;
        now.arc += arcs;
        // Makes the queued vertices visible, and vertex[] and ends[] reusable.
        __syncthreads();
    }
    if (threadIdx.x == 0) *progress = now;
}

}  // namespace hpgraph
