// Aggregation: the graph of communities on the GPU. The arcs of each community's members are concatenated and summed by
// target community, in a hash table of a warp, of a block, or of several blocks. The slot of a community depends on the
// schedule, and so does the order in a row; its sum does not.
#pragma once
#include "group_members.cuh"
#include "tiles.cuh"

namespace hpgraph {

template <class Index, class W, class Sum>
struct Aggregation {
    const i64* indptr;
    const Index* indices;
    const W* weights;
    const Index* number;
    // Vertices by community, arcs before each; start of each community's members, and of its arcs.
    const Index* members;
    const i64 *arcs_before, *starts, *begin;
    i64 count;
    // Uncompacted rows, each at the start of its community's arcs, and their lengths, shifted by one.
    Index* wide;
    Sum* sums;
    i64* lengths;
    // Start of the table of each community that several blocks share.
    const i64* table_begin;
    Index* table_keys;
    Sum* table_sums;
};

template <class Index, class W, class Sum>
struct Aggregator {
    const Aggregation<Index, W, Sum>& a;

    // Adds a range of the arcs of a community's members to a table.
    __device__ void gather(i64 c, i64 begin, i64 end, int first, int stride, const GroupTable<Index, Sum>& table) const {
        // The members that the ends of the range belong to.
        const i64 low = row_of(a.arcs_before, a.starts[c], a.starts[c + 1] - 1, begin);
        const i64 high = row_of(a.arcs_before, low, a.starts[c + 1] - 1, end - 1);
        for (i64 p = begin + first; p < end; p += AT_ONCE * stride) {
            i64 at[AT_ONCE];
            Index d[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                const i64 q = min(p + k * stride, end - 1), i = row_of(a.arcs_before, low, high, q);
                at[k] = a.indptr[a.members[i]] + (q - a.arcs_before[i]);
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) d[k] = a.number[a.indices[at[k]]];
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k)
                if (p + k * stride < end && d[k] != Index(c)) table.add(d[k], Sum(weight_at(a.weights, at[k])));
        }
    }

    // Appends the entries of a warp's part of a table to the row; `used` is the row's length so far.
    __device__ void empty(i64 to, u32* used, int first, int stride, const GroupTable<Index, Sum>& table) const {
#pragma unroll 1
        for (u32 base = first - lane_of_warp(); base < table.slots; base += stride) {
            const u32 slot = base + lane_of_warp();
            Index key;
            Sum sum;
            const bool found = slot < table.slots && table.take(slot, key, sum);
            const u32 all = __ballot_sync(ALL, found);
            const u32 at = all ? warp_fetch_add(used, u32(__popc(all))) + __popc(all & lanes_below()) : 0;
            if (found) a.wide[to + at] = key, a.sums[to + at] = sum;
        }
    }
};

// Communities with few enough arcs for a warp, a warp each.
template <class Index, class W, class Sum>
__global__ void __launch_bounds__(GROUP_THREADS) aggregate_by_warp(Aggregation<Index, W, Sum> a) {
    extern __shared__ __align__(16) u64 room[];
    __shared__ u32 used[GROUP_WARPS];
    const int warp = threadIdx.x / 32, lane = lane_of_warp();
    Sum* const sums = (Sum*)room + warp * WARP_SLOTS;
    Index* const keys = (Index*)((Sum*)room + BLOCK_SLOTS) + warp * WARP_SLOTS;
    GroupTable<Index, Sum>{keys, sums, WARP_SLOTS}.clear(lane, 32);
    __syncwarp();
    const Aggregator<Index, W, Sum> by{a};
    for (i64 c = (i64)blockIdx.x * GROUP_WARPS + warp; c < a.count; c += (i64)gridDim.x * GROUP_WARPS) {
        const i64 begin = a.begin[c], end = a.begin[c + 1];
        if (begin == end || end - begin > WARP_ENTRIES) continue;
        const GroupTable<Index, Sum> table{keys, sums, u32(2 * (end - begin))};
        if (lane == 0) used[warp] = 0;
        __syncwarp();
        by.gather(c, begin, end, lane, 32, table);
        __syncwarp();
        by.empty(begin, used + warp, lane, 32, table);
        __syncwarp();
        if (lane == 0) a.lengths[c + 1] = used[warp];
    }
}

