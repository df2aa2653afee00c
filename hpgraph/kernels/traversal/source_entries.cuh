// Sparse supersteps: the latency-bound path. A road network has thousands of them.
//
// The frontier is a list of entries: a vertex's bits of some sources, and its arcs. Each arc claims the bits that it is
// the first to set, delivers their messages at once, and appends an entry for the next superstep: one barrier, and no
// bit array of the frontier. If a vertex is reached along two arcs in one superstep, it has two entries; where that is
// frequent there are many arcs, and the dense path merges the bits.
#pragma once
#include "source_delivery.cuh"

namespace hpgraph {

template <class Index>
struct Entry {
    u64 bits;
    i64 start;    // of its arcs
    Index vertex;
    u32 degree;   // times two; the lowest bit is the index of the word of `bits`

    __device__ u32 arcs() const { return degree >> 1; }
    __device__ int word() const { return degree & 1; }
};

// Light entries grow from the beginning of the list, those of more than LONG_ENTRY arcs from its end. A list has room
// for as many entries as a superstep has arcs.
template <class Index>
struct EntryList {
    Entry<Index>* list;
    i64 room;
};

constexpr u32 LONG_ENTRY = 256;

template <class Index, int W>
struct EntryCollector {
    EntryList<Index> entries;
    MultiSourceTally* tally;
    Appender<Entry<Index>, W> light;
    SourceSums<W>& sums;

    __device__ EntryCollector(SourceBlock<W>& block, EntryList<Index> entries, MultiSourceTally* tally,
                              SourceSums<W>& sums)
        : entries(entries), tally(tally), light{block, entries.list, &tally->light}, sums(sums) {}

    // A degree that overflows belongs to a dense superstep, which does not read it.
    __device__ static Entry<Index> entry(u64 bits, Index v, int word, i64 start, i64 degree) {
        return Entry<Index>{bits, start, v, (u32)min(degree, (i64)1 << 30) << 1 | word};
    }

    // Append the entries that have bits; warp-collective.
    template <int size>
    __device__ void add(const Entry<Index> (&some)[size]) {
        bool mine[size];
        bool any_long = false;
#pragma unroll
        for (int k = 0; k < size; ++k) {
            mine[k] = some[k].bits && some[k].arcs() && some[k].arcs() <= LONG_ENTRY;
            any_long |= some[k].bits && some[k].arcs() > LONG_ENTRY;
        }
        light.add(mine, some);
        if (!__any_sync(ALL, any_long)) return;
#pragma unroll
        for (int k = 0; k < size; ++k) {
            const bool is_long = some[k].bits && some[k].arcs() > LONG_ENTRY;
            const u32 votes = __ballot_sync(ALL, is_long);
            u64 base = 0;
            if (votes && lane_of_warp() == 0) base = atomicAdd(&tally->pieces, (u64)__popc(votes));
            base = __shfl_sync(ALL, base, 0) + __popc(votes & lanes_below());
            if (is_long) entries.list[entries.room - 1 - base] = some[k];
        }
    }
};

template <int W, class Delivery, class Index, class Weight>
struct Claiming {
    // Arcs that a lane has in flight.
    static constexpr int SIZE = 4;
    const Delivery& delivery;
    const Arcs<Index, Weight>& out;
    u64* reached;
    i64 step;
    EntryCollector<Index, W>& found;

    struct Some {
        bool live[SIZE];
        u64 bits[SIZE];
        Index source[SIZE];
        i64 arc[SIZE];
        int word[SIZE];
    };

