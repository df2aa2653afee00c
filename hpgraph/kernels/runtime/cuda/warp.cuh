// Names of integer types, and warp-collective operations.
#pragma once

namespace hpgraph {

using i64 = long long;
using u32 = unsigned int;
using u64 = unsigned long long;

constexpr u32 ALL = 0xffffffffu;  // every lane of a warp

__device__ inline int lane_of_warp() { return threadIdx.x & 31; }
__device__ inline u32 lanes_below() { return (1u << lane_of_warp()) - 1; }

// Broadcasts the value of a lane; any size.
template <class T>
__device__ T warp_shuffle(T value, int lane) {
    if constexpr (sizeof(T) >= 4) return __shfl_sync(ALL, value, lane);
    else return T(__shfl_sync(ALL, int(value), lane));
}

// The value of the lane so many above, among the given ones; any size.
template <class T>
__device__ T shuffle_down(u32 lanes, T value, int distance, int width = 32) {
    if constexpr (sizeof(T) >= 4) return __shfl_down_sync(lanes, value, distance, width);
    else return T(__shfl_down_sync(lanes, int(value), distance, width));
}

// The sum over the warp, in every lane.
template <class T>
__device__ T warp_sum(T value) {
    for (int d = 16; d; d >>= 1) value += __shfl_xor_sync(ALL, value, d);
    return value;
}

__device__ inline u32 warp_sum(u32 value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(ALL, value);
#else
    return warp_sum<u32>(value);
#endif
}

// Counts usually fit 27 bits, so that 32 of them are summed by one instruction.
__device__ inline u64 warp_sum(u64 value) {
#if __CUDA_ARCH__ >= 800
    if (!__any_sync(ALL, (value >> 27) != 0)) return warp_sum((u32)value);
    // Rarely executed but inlined in many places: unrolled, it would be a sixth of the largest kernels' code.
#pragma unroll 1
#endif
    for (int d = 16; d; d >>= 1) value += __shfl_xor_sync(ALL, value, d);
    return value;
}

// Inclusive prefix sum over the lanes.
template <class T>
__device__ T warp_prefix_sum(T value) {
    for (int d = 1; d < 32; d <<= 1) {
        const T below = __shfl_up_sync(ALL, value, d);
        if (lane_of_warp() >= d) value += below;
    }
    return value;
}

// Adds to a counter by one atomic operation of the warp; returns the value before it, in every lane.
template <class Counter>
__device__ Counter warp_fetch_add(Counter* counter, Counter amount) {
    Counter before = 0;
    if (lane_of_warp() == 0) before = atomicAdd(counter, amount);
    return __shfl_sync(ALL, before, 0);
}

// Appends the items of the lanes with `mine` to a list.
template <class Item>
__device__ void append(bool mine, Item item, Item* list, u64* tail) {
    const u32 votes = __ballot_sync(ALL, mine);
    if (!votes) return;
    const u64 base = warp_fetch_add(tail, (u64)__popc(votes));
    if (mine) list[base + __popc(votes & lanes_below())] = item;
}

// Bitwise OR over the warp, in every lane.
__device__ inline u32 warp_or(u32 bits) {
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(ALL, bits);
#else
    for (int d = 16; d; d >>= 1) bits |= __shfl_xor_sync(ALL, bits, d);
    return bits;
#endif
}
__device__ inline u64 warp_or(u64 bits) { return warp_or((u32)bits) | (u64)warp_or((u32)(bits >> 32)) << 32; }

// Transposes a 32 x 32 bit matrix, one row per lane: thread l of the warp receives bit l of every thread's word.
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
