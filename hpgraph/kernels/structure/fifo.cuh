// A FIFO queue that one block processes, across levels: breadth-first order of a graph's vertices, while the queue is
// too short to be worth a grid.
//
// Arcs are numbered in the order of the queue. A vertex belongs to the first arc that leads to it, the least that
// atomicMin has left in earliest[]; vertices discovered before have smaller numbers than any arc to come.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int THREADS = 1024;
constexpr int WARPS = THREADS / 32;

// Inclusive prefix sum over the block's threads; `sums` has room for the warps. All threads of the block call it.
__device__ inline i64 sum_through(i64 amount, i64* sums) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    for (int offset = 1; offset < 32; offset *= 2) {
        const i64 before = __shfl_up_sync(ALL, amount, offset);
        if (lane >= offset) amount += before;
    }
    if (lane == 31) sums[warp] = amount;
    __syncthreads();
    for (int w = 0; w < warp; ++w) amount += sums[w];
    return amount;
}

// Where the queue is read and written, and the number of the next arc.
struct Progress {
    i64 head, tail, arc;
};

// Runs until the queue is empty, or is estimated to have more arcs than `most`.
template <class Index>
__global__ void __launch_bounds__(THREADS) empty_queue(const i64* __restrict__ indptr, const Index* __restrict__ indices,
                                                       i64 most, Progress* progress, Index* queue, Index* predecessors,
                                                       i64* earliest) {
    __shared__ i64 first[THREADS], ends[THREADS], sums[WARPS];
    __shared__ Index vertex[THREADS];
    __shared__ int found[WARPS];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    Progress now = *progress;
    while (now.head < now.tail) {
        // The next vertices, and their arcs laid end to end.
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
        for (i64 base = 0; base < arcs; base += THREADS) {
            const i64 arc = base + threadIdx.x;
            int slot = 0;
            Index target = 0;
            bool news = false;
            if (arc < arcs) {
                // Binary search for the vertex that the arc leaves.
                for (int step = THREADS / 2; step; step /= 2)
                    if (ends[slot + step - 1] <= arc) slot += step;
                target = indices[first[slot] + arc - (slot ? ends[slot - 1] : 0)];
                news = __ldcg(earliest + target) > now.arc + arc;
                if (news) atomicMin(earliest + target, now.arc + arc);
            }
            if (!__syncthreads_or(news)) continue;
            news = news && __ldcg(earliest + target) == now.arc + arc;
            const u32 which = __ballot_sync(ALL, news);
            if (lane == 0) found[warp] = __popc(which);
            __syncthreads();
            int before = 0, all = 0;
            for (int w = 0; w < WARPS; ++w) {
                if (w < warp) before += found[w];
                all += found[w];
            }
            if (news) {
                queue[now.tail + before + __popc(which & ((1u << lane) - 1))] = target;
                predecessors[target] = vertex[slot];
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
