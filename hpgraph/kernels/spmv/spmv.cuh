// The generalized product by rows, y<mask> = A (+.x) x<active>: each row reduces the messages of its entries.
//
// A HYB matrix takes two phases (N. Bell and M. Garland, "Implementing sparse matrix-vector multiplication on
// throughput-oriented processors", SC'09): a thread for each row over the slab, in which consecutive rows are adjacent;
// then the tail, whose rows are binned by length so that 1, 4, 8, 16 or 32 lanes share one. A row longer than PIECE is
// divided, one warp a piece, and a third phase joins their results in order. No atomics touch values, so results are
// bitwise reproducible. A CSR matrix has an empty slab: all of its rows are tail.
//
// The host writes before this text a struct that describes the product:
//
//     struct Product {
//         types Message, Index, Weight; Gather, with Message operator()(u, w, v)
//         constants pattern (all weights are 1), filtered (only some columns send), terminates
//         static Message identity(), reduce(a, b), accumulate(old, result); static bool terminal(a)
//     };
#pragma once
#include "warp.cuh"

namespace hpgraph {

constexpr int BLOCK = 256;
constexpr int PIECE = 1024;
constexpr int BATCH = 4;  // entries a lane has in flight
constexpr int BINS = 5;

__device__ inline bool is_set(const u32* words, i64 v) { return words[v >> 5] >> (v & 31) & 1; }

// Rows to write, active columns, and where to mark rows that received messages. Null if there is no such set.
struct Sets {
    const u32* active;
    const u32* mask;
    u32* received;
    i64 complement;

    __device__ bool allows(i64 v) const { return !mask || is_set(mask, v) != bool(complement); }
    __device__ void note(i64 v) const {
        if (received && !is_set(received, v)) atomicOr(received + (v >> 5), 1u << (v & 31));
    }
};

// Entries are read once: streaming loads, so that they do not evict the vector from the caches.
template <class T>
__device__ T stream(const T* p) { return __ldcs(p); }
__device__ inline bool stream(const bool* p) { return __ldcs(reinterpret_cast<const unsigned char*>(p)) != 0; }

template <class T>
__device__ T shuffle_up(T value, int distance) {
    if constexpr (sizeof(T) >= 4) return __shfl_up_sync(ALL, value, distance);
    else return T(__shfl_up_sync(ALL, int(value), distance));
}

// Position of element i of a buffer in shared memory, free of bank conflicts both for lanes that read eight adjacent
// ones each and for lanes that read one each.
template <class T>
__device__ u32 swizzled(u32 i) { return i ^ (i >> (sizeof(T) == 8 ? 4 : 5) & 7u); }

template <class P>
struct Entries {
    const typename P::Index* indices;
    const typename P::Weight* weights;

    __device__ typename P::Weight weight(i64 j) const {
        if constexpr (P::pattern) return typename P::Weight(1);
        else return stream(weights + j);
    }
};

template <class P>
struct Fold {
    typename P::Message value;
    bool found;
};

// Folds one batch of entries whose columns are known; entries that are not live are skipped.
template <class P>
__device__ void fold_batch(const typename P::Gather& gather, const typename P::Index (&u)[BATCH],
                           const typename P::Weight (&w)[BATCH], bool (&live)[BATCH], i64 v, const Sets& sets,
                           Fold<P>& fold) {
    typename P::Message message[BATCH];
    if constexpr (P::filtered) {
#pragma unroll
        for (int i = 0; i < BATCH; ++i) live[i] = live[i] && is_set(sets.active, u[i]);
    }
    // All gathers before the first use: each may miss the cache.
#pragma unroll
    for (int i = 0; i < BATCH; ++i) message[i] = live[i] ? gather(i64(u[i]), w[i], v) : P::identity();
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
        if (live[i]) fold.value = P::reduce(fold.value, message[i]);
        fold.found |= live[i];
    }
}

// Lane `lane` of WIDTH adjacent ones folds its part of BATCH * WIDTH entries from `base` on; all exist if WHOLE.
template <class P, int WIDTH, bool WHOLE>
__device__ void fold_stretch(const typename P::Gather& gather, const Entries<P>& entries, i64 base, i64 end, i64 v,
                             const Sets& sets, Fold<P>& fold) {
    typename P::Index u[BATCH];
    typename P::Weight w[BATCH];
    bool live[BATCH];
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
        const i64 j = base + i * WIDTH + threadIdx.x % WIDTH;
        live[i] = WHOLE || j < end;
        u[i] = live[i] ? stream(entries.indices + j) : 0;
        w[i] = live[i] ? entries.weight(j) : typename P::Weight();
    }
    fold_batch<P>(gather, u, w, live, v, sets, fold);
}

