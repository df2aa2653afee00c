// One truss by peeling edges: those of too small support are removed, and the other edges of their triangles lose one, by
// rounds.
//
// An edge is its position in the row of its upper end (support.cuh). Of edges with enough triangles only a bound is known:
// when it falls below `cap`, the triangles are counted again, up to `cap`. Rounds are those of H. Kabir, K. Madduri,
// "Parallel k-truss decomposition on multicore platforms", HPEC'17; all run in one launch, separated by barriers of the
// grid.
#pragma once
#include "persistent.cuh"
#include "search.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int TRUSS_THREADS = 256;
// Added to a support that is only a bound. No vertex has so many neighbours.
constexpr u32 AT_MIN = 1u << 30, IS_BOUND = 1u << 29;
enum EdgeState : unsigned char { STAYS, GOES, GONE };

// Edges by both of their ends: `upper` lists those of each lower end.
template <class Index>
struct Edges {
    const i64* indptr;
    const Index* lower;
    const Index* row;
    const i64* upper_indptr;
    const i64* upper;
};

struct Peeling {
    unsigned char* state;
    u32* support;
    i64 *going, *following, *again;  // lists
    u64* tails;                      // of the three
    unsigned* arrived;
};

// `cursor` starts at the beginning of each list.
template <class Index>
__global__ void __launch_bounds__(TRUSS_THREADS)
list_upper(const Index* __restrict__ lower, i64 edges, u64* cursor, i64* upper) {
    const i64 edge = i64(blockIdx.x) * TRUSS_THREADS + threadIdx.x;
    if (edge < edges) upper[atomicAdd(cursor + lower[edge], 1ull)] = edge;
}

// Appends one entry to a list for each lane that has one; warp-collective.
template <class Edge>
__device__ __forceinline__ void append(bool mine, Edge edge, Edge* list, u64* tail) {
    const u32 which = __ballot_sync(ALL, mine);
    if (!which) return;
    u64 place = 0;
    if (lane_of_warp() == 0) place = atomicAdd(tail, u64(__popc(which)));
    place = __shfl_sync(ALL, place, 0) + __popc(which & lanes_below());
    if (mine) list[place] = edge;
}

// Initial state: all edges stay; counts from `cap` on become bounds.
__global__ void __launch_bounds__(TRUSS_THREADS) begin_peeling(i64 edges, u32 cap, Peeling peeling) {
    const i64 edge = i64(blockIdx.x) * TRUSS_THREADS + threadIdx.x;
    if (edge >= edges) return;
    const u32 counted = peeling.support[edge];
    peeling.support[edge] = counted >= cap ? AT_MIN + counted : counted;
    peeling.state[edge] = STAYS;
}

// Marks edges with support below `least` as going.
__global__ void __launch_bounds__(TRUSS_THREADS) find_going(i64 edges, u32 least, Peeling peeling) {
    const i64 edge = i64(blockIdx.x) * TRUSS_THREADS + threadIdx.x;
    const bool goes = edge < edges && peeling.support[edge] < least;
    if (goes) peeling.state[edge] = GOES;
    append(goes, edge, peeling.going, peeling.tails);
}

template <class Index>
__device__ i64 edge_between(const Edges<Index>& edges, Index a, Index b) {
    const Index high = a > b ? a : b, low = a > b ? b : a;
    const i64 end = edges.indptr[i64(high) + 1], at = lower_bound(edges.lower, edges.indptr[high], end, low);
    return at < end && edges.lower[at] == low ? at : -1;
}

// A vertex's edges: those to the neighbours below it, and then those to the ones above.
template <class Index>
struct Around {
    i64 below, n_below, above, all;

    __device__ Around(const Edges<Index>& edges, Index v)
        : below(edges.indptr[v]), n_below(edges.indptr[i64(v) + 1] - below), above(edges.upper_indptr[v]),
          all(n_below + edges.upper_indptr[i64(v) + 1] - above) {}
    __device__ i64 edge(const Edges<Index>& edges, i64 i) const {
        return i < n_below ? below + i : edges.upper[above + i - n_below];
    }
    __device__ Index neighbour(const Edges<Index>& edges, i64 i, i64 edge) const {
        return i < n_below ? edges.lower[edge] : edges.row[edge];
    }
};

