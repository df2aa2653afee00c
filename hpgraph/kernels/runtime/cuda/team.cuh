// The team of GPUs that runs a persistent kernel: one that has all rows, or several that have a range of them each
// (multi_gpu_barrier.cuh). A kernel's loop is written once; what only several GPUs need is behind `DIVIDED`.
#pragma once
#include "multi_gpu_barrier.cuh"
#include "persistent.cuh"

namespace hpgraph {

struct OneGpu {
    static constexpr bool DIVIDED = false, lost = false;
    typedef Tally Sums;  // of a superstep, over the team
    GridBarrier barrier;
    Header* header;

    __device__ explicit OneGpu(Header* header) : barrier(&header->barrier), header(header) {}

    __device__ void wait() { barrier.wait(); }
    __device__ i64 size() const { return 1; }
    __device__ bool owns(i64) const { return true; }
    __device__ i64 first_word() const { return 0; }
    __device__ i64 last_word(i64 n) const { return (n + 31) / 32; }
    __device__ i64 last(i64 n) const { return n; }
};

}  // namespace hpgraph
