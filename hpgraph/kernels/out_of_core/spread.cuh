// Scattered rows, each read in place: from pages cached on the device, copied there, or in host memory, which the GPU
// reads over the link (S. Min et al., "EMOGI", VLDB'20).
//
// The needed parts of rows are listed in groups of up to GROUP arcs, so that a hub is shared by several warps; then
// each warp takes one group at a time. Messages are combined by atomic operations.
#pragma once
#include "window.cuh"

namespace hpgraph {

// The pages of a matrix, and their addresses.
template <class Index, class Weight>
struct Spread {
    const i64* indptr;
    const i64* first_arc;
    const i64* offset;
    const unsigned char* const* where;
    Weights<Weight> weights;  // of all arcs
    i64 pages, columns;
    u32 mask;
};

struct Item {
    i64 row;
    int page, group;
};

__device__ inline i64 page_of(const i64* first_arc, i64 pages, i64 arc) {
    i64 low = 0, high = pages;
    while (high - low > 1) {
        const i64 middle = (low + high) / 2;
        if (first_arc[middle] <= arc) low = middle;
        else high = middle;
    }
    return low;
}

// For each page, the number of chosen rows with arcs in it, and the number of these arcs: one block per page. `rows` is
// null for all rows; rows without a bit in `more` are excluded.
__global__ void __launch_bounds__(THREADS)
survey_pages(const i64* indptr, const i64* first_arc, const i64* first_row, const i64* last_row, const u32* rows,
             const u32* more, i64* found) {
    const i64 page = blockIdx.x, from = first_arc[page], to = first_arc[page + 1];
    const i64 begin = first_row[page], end = last_row[page] + 1;
    i64 count = 0, arcs = 0;
    for (i64 v = begin / 32 * 32 + threadIdx.x; v < end; v += THREADS) {
        if (v < begin || (rows && !has(rows, v)) || (more && !has(more, v))) continue;
        const i64 length = min(indptr[v + 1], to) - max(indptr[v], from);
        if (length > 0) ++count, arcs += length;
    }
    __shared__ i64 sums[2];
    if (threadIdx.x < 2) sums[threadIdx.x] = 0;
    __syncthreads();
    count = warp_sum(count), arcs = warp_sum(arcs);
    if (lane_of_warp() == 0) {
        atomicAdd((u64*)&sums[0], (u64)count);
        atomicAdd((u64*)&sums[1], (u64)arcs);
    }
    __syncthreads();
    if (threadIdx.x < 2) found[2 * page + threadIdx.x] = sums[threadIdx.x];
}

// Lists the groups of the chosen rows in begin..end that lie in chosen pages.
__global__ void __launch_bounds__(THREADS)
list_groups(const i64* indptr, const i64* first_arc, i64 pages, const unsigned char* chosen, const u32* rows,
            const u32* more, i64 begin, i64 end, Item* items, u64* tail, u64 room) {
    const i64 v = begin / 32 * 32 + (i64)blockIdx.x * THREADS + threadIdx.x;
    if (v < begin || v >= end || (rows && !has(rows, v)) || (more && !has(more, v))) return;
    const i64 to = indptr[v + 1];
    for (i64 from = indptr[v]; from < to;) {
        const i64 page = page_of(first_arc, pages, from), start = first_arc[page], stop = min(to, first_arc[page + 1]);
        if (chosen[page]) {
            const i64 low = (from - start) / GROUP, high = (stop - start - 1) / GROUP;
            u64 at = atomicAdd(tail, (u64)(high - low + 1));
            for (i64 group = low; group <= high; ++group, ++at)
                if (at < room) items[at] = Item{v, (int)page, (int)group};
        }
        from = stop;
    }
}

// Calls `visit(row, id, weight)` on every arc of the groups; `visit.wants(row)` is called before a group.
template <class Index, class Weight, bool GAPS, class Visit>
__global__ void __launch_bounds__(THREADS)
visit_groups(const Visit visit, const Spread<Index, Weight> spread, const Item* items, const u64* tail, u64 room,
             int* damaged) {
    const i64 count = min(*tail, room);
    const int lane = lane_of_warp();
    for (i64 i = (i64)blockIdx.x * WARPS + (threadIdx.x >> 5); i < count; i += (i64)gridDim.x * WARPS) {
        const Item item = items[i];
        if (!visit.wants(item.row)) continue;
        const i64 start = spread.first_arc[item.page], arcs = spread.first_arc[item.page + 1] - start;
        const i64 begin = max(spread.indptr[item.row] - start, (i64)0), end = min(spread.indptr[item.row + 1] - start, arcs);
        const unsigned char* stored = spread.where[item.page];
        const auto use = [&](i64 position, u64 id) {
            if (position < begin || position >= end) return;
            if (id >= (u64)spread.columns) *damaged = 1;
            else visit(item.row, (i64)id, spread.weights[start + position]);
        };
        if constexpr (GAPS) {
            const i64 bytes = spread.offset[item.page + 1] - spread.offset[item.page];
            if (!decode_group(stored, bytes, arcs, item.group, spread.mask, use)) *damaged = 1;
        } else {
            const i64 from = max(begin, (i64)item.group * GROUP), to = min(end, (i64)(item.group + 1) * GROUP);
            const Index* ids = (const Index*)stored;
            // Aligned to cache lines: fewer transactions over the link.
            for (i64 position = (from & ~31ll) + lane; position < to; position += 32)
                if (position >= from) use(position, (u64)ids[position]);
        }
    }
}

// Pushes a row's messages along its arcs.
template <class Program, bool ONCE>
struct Send {
    Program program;
    const u32* settled;
    u32* received;
    typename Program::Message* message;

