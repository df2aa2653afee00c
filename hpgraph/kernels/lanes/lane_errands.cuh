// Supersteps of few arcs. A road network has thousands of them, and what they cost is chains of loads and sectors of
// memory; so nothing is touched but what must be.
//
// The frontier is a list of errands: some lanes' bits, and the arcs along which they go. Each arc claims the bits that it
// is the first to set, delivers their messages at once, and leaves an errand for the next superstep: one barrier, and no
// array of the frontier's bits. Lanes that meet in a vertex at once by different arcs go on as two errands; where that
// happens often there are many arcs, and the bits are joined.
#pragma once
#include "lane_delivery.cuh"

namespace hpgraph {

template <class Index>
struct Errand {
    u64 bits;
    i64 start;    // of its arcs
    Index vertex;
    u32 degree;   // and in the lowest bit the word that the bits stand in

    __device__ u32 arcs() const { return degree >> 1; }
    __device__ int word() const { return degree & 1; }
};

// Errands that a warp takes as they are begin at the bottom of the list, those of more arcs at its top. A list has room
// for as many errands as a superstep has arcs.
template <class Index>
struct Errands {
    Errand<Index>* list;
    i64 room;
};

constexpr u32 LONG_ERRAND = 256;

template <class Index, int W>
struct ErrandCollector {
    Errands<Index> errands;
    LanesTally* tally;
    Appender<Errand<Index>, W> light;
    LanesSums<W>& sums;

    __device__ ErrandCollector(LanesBlock<W>& block, Errands<Index> errands, LanesTally* tally, LanesSums<W>& sums)
        : errands(errands), tally(tally), light{block, errands.list, &tally->light}, sums(sums) {}

    // A degree that does not fit is that of a superstep of many arcs, which does not look at it.
    __device__ static Errand<Index> errand(u64 bits, Index v, int word, i64 start, i64 degree) {
        return Errand<Index>{bits, start, v, (u32)min(degree, (i64)1 << 30) << 1 | word};
    }

    // By the whole warp: errands of the lanes that have bits.
    template <int size>
    __device__ void add(const Errand<Index> (&some)[size]) {
        bool mine[size];
        bool any_long = false;
#pragma unroll
        for (int k = 0; k < size; ++k) {
            mine[k] = some[k].bits && some[k].arcs() && some[k].arcs() <= LONG_ERRAND;
            any_long |= some[k].bits && some[k].arcs() > LONG_ERRAND;
        }
        light.add(mine, some);
        if (!__any_sync(ALL, any_long)) return;
#pragma unroll
        for (int k = 0; k < size; ++k) {
            const bool is_long = some[k].bits && some[k].arcs() > LONG_ERRAND;
            const u32 votes = __ballot_sync(ALL, is_long);
            u64 base = 0;
            if (votes && lane_of_warp() == 0) base = atomicAdd(&tally->pieces, (u64)__popc(votes));
            base = __shfl_sync(ALL, base, 0) + __popc(votes & lanes_below());
            if (is_long) errands.list[errands.room - 1 - base] = some[k];
        }
    }
};

template <class T, int W, class Delivery, class Index, class Weight>
struct Claiming {
    // Arcs that a lane has under way at once: of an errand of its own, and of those that a warp shares.
    static constexpr int OF_ONE = 4, OF_SHARED = 2;
    const Delivery& delivery;
    const Arcs<Index, Weight>& out;
    u64* reached;
    i64 step;
    ErrandCollector<Index, W>& found;

    template <int size>
    struct Some {
        bool live[size];
        u64 bits[size];
        Index source[size];
        i64 arc[size];
        int word[size];
    };

    // All claims are under way before the first is answered.
    template <int size>
    __device__ void visit(const Some<size>& some) {
        Index v[size];
        u64 news[size], before[size];
        i64 begin[size], end[size];
#pragma unroll
        for (int k = 0; k < size; ++k) v[k] = some.live[k] ? out.indices[some.arc[k]] : 0;
#pragma unroll
        for (int k = 0; k < size; ++k)
            news[k] = some.live[k] ? some.bits[k] & ~reached[(i64)v[k] * W + some.word[k]] : 0;
#pragma unroll
        for (int k = 0; k < size; ++k) {
            if constexpr (Delivery::CHOOSES)
                if (news[k])
                    news[k] = delivery.passing(some.source[k], out.weight(some.arc[k]), v[k], some.word[k], news[k]);
            before[k] = news[k] ? atomicOr(reached + (i64)v[k] * W + some.word[k], news[k]) : 0;
            // Most claims succeed: where the arcs of the vertex lie is asked for meanwhile.
            begin[k] = news[k] ? out.indptr[v[k]] : 0, end[k] = news[k] ? out.indptr[v[k] + 1] : 0;
        }
        Errand<Index> errands[size];
#pragma unroll
        for (int k = 0; k < size; ++k) {
            u64 fresh = news[k] & ~before[k];
            if (fresh) {
                found.sums.pairs += __popcll(fresh);
                fresh = delivery.deliver(some.source[k], out.weight(some.arc[k]), v[k], some.word[k], fresh, step);
                if (fresh) found.sums.note(end[k] - begin[k]);
            }
            errands[k] = found.errand(fresh, v[k], some.word[k], begin[k], end[k] - begin[k]);
        }
        found.add(errands);
    }

