// Messages of a relaxation from up to 32 sources: along one vertex's arcs, or along those of a warp's vertices.
#pragma once
#include "lowering.cuh"

namespace hpgraph {

// Arcs that a warp has in flight with a lane per source: limited by registers.
template <class Value>
constexpr int ROW_BATCH = 32 / sizeof(Value);
// Mean number of sources per arc from which on a row is read with a lane per source; with fewer, pairs of an arc and a
// source are distributed over the threads.
constexpr int MIN_SOURCES = 8;

// Whether a message improves a value. `current` is the expected value, and receives the value before (of a minimum) or
// after (of other monoids).
template <class Program, class Value>
__device__ bool improve(const Program& program, Value* where, Value message, Value& current) {
    if constexpr (Program::MIN) {
        current = atomic_least(where, message);
        return message < current;
    } else {
        return atomic_update(where, message, current, [](Value a, Value b) { return Program::reduce(a, b); });
    }
}

// Position of the set bit of a word that has `skipped` set bits below it.
__device__ inline int bit_after(u32 word, int skipped) {
    for (; skipped > 0; --skipped) word &= word - 1;
    return __ffs(word) - 1;
}

// A message that passed the non-atomic test. It is staged in shared memory until its warp has 32: the latency of an
// atomic operation is the same for one as for 32.
template <class Index, class Value>
struct Offer {
    Index target;
    int source;
    Value message;
};

// Send along the arcs of one vertex, with a lane per source; warp-collective, as is offer(mine, offer).
template <class Program, class Index, class Weight, class Value, class MakeOffer>
__device__ void send_row(const Program& program, int k, const Arcs<Index, Weight>& out, Index u, u32 word, i64 start,
                         int degree, MakeOffer offer) {
    constexpr int SIZE = ROW_BATCH<Value>;
    const int lane = lane_of_warp();
    const bool sends = word >> lane & 1;
    const Value source = sends ? program.p0[(i64)u * k + lane] : Value();
    Index coming = lane < degree ? out.indices[start + lane] : 0;
    auto its_weight = lane < degree ? out.weight(start + lane) : 0;
    for (int begin = 0; begin < degree; begin += 32) {
        const int count = min(32, degree - begin);
        const Index v = coming;
        const auto weight = its_weight;
        if (begin + 32 + lane < degree) {
            coming = out.indices[start + begin + 32 + lane];
            its_weight = out.weight(start + begin + 32 + lane);
        }
        for (int first = 0; first < count; first += SIZE) {
            Index target[SIZE];
            Value current[SIZE];
            u32 better = 0;  // which of the batch
#pragma unroll
            for (int b = 0; b < SIZE; ++b) {
                target[b] = __shfl_sync(ALL, v, (first + b) & 31);
                // May be stale in L1; safe, since values only move one way and the atomic checks again.
                current[b] = sends && first + b < count ? program.p0[(i64)target[b] * k + lane] : Value();
            }
#pragma unroll
            for (int b = 0; b < SIZE; ++b) {
                const auto w = __shfl_sync(ALL, weight, (first + b) & 31);
                const bool live = sends && first + b < count && Program::allows(u, source, w, target[b], current[b]);
                const Value message = live ? Program::gather(u, source, w, target[b], current[b]) : Value();
                better |= (u32)(live && improves(program, message, current[b])) << b, current[b] = message;
            }
            for (; __any_sync(ALL, better); better &= better - 1) {
                const int b = __ffs(better) - 1;
                offer(better != 0, Offer<Index, Value>{pick(target, b), lane, pick(current, b)});
            }
        }
    }
}

// Send along the arcs of a warp's 32 vertices, with pairs of an arc and a source distributed over the threads.
template <class T, class Value, class Program, class Index, class Weight, class MakeOffer>
__device__ void send_pairs(const Program& program, int k, const Arcs<Index, Weight>& out, Index u, u32 word, i64 start,
                           const WarpScan& scan, int pairs, MakeOffer offer) {
    constexpr int SIZE = T::BATCH;
    for (int begin = 0; begin < scan.total; begin += 32 * SIZE) {
        Index source[SIZE], target[SIZE];
        i64 arc[SIZE];
        int of[SIZE];
        bool live[SIZE];
        Value sent[SIZE], current[SIZE];
        u32 better = 0;
#pragma unroll
        for (int b = 0; b < SIZE; ++b) {
            const int t = begin + 32 * b + lane_of_warp();
            const int owner = scan.owner(t);
            live[b] = t < scan.total;
            source[b] = __shfl_sync(ALL, u, owner);
            const u32 sources = __shfl_sync(ALL, word, owner);
            const int place = t - __shfl_sync(ALL, scan.through - pairs, owner), each = max(1, __popc(sources));
            const int row = place / each;
            arc[b] = __shfl_sync(ALL, start, owner) + row;
            of[b] = live[b] ? bit_after(sources, place - row * each) : 0;
        }
#pragma unroll
        for (int b = 0; b < SIZE; ++b) {
            target[b] = live[b] ? out.indices[arc[b]] : 0;
            sent[b] = live[b] ? program.p0[(i64)source[b] * k + of[b]] : Value();
        }
#pragma unroll
        for (int b = 0; b < SIZE; ++b) current[b] = live[b] ? program.p0[(i64)target[b] * k + of[b]] : Value();
#pragma unroll
        for (int b = 0; b < SIZE; ++b) {
            const auto w = live[b] ? out.weight(arc[b]) : 0;
            live[b] = live[b] && Program::allows(source[b], sent[b], w, target[b], current[b]);
            const Value message = live[b] ? Program::gather(source[b], sent[b], w, target[b], current[b]) : Value();
            better |= (u32)(live[b] && improves(program, message, current[b])) << b, current[b] = message;
        }
        for (; __any_sync(ALL, better); better &= better - 1) {
            const int b = __ffs(better) - 1;
            offer(better != 0, Offer<Index, Value>{pick(target, b), pick(of, b), pick(current, b)});
        }
    }
}

}  // namespace hpgraph
