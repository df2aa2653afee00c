// A barrier for all blocks of a cooperative launch, and the sums the blocks bring to it.
//
// One counter only ever grows: the k-th barrier is passed when it reaches k times the number of blocks. No block
// resets anything, so a barrier costs one atomic addition and a spin (about 1 microsecond with one block per
// multiprocessor of an H200). Release and acquire order every write before the barrier ahead of every read after it, and
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
            asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
            unsigned seen;
            do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
            while ((int)(seen - target) < 0);
        }
        __syncthreads();
    }
};

}  // namespace hpgraph
