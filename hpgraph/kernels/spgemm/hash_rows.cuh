// Rows of a matrix product with a hash table in shared memory as the sparse accumulator: short rows, a warp each.
#pragma once
#include "pairs.cuh"

namespace hpgraph {

constexpr int TABLE_THREADS = 256;

// A hash table with linear probing; -1 marks a free slot.
template <class Index>
struct Table {
    Index* keys;
    u32 slots;

    __device__ void clear() const {
        for (u32 s = threadIdx.x & 31; s < slots; s += 32) keys[s] = Index(-1);
        __syncwarp();
    }
    // The slot of column j; `fresh` if it was inserted now.
    __device__ u32 locate(Index j, bool& fresh) const {
        u32 slot = (u32(j) ^ u32(u64(j) >> 32)) * 0x9E3779B1u >> (__clz(slots) + 1);
        for (;; slot = (slot + 1) & (slots - 1)) {
            const Index seen = *(volatile Index*)(keys + slot);
            if (seen == j) break;
            if (seen != Index(-1)) continue;
            Index before;
            if constexpr (sizeof(Index) == 4) before = Index(atomicCAS((u32*)(keys + slot), ~0u, u32(j)));
            else before = Index(atomicCAS((u64*)(keys + slot), ~0ull, u64(j)));
            fresh = before == Index(-1);
            if (fresh || before == j) return slot;
        }
        fresh = false;
        return slot;
    }
};

template <class M>
__global__ void __launch_bounds__(TABLE_THREADS) count_by_table(Factors<M> f, const i64* list, i64 tasks, const i64* task_row,
                                                          u32 slots, i64* counts) {
    typedef typename M::Index Index;
    extern __shared__ __align__(16) u64 shared[];
    const int warp = threadIdx.x / 32;
    const i64 place = i64(blockIdx.x) * (blockDim.x / 32) + warp;
    if (place >= tasks) return;
    const i64 task = list[place], row = task_row[task];
    const Table<Index> table{(Index*)shared + warp * slots, slots};
    table.clear();
    u32 found = 0;
    for_pairs(f, row, WholeRows{f.b_indptr}, [&](bool valid, i64, i64, i64 q, int) {
        if (!valid) return;
        const Index j = f.b_indices[q];
        if (!f.allows(row, j)) return;
        bool fresh;
        table.locate(j, fresh);
        found += fresh;
    });
    found = warp_sum(found);
    if (threadIdx.x % 32 == 0) counts[task] = found;
}

// Bitonic sort (K. Batcher, 1968) of keys[0..count) ascending with their values, by one warp; there is room for the
// next power of two.
template <class Index, class C>
__device__ void sort_warp(Index* keys, C* values, u32 count) {
    const int lane = threadIdx.x & 31;
    u32 size = 2;
    while (size < count) size *= 2;
    for (u32 s = count + lane; s < size; s += 32) keys[s] = Index(-1);
    __syncwarp();
    for (u32 run = 2; run <= size; run *= 2) {
        for (u32 gap = run / 2; gap; gap /= 2) {
            for (u32 t = lane; t < size / 2; t += 32) {
                const u32 low = (t & ~(gap - 1)) * 2 + (t & (gap - 1)), high = low + gap;
                const Index a = keys[low], b = keys[high];
                // As unsigned, the padding (-1) is the largest key and sorts to the end.
                const bool falls = sizeof(Index) == 4 ? u32(a) > u32(b) : u64(a) > u64(b);
                if (falls == ((low & run) == 0) && a != b) {
                    keys[low] = b;
                    keys[high] = a;
                    const C value = values[low];
                    values[low] = values[high];
                    values[high] = value;
                }
            }
            __syncwarp();
        }
    }
}

template <class M>
__global__ void __launch_bounds__(TABLE_THREADS) fill_by_table(Factors<M> f, const i64* list, i64 tasks, const i64* task_row,
                                                         u32 slots, const i64* offsets, typename M::Index* indices,
                                                         typename M::C* data) {
    typedef typename M::Index Index;
    typedef typename M::C C;
    extern __shared__ __align__(16) u64 shared[];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const i64 place = i64(blockIdx.x) * (blockDim.x / 32) + warp;
    if (place >= tasks) return;
    const i64 task = list[place], row = task_row[task];
    // Slots are at least 64, so that each array is aligned to eight bytes for any types.
    char* const room = (char*)shared + warp * slots * (sizeof(Index) + sizeof(C));
    Index* const keys = (Index*)room;
    C* const values = (C*)(keys + slots);
    const Table<Index> table{keys, slots};
    table.clear();
    for_pairs(f, row, WholeRows{f.b_indptr}, [&](bool valid, i64 p, i64 k, i64 q, int owner) {
        Index j = 0;
        C value = C();
        if (valid) {
            j = f.b_indices[q];
            valid = f.allows(row, j);
            if (valid) value = f.product(row, p, k, q, j);
        }
        if (join_lanes<M>(valid, owner, j, value)) {
            bool fresh;
            const u32 slot = table.locate(j, fresh);
            values[slot] = M::reduce(fresh ? M::identity() : values[slot], value);
        }
        __syncwarp();
    });
    // Compact the table in place: writes stay behind the reads.
    u32 count = 0;
    for (u32 base = 0; base < slots; base += 32) {
        const Index key = keys[base + lane];
        const C value = values[base + lane];
        const u32 used = __ballot_sync(ALL, key != Index(-1));
        // A ballot does not order memory accesses: all lanes must have read before one writes.
        __syncwarp();
        if (key != Index(-1)) {
            const u32 to = count + __popc(used & ((1u << lane) - 1));
            keys[to] = key;
            values[to] = value;
        }
        count += __popc(used);
        __syncwarp();
    }
    sort_warp(keys, values, count);
    for (u32 s = lane; s < count; s += 32) {
        indices[offsets[task] + s] = keys[s];
        data[offsets[task] + s] = values[s];
    }
}

}  // namespace hpgraph
