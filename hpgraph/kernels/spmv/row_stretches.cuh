// Load balancing by entries: a whole product over CSR by stretches of 1,024 entries, one a warp, for any row lengths.
// It is a segmented scan with a flag beside each entry that ends a row (as in W. Liu, B. Vinter, "CSR5: An efficient
// storage format for cross-platform sparse matrix-vector multiplication", ICS'15, but with the entries left in place;
// merge path would find a stretch's rows by search instead).
//
// Row pointers are not read: nonempty rows are numbered, and those that end in a stretch are consecutive. The open
// result of a stretch is joined with the row's end by a second kernel, in the order of the stretches: no atomics, so
// results are bitwise reproducible. Targets are not known when messages are made, so gathers must not read them.
#pragma once
#include "search.cuh"
#include "stretches.cuh"

namespace hpgraph {

constexpr int SPAN_OF_THREAD = 32;      // stretches that one thread joins; the whole block joins longer rows

constexpr int RESIDENT = 4;             // thread blocks of a multiprocessor
constexpr int CLEARED = 8;              // rows without entries that a thread clears

// Row ends: a bitmap over the entries, and the number of nonempty rows that end before each stretch.
struct RowEnds {
    const unsigned char* ends;
    const u32* first;
    const u32* rows;    // nonempty rows; null if all are
    const u32* empty;   // empty rows
    i64 stretches;
    i64 n_empty;

    __device__ i64 row(u32 i) const { return rows ? i64(rows[i]) : i64(i); }
};

// Marks the last entries of the nonempty rows.
__global__ void __launch_bounds__(BLOCK) mark_ends(const i64* indptr, const u32* rows, i64 count, u32* ends) {
    const i64 i = i64(blockIdx.x) * BLOCK + threadIdx.x;
    if (i >= count) return;
    const i64 last = indptr[(rows ? i64(rows[i]) : i) + 1] - 1;
    atomicOr(ends + last / 32, 1u << last % 32);
}

__global__ void __launch_bounds__(BLOCK)
count_ends(const i64* indptr, const u32* rows, i64 count, i64 stretches, u32* first) {
    const i64 t = i64(blockIdx.x) * BLOCK + threadIdx.x;
    if (t > stretches) return;
    i64 low = 0, high = count;
    while (low < high) {
        const i64 middle = (low + high) / 2;
        if (indptr[(rows ? i64(rows[middle]) : middle) + 1] <= t * STRETCH) low = middle + 1;
        else high = middle;
    }
    first[t] = u32(low);
}

// 8-byte values are not prefetched a batch ahead, as columns are: the registers would halve the number of resident
// warps.
template <class P>
constexpr bool LATE = !P::pattern && sizeof(typename P::Weight) >= 8;

// Entries of a stretch, and their messages from the whole vector.
template <class P>
struct RowEntries {
    struct Held {
        Eight<typename P::Index> column;
        Eight<typename P::Weight> weight;
        u32 ends;
        int live;
        i64 at;
    };
    const Entries<P>& entries;
    const typename P::Gather& gather;
    const unsigned char* ends;
    i64 begin, end;   // of the lane, and of all

