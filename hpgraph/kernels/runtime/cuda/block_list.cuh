// A list that the threads of a block append to together.
#pragma once
#include "frontier_queue.cuh"

namespace hpgraph {

// Append a vertex of each thread that has one, of the whole block at once: thousands of warps that end together would
// queue at the tail's address.
template <class Index>
__device__ void append_of_block(BlockSums& sums, bool mine, Index v, Index* list, u64* tail) {
    const u32 at = place_in_block(mine, sums.wanted[1]);
    __syncthreads();
    if (threadIdx.x == 0) {
        if (sums.wanted[1]) sums.base[1] = atomicAdd(tail, (u64)sums.wanted[1]);
        sums.wanted[1] = 0;
    }
    __syncthreads();
    if (mine) list[sums.base[1] + at] = v;
}

}  // namespace hpgraph
