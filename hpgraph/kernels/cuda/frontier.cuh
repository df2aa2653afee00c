// The queue of active vertices, and how a grid shares the arcs that leave them.
//
// A vertex of up to PIECE arcs stands in the queue itself; one of more stands there as pieces of PIECE arcs, so that
// a hub of 200,000 neighbours is the work of hundreds of warps (Enterprise, H. Liu and H. H. Huang, SC'15, sorts
// vertices into four classes to the same end). Within a warp the arcs of up to 32 vertices are dealt to the lanes one
// by one, whoever they belong to. Each warp gathers what it finds in shared memory and reserves room in the queue for
// 32 vertices at a time.
#pragma once

namespace hpgraph {

typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;

constexpr int PIECE = 256;
constexpr int THREADS = 1024;
constexpr int WARPS = THREADS / 32;
constexpr u32 ALL = 0xffffffffu;

template <class Index, class Weight>
struct Arcs {
    const i64* indptr;
    const Index* indices;
    const Weight* data;
    __device__ Weight weight(i64 j) const { return data[j]; }
};

// The weight of an arc of a pattern-only matrix is 1, and takes no memory.
struct Pattern {
    int unused;
};
template <class Index>
struct Arcs<Index, Pattern> {
    const i64* indptr;
    const Index* indices;
    const Pattern* data;
    __device__ int weight(i64) const { return 1; }
};

template <class Index>
struct Piece {
    Index vertex;
    int number;
};

// What one superstep leaves for the next: vertices reached, arcs that leave them, arcs looked at, and the two tails.
struct Tally {
    u64 count, arcs, looked, light, pieces;
};

template <class Index>
struct Frontier {
    Index* light;
    Piece<Index>* pieces;
};

// A warp's share of the queue, kept in shared memory until 32 vertices are worth one atomic.
template <class Index>
struct Collector {
    Index* slots;  // 64 of them, this warp's own
    int filled;
    u64 count, arcs;

    __device__ Collector(Index* shared) : slots(shared + (threadIdx.x >> 5) * 64), filled(0), count(0), arcs(0) {}

    __device__ void flush(Frontier<Index> next, Tally* tally) {
        const int lane = threadIdx.x & 31;
        __syncwarp();
        u64 base = 0;
        if (lane == 0) base = atomicAdd(&tally->light, (u64)filled);
        base = __shfl_sync(ALL, base, 0);
        for (int i = lane; i < filled; i += 32) next.light[base + i] = slots[i];
        filled = 0;
        __syncwarp();
    }

    // All lanes of the warp come here together; `mine` says whether this lane brings vertex v.
    __device__ void add(bool mine, Index v, const i64* indptr, Frontier<Index> next, Tally* tally) {
        const u32 brought = __ballot_sync(ALL, mine);
        if (!brought) return;
        const int lane = threadIdx.x & 31;
        const i64 degree = mine ? indptr[v + 1] - indptr[v] : 0;
        count += mine;
        arcs += degree;
        const u32 light = __ballot_sync(ALL, mine && degree > 0 && degree <= PIECE);
        if (light >> lane & 1) slots[filled + __popc(light & ((1u << lane) - 1))] = v;
        filled += __popc(light);
        if (filled >= 32) flush(next, tally);
        for (u32 heavy = __ballot_sync(ALL, degree > PIECE); heavy; heavy &= heavy - 1) {
            const int owner = __ffs(heavy) - 1;
            const int pieces = (int)((__shfl_sync(ALL, degree, owner) + PIECE - 1) / PIECE);
            const Index vertex = __shfl_sync(ALL, v, owner);
            u64 base = 0;
            if (lane == 0) base = atomicAdd(&tally->pieces, (u64)pieces);
            base = __shfl_sync(ALL, base, 0);
            for (int i = lane; i < pieces; i += 32) next.pieces[base + i] = Piece<Index>{vertex, i};
        }
    }

    // At the end of a phase, by all threads of the block: what remains goes to the queue, the sums to the tally.
    __device__ void finish(Frontier<Index> next, Tally* tally, u64 looked) {
        __shared__ u64 sums[3];
        if (filled) flush(next, tally);
        if (threadIdx.x < 3) sums[threadIdx.x] = 0;
        __syncthreads();
        if (count) atomicAdd(&sums[0], count);
        if (arcs) atomicAdd(&sums[1], arcs);
        if (looked) atomicAdd(&sums[2], looked);
        __syncthreads();
        if (threadIdx.x == 0) {
            if (sums[0]) atomicAdd(&tally->count, sums[0]);
            if (sums[1]) atomicAdd(&tally->arcs, sums[1]);
            if (sums[2]) atomicAdd(&tally->looked, sums[2]);
        }
    }
};

// Call visit(live, u, j) for every arc j that leaves a vertex u of the frontier, by whole warps: lanes without an arc
// come with live = false, so that visit may use warp-wide votes.
template <class Index, class Graph, class Visit>
__device__ void for_each_arc(Graph graph, Frontier<Index> frontier, u64 light, u64 pieces, Visit visit) {
    const int lane = threadIdx.x & 31;
    const u64 warp = (u64)blockIdx.x + (u64)gridDim.x * (threadIdx.x >> 5);  // neighbours in the queue: other SMs
    const u64 warps = (u64)gridDim.x * WARPS;
    for (u64 p = warp; p < pieces; p += warps) {
        const Piece<Index> piece = frontier.pieces[p];
        const i64 begin = graph.indptr[piece.vertex] + (i64)piece.number * PIECE;
        const i64 last = graph.indptr[piece.vertex + 1];
        const i64 end = begin + PIECE < last ? begin + PIECE : last;
        for (i64 j = begin; j < end; j += 32) visit(j + lane < end, piece.vertex, j + lane);
    }
    const u64 share = light >= warps * 32 ? 32 : (light + warps - 1) / warps;
    for (u64 base = warp * share; base < light; base += warps * share) {
        const bool has = lane < share && base + lane < light;
        const Index u = has ? frontier.light[base + lane] : 0;
        const i64 start = has ? graph.indptr[u] : 0;
        const int degree = has ? (int)(graph.indptr[u + 1] - start) : 0;
        int scan = degree;
        for (int d = 1; d < 32; d <<= 1) {
            const int below = __shfl_up_sync(ALL, scan, d);
            if (lane >= d) scan += below;
        }
        const int total = __shfl_sync(ALL, scan, 31);
        for (int first = 0; first < total; first += 32) {
            const int t = first + lane;
            int owner = 0;
            for (int d = 16; d; d >>= 1)
                if (__shfl_sync(ALL, scan, owner + d - 1) <= t) owner += d;
            const Index vertex = __shfl_sync(ALL, u, owner & 31);
            const i64 j = __shfl_sync(ALL, start, owner & 31) + t - __shfl_sync(ALL, scan - degree, owner & 31);
            visit(t < total, vertex, j);
        }
    }
}

}  // namespace hpgraph
