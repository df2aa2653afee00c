// The queue of active vertices, and how a grid shares the arcs that leave them.
//
// A vertex of few arcs stands in the queue itself; one of more than a piece stands there as pieces, so that a hub of
// 200,000 neighbours is the work of hundreds of warps (Enterprise, H. Liu and H. H. Huang, SC'15, sorts vertices into
// four classes to the same end). Within a warp the arcs of up to 32 vertices are dealt to the lanes one by one, whoever
// they belong to, several to a lane at once: what a lane waits for are loads that depend on each other, and only
// independent arcs can fill the time. Each warp keeps what it finds in shared memory until it is 32 items.
#pragma once

namespace hpgraph {

typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;

// One block on each multiprocessor: fewer threads have more registers each, and spill nothing. traversal.py chooses.
#ifndef HPGRAPH_THREADS
#define HPGRAPH_THREADS 640
#endif
constexpr int THREADS = HPGRAPH_THREADS;
constexpr int WARPS = THREADS / 32;
constexpr u32 ALL = 0xffffffffu;

// What techniques.py chooses. Without pieces a vertex may have as many arcs as 32 of them can be counted in an int.
template <bool pieces = true, bool early_exit = true, bool refill = true, int arcs_at_once = 2, bool by_hubs = false,
          bool short_queues = true>
struct Techniques {
    static constexpr int PIECE = pieces ? 256 : 1 << 25;
    static constexpr bool EARLY_EXIT = early_exit, REFILL = refill, BY_HUBS = by_hubs, SHORT_QUEUES = short_queues;
    static constexpr int BATCH = arcs_at_once;
};

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

// What one superstep leaves for the next: vertices reached, arcs that leave them, arcs looked at, hubs among the
// vertices (where the policy asks), and the tails of the two lists.
struct Tally {
    u64 count, arcs, looked, hubs, light, pieces;
};

template <class Index>
struct Frontier {
    Index* light;
    Piece<Index>* pieces;
};

// Two of a kind that change places. Chosen anew at every use, as parameters cost no registers and what is moved does.
template <class Kind>
__device__ const Kind& of_two(const Kind& first, const Kind& second, bool turned) {
    return turned ? second : first;
}

__device__ inline int lane_of_warp() { return threadIdx.x & 31; }
__device__ inline u32 lanes_below() { return (1u << lane_of_warp()) - 1; }

// The lanes' amounts laid end to end, so that items can be dealt to lanes whoever they belong to.
struct WarpScan {
    int through, total;  // amounts of the lanes up to this one, and of all

