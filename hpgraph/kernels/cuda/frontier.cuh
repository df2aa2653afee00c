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

// Who is active at first; a single vertex needs no array.
template <class Index>
struct Sources {
    const Index* list;
    i64 count;
    Index single;
    __device__ Index operator[](i64 i) const { return list ? list[i] : single; }
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

// The lanes' amounts laid end to end, so that items can be dealt to lanes whoever they belong to.
struct WarpScan {
    int through, total;  // amounts of the lanes up to this one, and of all

    __device__ explicit WarpScan(int amount) : through(amount) {
        const int lane = threadIdx.x & 31;
        for (int d = 1; d < 32; d <<= 1) {
            const int below = __shfl_up_sync(ALL, through, d);
            if (lane >= d) through += below;
        }
        total = __shfl_sync(ALL, through, 31);
    }

    // The lane that item t belongs to; some lane where t is past the last item. By the whole warp.
    __device__ int owner(int t) const {
        int lane = 0;
        for (int d = 16; d; d >>= 1)
            if (__shfl_sync(ALL, through, lane + d - 1) <= t) lane += d;
        return lane & 31;
    }
};

// Append `pieces` pieces a lane, of the whole warp at once: one atomic for all of them.
template <class Index, class Counter>
__device__ void append_pieces(Index v, i64 degree, Piece<Index>* list, Counter* tail) {
    const int pieces = degree > PIECE ? (int)((degree + PIECE - 1) / PIECE) : 0;
    if (!__any_sync(ALL, pieces)) return;
    const int lane = threadIdx.x & 31;
    const WarpScan scan(pieces);
    Counter base = 0;
    if (lane == 0) base = atomicAdd(tail, (Counter)scan.total);
    base = __shfl_sync(ALL, base, 0);
    for (int begin = 0; begin < scan.total; begin += 32) {
        const int t = begin + lane, owner = scan.owner(t);
        const Index vertex = __shfl_sync(ALL, v, owner);
        const int number = t - __shfl_sync(ALL, scan.through - pieces, owner);
        if (t < scan.total) list[base + t] = Piece<Index>{vertex, number};
    }
}

__device__ inline u64 warp_sum(u64 value) {
    for (int d = 16; d; d >>= 1) value += __shfl_down_sync(ALL, value, d);
    return value;
}

// A warp's share of the queue, kept in shared memory until 32 vertices are worth one atomic.
template <class Index>
struct Collector {
    Index* slots;  // 64 of them, this warp's own
    const i64* indptr;
    Frontier<Index> next;
    Tally* tally;
    int filled;
    u64 count, arcs;

    __device__ Collector(Index* shared, const i64* indptr, Frontier<Index> next, Tally* tally)
        : slots(shared + (threadIdx.x >> 5) * 64), indptr(indptr), next(next), tally(tally), filled(0), count(0), arcs(0) {}

    __device__ void flush() {
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
    __device__ void add(bool mine, Index v) {
        if (!__any_sync(ALL, mine)) return;
        const int lane = threadIdx.x & 31;
        const i64 degree = mine ? indptr[v + 1] - indptr[v] : 0;
        count += mine;
        arcs += degree;
        const u32 light = __ballot_sync(ALL, degree > 0 && degree <= PIECE);
        if (light >> lane & 1) slots[filled + __popc(light & ((1u << lane) - 1))] = v;
        filled += __popc(light);
        if (filled >= 32) flush();
        append_pieces(v, degree, next.pieces, &tally->pieces);
    }

    // At the end of a phase, by all threads of the block: what remains goes to the queue, the sums to the tally.
    __device__ void finish(u64 looked) {
        __shared__ u64 sums[3];
        if (filled) flush();
        if (threadIdx.x < 3) sums[threadIdx.x] = 0;
        __syncthreads();
        if (__any_sync(ALL, count | looked)) {
            count = warp_sum(count), arcs = warp_sum(arcs), looked = warp_sum(looked);
            if ((threadIdx.x & 31) == 0)
                atomicAdd(&sums[0], count), atomicAdd(&sums[1], arcs), atomicAdd(&sums[2], looked);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            if (sums[0]) atomicAdd(&tally->count, sums[0]);
            if (sums[1]) atomicAdd(&tally->arcs, sums[1]);
            if (sums[2]) atomicAdd(&tally->looked, sums[2]);
        }
    }
};

// Deal the arcs of the warp's 32 vertices to its lanes; see for_each_arc.
template <class Index, class Visit>
__device__ void deal_arcs(Index u, i64 start, int degree, Visit visit) {
    const int lane = threadIdx.x & 31;
    const WarpScan scan(degree);
    for (int begin = 0; begin < scan.total; begin += 32) {
        const int t = begin + lane, owner = scan.owner(t);
        const Index vertex = __shfl_sync(ALL, u, owner);
        const i64 j = __shfl_sync(ALL, start, owner) + t - __shfl_sync(ALL, scan.through - degree, owner);
        visit(t < scan.total, vertex, j);
    }
}

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
        deal_arcs(u, start, degree, visit);
    }
}

}  // namespace hpgraph
