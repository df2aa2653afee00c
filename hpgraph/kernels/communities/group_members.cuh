// Strengths, sizes and members of communities on the GPU.
#pragma once
#include "group_table.cuh"

namespace hpgraph {

// Warp-aggregated count: one atomic for all active lanes with the same place; returns the count before each lane.
__device__ __forceinline__ u64 count_up(u64* counts, u64 place) {
    const u32 peers = __match_any_sync(__activemask(), place);
    const int leader = __ffs(peers) - 1;
    u64 before = 0;
    if (lane_of_warp() == leader) before = atomicAdd(counts + place, u64(__popc(peers)));
    return __shfl_sync(peers, before, leader) + __popc(peers & lanes_below());
}

// Adds to an element of an array of u32, or of u64 if it is wide.
__device__ __forceinline__ void add_to(void* sums, bool is_wide, i64 at, i64 amount) {
    if (is_wide) atomicAdd((u64*)sums + at, u64(amount));
    else atomicAdd((u32*)sums + at, u32(amount));
}

// Marks vertices with arcs; sums strengths and sizes of communities, if there are any.
template <class Index>
__global__ void begin_groups(i64 n, const i64* indptr, const Index* label, const i64* sent, const i64* received, bool is_wide,
                             void* group_sent, void* group_received, Index* group_size, unsigned char* active) {
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v < n; v += (i64)gridDim.x * blockDim.x) {
        active[v] = activated(indptr[v + 1] - indptr[v]);
        if (!label) continue;
        const Index c = label[v];
        add_to(group_sent, is_wide, c, sent[v]);
        if (received) add_to(group_received, is_wide, c, received[v]);
        add_to(group_size + c, Index(1));
    }
}

// Counts the nonempty rows, and those longer than a block sums.
__global__ void count_rows(i64 n, const i64* indptr, u64* stats) {
    u64 joined = 0, hubs = 0;
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v < n; v += (i64)gridDim.x * blockDim.x) {
        const i64 degree = indptr[v + 1] - indptr[v];
        joined += degree > 0;
        hubs += degree > BLOCK_ENTRIES;
    }
    joined = warp_sum(joined), hubs = warp_sum(hubs);
    if (lane_of_warp() != 0) return;
    if (joined) atomicAdd(stats, joined);
    if (hubs) atomicAdd(stats + 1, hubs);
}

// The smallest vertex of each label; a stale read is larger, which is safe as the atomic compares again.
template <class Index>
__global__ void least_members(i64 n, const Index* label, Index* least) {
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v < n; v += (i64)gridDim.x * blockDim.x)
        if (least[label[v]] > Index(v)) atomicMin(least + label[v], Index(v));
}

template <class Index>
__global__ void represent(i64 n, const Index* label, const Index* least, Index* made) {
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v < n; v += (i64)gridDim.x * blockDim.x) made[v] = least[label[v]];
}

// The community of each part, numbered by the community's part with the smallest vertex.
template <class Index>
__global__ void inherit(i64 n, const Index* label, const Index* number, const Index* least, Index* made) {
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v < n; v += (i64)gridDim.x * blockDim.x)
        made[number[v]] = number[least[label[v]]];
}

template <class Index>
__global__ void mark_groups(i64 n, const Index* label, Index* present) {
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v < n; v += (i64)gridDim.x * blockDim.x) present[label[v]] = 1;
}

// `before`: inclusive count of the labels. `sizes` and `entries` of community c are at c + 1.
template <class Index>
__global__ void number_groups(i64 n, const i64* indptr, const Index* label, const Index* before, const i64* sent, const i64* received,
                              Index* number, u64* group_sent, u64* group_received, u64* sizes, u64* entries) {
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v < n; v += (i64)gridDim.x * blockDim.x) {
        const Index c = before[label[v]] - 1;
        number[v] = c;
        atomicAdd(group_sent + c, u64(sent[v]));
        if (received) atomicAdd(group_received + c, u64(received[v]));
        atomicAdd(sizes + c + 1, 1ull);
        const i64 degree = indptr[v + 1] - indptr[v];
        if (degree) atomicAdd(entries + c + 1, u64(degree));
    }
}

// The members of each community from `starts` on, in no order, and their degrees, shifted by one.
template <class Index>
__global__ void list_members(i64 n, const i64* indptr, const Index* number, const i64* starts, u64* placed, Index* members,
                             i64* degrees) {
    for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v < n; v += (i64)gridDim.x * blockDim.x) {
        const Index c = number[v];
        const i64 at = starts[c] + i64(count_up(placed, u64(c)));
        members[at] = Index(v);
        degrees[at + 1] = indptr[v + 1] - indptr[v];
    }
}

// Chunks of communities with more arcs than a warp sums, and slots of those that several blocks share: half of the
// slots stay free. One scan covers members, arcs, chunks and slots: the totals of the earlier sections are subtracted
// from the first element of the second and third.
__global__ void plan_tables(i64 count, i64 vertices, i64 arcs, i64* arcs_of, i64* chunks, i64* slots) {
    const i64 c = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (c == 0) arcs_of[0] = -vertices, chunks[0] = -arcs;
    if (c >= count) return;
    const i64 entries = arcs_of[c + 1];
    chunks[c + 1] = entries > WARP_ENTRIES ? (entries + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES : 0;
    slots[c + 1] = entries > BLOCK_ENTRIES ? 2 * (entries < count ? entries : count) : 0;
}

// Strengths of communities.
template <class Index>
__global__ void sum_groups(i64 n, const Index* label, const i64* sent, const i64* received, u64* group_sent, u64* group_received) {
    const i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    atomicAdd(group_sent + label[v], u64(sent[v]));
    if (received) atomicAdd(group_received + label[v], u64(received[v]));
}

// Sums of the products of the shares that communities send and receive, one per block.
__global__ void multiply_shares(i64 count, const i64* sent, const i64* received, double total, double* sums) {
    __shared__ double each[32];
    double sum = 0;
    for (i64 c = (i64)blockIdx.x * blockDim.x + threadIdx.x; c < count; c += (i64)gridDim.x * blockDim.x)
        sum += (double(sent[c]) / total) * (double(received[c]) / total);
    for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(ALL, sum, k);
    if (lane_of_warp() == 0) each[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int warp = 1; warp < int(blockDim.x) / 32; ++warp) sum += each[warp];
    sums[blockIdx.x] = sum;
}

}  // namespace hpgraph
