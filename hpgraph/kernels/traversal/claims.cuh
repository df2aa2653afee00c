// Settling vertices of a traversal: claims of a push, the initial bits, and conversions between queue and bitmap.
#pragma once
#include "load_balancing.cuh"

namespace hpgraph {

// Warp-collective claim: returns the mask of arcs of a batch whose target was unsettled. `v` receives the targets;
// `beside(k)` is called once v[k] is known, before its bit is.
template <int size, class Program, class Index, class Weight, class Beside>
__device__ u32 claim(const Program& program, const Arcs<Index, Weight>& out, u32* settled,
                     const Batch<Index, size>& batch, Index (&v)[size], Beside beside) {
    u32 bits[size];
#pragma unroll
    for (int k = 0; k < size; ++k) v[k] = batch.live[k] ? out.indices[batch.arc[k]] : 0;
#pragma unroll
    for (int k = 0; k < size; ++k) bits[k] = batch.live[k] ? settled[v[k] >> 5] : ALL, beside(k);
    loaded(bits);
#pragma unroll
    for (int k = 0; k < size; ++k) {
        const u32 flag = 1u << (v[k] & 31);
        const bool open = !(bits[k] & flag) && program.edge_cond(batch.source[k], out.weight(batch.arc[k]), v[k]);
        bits[k] = open ? atomicOr(settled + (v[k] >> 5), flag) : ALL;
    }
    u32 claimed = 0;
#pragma unroll
    for (int k = 0; k < size; ++k) claimed |= !(bits[k] >> (v[k] & 31) & 1) << k;
    return claimed;
}
template <int size, class Program, class Index, class Weight>
__device__ u32 claim(const Program& program, const Arcs<Index, Weight>& out, u32* settled,
                     const Batch<Index, size>& batch, Index (&v)[size]) {
    return claim(program, out, settled, batch, v, [](int) {});
}

// Initialize the vertices below `n` in the words from `begin` to `end`: their properties, and their settled bits, set
// for vertices without in-arcs or masked by `cond`. keep(word, bits) stores the bits. A warp has several words in
// flight.
template <class Program, class Keep>
__device__ void fill_words(const Program& program, const u32* no_in_arcs, i64 begin, i64 end, i64 n, Keep keep) {
    constexpr int AT_ONCE = 8;
    const int lane = lane_of_warp();
    const i64 warp = (i64)blockIdx.x * WARPS + (threadIdx.x >> 5), warps = (i64)gridDim.x * WARPS;
    for (i64 word = begin + warp * AT_ONCE; word < end; word += warps * AT_ONCE) {
        const bool keeps = lane < AT_ONCE && word + lane < end;
        u32 bits = keeps ? no_in_arcs[word + lane] : 0;
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
            const i64 v = (word + k) * 32 + lane;
            const bool exists = word + k < end && v < n;
            if (exists) program.fill(v);
            const u32 closed = __ballot_sync(ALL, !exists || !program.cond(v));
            if (lane == k) bits |= closed;
        }
        if (keeps) keep(word + lane, bits);
    }
}

// A claim: an arc that carries the first message of its target.
template <class Index>
struct Claim {
    i64 arc;
    Index source;
};

// Bitmap to queue, for the words from `begin` to `end`, when the direction changes.
template <class T, class Index>
__device__ void queue_from_bits(const u32* words, i64 begin, i64 end, Stage<Claim<Index>>& stage,
                                Collector<T, Index>& found) {
    const int lane = lane_of_warp();
    const i64 warp = (i64)blockIdx.x * WARPS + (threadIdx.x >> 5), warps = (i64)gridDim.x * WARPS;
    for (i64 word = begin + warp; word < end; word += warps) {
        const u32 bits = words[word];
        stage.add(bits >> lane & 1, Claim<Index>{0, (Index)(word * 32 + lane)},
                  [&](bool mine, const Claim<Index>& one) { found.add(mine, one.source); });
    }
    Claim<Index> one{0, 0};
    const bool has_one = stage.rest(one);
    found.add(has_one, one.source);
}

// Queue to bitmap.
template <class Index>
__device__ void bits_from_queue(Frontier<Index> queue, const Tally& now, u32* words) {
    const u64 thread = (u64)blockIdx.x * THREADS + threadIdx.x, threads = (u64)gridDim.x * THREADS;
    for (u64 i = thread; i < now.light; i += threads)
        atomicOr(words + (queue.light[i] >> 5), 1u << (queue.light[i] & 31));
    for (u64 i = thread; i < now.pieces; i += threads)
        if (queue.pieces[i].number == 0)
            atomicOr(words + (queue.pieces[i].vertex >> 5), 1u << (queue.pieces[i].vertex & 31));
}

}  // namespace hpgraph