    // The arcs of all errands, by whole warps.
    __device__ void run(const Errands<Index>& errands, u32 light, u32 longer) {
        const u32 warp = blockIdx.x + gridDim.x * (threadIdx.x >> 5), warps = gridDim.x * WARPS;
        if (T::SHORT_QUEUES && (u64)light * 2 <= (u64)warps * 32) of_few(errands.list, light, warp, warps);
        else of_many(errands.list, light, warp, warps);
        for (u32 i = 0; i < longer; ++i) {
            const Errand<Index> one = errands.list[errands.room - 1 - i];
            // Each begins at another warp.
            for (u32 t = (warp + i * 61) % warps * 32 * OF_SHARED; t < one.arcs(); t += warps * 32 * OF_SHARED)
                take<OF_SHARED>(one, t + lane_of_warp(), 32);
        }
    }

private:
    template <int size>
    __device__ void take(const Errand<Index>& one, u32 first, u32 stride) {
        Some<size> some;
#pragma unroll
        for (int k = 0; k < size; ++k) {
            const u32 t = first + k * stride;
            some.live[k] = t < one.arcs(), some.bits[k] = one.bits, some.source[k] = one.vertex;
            some.arc[k] = one.start + t, some.word[k] = one.word();
        }
        visit(some);
    }

    // Every errand has lanes of its own, so that until the first loads nothing has to be worked out.
    __device__ void of_few(const Errand<Index>* list, u32 light, u32 warp, u32 warps) {
        int shift = 5;
        while (shift > 1 && ((u64)light << shift) > (u64)warps * 32) --shift;
        const u32 thread = warp * 32 + lane_of_warp(), group = 1u << shift, member = thread & (group - 1);
        const u32 i = thread >> shift;
        const Errand<Index> one = i < light ? list[i] : Errand<Index>{0, 0, 0, 0};
        for (u32 t = member; __any_sync(ALL, t < one.arcs()); t += OF_SHARED * group) take<OF_SHARED>(one, t, group);
    }

    // A warp takes 32 errands at a time. Where they are about as long, each lane has its own; if not, all lanes share.
    __device__ void of_many(const Errand<Index>* list, u32 light, u32 warp, u32 warps) {
        // Where they do not suffice for 32 a warp, each warp has equally many.
        const u32 share = min(32u, (light + warps - 1) / warps);
        for (u32 first = warp * share; first < light; first += warps * share) {
            const bool has_one = lane_of_warp() < share && first + lane_of_warp() < light;
            const Errand<Index> mine = has_one ? list[first + lane_of_warp()] : Errand<Index>{0, 0, 0, 0};
            const WarpScan scan((int)mine.arcs());
            if (!__any_sync(ALL, mine.arcs() > OF_ONE)) {
                take<OF_ONE>(mine, 0, 1);
                continue;
            }
            const i64 offset = mine.start - (scan.through - (int)mine.arcs());
            for (int begin = 0; begin < scan.total; begin += 32 * OF_SHARED) {
                Some<OF_SHARED> some;
#pragma unroll
                for (int k = 0; k < OF_SHARED; ++k) {
                    const int t = begin + 32 * k + lane_of_warp(), owner = scan.owner(t);
                    some.live[k] = t < scan.total;
                    some.bits[k] = __shfl_sync(ALL, mine.bits, owner);
                    some.source[k] = __shfl_sync(ALL, mine.vertex, owner);
                    some.arc[k] = __shfl_sync(ALL, offset, owner) + t;
                    some.word[k] = W == 1 ? 0 : __shfl_sync(ALL, mine.word(), owner);
                }
                visit(some);
            }
        }
    }
};

// Call use(errand) for each of a list, by single threads.
template <class Index, class Use>
__device__ void for_each_errand(const Errands<Index>& errands, u64 light, u64 longer, Use use) {
    const u64 thread = (u64)blockIdx.x * THREADS + threadIdx.x, threads = (u64)gridDim.x * THREADS;
    for (u64 i = thread; i < light + longer; i += threads)
        use(errands.list[i < light ? i : errands.room - 1 - (i - light)]);
}

}  // namespace hpgraph
