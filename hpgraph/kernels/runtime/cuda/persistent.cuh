// Persistent kernels: a grid barrier between supersteps, and a trace of them.
#pragma once
#include "warp.cuh"

namespace hpgraph {

// A barrier for all blocks of a cooperative launch.
//
// The counter is monotone: the k-th barrier is passed when it reaches k times the number of blocks. Nothing is reset,
// so a barrier costs one atomic addition and a spin (about 1 microsecond with one block per multiprocessor of an H200).
// Release and acquire order every write before the barrier ahead of every read after it, and invalidate the first-level
// cache.
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

    // By one block: wait until all others have arrived at the next barrier, and so have read the data of their
    // decision.
    __device__ void await_others() const {
        if (threadIdx.x == 0) {
            const unsigned all_others = target + gridDim.x - 1;
            unsigned seen;
            do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
            while ((int)(seen - all_others) < 0);
        }
        __syncthreads();
    }
};

// One row for every superstep, written by the first thread of the grid.
//
// Rows hold the multiprocessor's cycles, which are cheap to read; reading the nanosecond clock takes as long as a small
// superstep, so it is read at the beginning and the end only, and the host converts.
struct TraceRow {
    i64 direction, active, looked, cycles;  // when it ended
};

struct Outcome {
    i64 supersteps, left;  // done, and vertices left active
    i64 cycles[2], nanoseconds[2];
    i64 passed[2];  // further results of a kernel
};

struct Trace {
    TraceRow* rows;
    i64 room;
    Outcome* outcome;

    __device__ static bool is_writer() { return (blockIdx.x | threadIdx.x) == 0; }

    __device__ void clocks(int which) const {
        i64 now;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        outcome->nanoseconds[which] = now, outcome->cycles[which] = clock64();
    }

    __device__ void begin() const {
        if (is_writer()) clocks(0);
    }

    __device__ void add(i64 step, int direction, i64 active, i64 looked) const {
        if (is_writer() && step <= room) rows[step - 1] = TraceRow{direction, active, looked, clock64()};
    }

    __device__ void end(i64 step, i64 left) const {
        if (!is_writer()) return;
        clocks(1);
        outcome->supersteps = step, outcome->left = left;
    }
};

}  // namespace hpgraph
