// Scans of all vertices in a multi-source traversal, a thread for each: settling after a dense superstep, and
// conversion of a frontier from bits to a queue.
#pragma once
#include "warp.cuh"
#include "source_entries.cuh"

namespace hpgraph {

// Every vertex receives the bits in `next` that are not yet in `reached`; `next` keeps those that changed: the next
// frontier. With `history`, messages are deferred there; they are all equal, and `change` says whether they change a
// vertex.
template <class T, int W, class Delivery, class Index, class Weight>
__device__ void settle(const Delivery& delivery, const Arcs<Index, Weight>& out, const Arcs<Index, Weight>& in,
                       i64 n, i64 step, u64* reached, u64* next, u64* history, bool change,
                       SourceSums<W>& sums) {
    const i64 warp = (i64)blockIdx.x * WARPS + (threadIdx.x >> 5), warps = (i64)gridDim.x * WARPS;
    u32 counts[2 * W] = {};
    for (i64 first = warp * 32; first < n; first += warps * 32) {
        const i64 v = first + lane_of_warp();
        const bool exists = v < n;
        Bits<W> fresh{}, known{};
        if (exists) {
            fresh = load_bits<W>(next, v), known = load_bits<W>(reached, v);
            if constexpr (!Delivery::BY_ARC) {
                fresh = fresh.without(known);
                known.add(fresh);
                if (fresh.any()) store_bits(reached, v, known);
            }
            if (history) store_bits(history, v, fresh);
        }
        // Load the row pointers early, independently of the messages.
        const i64 degree = fresh.any() ? out.indptr[v + 1] - out.indptr[v] : 0;
        bool sends = false;
#pragma unroll
        for (int w = 0; w < W; ++w) {
            if constexpr (!Delivery::BY_ARC) sums.pairs += __popcll(fresh.word[w]);
            if constexpr (Delivery::COUNTS) {
                counts[2 * w] += __popc(transpose_bits((u32)fresh.word[w]));
                counts[2 * w + 1] += __popc(transpose_bits((u32)(fresh.word[w] >> 32)));
            } else if constexpr (!Delivery::BY_ARC) {
                if (history) {
                    if (!change) fresh.word[w] = 0;
                } else {
                    for (u64 rest = warp_or(fresh.word[w]); rest; rest &= rest - 1) {
                        const int bit = __ffsll(rest) - 1;
                        if (!(fresh.word[w] >> bit & 1)) continue;
                        if (!delivery.receive(v, in.weight(0), v, 64 * w + bit, step)) fresh.word[w] ^= 1ull << bit;
                    }
                }
            }
            sends |= fresh.word[w] != 0;
            sums.live[w] |= fresh.word[w];
        }
        if (exists) store_bits(next, v, fresh);
        if (sends) sums.note(degree);
    }
    if constexpr (Delivery::COUNTS) {
#pragma unroll
        for (int half = 0; half < 2 * W; ++half)
            if (counts[half]) atomicAdd(delivery.of_block + 32 * half + lane_of_warp(), counts[half]);
    }
}

// A list of the vertices that have bits. With `counts`, the tally counts them as after a superstep. Not inlined, as it is
// called in two places.
template <class T, int W, class Index>
__device__ __noinline__ void queue_from_words(SourceBlock<W>& block, const u64* front, const i64* indptr, i64 n,
                                              Frontier<Index> queue, MultiSourceTally* tally, bool counts) {
    const i64 warp = (i64)blockIdx.x * WARPS + (threadIdx.x >> 5), warps = (i64)gridDim.x * WARPS;
    Appender<Index, W> light{block, queue.light, &tally->light};
    SourceSums<W> sums;
    for (i64 first = warp * 32; first < n; first += warps * 32) {
        const i64 v = first + lane_of_warp();
        const Bits<W> bits = v < n ? load_bits<W>(front, v) : Bits<W>{};
        const bool sends = bits.any();
#pragma unroll
        for (int w = 0; w < W; ++w)
            sums.live[w] |= bits.word[w];
        const i64 degree = sends ? indptr[v + 1] - indptr[v] : 0;
        if (sends) sums.note(degree);
        light.add(degree > 0 && degree <= T::PIECE, (Index)v);
        append_pieces<T>((Index)v, degree, queue.pieces, &tally->pieces);
    }
    light.finish();
    if (counts) flush_sums(block, sums, tally);
}

// Entries from bits.
template <int W, class Index>
__device__ void entries_from_bits(SourceBlock<W>& block, const u64* front, const i64* indptr, i64 n,
                                   EntryList<Index> entries, MultiSourceTally* tally) {
    const i64 warp = (i64)blockIdx.x * WARPS + (threadIdx.x >> 5), warps = (i64)gridDim.x * WARPS;
    SourceSums<W> sums;
    EntryCollector<Index, W> found(block, entries, tally, sums);
    for (i64 first = warp * 32; first < n; first += warps * 32) {
        const i64 v = first + lane_of_warp();
#pragma unroll
        for (int word = 0; word < W; ++word) {
            const u64 bits = v < n ? front[v * W + word] : 0;
            if (!__any_sync(ALL, bits != 0)) continue;
            const i64 begin = bits ? indptr[v] : 0, end = bits ? indptr[v + 1] : 0;
            const Entry<Index> one[1] = {found.entry(bits, (Index)v, word, begin, end - begin)};
            found.add(one);
        }
    }
    found.light.finish();
}

// Copy an array of words, or clear it if `from` is null; 16 bytes a thread.
__device__ __noinline__ inline void copy_words(const u64* from, u64* to, i64 words) {
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    for (i64 i = 2 * thread; i < words; i += 2 * threads) {
        if (i + 1 < words) *(ulonglong2*)(to + i) = from ? *(const ulonglong2*)(from + i) : ulonglong2{0, 0};
        else to[i] = from ? from[i] : 0;
    }
}

}  // namespace hpgraph
