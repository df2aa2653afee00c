// Neighbour sampling, hop by hop, in one kernel with grid barriers.
//
// Drawn vertices, seeds first, are kept in one list. A table over all vertices holds the numbers of numbered vertices
// and, for the others, their first position in the list, offset by NEW: numbers follow the list, independent of the
// schedule. The host allocates the list by an estimate; before a hop that needs more, the kernel ends and reports it.
//
// I: int or long long, the type of ids. W: the type of weights, or char if there are none.
#pragma once
#include "draws.cuh"
#include "grid_scan.cuh"

namespace hpgraph {

// With the registers that 1,024 threads could have, a block of `fetch_rows` fits beside one of these: rows of the last
// sample are fetched meanwhile.
constexpr int SAMPLE_THREADS = 768;
constexpr u64 NEW = 1ull << 62;

template <class W> constexpr bool BY_WEIGHT = true;
template <> constexpr bool BY_WEIGHT<char> = false;

// The graph to draw from; `running`, `weights` and `positive` are null for uniform draws.
template <class I, class W>
struct Urn {
    const i64* indptr;
    const I* indices;
    const double* running;
    const W* weights;
    const i64* positive;
};

// The list of draws: vertex, number of the vertex drawn for, entry. For numbered vertices: the vertex, and the start of
// its draws.
template <class I>
struct DrawList {
    u64* table;
    I* found;
    i64 *owner, *place, *vertex, *offset;
    i64 room;
};

// The hops of one launch, starting with hop number `begin`; and the state after the previous launch.
struct Hops {
    i64 begin, count, fanout[HOPS], known, frontier, length;
    u64 seed;
    i64 replace;
};

struct Progress {
    i64 hops, wanted, known, frontier, length, vertices[HOPS], edges[HOPS];
};

// Number of draws for a vertex.
template <class I, class W>
__device__ __forceinline__ i64 draws_of(const Urn<I, W>& urn, i64 v, i64 fanout, bool replace) {
    const i64 there = BY_WEIGHT<W> ? urn.positive[v] : urn.indptr[v + 1] - urn.indptr[v];
    return fanout < 0 ? there : replace ? (there > 0 ? fanout : 0) : there < fanout ? there : fanout;
}

// Lanes per vertex: its number of draws, rounded up to a power of two; weighted draws without replacement take a warp.
template <class I, class W>
__device__ __forceinline__ void draw_hop(const Urn<I, W>& urn, const DrawList<I>& list, i64 frontier, i64 known, i64 fanout,
                                         bool replace, u64 seed, u64 counter) {
    const bool few = fanout >= 0 && fanout <= 32;
    int width = 32;
    if (few && (replace || !BY_WEIGHT<W>))
        while (width > 1 && width / 2 >= fanout) width /= 2;
    const int lane = lane_of_warp() % width, vertices = 32 / width;
    const i64 warp = ((i64)blockIdx.x * SAMPLE_THREADS + threadIdx.x) / 32, warps = (i64)gridDim.x * (SAMPLE_THREADS / 32);
    for (i64 first = frontier + warp * vertices; first < known; first += warps * vertices) {
        const i64 k = first + lane_of_warp() / width;
        i64 v = 0, row = 0, row_end = 0, begin = 0, end = 0;
        if (k < known) {
            v = list.vertex[k], row = urn.indptr[v], row_end = urn.indptr[v + 1];
            begin = list.offset[k], end = list.offset[k + 1];
        }
        for (i64 at = begin + lane; at < end; at += width) list.owner[at] = k;
        if (replace) {
            for (i64 at = begin + lane; at < end; at += width) {
                const u64 word = random_bits(seed, v, counter + (at - begin));
                list.place[at] = BY_WEIGHT<W> ? by_weight(urn.running, row, row_end, word) : row + below(word, row_end - row);
            }
        } else if constexpr (BY_WEIGHT<W>) {
            draw_weighted(urn.running, urn.weights, row, row_end, v, seed, counter, list.place, begin, end, lane);
        } else if (few) {
            draw_few(row, row_end - row, v, fanout, seed, counter, list.place + begin, end - begin, lane, width);
        } else {
            draw_many(row, row_end - row, v, seed, counter, list.place + begin, end - begin, lane);
        }
    }
}

// `arrived` and `of_blocks`: the barrier's counter, initially 0, and an element for each block. `seeds` is 0 if the
// launch continues another.
template <class I, class W>
__global__ void __launch_bounds__(1024, 1)
sample(const Urn<I, W> urn, const DrawList<I> list, const __grid_constant__ Hops hops, const i64* __restrict__ seed, i64 seeds,
       unsigned* arrived, i64* of_blocks, Progress* progress) {
    GridBarrier barrier(arrived);
    const i64 thread = (i64)blockIdx.x * SAMPLE_THREADS + threadIdx.x, threads = (i64)gridDim.x * SAMPLE_THREADS;
    i64 known = hops.known, frontier = hops.frontier, length = hops.length, wanted = 0;
    const auto append = [&](i64 at, i64 v) {
        list.found[at] = (I)v;
        atomicMin(list.table + v, NEW + (u64)at);
    };
    // Numbers the vertices discovered in the next `many` elements of the list; returns their count.
    const auto number = [&](i64 many) {
        barrier.wait();
        const i64 first = length;
        const i64 fresh = grid_scan<SAMPLE_THREADS>(
            many, of_blocks, barrier,
            [&](i64 i) { return (i64)(list.table[list.found[first + i]] == NEW + (u64)(first + i)); },
            [&](i64 i, i64 is_first, i64 before) {
                if (!is_first) return;
                const I v = list.found[first + i];
                list.vertex[known + before] = v;
                list.table[v] = (u64)(known + before);
            });
        barrier.wait();
        known += fresh, length += many;
        return fresh;
    };

    if (seeds) {
        for (i64 i = thread; i < seeds; i += threads) append(i, seed[i]);
        number(seeds);
    }
    int hop = 0;
    for (; hop < hops.count; ++hop) {
        const i64 fanout = hops.fanout[hop], end = known;
        const bool replace = hops.replace && fanout >= 0;
        const i64 many = grid_scan<SAMPLE_THREADS>(
            end - frontier, of_blocks, barrier,
            [&](i64 i) { return draws_of(urn, list.vertex[frontier + i], fanout, replace); },
            [&](i64 i, i64, i64 before) { list.offset[frontier + i] = length + before; });
        if (length + many > list.room) {
            wanted = many;
            break;
        }
        if (thread == 0) list.offset[end] = length + many;
        barrier.wait();
        draw_hop(urn, list, frontier, end, fanout, replace, hops.seed, (u64)(hops.begin + hop) << HOP_SHIFT);
        barrier.wait();
        for (i64 i = length + thread; i < length + many; i += threads) append(i, urn.indices[list.place[i]]);
        const i64 fresh = number(many);
        frontier = end;
        if (thread == 0) progress->vertices[hop] = fresh, progress->edges[hop] = many;
    }
    if (thread == 0)
        progress->hops = hop, progress->wanted = wanted, progress->known = known, progress->frontier = frontier,
        progress->length = length;
}

// Writes the result at its final size.
template <class I>
__global__ void __launch_bounds__(SAMPLE_THREADS)
write_sample(const DrawList<I> list, i64 seeds, i64 length, i64 known, i64* __restrict__ vertex, i64* __restrict__ seed,
             i64* __restrict__ row, i64* __restrict__ column, i64* __restrict__ edge) {
    const i64 threads = (i64)gridDim.x * SAMPLE_THREADS;
    for (i64 i = (i64)blockIdx.x * SAMPLE_THREADS + threadIdx.x; i < length; i += threads) {
        if (i < known) vertex[i] = list.vertex[i];
        const i64 number = (i64)list.table[list.found[i]], at = i - seeds;
        if (at < 0) seed[i] = number;
        else row[at] = number, column[at] = list.owner[i], edge[at] = list.place[i];
    }
}

}  // namespace hpgraph
