// Memory order between GPUs that share memory while their kernels run.
#pragma once
#include "warp.cuh"

namespace hpgraph {

// Orders this thread's earlier reads and writes before its later writes, for all devices.
__device__ inline void fence_of_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

__device__ inline void publish(u64* where, u64 value) {
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(where), "l"(value) : "memory");
}

__device__ inline u64 published(const u64* where) {
    u64 value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(where) : "memory");
    return value;
}

__device__ inline u32 look_at(const u32* where) {
    u32 value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(where) : "memory");
    return value;
}

// Increment a counter of this device; returns its value before.
__device__ inline u32 count_up(u32* where) {
    u32 before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(where) : "memory");
    return before;
}

__device__ inline u64 nanoseconds_now() {
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// End the kernel with an error, which the next CUDA call on the host reports.
__device__ inline void stop() { asm volatile("trap;"); }

}  // namespace hpgraph