    __device__ bool wants(i64) const { return true; }

    template <class Weight>
    __device__ void operator()(i64 u, i64 v, Weight weight) const {
        if ((settled && has(settled, v)) || !program.cond(v) || !program.edge_cond(u, weight, v)) return;
        const u32 flag = 1u << (v & 31);
        u32* const word = received + (v >> 5);
        if constexpr (ONCE) {
            if ((*(volatile u32*)word & flag) || (atomicOr(word, flag) & flag)) return;
            message[v] = program.gather(u, weight, v);
        } else {
            op::combine_by_cas<op::Meet<Program>>(message + v, (typename Program::Message)program.gather(u, weight, v));
            if (!(*(volatile u32*)word & flag)) atomicOr(word, flag);
        }
    }
};

// A row receives from its first active neighbour found.
template <class Program>
struct Receive {
    Program program;
    const u32* active;
    u32* received;
    typename Program::Message* message;

    __device__ bool wants(i64 v) const { return !(*(volatile u32*)(received + (v >> 5)) >> (v & 31) & 1); }

    template <class Weight>
    __device__ void operator()(i64 v, i64 u, Weight weight) const {
        if (!has(active, u) || !program.edge_cond(u, weight, v)) return;
        const u32 flag = 1u << (v & 31);
        u32* const word = received + (v >> 5);
        if ((*(volatile u32*)word & flag) || (atomicOr(word, flag) & flag)) return;
        message[v] = program.gather(u, weight, v);
    }
};

// Bottom-up step along the resident neighbour of each waiting vertex.
template <class Program, class Index>
__global__ void __launch_bounds__(THREADS)
receive_from_head(Program program, i64 n, const Index* head, const u32* active, const u32* waiting, u32* received,
                  typename Program::Message* message) {
    const i64 v = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (v - lane_of_warp() >= n) return;
    bool found = false;
    if (v < n && has(waiting, v)) {
        const Index u = head[v];
        found = u >= 0 && has(active, u) && program.edge_cond(u, 1, v);
        if (found) message[v] = program.gather(u, 1, v);
    }
    const u32 came = __ballot_sync(ALL, found);
    if (lane_of_warp() == 0 && came) received[v >> 5] |= came;
}

}  // namespace hpgraph
