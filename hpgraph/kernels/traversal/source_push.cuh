// Multi-source top-down step: the vertices of the joint queue send along their arcs, each arc once for all sources.
#pragma once
#include "source_delivery.cuh"
#include "source_pull.cuh"

namespace hpgraph {

// `received` collects the bits sent. If all messages of a superstep are equal, it begins as a copy of `reached`, and
// `settle` determines the new bits afterwards; if not, it begins empty, and each arc claims bits in `reached` and adds to
// `received` those of messages that change the vertex. `own`: other GPUs visit the same arcs, and each sends to its own
// rows.
template <class T, int W, class Delivery, class Index, class Weight>
struct MultiSourcePush {
    const Delivery& delivery;
    const Arcs<Index, Weight>& out;
    const u64* front;
    u64 *reached, *received;
    bool own;
    i64 step;
    SourceSums<W>& sums;
    const RowShare& share;

    template <int size>
    __device__ void operator()(const Batch<Index, size>& batch) const {
        Index v[size];
        const u64* const test = Delivery::BY_ARC ? reached : received;
#pragma unroll
        for (int k = 0; k < size; ++k) v[k] = batch.live[k] ? out.indices[batch.arc[k]] : 0;
        Bits<W> bits[size], known[size];
#pragma unroll
        for (int k = 0; k < size; ++k) {
            bits[k] = known[k] = Bits<W>{};
            if (!batch.live[k] || (own && !share.owns(v[k]))) continue;
            bits[k] = load_bits<W>(front, batch.source[k]), known[k] = load_bits<W>(test, v[k]);
        }
#pragma unroll
        for (int k = 0; k < size; ++k)
#pragma unroll
            for (int w = 0; w < W; ++w)
                if (const u64 news = bits[k].word[w] & ~known[k].word[w])
                    send(batch.source[k], batch.arc[k], v[k], w, news);
    }

private:
    __device__ void send(Index u, i64 arc, Index v, int word, u64 news) const {
        const auto weight = out.weight(arc);
        const i64 place = (i64)v * W + word;
        if constexpr (Delivery::CHOOSES) news = delivery.passing(u, weight, v, word, news);
        if constexpr (Delivery::BY_ARC) {
            const u64 fresh = news ? news & ~atomicOr(reached + place, news) : 0;
            sums.pairs += __popcll(fresh);
            news = fresh ? delivery.deliver(u, weight, v, word, fresh, step) : 0;
        }
        if (news) atomicOr(received + place, news);
    }
};

}  // namespace hpgraph
