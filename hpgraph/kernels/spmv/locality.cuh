// Cache behaviour of a matrix's gathers, from a sample of its entries: sectors touched, and misses in L2.
//
// A sector is 32 bytes: 2^sector_shift columns.
#pragma once
#include "spmv.cuh"

namespace hpgraph {

constexpr int LOOKERS = 256;       // threads of a block
constexpr int LOOKED = 2048;       // adjacent entries that a block reads: those that it has in flight
constexpr int SLOTS_OF_SET = 4096; // slots of the hash set of sectors
constexpr u32 VACANT = 0xffffffffu;

// Inserts a key; returns whether it was new. Linear probing; the set is at most half full.
__device__ inline bool insert(u32* set, u32 key) {
    for (u32 at = key * 2654435761u >> 20;; ++at) {
        const u32 found = atomicCAS(set + at % SLOTS_OF_SET, VACANT, key);
        if (found == VACANT) return true;
        if (found == key) return false;
    }
}

// Sum of distinct sectors in one of `every` stretches of LOOKED entries; one block a stretch.
template <class I>
__global__ void __launch_bounds__(LOOKERS)
sample_sectors(const I* column, i64 entries, i64 every, int sector_shift, u64* tally) {
    __shared__ u32 set[SLOTS_OF_SET];
    for (int i = threadIdx.x; i < SLOTS_OF_SET; i += LOOKERS) set[i] = VACANT;
    __syncthreads();
    const i64 base = i64(blockIdx.x) * every * LOOKED;
    u32 sectors = 0;
    for (int i = threadIdx.x; i < LOOKED; i += LOOKERS)
        sectors += base + i < entries && insert(set, u32(i64(column[base + i]) >> sector_shift));
#pragma unroll
    for (int d = 16; d; d /= 2) sectors += __shfl_xor_sync(ALL, sectors, d);
    if (threadIdx.x % 32 == 0) atomicAdd(tally, u64(sectors));
}

// Marks touched sectors in the bitmap `seen`; `fresh` counts those marked first.
template <class I>
__global__ void __launch_bounds__(LOOKERS)
touch_sectors(const I* column, i64 begin, i64 end, int sector_shift, u32* seen, u64* fresh) {
    u32 found = 0;
    const i64 stride = i64(gridDim.x) * LOOKERS;
    for (i64 e = begin + i64(blockIdx.x) * LOOKERS + threadIdx.x; e < end; e += stride) {
        const u32 sector = u32(i64(column[e]) >> sector_shift), bit = 1u << sector % 32;
        if (!(seen[sector / 32] & bit)) found += !(atomicOr(seen + sector / 32, bit) & bit);
    }
    __syncwarp();
#pragma unroll
    for (int d = 16; d; d /= 2) found += __shfl_xor_sync(ALL, found, d);
    if (threadIdx.x % 32 == 0 && found) atomicAdd(fresh, u64(found));
}

}  // namespace hpgraph