// WIDTH adjacent lanes fold entries begin..end of row v; the first of them ends with the result.
template <class P, int WIDTH>
__device__ void fold_row(const typename P::Gather& gather, const Entries<P>& entries, i64 begin, i64 end, i64 v,
                         const Sets& sets, Fold<P>& fold) {
    const u32 lanes = WIDTH == 32 ? ALL : ((1u << WIDTH % 32) - 1) << (threadIdx.x % 32 / WIDTH * WIDTH);
    for (i64 base = begin; base < end; base += BATCH * WIDTH) {
        if (base + BATCH * WIDTH <= end) fold_stretch<P, WIDTH, true>(gather, entries, base, end, v, sets, fold);
        else fold_stretch<P, WIDTH, false>(gather, entries, base, end, v, sets, fold);
        if constexpr (P::terminates) {
            if (WIDTH == 1 ? P::terminal(fold.value) : __any_sync(lanes, P::terminal(fold.value))) break;
        }
    }
    if constexpr (WIDTH > 1) {
        fold.found = __any_sync(lanes, fold.found);
#pragma unroll
        for (int distance = WIDTH / 2; distance; distance /= 2)
            fold.value = P::reduce(fold.value, shuffle_down(lanes, fold.value, distance, WIDTH));
    }
}

// Folds the slots from..to-1 of row v, `stride` apart, up to the first padding.
template <class P>
__device__ __forceinline__ void fold_slots(const typename P::Gather& gather, const Entries<P>& slots, i64 base,
                                           i64 stride, i64 from, i64 to, i64 v, const Sets& sets, Fold<P>& fold) {
    for (i64 k = from; k < to; k += BATCH) {
        typename P::Index u[BATCH];
        typename P::Weight w[BATCH];
        bool live[BATCH];
        // Load the weights of padding too: waiting for the columns first would cost another memory latency.
#pragma unroll
        for (int i = 0; i < BATCH; ++i) {
            const bool inside = k + i < to;
            u[i] = inside ? stream(slots.indices + base + (k + i) * stride) : typename P::Index(-1);
            w[i] = inside ? slots.weight(base + (k + i) * stride) : typename P::Weight();
            live[i] = u[i] >= 0;
        }
        const bool last = !live[BATCH - 1];
        fold_batch<P>(gather, u, w, live, v, sets, fold);
        if (last) break;
        if constexpr (P::terminates) {
            if (P::terminal(fold.value)) break;
        }
    }
}

// Phase 1: one thread for each row of the slab. Writes every allowed row, including those continued by the tail.
template <class P>
__global__ void __launch_bounds__(BLOCK) pull_slab(typename P::Gather gather, Entries<P> slab, i64 rows, i64 width,
                                                   Sets sets, typename P::Message* out) {
    const i64 v = i64(blockIdx.x) * BLOCK + threadIdx.x;
    Fold<P> fold{P::identity(), false};
    if (v < rows && sets.allows(v)) {
        fold_slots<P>(gather, slab, v, rows, 0, width, v, sets, fold);
        out[v] = fold.value;
    }
    if (sets.received) {
        // The warp's rows share one word, which has no other writer in this phase.
        const u32 word = __ballot_sync(ALL, fold.found);
        if (threadIdx.x % 32 == 0 && v < rows) sets.received[v >> 5] = word;
    }
}

// Stored rows of the tail, by the number of lanes that share one; the blocks of a bin are adjacent, longest rows first.
struct Bins {
    const u32* slots;        // stored rows, bin after bin
    const u32* piece_slot;   // stored row of each piece,
    const u32* piece_order;  // and the piece's number in it
    i64 pieces;
    i64 count[BINS];         // rows of each bin, for 32, 16, 8, 4 and 1 lanes
    i64 block[BINS];         // first block of each bin; those before the first process pieces
};

template <class P>
struct Tail {
    const typename P::Index* rows;  // row of each stored one; null if they are 0, 1, 2, ...
    const i64* indptr;
    Entries<P> entries;
    i64 continues;                  // whether `out` holds the slab's results

    __device__ i64 row(u32 slot) const { return rows ? i64(rows[slot]) : i64(slot); }
};

