// Load balancing of a push: division of the out-arcs of a queue's vertices among the grid.
//
// A warp takes up to 32 vertices and distributes their arcs over its lanes by a prefix sum of the degrees (the
// scan-based gathering of D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP'12). A lane gets
// several arcs at once: the loads of one arc depend on each other, and only independent arcs hide their latency. If
// there are enough lanes, each vertex has a group of lanes instead.
#pragma once
#include "frontier_queue.cuh"

namespace hpgraph {

// Arcs that a lane has in flight; some may be empty.
template <class Index, int size>
struct Batch {
    bool live[size];
    Index source[size];
    i64 arc[size];
};

// values[k] for a k not known at compile time: registers cannot be indexed.
template <int size, class Value>
__device__ Value pick(const Value (&values)[size], int k) {
    Value value = values[0];
#pragma unroll
    for (int i = 1; i < size; ++i)
        if (k == i) value = values[i];
    return value;
}

// Distribute the arcs of the warp's 32 vertices over its lanes; see for_each_arc.
template <int size, class Index, class Visit>
__device__ void deal_arcs(Index u, i64 start, int degree, Visit visit) {
    const WarpScan scan(degree);
    for (int begin = 0; begin < scan.total; begin += 32 * size) {
        Batch<Index, size> batch;
#pragma unroll
        for (int k = 0; k < size; ++k) {
            const int t = begin + 32 * k + lane_of_warp();
            batch.live[k] = t < scan.total, batch.source[k] = 0, batch.arc[k] = 0;
            if (begin + 32 * k >= scan.total) continue;
            const int owner = scan.owner(t);
            batch.source[k] = __shfl_sync(ALL, u, owner);
            batch.arc[k] = __shfl_sync(ALL, start, owner) + t - __shfl_sync(ALL, scan.through - degree, owner);
        }
        visit(batch);
    }
}

// A row of the matrix: a vertex, where its arcs begin, and how many it has.
template <class Index>
struct Row {
    Index vertex;
    i64 start;
    int degree;
};

// Logarithm of the number of lanes in the group of each row: the largest for `threads`, at least `least`. Several warps
// share a row if that leaves each eight of its arcs: a claim lengthens the chain of loads of its own warp only. (Not in
// blocks of many threads with few registers each: those are for supersteps of millions of arcs.)
__device__ inline int lanes_of_a_row(u64 rows, u64 arcs, u64 threads, int least) {
    int shift = 5;
    while (shift > least && (rows << shift) > threads) --shift;
    if constexpr (THREADS <= 640)
        while (shift >= 5 && shift < 8 && (rows << (shift + 1)) <= threads && arcs >= rows << (shift - 1)) ++shift;
    return shift;
}

// Index of a thread in its row's group. Consecutive arcs go to different warps, so that each has its part of a row.
__device__ inline int member_of_lanes(u32 thread, int shift) {
    const int member = thread & ((1 << shift) - 1);
    return shift > 5 ? (member & 31) << (shift - 5) | member >> 5 : member;
}

// Call visit(batch) until every arc of the rows row(0), row(1), ... was in a batch; warp-collective. Every row has a
// group of lanes, and only the rest of long rows is distributed: no scan before the first loads.
template <int size, class Index, class RowOf, class Visit>
__device__ void for_each_arc_of_few(u32 rows, u64 arcs, u32 thread, u32 threads, RowOf row, Visit visit) {
    const int shift = lanes_of_a_row(rows, arcs, threads, 1), group = 1 << shift, member = member_of_lanes(thread, shift);
    for (u32 i = thread >> shift; __any_sync(ALL, i < rows); i += threads >> shift) {
        const Row<Index> mine = i < rows ? row(i) : Row<Index>{0, 0, 0};
        Batch<Index, size> batch;
#pragma unroll
        for (int k = 0; k < size; ++k) {
            const int t = member + k * group;
            batch.live[k] = t < mine.degree, batch.source[k] = mine.vertex, batch.arc[k] = mine.start + t;
        }
        visit(batch);
        const int rest = member == 0 ? max(0, mine.degree - size * group) : 0;
        if (__any_sync(ALL, rest)) deal_arcs<size>(mine.vertex, mine.start + size * group, rest, visit);
    }
}

// Whether there are two lanes or more for each vertex of a queue.
template <class T>
__device__ bool is_short(const Tally& queued) {
    return T::SHORT_QUEUES && queued.pieces == 0 && queued.light * 2 <= (u64)gridDim.x * THREADS;
}

// for_each_arc for such a queue.
template <class T, class Index, class Graph, class Visit>
__device__ void for_each_arc_of_short(const Graph& graph, const Index* light, const Tally& now, Visit visit) {
    const u32 warp = blockIdx.x + gridDim.x * (threadIdx.x >> 5);  // neighbours in the queue: other SMs
    const u32 thread = warp * 32 + lane_of_warp();
    for_each_arc_of_few<T::BATCH, Index>((u32)now.light, now.arcs, thread, gridDim.x * THREADS, [&](u32 i) {
        const Index u = light[i];
        const i64 start = graph.indptr[u];
        return Row<Index>{u, start, (int)(graph.indptr[u + 1] - start)};
    }, visit);
}

// Call visit(batch) until every out-arc of the frontier was in a batch; warp-collective, including lanes without an
// arc, so that visit may use warp votes.
template <class T, class Index, class Graph, class Visit>
__device__ void for_each_arc(const Graph& graph, Frontier<Index> frontier, u64 all_light, u64 all_pieces, Visit visit) {
    typedef decltype(Index() + 0u) Place;  // 32 bits where ids are, as every register counts here
    const u32 lane = lane_of_warp();
    const u32 warp = blockIdx.x + gridDim.x * (threadIdx.x >> 5), warps = gridDim.x * WARPS;
    // If most warps would be idle, several share a row by parts.
    const int shift = (all_pieces + all_light) * 8 <= warps ? 3 : 0, parts = 1 << shift;
    const Place pieces = (Place)all_pieces << shift, light = (Place)all_light << shift;
    // Of the 32 rows of a warp, some are pieces and the others whole vertices.
    const auto share = [&](Place rows, u32 most) { return ((u32)min(rows, (Place)most * warps) + warps - 1) / warps; };
    const u32 heavy = share(pieces, 16), some = min(share(light, 32), 32 - heavy);
    for (Place p = (Place)warp * heavy, i = (Place)warp * some; p < pieces || i < light;
         p += (Place)warps * heavy, i += (Place)warps * some) {
        Index u = 0;
        i64 start = 0, end = 0;
        int part = 0;
        if (lane < heavy && p + lane < pieces) {
            const Piece<Index> piece = frontier.pieces[(p + lane) >> shift];
            u = piece.vertex, part = (p + lane) & (parts - 1);
            start = graph.indptr[u] + (i64)piece.number * T::PIECE;
            end = min(start + T::PIECE, graph.indptr[u + 1]);
        } else if (lane >= heavy && lane - heavy < some && i + lane - heavy < light) {
            u = frontier.light[(i + lane - heavy) >> shift], part = (i + lane - heavy) & (parts - 1);
            start = graph.indptr[u], end = graph.indptr[u + 1];
        }
        start += part * (T::PIECE >> shift);
        deal_arcs<T::BATCH>(u, start, (int)max((i64)0, min((i64)(T::PIECE >> shift), end - start)), visit);
    }
}

// Keep loads together: without this the compiler sinks each load to its first use.
template <int size, class Value>
__device__ void loaded(Value (&values)[size]) {
    static_assert(sizeof(Value) == 4, "one register each");
#pragma unroll
    for (int k = 0; k < size; ++k) asm volatile("" : "+r"(values[k]));
}

}  // namespace hpgraph
