// Memory that several GPUs write to and read from while their kernels run: order beyond one device.
#pragma once
#include "warp.cuh"

namespace hpgraph {

// What this thread has seen written, and wrote, is there for all devices before what it writes next.
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

// One more on a counter of this device; what stood there.
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

// End the kernel with an error: the host hears of it when it next asks.
__device__ inline void stop() { asm volatile("trap;"); }

}  // namespace hpgraph