    __device__ Held fetch(int chunk) const {
        Held held{};
        const i64 at = begin + chunk;
        held.live = int(max(i64(0), min(i64(RUN), end - at)));
        held.at = at;
        if (held.live == 0) return held;
        held.ends = ends[at / RUN];
        if (held.live == RUN) {
            held.column = stream_eight(entries.indices + at);
            if constexpr (!P::pattern && !LATE<P>) held.weight = stream_eight(entries.weights + at);
        } else {
#pragma unroll
            for (int i = 0; i < RUN; ++i) {
                if (i >= held.live) continue;
                held.column.at[i] = stream(entries.indices + at + i);
                if constexpr (!LATE<P>) held.weight.at[i] = entries.weight(at + i);
            }
        }
        return held;
    }
    __device__ u32 messages(const Held& held, typename P::Message (&message)[RUN]) const {
        Eight<typename P::Weight> weights = held.weight;
        if constexpr (LATE<P>) {
            if (held.live == RUN) {
                weights = stream_eight(entries.weights + held.at);
            } else {
#pragma unroll
                for (int i = 0; i < RUN; ++i)
                    if (i < held.live) weights.at[i] = entries.weight(held.at + i);
            }
        }
#pragma unroll
        for (int i = 0; i < RUN; ++i) {
            typename P::Weight weight = typename P::Weight(1);
            if constexpr (!P::pattern) weight = weights.at[i];
            message[i] = i < held.live ? gather(i64(held.column.at[i]), weight, 0) : P::identity();
        }
        return held.ends;
    }
};

// One warp a stretch. `open` receives the result of the row that is still open at its end.
template <class P>
__global__ void __launch_bounds__(BLOCK, RESIDENT)
fold_rows(typename P::Gather gather, Entries<P> entries, i64 count, RowEnds ends, typename P::Message* out,
          typename P::Message* open) {
    __shared__ __align__(16) unsigned char memory[BLOCK / 32 * CHUNK * sizeof(typename P::Message)];
    const i64 t = i64(blockIdx.x) * (BLOCK / 32) + threadIdx.x / 32;
    if (t >= ends.stretches) return;
    typename P::Message* const buffer =
        reinterpret_cast<typename P::Message*>(memory) + threadIdx.x / 32 * CHUNK;
    const RowEntries<P> source{entries, gather, ends.ends, t * STRETCH + threadIdx.x % 32 * RUN, count};
    const u32 first = ends.first[t];
    const typename P::Message left =
        fold_segments<P>(source, buffer, [&](u32 i, typename P::Message value) { out[ends.row(first + i)] = value; });
    if (threadIdx.x % 32 == 0) open[t] = left;
}

// Adds the open results of earlier stretches to rows that began there: one thread for each stretch in which a row ends.
// Further thread blocks clear empty rows.
template <class P>
__global__ void __launch_bounds__(BLOCK)
join_rows(RowEnds ends, const typename P::Message* open, typename P::Message* out) {
    using Message = typename P::Message;
    __shared__ int many;
    __shared__ i64 long_from[BLOCK], long_to[BLOCK];
    __shared__ __align__(16) unsigned char of_warps[BLOCK / 32 * sizeof(Message)];
    Message* const warp_value = reinterpret_cast<Message*>(of_warps);
    const i64 joining = (ends.stretches + BLOCK - 1) / BLOCK;
    if (blockIdx.x >= joining) {
        const i64 base = (blockIdx.x - joining) * (BLOCK * CLEARED) + threadIdx.x;
#pragma unroll
        for (int k = 0; k < CLEARED; ++k)
            if (base + k * BLOCK < ends.n_empty) out[ends.empty[base + k * BLOCK]] = P::identity();
        return;
    }
    if (threadIdx.x == 0) many = 0;
    __syncthreads();
    const i64 t = i64(blockIdx.x) * BLOCK + threadIdx.x;
    if (t > 0 && t < ends.stretches && ends.first[t + 1] > ends.first[t]) {
        // The stretch in which the previous row ends, or the first.
        const u32 before = ends.first[t];
        const i64 low = ends.first[t - 1] < before ? t - 1 : lower_bound(ends.first + 1, i64(0), t - 1, before);
        if (t - low > SPAN_OF_THREAD) {
            const int i = atomicAdd(&many, 1);
            long_from[i] = low;
            long_to[i] = t;
        } else {
            Message value = open[low];
            for (i64 s = low + 1; s < t; ++s) value = P::reduce(value, open[s]);
            Message* const where = out + ends.row(before);
            *where = P::reduce(value, *where);
        }
    }
    __syncthreads();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = 0; i < many; ++i) {
        Message value = P::identity();
#pragma unroll 4
        for (i64 s = long_from[i] + threadIdx.x; s < long_to[i]; s += BLOCK) value = P::reduce(value, open[s]);
#pragma unroll
        for (int d = 16; d; d /= 2) value = P::reduce(value, shuffle_down(ALL, value, d));
        if (lane == 0) warp_value[warp] = value;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int k = 1; k < BLOCK / 32; ++k) value = P::reduce(value, warp_value[k]);
            Message* const where = out + ends.row(ends.first[long_to[i]]);
            *where = P::reduce(value, *where);
        }
        __syncthreads();
    }
}

}  // namespace hpgraph
