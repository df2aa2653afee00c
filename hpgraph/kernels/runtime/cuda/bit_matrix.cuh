// A square of 32 x 32 bits, a row per lane of a warp.
#pragma once
#include "warp.cuh"

namespace hpgraph {

// Row i of 32 words becomes column i: thread l of the warp receives bit l of every thread's word.
__device__ inline u32 transpose_bits(u32 word) {
    const int lane = lane_of_warp();
    u32 mask = 0x0000ffffu;
#pragma unroll
    for (int d = 16; d; d >>= 1, mask ^= mask << d) {
        const u32 other = __shfl_xor_sync(ALL, word, d);
        word = lane & d ? (word & ~mask) | (other >> d & mask) : (word & mask) | (other & mask) << d;
    }
    return word;
}

}  // namespace hpgraph