    __device__ explicit WarpScan(int amount) : through(amount) {
        for (int d = 1; d < 32; d <<= 1) {
            const int below = __shfl_up_sync(ALL, through, d);
            if (lane_of_warp() >= d) through += below;
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

// Append the pieces of each lane's vertex, of the whole warp at once: one atomic for all of them. Not inlined: it is
// rarely called, from many places.
template <class Index, class Counter>
__device__ __noinline__ void append_some_pieces(Index v, int pieces, Piece<Index>* list, Counter* tail) {
    const WarpScan scan(pieces);
    Counter base = 0;
    if (lane_of_warp() == 0) base = atomicAdd(tail, (Counter)scan.total);
    base = __shfl_sync(ALL, base, 0);
    for (u32 heavy = __ballot_sync(ALL, pieces); heavy; heavy &= heavy - 1) {
        const int owner = __ffs(heavy) - 1;
        const Index vertex = __shfl_sync(ALL, v, owner);
        const int end = __shfl_sync(ALL, scan.through, owner), count = __shfl_sync(ALL, pieces, owner);
        for (int number = lane_of_warp(); number < count; number += 32)
            list[base + (end - count + number)] = Piece<Index>{vertex, number};
    }
}

template <class T, class Index, class Counter>
__device__ void append_pieces(Index v, i64 degree, Piece<Index>* list, Counter* tail) {
    const int pieces = degree > T::PIECE ? (int)((degree + T::PIECE - 1) / T::PIECE) : 0;
    if (__any_sync(ALL, pieces)) append_some_pieces(v, pieces, list, tail);
}

// Append a vertex of each lane that has one, of the whole warp at once.
template <class Index>
__device__ void append(bool mine, Index v, Index* list, u64* tail) {
    const u32 votes = __ballot_sync(ALL, mine);
    if (!votes) return;
    u64 base = 0;
    if (lane_of_warp() == 0) base = atomicAdd(tail, (u64)__popc(votes));
    base = __shfl_sync(ALL, base, 0);
    if (mine) list[base + __popc(votes & lanes_below())] = v;
}

// In every lane of the warp.
__device__ inline u64 warp_sum(u64 value) {
#if __CUDA_ARCH__ >= 800
    if (!__any_sync(ALL, (value >> 27) != 0)) return __reduce_add_sync(ALL, (u32)value);
#endif
    for (int d = 16; d; d >>= 1) value += __shfl_xor_sync(ALL, value, d);
    return value;
}

// What a warp has found, kept in shared memory until all of its lanes have one to go on with.
template <class Item>
struct Stage {
    Item* slots;  // 64 of them, this warp's own
    int filled;

    __device__ explicit Stage(Item* shared) : slots(shared + (threadIdx.x >> 5) * 64), filled(0) {}

    // By the whole warp; take(mine, item) is called, likewise, for 32 items.
    template <class Take>
    __device__ void add(bool mine, const Item& item, Take take) {
        const u32 votes = __ballot_sync(ALL, mine);
        if (!votes) return;
        if (mine) slots[filled + __popc(votes & lanes_below())] = item;
        filled += __popc(votes);
        if (filled < 32) return;
        __syncwarp();
        filled -= 32;
        const Item one = slots[filled + lane_of_warp()];
        __syncwarp();
        take(true, one);
    }

    // The items left over: whether this lane has one, and which.
    __device__ bool rest(Item& item) {
        __syncwarp();
        const bool mine = lane_of_warp() < filled;
        if (mine) item = slots[lane_of_warp()];
        filled = 0;
        __syncwarp();
        return mine;
    }
};

// What the warps of a block bring to the end of a superstep, so that the block goes to the grid's tally once.
struct BlockSums {
    u64 of_warps[4][WARPS];  // the first four fields of a Tally
    u32 wanted[2];           // room in the queue, and in one list more
    u64 base[2];
};

// The next superstep's queue.
template <class T, class Index>
struct Collector {
    const i64* indptr;
    Frontier<Index> next;
    Tally* tally;
    i64 hub;  // what has more arcs is a hub
    u64 arcs;
    u32 count, hubs;  // a thread's own, so that 32 bits do

    __device__ Collector(const i64* indptr, Frontier<Index> next, Tally* tally, i64 hub = 0)
        : indptr(indptr), next(next), tally(tally), hub(hub), arcs(0), count(0), hubs(0) {}

    // Count vertex v, of so many arcs, wherever it is kept.
    __device__ void note(i64 degree) {
        ++count;
        arcs += degree;
        if (T::BY_HUBS) hubs += degree > hub;
    }

    // All lanes of the warp come here together; `mine` says whether this lane brings vertex v.
    __device__ void add(bool mine, Index v) {
        const i64 degree = noted(mine, v);
        append(degree > 0 && degree <= T::PIECE, v, next.light, &tally->light);
        append_pieces<T>(v, degree, next.pieces, &tally->pieces);
    }

    // At the end of a superstep, by all threads of the block, with what the warps have left over: the queue's last
    // vertices, those of another list, and the sums.
    __device__ void finish(BlockSums& sums, bool mine, Index v, bool other = false, Index w = 0,
                           Index* others = nullptr, u64* tail = nullptr) {
        const i64 degree = noted(mine, v);
        append_pieces<T>(v, degree, next.pieces, &tally->pieces);
        const bool light = degree > 0 && degree <= T::PIECE;
        const u32 at = room(light, sums.wanted[0]), other_at = others ? room(other, sums.wanted[1]) : 0;
        bring<false>(sums, 0, tail);
        if (light) next.light[sums.base[0] + at] = v;
        if (other) others[sums.base[1] + other_at] = w;
    }

    // The same after a pull, which leaves bits and no queue.
    __device__ void finish_pull(BlockSums& sums, u64 looked) { bring<true>(sums, looked, nullptr); }

private:
    // All the words of the tally at once, by as many lanes: the memory takes them for one request.
    template <bool pulled>
    __device__ void bring(BlockSums& sums, u64 looked, u64* tail) {
        constexpr int COUNT = 0, ARCS = 1, LOOKED = 2, HUBS = 3, LIGHT = 4, OTHERS = 5;
        const auto each = [&](auto take) {
            take(COUNT, count), take(ARCS, arcs);
            if (pulled) take(LOOKED, looked);
            if (T::BY_HUBS) take(HUBS, hubs);
        };
        const int lane = lane_of_warp();
        each([&](int field, u64 mine) {
            const u64 sum = warp_sum(mine);
            if (lane == 0) sums.of_warps[field][threadIdx.x >> 5] = sum;
        });
        __syncthreads();
        if (threadIdx.x < 32) {
            u64 value = 0, base = 0;
            each([&](int field, u64) {
                const u64 sum = warp_sum(lane < WARPS ? sums.of_warps[field][lane] : 0);
                if (lane == field) value = sum;
            });
            if (!pulled && (lane == LIGHT || lane == OTHERS)) value = sums.wanted[lane - LIGHT];
            u64* const where = lane == OTHERS ? tail : (u64*)tally + lane;
            if (value) base = atomicAdd(where, value);
            if (!pulled && (lane == LIGHT || lane == OTHERS))
                sums.base[lane - LIGHT] = base, sums.wanted[lane - LIGHT] = 0;
        }
        __syncthreads();
    }

    __device__ i64 noted(bool mine, Index v) {
        if (!mine) return 0;
        const i64 degree = indptr[v + 1] - indptr[v];
        note(degree);
        return degree;
    }

    // A place among what the block wants room for; by whole warps.
    __device__ static u32 room(bool mine, u32& wanted) {
        const u32 votes = __ballot_sync(ALL, mine);
        u32 base = 0;
        if (votes && lane_of_warp() == 0) base = atomicAdd(&wanted, (u32)__popc(votes));
        return __shfl_sync(ALL, base, 0) + __popc(votes & lanes_below());
    }
};

// Arcs a lane has under way at once; some may be none.
template <class Index, int size>
struct Batch {
    bool live[size];
    Index source[size];
    i64 arc[size];
};

// values[k], where k is not known before: registers have no index.
template <int size, class Value>
__device__ Value pick(const Value (&values)[size], int k) {
    Value value = values[0];
#pragma unroll
    for (int i = 1; i < size; ++i)
        if (k == i) value = values[i];
    return value;
}

// Deal the arcs of the warp's 32 vertices to its lanes; see for_each_arc.
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

// Call visit(batch) until every arc of the rows row(0), row(1), ... was in a batch; by whole warps. Every row has lanes
// of its own, as many as there are for so few, and nothing is dealt but what they leave of long ones: until the first
// loads nothing has to be worked out.
template <int size, class Index, class RowOf, class Visit>
__device__ void for_each_arc_of_few(u32 rows, u32 thread, u32 threads, RowOf row, Visit visit) {
    int shift = 5;
    while (shift > 1 && (rows << shift) > threads) --shift;
    const int group = 1 << shift, member = lane_of_warp() & (group - 1);
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

// Whether there are lanes enough for two to stand ready for each vertex of a queue.
template <class T>
__device__ bool is_short(const Tally& queued) {
    return T::SHORT_QUEUES && queued.pieces == 0 && queued.light * 2 <= (u64)gridDim.x * THREADS;
}

// The arcs of such a queue, as for_each_arc deals those of any.
template <class T, class Index, class Graph, class Visit>
__device__ void for_each_arc_of_short(const Graph& graph, const Index* light, u64 count, Visit visit) {
    const u32 warp = blockIdx.x + gridDim.x * (threadIdx.x >> 5);  // neighbours in the queue: other SMs
    for_each_arc_of_few<T::BATCH, Index>((u32)count, warp * 32 + lane_of_warp(), gridDim.x * THREADS, [&](u32 i) {
        const Index u = light[i];
        const i64 start = graph.indptr[u];
        return Row<Index>{u, start, (int)(graph.indptr[u + 1] - start)};
    }, visit);
}

// Call visit(batch) until every arc that leaves a vertex of the frontier was in a batch; by whole warps, lanes without
// an arc included, so that visit may use warp-wide votes.
template <class T, class Index, class Graph, class Visit>
__device__ void for_each_arc(const Graph& graph, Frontier<Index> frontier, u64 light, u64 pieces, Visit visit) {
    const u32 lane = lane_of_warp();
    const u32 warp = blockIdx.x + gridDim.x * (threadIdx.x >> 5), warps = gridDim.x * WARPS;
    // Where most warps would have nothing to do, several share what would be one's: by parts of a row.
    const int shift = (pieces + light) * 8 <= warps ? 3 : 0, parts = 1 << shift;
    pieces <<= shift, light <<= shift;
    // Of 32 rows that a warp deals at a time, some are pieces and the others whole vertices.
    const auto share = [&](u64 rows, u32 most) { return ((u32)min(rows, (u64)most * warps) + warps - 1) / warps; };
    const u32 heavy = share(pieces, 16), some = min(share(light, 32), 32 - heavy);
    const u64 all_heavy = (u64)warps * heavy, all_some = (u64)warps * some;
    for (u64 p = (u64)warp * heavy, i = (u64)warp * some; p < pieces || i < light; p += all_heavy, i += all_some) {
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

// Values that loads have left in registers: without this the compiler puts off each load until what comes before needs it.
template <int size, class Value>
__device__ void loaded(Value (&values)[size]) {
    static_assert(sizeof(Value) == 4, "one register each");
#pragma unroll
    for (int k = 0; k < size; ++k) asm volatile("" : "+r"(values[k]));
}

}  // namespace hpgraph
