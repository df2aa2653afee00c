// SpMSpV, the product from a frontier: active vertices push messages along their out-arcs.
//
// Load balancing: blocks process stretches of the frontier's arcs instead of vertices, so that no hub delays a warp. An
// arc's source is found by binary search in the prefix sum of degrees (A. Davidson et al., IPDPS'14). If the order of
// reduction does not affect the result, messages are combined in `values` by atomic operations; otherwise they are
// written out, sorted by target, and reduced as the rows of a matrix.
#pragma once
#include "search.cuh"
#include "spmv.cuh"

namespace hpgraph {

constexpr int STRETCH = BATCH * BLOCK;

template <class P>
struct Pushed {
    const typename P::Index* frontier;
    const i64* offsets;  // exclusive sum of the frontier's degrees, with the total
    i64 vertices;
    const i64* indptr;
    Entries<P> entries;
};

// Calls visit(number of the arc, u, j) for every arc of the frontier, distributed over all blocks.
template <class P, class Visit>
__device__ void for_each_arc(const Pushed<P>& pushed, Visit visit) {
    __shared__ i64 range[2];
    const i64 total = pushed.offsets[pushed.vertices];
    for (i64 begin = i64(blockIdx.x) * STRETCH; begin < total; begin += i64(gridDim.x) * STRETCH) {
        const i64 end = begin + STRETCH < total ? begin + STRETCH : total;
        if (threadIdx.x < 2)
            range[threadIdx.x] = row_of(pushed.offsets, 0, pushed.vertices - 1, threadIdx.x ? end - 1 : begin);
        __syncthreads();
        for (i64 arc = begin + threadIdx.x; arc < end; arc += BLOCK) {
            const i64 i = row_of(pushed.offsets, range[0], range[1], arc);
            const i64 u = pushed.frontier[i];
            visit(arc, u, pushed.indptr[u] + arc - pushed.offsets[i]);
        }
        __syncthreads();
    }
}

// Reduces messages in values[v]; `received` marks the targets.
template <class P>
__global__ void __launch_bounds__(BLOCK) push_atomic(typename P::Gather gather, Pushed<P> pushed, Sets sets,
                                                     typename P::Message* values) {
    for_each_arc(pushed, [&](i64, i64 u, i64 j) {
        const i64 v = pushed.entries.indices[j];
        if (!sets.allows(v)) return;
        P::atomic_reduce(values + v, gather(u, pushed.entries.weight(j), v));
        sets.note(v);
    });
}

// Writes messages and their targets, arc by arc; a target that the mask excludes becomes `nowhere`.
template <class P>
__global__ void __launch_bounds__(BLOCK) push_expand(typename P::Gather gather, Pushed<P> pushed, Sets sets,
                                                     typename P::Index nowhere, typename P::Index* targets,
                                                     typename P::Message* messages) {
    for_each_arc(pushed, [&](i64 arc, i64 u, i64 j) {
        const auto v = pushed.entries.indices[j];
        const bool allowed = sets.allows(v);
        targets[arc] = allowed ? v : nowhere;
        if (allowed) messages[arc] = gather(u, pushed.entries.weight(j), i64(v));
    });
}

// out[v] = accumulate(out[v], values[v]) for the targets.
template <class P>
__global__ void __launch_bounds__(BLOCK) push_write(const typename P::Index* touched, i64 count,
                                                    const typename P::Message* values, typename P::Message* out) {
    const i64 i = i64(blockIdx.x) * BLOCK + threadIdx.x;
    if (i < count) out[touched[i]] = P::accumulate(out[touched[i]], values[touched[i]]);
}

}  // namespace hpgraph
