// Subgraph isomorphism by joins: a table of partial mappings, one a row, is extended by one pattern vertex at a time
// (L. Zeng et al., "GSI: GPU-friendly subgraph isomorphism", ICDE'20). Rows and tests are those of
// hpgraph.kernels.structure.cpu_subgraphs; a thread tests one candidate of one row.
#pragma once
#include "grid_scan.cuh"
#include "search.cuh"

namespace hpgraph {

constexpr int THREADS = 256, ITEMS = 8, TILE = THREADS * ITEMS, WORDS = TILE / 32;

// A graph by source and by target, and a bit for each vertex and each step of the pattern that the vertex may be mapped
// to.
template <class Index>
struct Graph {
    const i64* indptr;
    const Index* indices;
    const i64* in_indptr;
    const Index* in_indices;
    const u64* allowed;

    // Searches the shorter of the two rows.
    __device__ __forceinline__ bool has_arc(i64 u, i64 v) const {
        const i64 out = indptr[u], into = in_indptr[v];
        const bool first = indptr[u + 1] - out <= in_indptr[v + 1] - into;
        const Index* row = first ? indices : in_indices;
        const i64 end = first ? indptr[u + 1] : in_indptr[v + 1], wanted = first ? v : u;
        const i64 at = lower_bound(row, first ? out : into, end, (Index)wanted);
        return at < end && row[at] == (Index)wanted;
    }
};

// The candidates of each table row, given by the shortest row of arcs that contains them all: twice its start, plus one
// for arcs by target; -1 stands for all n vertices.
template <class Index>
__global__ void __launch_bounds__(THREADS)
find_candidates(const i64* indptr, const i64* in_indptr, i64 n, const i64* other, const bool* outward, const bool* is_arc,
                i64 joins, const Index* __restrict__ table, i64 stride, i64 rows, i64* __restrict__ begin,
                i64* __restrict__ length) {
    const i64 row = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (row >= rows) return;
    i64 best = -1, size = n;
    for (i64 k = 0; k < joins; ++k) {
        if (!is_arc[k]) continue;
        const i64 v = table[other[k] * stride + row];
        const i64* bounds = outward[k] ? in_indptr : indptr;
        const i64 own = bounds[v + 1] - bounds[v];
        if (best < 0 || own < size) size = own, best = 2 * bounds[v] + outward[k];
    }
    begin[row] = best;
    length[row] = size;
}

// One bit per candidate, whether it extends its row, and the number of set bits in each tile. `starts`: the first
// candidate of each row.
template <class Index>
__global__ void __launch_bounds__(THREADS)
test_candidates(const i64* indptr, const Index* indices, const i64* in_indptr, const Index* in_indices, const u64* allowed,
                const i64* other, const bool* outward, const bool* is_arc, i64 joins, i64 step, bool distinct,
                const Index* __restrict__ table, i64 stride, i64 rows, const i64* __restrict__ begin,
                const i64* __restrict__ starts, i64 candidates, u32* __restrict__ mask, i64* __restrict__ sums) {
    __shared__ i64 bounds[2], of_warps[THREADS / 32];
    const Graph<Index> graph = {indptr, indices, in_indptr, in_indices, allowed};
    const i64 base = (i64)blockIdx.x * TILE, end = base + TILE < candidates ? base + TILE : candidates;
    if (threadIdx.x < 2) bounds[threadIdx.x] = row_of(starts, 0, rows - 1, threadIdx.x ? end - 1 : base);
    __syncthreads();
    i64 mine = 0, all;
    for (i64 p = base + threadIdx.x; p < base + TILE; p += THREADS) {
        bool fits = false;
        if (p < end) {
            const i64 row = row_of(starts, bounds[0], bounds[1], p), from = begin[row], at = p - starts[row];
            const i64 v = from < 0 ? at : (from & 1 ? in_indices : indices)[(from >> 1) + at];
            fits = allowed[v] >> step & 1;
            for (i64 j = 0; distinct && fits && j < step; ++j) fits = table[j * stride + row] != (Index)v;
            for (i64 k = 0; fits && k < joins; ++k) {
                const i64 u = table[other[k] * stride + row];
                fits = (outward[k] ? graph.has_arc(v, u) : graph.has_arc(u, v)) == is_arc[k];
            }
        }
        const u32 found = __ballot_sync(ALL, fits);
        if (mask && lane_of_warp() == 0) mask[p / 32] = found;
        mine += fits;
    }
    sum_before<THREADS>(mine, all, of_warps);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

// Extends each row by the accepted candidates, in order. `begins`: the first new row of each tile.
template <class Index>
__global__ void __launch_bounds__(THREADS)
extend_rows(const Index* indices, const Index* in_indices, i64 step, const Index* __restrict__ table, i64 stride, i64 rows,
            const i64* __restrict__ begin, const i64* __restrict__ starts, i64 candidates, const u32* __restrict__ mask,
            const i64* __restrict__ begins, Index* __restrict__ extended, i64 width) {
    __shared__ i64 before[WORDS], bounds[2], of_warps[THREADS / 32];
    const i64 base = (i64)blockIdx.x * TILE, end = base + TILE < candidates ? base + TILE : candidates;
    if (threadIdx.x < 2) bounds[threadIdx.x] = row_of(starts, 0, rows - 1, threadIdx.x ? end - 1 : base);
    i64 all;
    const i64 own = threadIdx.x < WORDS ? (i64)__popc(mask[base / 32 + threadIdx.x]) : 0;
    const i64 sum = sum_before<THREADS>(own, all, of_warps);
    if (threadIdx.x < WORDS) before[threadIdx.x] = begins[blockIdx.x] + sum;
    __syncthreads();
    for (i64 p = base + threadIdx.x; p < end; p += THREADS) {
        const u32 found = mask[p / 32];
        if (!(found >> p % 32 & 1)) continue;
        const i64 place = before[(p - base) / 32] + __popc(found & ((1u << p % 32) - 1));
        const i64 row = row_of(starts, bounds[0], bounds[1], p), from = begin[row], at = p - starts[row];
        for (i64 j = 0; j < step; ++j) extended[j * width + place] = table[j * stride + row];
        extended[step * width + place] = (Index)(from < 0 ? at : (from & 1 ? in_indices : indices)[(from >> 1) + at]);
    }
}

}  // namespace hpgraph
