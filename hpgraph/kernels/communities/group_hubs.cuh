// The choice for hubs, vertices whose arcs several blocks share: each block adds a part of the arcs to a table in
// global memory.
#pragma once
#include "group_choice.cuh"

namespace hpgraph {

template <bool FREQUENT, bool PLAIN, class Index, class W, class Sum>
struct HubChooser : Chooser<FREQUENT, PLAIN, Index, W, Sum> {
    using Base = Chooser<FREQUENT, PLAIN, Index, W, Sum>;
    using Base::m;
    using typename Base::FarTable;
    using typename Base::Strengths;
    using typename Base::Table;

    // The table of a hub: no more slots than the number of communities requires.
    __device__ FarTable table_of(Index hub, u64 groups) const {
        const i64 begin = m.hub_begin[hub];
        return {m.hub_keys + begin, m.hub_sums + begin, min(u64(m.hub_begin[hub + 1] - begin), (2 * groups + 64) / 4 * 4)};
    }
    // Number of chunks of a vertex's arcs.
    __device__ i64 chunks_of(Index v) const {
        return (m.indptr[v + 1] - m.indptr[v] + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES;
    }
    // Adds a chunk of a vertex's arcs to its table.
    __device__ void gather_chunk(i64 place, i64 chunk, u64 groups, Index* keys, Sum* sums) const {
        const Index v = m.listed[place], own = m.label[v], hub = m.hub_of[v];
        const i64 end = m.indptr[v + 1], begin = m.indptr[v] + chunk * BLOCK_ENTRIES;
        const Table near{keys, sums, BLOCK_SLOTS};
        u64 inside = this->gather(v, own, begin, min(begin + BLOCK_ENTRIES, end), threadIdx.x, GROUP_THREADS, near);
        inside = warp_sum(inside);
        if (lane_of_warp() == 0 && inside) atomicAdd(m.hub_inside + hub, inside);
        __syncthreads();
        near.empty_into(table_of(hub, groups), threadIdx.x, GROUP_THREADS);
        __syncthreads();
    }
    // Best choice of a piece of the table; the block that finishes the last piece settles the vertex.
    __device__ void look_at_piece(i64 place, i64 piece, i64 pieces, u64 groups) const {
        __shared__ bool is_last;
        const Index v = m.listed[place], hub = m.hub_of[v];
        const FarTable whole = table_of(hub, groups);
        const Index own = m.label[v];
        const Strengths of = this->strengths_of(v, own);
        const Ties ties = this->ties_of(v);
        Choice* const bests = m.hub_best + m.hub_begin[hub] / PIECE_SLOTS + hub;
        const u64 begin = u64(piece) * PIECE_SLOTS;
        Choice best = this->look(v, begin, min(begin + u64(PIECE_SLOTS), whole.slots), threadIdx.x, GROUP_THREADS, whole, ties, of);
        u64 inside = 0;
        this->join(true, ties, inside, best);
        if (threadIdx.x == 0) {
            bests[piece] = best;
            __threadfence();
            is_last = atomicAdd(m.hub_done + hub, 1u) == u32(pieces - 1);
        }
        __syncthreads();
        if (!is_last) return;
        __threadfence();
        best = {0, NO_LABEL};
        for (i64 p = threadIdx.x; p < pieces; p += GROUP_THREADS) {
            const Choice one{__ldcg(&bests[p].score), __ldcg(&bests[p].label)};
            if (is_better<FREQUENT>(one, best, ties)) best = one;
        }
        this->join(true, ties, inside, best);
        if (threadIdx.x == 0) {
            this->settle(place, v, own, i64(atomicExch(m.hub_inside + hub, 0ull)), best, ties, of);
            m.hub_done[hub] = 0;
        }
        __syncthreads();
    }

    // Distributes work over the blocks: use(place, k, count) for each k below count(place) of the places begin..end.
    template <class Count, class Use>
    __device__ void distribute(i64 begin, i64 end, i64* ends, Count count, Use use) const {
        i64 turn = 0;
        for (i64 tile = begin; tile < end; tile += GROUP_THREADS) {
            const i64 mine = tile + threadIdx.x;
            __syncthreads();
            ends[threadIdx.x] = mine < end ? count(mine) : 0;
            __syncthreads();
            for (int d = 1; d < GROUP_THREADS; d *= 2) {
                const i64 before = threadIdx.x >= d ? ends[threadIdx.x - d] : 0;
                __syncthreads();
                ends[threadIdx.x] += before;
                __syncthreads();
            }
            const i64 total = ends[GROUP_THREADS - 1];
            // Round-robin continues after the previous tile.
            for (i64 t = (blockIdx.x + gridDim.x - turn % gridDim.x) % gridDim.x; t < total; t += gridDim.x) {
                int low = 0, high = GROUP_THREADS - 1;
                while (low < high) {
                    const int middle = (low + high) / 2;
                    if (ends[middle] > t) high = middle;
                    else low = middle + 1;
                }
                const i64 first = low ? ends[low - 1] : 0;
                use(tile + low, t - first, ends[low] - first);
            }
            turn += total;
        }
        __syncthreads();
    }
    __device__ void gather_hubs(i64 begin, i64 end, u64 groups, i64* ends, Index* keys, Sum* sums) const {
        distribute(
            begin, end, ends,
            [&](i64 place) { return chunks_of(m.listed[place]); },
            [&](i64 place, i64 chunk, i64) { gather_chunk(place, chunk, groups, keys, sums); });
    }
    __device__ void look_at_hubs(i64 begin, i64 end, u64 groups, i64* ends) const {
        distribute(
            begin, end, ends,
            [&](i64 place) { return i64(table_of(m.hub_of[m.listed[place]], groups).slots + PIECE_SLOTS - 1) / PIECE_SLOTS; },
            [&](i64 place, i64 piece, i64 pieces) { look_at_piece(place, piece, pieces, groups); });
    }
};

}  // namespace hpgraph
