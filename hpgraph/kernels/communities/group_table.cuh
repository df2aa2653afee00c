// What a vertex, or a community, has in common with each community around it: hash tables in shared or global memory.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int GROUP_THREADS = 256, GROUP_WARPS = GROUP_THREADS / 32;
// Slots that each warp has in shared memory; a block's are those of all its warps.
constexpr u32 WARP_SLOTS = 512, BLOCK_SLOTS = WARP_SLOTS * GROUP_WARPS;
// The most entries of what a warp, or a block, sums by itself: half of the slots stay free. What has more is cut in chunks.
constexpr i64 WARP_ENTRIES = WARP_SLOTS / 2, BLOCK_ENTRIES = BLOCK_SLOTS / 2;

// Weights of a graph without any.
struct One {};
__device__ __forceinline__ u64 weight_at(const One*, i64) { return 1; }
__device__ __forceinline__ u64 weight_at(const i64* weights, i64 at) { return (u64)weights[at]; }

// Linear probing. At rest keys are -1 and sums 0.
template <class Index, class Sum>
struct GroupTable {
    Index* keys;
    Sum* sums;
    u64 slots;

    __device__ void clear(int first, int stride) const {
        for (u64 s = first; s < slots; s += stride) keys[s] = Index(-1), sums[s] = 0;
    }
    __device__ void add(Index key, Sum amount) const {
        const u32 hash = (u32(key) ^ u32(u64(key) >> 32)) * 0x9E3779B1u;
        for (u64 slot = (u64(hash) * slots) >> 32;; slot = slot + 1 == slots ? 0 : slot + 1) {
            Index seen = *(volatile Index*)(keys + slot);
            if (seen == Index(-1)) {
                if constexpr (sizeof(Index) == 4) seen = Index(atomicCAS((u32*)(keys + slot), ~0u, u32(key)));
                else seen = Index(atomicCAS((u64*)(keys + slot), ~0ull, u64(key)));
            }
            if (seen == key || seen == Index(-1)) {
                atomicAdd(sums + slot, amount);
                return;
            }
        }
    }
    // Take what a slot holds, which is at rest then; past the first-level cache, as other multiprocessors may have written it.
    __device__ bool take(u64 slot, Index& key, Sum& sum) const {
        key = *(volatile Index*)(keys + slot);
        if (key == Index(-1)) return false;
        sum = *(volatile Sum*)(sums + slot);
        keys[slot] = Index(-1);
        sums[slot] = 0;
        return true;
    }
};

// The finalizer of MurmurHash3 (A. Appleby).
__device__ __forceinline__ u64 group_hash(u64 x) {
    x ^= x >> 33;
    x *= 0xFF51AFD7ED558CCDull;
    x ^= x >> 33;
    x *= 0xC4CEB9FE1A85EC53ull;
    return x ^ (x >> 33);
}

}  // namespace hpgraph