    // All claims are in flight before the first result is used.
    __device__ void visit(const Some& some) {
        Index v[SIZE];
        u64 news[SIZE], before[SIZE];
        i64 begin[SIZE], end[SIZE];
#pragma unroll
        for (int k = 0; k < SIZE; ++k) v[k] = some.live[k] ? out.indices[some.arc[k]] : 0;
#pragma unroll
        for (int k = 0; k < SIZE; ++k)
            news[k] = some.live[k] ? some.bits[k] & ~reached[(i64)v[k] * W + some.word[k]] : 0;
#pragma unroll
        for (int k = 0; k < SIZE; ++k) {
            if constexpr (Delivery::CHOOSES)
                if (news[k])
                    news[k] = delivery.passing(some.source[k], out.weight(some.arc[k]), v[k], some.word[k], news[k]);
            before[k] = news[k] ? atomicOr(reached + (i64)v[k] * W + some.word[k], news[k]) : 0;
            // Most claims succeed: load the row pointers of the vertex meanwhile.
            begin[k] = news[k] ? out.indptr[v[k]] : 0, end[k] = news[k] ? out.indptr[v[k] + 1] : 0;
        }
        Entry<Index> entries[SIZE];
#pragma unroll
        for (int k = 0; k < SIZE; ++k) {
            u64 fresh = news[k] & ~before[k];
            if (fresh) {
                found.sums.pairs += __popcll(fresh);
                fresh = delivery.deliver(some.source[k], out.weight(some.arc[k]), v[k], some.word[k], fresh, step);
                if (fresh) found.sums.note(end[k] - begin[k]);
            }
            entries[k] = found.entry(fresh, v[k], some.word[k], begin[k], end[k] - begin[k]);
        }
        found.add(entries);
    }

    // The arcs of all entries; warp-collective. A warp takes 32 entries at a time, and then its part of each long one. If
    // all are short, each lane has its own; if not, the warp shares their arcs.
    __device__ void run(const EntryList<Index>& entries, u32 light, u32 longer) {
        const u32 warp = blockIdx.x + gridDim.x * (threadIdx.x >> 5), warps = gridDim.x * WARPS, lane = lane_of_warp();
        // If there are fewer than 32 a warp, divide them evenly.
        const u32 share = min(32u, (light + warps - 1) / warps);
        for (u32 first = warp * share, i = 0; first < light || i < longer;) {
            const bool is_light = first < light;
            const bool has_one = is_light ? lane < share && first + lane < light : lane == 0;
            const Entry<Index> mine = has_one ? entries.list[is_light ? first + lane : entries.room - 1 - i]
                                              : Entry<Index>{0, 0, 0, 0};
            const WarpScan scan((int)mine.arcs());
            const bool alone = is_light && !__any_sync(ALL, mine.arcs() > SIZE);
            const i64 offset = mine.start - (scan.through - (int)mine.arcs());
            // Each long entry begins at a different warp.
            const u32 begin = is_light ? 0 : (warp + i * 61) % warps * 32 * SIZE, stride = is_light ? 1 : warps;
            for (u32 at = begin; at < scan.total; at += stride * 32 * SIZE) {
                Some some;
#pragma unroll
                for (int k = 0; k < SIZE; ++k) {
                    const int t = at + 32 * k + lane, owner = alone ? lane : scan.owner(t);
                    some.live[k] = alone ? k < mine.arcs() : t < scan.total;
                    some.bits[k] = __shfl_sync(ALL, mine.bits, owner);
                    some.source[k] = __shfl_sync(ALL, mine.vertex, owner);
                    some.arc[k] = alone ? mine.start + k : __shfl_sync(ALL, offset, owner) + t;
                    some.word[k] = W == 1 ? 0 : __shfl_sync(ALL, mine.word(), owner);
                }
                visit(some);
                if (alone) break;
            }
            if (is_light) first += warps * share;
            else ++i;
        }
    }
};

// Call use(entry) for each entry of a list, one thread each.
template <class Index, class Use>
__device__ void for_each_entry(const EntryList<Index>& entries, u64 light, u64 longer, Use use) {
    const u64 thread = (u64)blockIdx.x * THREADS + threadIdx.x, threads = (u64)gridDim.x * THREADS;
    for (u64 i = thread; i < light + longer; i += threads)
        use(entries.list[i < light ? i : entries.room - 1 - (i - light)]);
}

}  // namespace hpgraph