template <class P, int WIDTH>
__device__ void pull_bin(const typename P::Gather& gather, const Tail<P>& tail, const u32* slots, i64 count, i64 block,
                         const Sets& sets, typename P::Message* out) {
    const i64 i = block * (BLOCK / WIDTH) + threadIdx.x / WIDTH;
    if (i >= count) return;
    const u32 slot = slots[i];
    const i64 v = tail.row(slot);
    if (!sets.allows(v)) return;
    Fold<P> fold{P::identity(), false};
    const bool leads = threadIdx.x % WIDTH == 0;
    if (tail.continues) {
        const auto before = out[v];
        if constexpr (P::terminates) {
            if (P::terminal(before)) return;
        }
        if (leads) fold.value = before;
    }
    fold_row<P, WIDTH>(gather, tail.entries, tail.indptr[slot], tail.indptr[slot + 1], v, sets, fold);
    if (leads) {
        out[v] = fold.value;
        if (fold.found) sets.note(v);
    }
}

// Phase 2: the tail. Pieces of long rows write their results to `part` and `part_found`.
template <class P>
__global__ void __launch_bounds__(BLOCK) pull_tail(typename P::Gather gather, Tail<P> tail, Bins bins, Sets sets,
                                                   typename P::Message* out, typename P::Message* part,
                                                   bool* part_found) {
    const i64 block = blockIdx.x;
    const u32* slots = bins.slots;
    if (block < bins.block[0]) {
        const i64 piece = block * (BLOCK / 32) + threadIdx.x / 32;
        if (piece >= bins.pieces) return;
        const u32 slot = bins.piece_slot[piece];
        const i64 v = tail.row(slot);
        if (!sets.allows(v)) return;
        const i64 begin = tail.indptr[slot] + i64(bins.piece_order[piece]) * PIECE;
        const i64 end = tail.indptr[slot + 1];
        Fold<P> fold{P::identity(), false};
        fold_row<P, 32>(gather, tail.entries, begin, begin + PIECE < end ? begin + PIECE : end, v, sets, fold);
        if (threadIdx.x % 32 == 0) {
            part[piece] = fold.value;
            part_found[piece] = fold.found;
        }
        return;
    }
    if (block < bins.block[1]) return pull_bin<P, 32>(gather, tail, slots, bins.count[0], block - bins.block[0], sets, out);
    slots += bins.count[0];
    if (block < bins.block[2]) return pull_bin<P, 16>(gather, tail, slots, bins.count[1], block - bins.block[1], sets, out);
    slots += bins.count[1];
    if (block < bins.block[3]) return pull_bin<P, 8>(gather, tail, slots, bins.count[2], block - bins.block[2], sets, out);
    slots += bins.count[2];
    if (block < bins.block[4]) return pull_bin<P, 4>(gather, tail, slots, bins.count[3], block - bins.block[3], sets, out);
    slots += bins.count[3];
    pull_bin<P, 1>(gather, tail, slots, bins.count[4], block - bins.block[4], sets, out);
}

// Phase 3: one warp for each long row joins its pieces, always in the same tree.
template <class P>
__global__ void __launch_bounds__(BLOCK) pull_long(Tail<P> tail, const u32* long_slots, const i64* first_piece,
                                                   i64 long_rows, Sets sets, typename P::Message* out,
                                                   const typename P::Message* part, const bool* part_found) {
    const i64 i = i64(blockIdx.x) * (BLOCK / 32) + threadIdx.x / 32;
    if (i >= long_rows) return;
    const i64 v = tail.row(long_slots[i]);
    if (!sets.allows(v)) return;
    const int lane = threadIdx.x % 32;
    auto value = tail.continues && lane == 0 ? out[v] : P::identity();
    bool found = false;
#pragma unroll 8
    for (i64 piece = first_piece[i] + lane; piece < first_piece[i + 1]; piece += 32) {
        value = P::reduce(value, part[piece]);
        found |= part_found[piece];
    }
    found = __any_sync(ALL, found);
#pragma unroll
    for (int distance = 16; distance; distance /= 2) value = P::reduce(value, shuffle_down(ALL, value, distance));
    if (lane == 0) {
        out[v] = value;
        if (found) sets.note(v);
    }
}

// out[v] = accumulate(out[v], result[v]) for the rows that received a message.
template <class P>
__global__ void __launch_bounds__(BLOCK) accumulate(const typename P::Message* result, const u32* received, i64 rows,
                                                    typename P::Message* out) {
    const i64 v = i64(blockIdx.x) * BLOCK + threadIdx.x;
    if (v < rows && is_set(received, v)) out[v] = P::accumulate(out[v], result[v]);
}

}  // namespace hpgraph