// The triangles of an edge whose other two edges are not gone; this warp's share of `parts`: visit(f, g) in each lane,
// g < 0 for none; true from it, in all lanes, ends the search. The edges of the end that has fewer are looked up.
template <class Index, class Visit>
__device__ __forceinline__ void visit_triangles(const Edges<Index>& edges, const unsigned char* state, i64 edge, int part,
                                                int parts, Visit visit) {
    const Index upper = edges.row[edge], lower = edges.lower[edge];
    const Around<Index> of_upper(edges, upper), of_lower(edges, lower);
    const bool by_lower = of_lower.all < of_upper.all;
    const Around<Index> around = by_lower ? of_lower : of_upper;
    const Index other = by_lower ? upper : lower;
    for (i64 first = 32 * part; first < around.all; first += 32 * parts) {
        const i64 i = first + lane_of_warp();
        i64 f = -1, g = -1;
        if (i < around.all) {
            f = around.edge(edges, i);
            if (f != edge && state[f] != GONE) {
                g = edge_between(edges, around.neighbour(edges, i, f), other);
                if (g >= 0 && state[g] == GONE) g = -1;
            }
        }
        if (visit(f, g)) return;
    }
}

// Removes the marked edges, and those whose support falls below `least` for it.
template <class Index>
__global__ void __launch_bounds__(TRUSS_THREADS, 4)
peel_edges(const Edges<Index> edges, const Peeling peeling, u32 least, u32 cap) {
    GridBarrier barrier(peeling.arrived);
    const i64 threads = i64(gridDim.x) * TRUSS_THREADS, thread = i64(blockIdx.x) * TRUSS_THREADS + threadIdx.x;
    const i64 warps = threads / 32, warp = thread / 32;
    volatile u64* const tails = peeling.tails;
    i64 *going = peeling.going, *following = peeling.following;
    const unsigned char* const state = peeling.state;
    const auto lose = [&](bool mine, i64 edge) {
        u32 before = 0;
        if (mine) before = atomicSub(peeling.support + edge, 1u);
        const bool bound = before >= IS_BOUND;
        append(mine && bound && before - AT_MIN == cap, edge, peeling.again, peeling.tails + 2);
        append(mine && !bound && before == least, edge, following, peeling.tails + 1);
    };
    for (i64 count = tails[0]; count;) {
        // With warps to spare several share an edge: a round takes as long as its edge of highest degree.
        int shift = 0;
        while (shift < 5 && count << (shift + 1) <= warps) ++shift;
        for (i64 i = warp; i < count << shift; i += warps) {
            const i64 edge = going[i >> shift];
            const int part = i & ((1 << shift) - 1);
            u32 left = *(volatile u32*)(peeling.support + edge);
            if (!left) continue;
            visit_triangles(edges, state, edge, part, 1 << shift, [&](i64 f, i64 g) {
                const bool closed = g >= 0, f_goes = closed && state[f] == GOES, g_goes = closed && state[g] == GOES;
                // Of two that go, the first decrements the third.
                lose(closed && !f_goes && (!g_goes || edge < g), f);
                lose(closed && !g_goes && (!f_goes || edge < f), g);
                left -= __popc(__ballot_sync(ALL, closed));
                return left == 0;
            });
        }
        barrier.wait();
        const i64 counted_again = tails[2];
        for (i64 i = warp; i < counted_again; i += warps) {
            const i64 edge = peeling.again[i];
            u32 found = 0;
            visit_triangles(edges, state, edge, 0, 1, [&](i64 f, i64 g) {
                found += __popc(__ballot_sync(ALL, g >= 0 && state[f] == STAYS && state[g] == STAYS));
                return found >= cap;
            });
            if (lane_of_warp() == 0) peeling.support[edge] = found >= cap ? AT_MIN + found : found;
            append(lane_of_warp() == 0 && found < least, edge, following, peeling.tails + 1);
        }
        barrier.wait();
        const i64 next = tails[1];
        for (i64 i = thread; i < count; i += threads) peeling.state[going[i]] = GONE;
        for (i64 i = thread; i < next; i += threads) peeling.state[following[i]] = GOES;
        barrier.wait();
        if (thread == 0) tails[1] = tails[2] = 0;
        i64* const other = going;
        going = following, following = other, count = next;
        barrier.wait();
    }
}

// Positions of both arcs of an edge in the graph, whose vertices are `order[rank]`, or the ranks themselves.
template <class Index, class Value>
struct ToArcs {
    const i64* indptr;
    const Index* indices;
    const Index* order;
    Value* values;

    __device__ void write(Index a, Index b, Value value) const {
        if (order) a = order[a], b = order[b];
        values[lower_bound(indices, indptr[a], indptr[i64(a) + 1], b)] = value;
        values[lower_bound(indices, indptr[b], indptr[i64(b) + 1], a)] = value;
    }
};

// Writes a value to the arcs of all edges in a state.
template <class Index>
__global__ void __launch_bounds__(TRUSS_THREADS)
flag_arcs(const Edges<Index> edges, const unsigned char* __restrict__ state, i64 n, int wanted, bool value,
          const ToArcs<Index, bool> arcs) {
    const i64 edge = i64(blockIdx.x) * TRUSS_THREADS + threadIdx.x;
    if (edge < n && state[edge] == wanted) arcs.write(edges.row[edge], edges.lower[edge], value);
}

}  // namespace hpgraph