// Communities with more arcs than that; `chunk_ends` is the inclusive sum of their chunks. If several blocks share a
// community, they add to a table in global memory.
template <class Index, class W, class Sum>
__global__ void __launch_bounds__(GROUP_THREADS) aggregate_by_chunk(Aggregation<Index, W, Sum> a, const i64* chunk_ends) {
    extern __shared__ __align__(16) u64 room[];
    __shared__ u32 used;
    Sum* const sums = (Sum*)room;
    Index* const keys = (Index*)(sums + BLOCK_SLOTS);
    const GroupTable<Index, Sum> near{keys, sums, BLOCK_SLOTS};
    near.clear(threadIdx.x, GROUP_THREADS);
    __syncthreads();
    const Aggregator<Index, W, Sum> by{a};
    const i64 chunks = chunk_ends[a.count];
    for (i64 t = blockIdx.x; t < chunks; t += gridDim.x) {
        const i64 c = row_of(chunk_ends, 0, a.count - 1, t), chunk = t - chunk_ends[c];
        const i64 row = a.begin[c], end = a.begin[c + 1], begin = row + chunk * BLOCK_ENTRIES;
        if (threadIdx.x == 0) used = 0;
        by.gather(c, begin, min(begin + BLOCK_ENTRIES, end), threadIdx.x, GROUP_THREADS, near);
        __syncthreads();
        if (end - row <= BLOCK_ENTRIES) {
            by.empty(row, &used, threadIdx.x, GROUP_THREADS, near);
            __syncthreads();
            if (threadIdx.x == 0) a.lengths[c + 1] = used;
        } else {
            const i64 first = a.table_begin[c];
            near.empty_into({a.table_keys + first, a.table_sums + first, u64(a.table_begin[c + 1] - first)}, threadIdx.x,
                            GROUP_THREADS);
        }
        __syncthreads();
    }
}

// Rows of the communities that have a table.
template <class Index, class W, class Sum>
__global__ void __launch_bounds__(TILE_THREADS) rows_of_tables(Aggregation<Index, W, Sum> a, i64 slots) {
    for_tile(a.table_begin, a.count, slots, [&](i64 slot, i64 c) {
        const Index key = a.table_keys[slot];
        if (key == Index(-1)) return;
        const i64 at = a.begin[c] + i64(count_up((u64*)a.lengths, u64(c + 1)));
        a.wide[at] = key, a.sums[at] = a.table_sums[slot];
    });
}

// Compacts the rows.
template <class Index, class Sum>
__global__ void __launch_bounds__(TILE_THREADS) close_up(const i64* begin, const i64* indptr, i64 rows, i64 entries,
                                                         const Index* wide, const Sum* sums, Index* indices, i64* data) {
    for_tile(indptr, rows, entries, [&](i64 p, i64 row) {
        const i64 from = begin[row] + (p - indptr[row]);
        indices[p] = wide[from];
        data[p] = i64(sums[from]);
    });
}

// Total weight of the arcs between communities.
template <class Index, class W>
__global__ void __launch_bounds__(TILE_THREADS)
weigh_between(const i64* indptr, const Index* indices, const W* weights, i64 rows, i64 entries, const Index* label, u64* total) {
    u64 sum = 0;
    for_tile(indptr, rows, entries, [&](i64 p, i64 row) {
        if (label[row] != label[indices[p]]) sum += weight_at(weights, p);
    });
    sum = warp_sum(sum);
    if (lane_of_warp() == 0 && sum) atomicAdd(total, sum);
}

}  // namespace hpgraph
