// Segmented scan: rows of any length, folded by warps with equally many entries, over stretches of adjacent entries in
// which a bit marks the last one of each row.
#pragma once
#include "spmv.cuh"

namespace hpgraph {

using u16 = unsigned short;

constexpr int RUN = 8;                // adjacent entries that a lane folds
constexpr int CHUNK = 32 * RUN;         // entries that a warp processes at once
constexpr int STRETCH = 1024;           // entries of a warp

template <class T>
struct Eight {
    T at[RUN];
};

// Eight adjacent values, streamed, in as few loads as possible.
template <class T>
__device__ Eight<T> stream_eight(const T* p) {
    Eight<T> found;
    if constexpr (sizeof(T) == 1) {
        const uint2 raw = __ldcs(reinterpret_cast<const uint2*>(p));
        memcpy(&found, &raw, sizeof(raw));
    } else {
        uint4 raw[sizeof(T) / 2];
#pragma unroll
        for (int i = 0; i < int(sizeof(T) / 2); ++i) raw[i] = __ldcs(reinterpret_cast<const uint4*>(p) + i);
        memcpy(&found, raw, sizeof(raw));
    }
    return found;
}

// A warp folds one stretch: calls `put(i, value)` for the i-th row that ends in it, in order, and returns the open
// result at its end. `entries` fetches RUN adjacent ones for a lane, and computes their messages and the bits of those
// that end a row.
template <class P, class Source, class Put>
__device__ typename P::Message fold_segments(const Source& entries, typename P::Message* buffer, Put put) {
    using Message = typename P::Message;
    const int lane = threadIdx.x % 32;
    Message open = P::identity(), held = P::identity();  // of all lanes so far; of each lane since the last row end
    bool holds = false;
    u32 put_before = 0;
    typename Source::Held next = entries.fetch(0);
#pragma unroll 1
    for (int chunk = 0; chunk < STRETCH; chunk += CHUNK) {
        const typename Source::Held held_now = next;
        if (chunk + CHUNK < STRETCH) next = entries.fetch(chunk + CHUNK);
        Message message[RUN];
        const u32 ends = entries.messages(held_now, message);
        const u32 enders = __ballot_sync(ALL, ends != 0);
        if (enders == 0) {
            // The middle of a long row: lanes fold independently.
#pragma unroll
            for (int i = 0; i < RUN; ++i) held = P::reduce(held, message[i]);
            holds = true;
            continue;
        }
        if (holds) {
#pragma unroll
            for (int d = 16; d; d /= 2) held = P::reduce(held, shuffle_down(ALL, held, d));
            open = P::reduce(open, warp_shuffle(held, 0));
            held = P::identity();
            holds = false;
        }
        const int through = warp_prefix_sum(__popc(ends));
        const u32 mine = through - __popc(ends);
        u32 to = mine;
        Message value = P::identity(), begins = P::identity();
#pragma unroll
        for (int i = 0; i < RUN; ++i) {
            value = P::reduce(value, message[i]);
            if (ends >> i & 1) {
                buffer[swizzled<Message>(to++)] = value;
                value = P::identity();
            }
        }
        if (ends) begins = buffer[swizzled<Message>(mine)];
        // Open results of lanes are joined with the beginnings of the next lanes, up to the first that ends a row.
        const u32 upto = enders & (2u * (1u << lane) - 1u);
        const int from = upto ? 31 - __clz(upto) : 0;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const Message before = shuffle_up(value, d);
            if (lane - d >= from) value = P::reduce(before, value);
        }
        Message brought = shuffle_up(value, 1);
        if (lane == 0) brought = open;
        else if (!(enders & ((1u << lane) - 1u))) brought = P::reduce(open, brought);
        if (ends) buffer[swizzled<Message>(mine)] = P::reduce(brought, begins);
        open = warp_shuffle(value, 31);
        const int total = __shfl_sync(ALL, through, 31);
        __syncwarp();
        if (lane < total) put(put_before + lane, buffer[swizzled<Message>(lane)]);
        if (total > 32) {
#pragma unroll
            for (int k = 1; k < RUN; ++k)
                if (lane + 32 * k < total) put(put_before + lane + 32 * k, buffer[swizzled<Message>(lane + 32 * k)]);
        }
        put_before += total;
        __syncwarp();
    }
    if (holds) {
#pragma unroll
        for (int d = 16; d; d /= 2) held = P::reduce(held, shuffle_down(ALL, held, d));
        open = P::reduce(open, warp_shuffle(held, 0));
    }
    return open;
}

}  // namespace hpgraph
