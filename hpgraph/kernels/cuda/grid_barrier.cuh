// A barrier for all blocks of a cooperative launch, and the sums the blocks bring to it.
//
// One counter only ever grows: the k-th barrier is passed when it reaches k times the number of blocks. No block
// resets anything, so a barrier costs one atomic addition and a spin (about 1 microsecond with one block per
// multiprocessor of an H200). The fences order every write before the barrier ahead of every read after it, and
// drop what the first-level cache holds.
#pragma once

namespace hpgraph {

struct GridBarrier {
    unsigned* arrived;
    unsigned target;

    __device__ GridBarrier(unsigned* counter) : arrived(counter), target(0) {}

    __device__ void wait() {
        __syncthreads();
        target += gridDim.x;
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(arrived, 1u);
            while ((int)(*(volatile unsigned*)arrived - target) < 0) {}
            __threadfence();
        }
        __syncthreads();
    }
};

}  // namespace hpgraph
