// Hash tables of the weights of a vertex, or of a community, by neighbouring community; in shared or global memory.
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int GROUP_THREADS = 256, GROUP_WARPS = GROUP_THREADS / 32;
// Slots that each warp has in shared memory; a block's are those of all its warps.
constexpr u32 WARP_SLOTS = 512, BLOCK_SLOTS = WARP_SLOTS * GROUP_WARPS;
// Maximum number of entries that a warp, or a block, sums alone: half of the slots stay free. Longer rows are divided
// into chunks.
constexpr i64 WARP_ENTRIES = WARP_SLOTS / 2, BLOCK_ENTRIES = BLOCK_SLOTS / 2;
// Slots of a table in global memory that one block reads.
constexpr i64 PIECE_SLOTS = BLOCK_SLOTS;
// Loads that a thread has in flight.
constexpr int AT_ONCE = 4;

// Flags of a vertex in local moving: whether it is active, and whether its row is long, as in batches.py.
constexpr unsigned char IS_ACTIVE = 1, IS_LONG = 2;
constexpr i64 LONG_ROW = 128;
__device__ __forceinline__ unsigned char activated(i64 degree) {
    return degree == 0 ? 0 : degree < LONG_ROW ? IS_ACTIVE : IS_ACTIVE | IS_LONG;
}

__device__ __forceinline__ void add_to(int* at, int amount) { atomicAdd(at, amount); }
__device__ __forceinline__ void add_to(i64* at, i64 amount) { atomicAdd((u64*)at, u64(amount)); }

// Unit weights of an unweighted graph.
struct One {};
__device__ __forceinline__ u64 weight_at(const One*, i64) { return 1; }
__device__ __forceinline__ u64 weight_at(const i64* weights, i64 at) { return (u64)weights[at]; }
template <class W>
constexpr bool WEIGHS_ONE = false;
template <>
constexpr bool WEIGHS_ONE<One> = true;

// Four consecutive elements, bypassing L1.
__device__ __forceinline__ void load_four(const u32* from, u32 (&to)[4]) {
    const uint4 four = __ldcg((const uint4*)from);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}
__device__ __forceinline__ void load_four(const u64* from, u64 (&to)[4]) {
    const ulonglong2 low = __ldcg((const ulonglong2*)from), high = __ldcg((const ulonglong2*)from + 1);
    to[0] = low.x, to[1] = low.y, to[2] = high.x, to[3] = high.y;
}
__device__ __forceinline__ void load_four(const int* from, int (&to)[4]) { load_four((const u32*)from, (u32(&)[4])to); }
__device__ __forceinline__ void load_four(const i64* from, i64 (&to)[4]) { load_four((const u64*)from, (u64(&)[4])to); }
template <class T>
__device__ __forceinline__ void fill_four(T* to, unsigned with) {
    for (int w = 0; w < int(sizeof(T) / 4); ++w) ((uint4*)to)[w] = {with, with, with, with};
}

// Linear probing. Empty slots have key -1 and sum 0. Slots are numbered in 32 bits; in tables in global memory, in 64.
template <class Index, class Sum, class Slot = u32>
struct GroupTable {
    static constexpr bool FAR = sizeof(Slot) == 8;
    Index* keys;
    Sum* sums;
    Slot slots;

    __device__ void clear(int first, int stride) const {
        for (Slot s = first; s < slots; s += stride) keys[s] = Index(-1), sums[s] = 0;
    }
    __device__ Slot slot_of(Index key) const {
        const u32 hash = (u32(key) ^ u32(u64(key) >> 32)) * 0x9E3779B1u;
        return Slot((u64(hash) * slots) >> 32);
    }
    __device__ Slot after(Slot slot) const { return slot + 1 == slots ? 0 : slot + 1; }
    // Claims a slot: returns its key, which is `key` if the slot was free.
    __device__ Index claim(Slot slot, Index key) const {
        Index seen;
        if constexpr (sizeof(Index) == 4) seen = Index(atomicCAS((u32*)(keys + slot), ~0u, u32(key)));
        else seen = Index(atomicCAS((u64*)(keys + slot), ~0ull, u64(key)));
        return seen == Index(-1) ? key : seen;
    }
    __device__ void add(Index key, Sum amount) const {
        for (Slot slot = slot_of(key);; slot = after(slot)) {
            Index seen = *(volatile Index*)(keys + slot);
            if (seen == Index(-1)) seen = claim(slot, key);
            if (seen == key) {
                atomicAdd(sums + slot, amount);
                return;
            }
        }
    }
    // Takes the contents of a slot and empties it; bypasses L1, as another multiprocessor may have written it.
    __device__ bool take(Slot slot, Index& key, Sum& sum) const {
        key = *(volatile Index*)(keys + slot);
        if (key == Index(-1)) return false;
        sum = *(volatile Sum*)(sums + slot);
        keys[slot] = Index(-1);
        sums[slot] = 0;
        return true;
    }
    // The counterpart of `take_all` for a table in global memory without concurrent writers: four consecutive slots, in
    // words of 16 bytes. All slot numbers are multiples of four.
    template <class Use>
    __device__ void take_fours(Slot begin, Slot end, int first, int stride, Use use) const {
        static_assert(AT_ONCE == 4, "four slots");
        for (Slot s = begin + 4 * Slot(first); s < end; s += 4 * Slot(stride)) {
            Index key[AT_ONCE];
            Sum sum[AT_ONCE];
            load_four(keys + s, key);
            if ((key[0] & key[1] & key[2] & key[3]) == Index(-1)) continue;
            load_four(sums + s, sum);
            fill_four(keys + s, ~0u);
            fill_four(sums + s, 0u);
            use(key, sum);
        }
    }
    // Calls use(key, sum) for the contents of the slots begin..end, and empties them.
    template <class Use>
    __device__ void take_all(Slot begin, Slot end, int first, int stride, Use use) const {
        for (Slot s = begin + first; s < end; s += AT_ONCE * Slot(stride)) {
            Index key[AT_ONCE];
            Sum sum[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                const Slot slot = s + k * Slot(stride);
                key[k] = slot < end ? *(volatile Index*)(keys + slot) : Index(-1);
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                const Slot slot = s + k * Slot(stride);
                sum[k] = 0;
                if (key[k] != Index(-1)) sum[k] = *(volatile Sum*)(sums + slot);
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                const Slot slot = s + k * Slot(stride);
                if (key[k] != Index(-1)) keys[slot] = Index(-1), sums[slot] = 0;
            }
            use(key, sum);
        }
    }
    // Moves all contents into another table, in global memory.
    __device__ void empty_into(const GroupTable<Index, Sum, u64>& whole, int first, int stride) const {
        take_all(0, slots, first, stride, [&](const Index(&key)[AT_ONCE], const Sum(&sum)[AT_ONCE]) {
            u64 slot[AT_ONCE];
            Index seen[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                slot[k] = whole.slot_of(key[k]);
                seen[k] = key[k] == Index(-1) ? key[k] : whole.claim(slot[k], key[k]);
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                while (seen[k] != key[k]) {
                    slot[k] = whole.after(slot[k]);
                    seen[k] = whole.claim(slot[k], key[k]);
                }
                if (key[k] != Index(-1)) atomicAdd(whole.sums + slot[k], sum[k]);
            }
        });
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
