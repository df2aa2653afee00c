// Block-collective append to a list.
#pragma once
#include "frontier_queue.cuh"

namespace hpgraph {

// Append the vertices of the threads with `mine`; collective over the block: thousands of warps that end at once would
// contend for the tail.
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
