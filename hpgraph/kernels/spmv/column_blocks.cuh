// A whole product by blocks of columns: no gather leaves the multiprocessor.
//
// Propagation blocking (S. Beamer, K. Asanovic, D. Patterson, "Reducing Pagerank communication via propagation blocking",
// IPDPS'17) turned by a quarter: a block of columns, whose part of the vector fits shared memory, is multiplied row by
// row, so what travels through memory is one partial result for each row a block meets, not one message for each
// arc. First phase: stretches of a block's arcs, one a warp, fold into partial results. Second phase: a warp for each
// group of rows adds up their partial results in shared memory, block after block. Within a block a row has one
// partial result, so no two lanes meet and no atomic operation is needed: results repeat bit for bit.
//
// An arc is 16 bits: its column within the block, and in the highest bit whether it is its row's last in the block.
// The host adds to the struct of spmv.cuh the type Staged, what shared memory holds for a column: the message
// itself where all weights are 1, else the vector's entry.
#pragma once
#include "spmv.cuh"

namespace hpgraph {

using u16 = unsigned short;

constexpr int GATHERERS = 1024;       // threads of a block of the first phase
constexpr int RUN = 8;                // adjacent arcs that a lane folds
constexpr int CHUNK = 32 * RUN;       // arcs a warp takes at once
constexpr int STRETCH = 1024;         // arcs a warp takes one after the other; no stretch lies in two blocks of columns
constexpr int GROUP = 1024;           // rows whose results one warp adds up
constexpr int AT_ONCE = 8;             // columns whose loads a thread has in flight
constexpr int SLOTS = 8;              // loads of partial results in flight
constexpr u16 LAST = 0x8000;

// Where a partial result lies in a warp's buffer: so that lanes that write RUN adjacent ones each meet different banks.
template <class T>
__device__ u32 swizzled(u32 i) { return i ^ (i >> (sizeof(T) == 8 ? 4 : 5) & 7u); }

struct Blocks {
    const u16* arcs;
    const u32* first;    // partial results before each stretch, and of all
    const u32* block;    // block of columns of each stretch
    const u32* order;    // columns in the order of the blocks; null for their own
    const u32* share;    // first stretch of each thread block of the first phase, and the end
    i64 stretches;
    i64 columns;
    i64 per_block;
};

template <class T>
struct Eight {
    T at[RUN];
};

// Eight adjacent values, read once, in as few loads as they fit.
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

template <class T>
__device__ T shuffle_up(T value, int distance) {
    if constexpr (sizeof(T) >= 4) return __shfl_up_sync(ALL, value, distance);
    else return T(__shfl_up_sync(ALL, int(value), distance));
}

template <class T>
__device__ T shuffle(T value, int lane) {
    if constexpr (sizeof(T) >= 4) return __shfl_sync(ALL, value, lane);
    else return T(__shfl_sync(ALL, int(value), lane));
}

// A warp folds one stretch: partial results go out in order, and what is still open at the end is returned.
template <class P>
__device__ typename P::Message fold_stretch_of(const typename P::Gather& staged_gather,
                                               const typename P::Staged* staged, const Blocks& blocks,
                                               const typename P::Weight* weights, i64 t,
                                               typename P::Message* buffer, typename P::Message* partial) {
    using Message = typename P::Message;
    const int lane = threadIdx.x % 32;
    const u16* arcs = blocks.arcs + t * STRETCH + lane * RUN;
    const typename P::Weight* its_weights = P::pattern ? nullptr : weights + t * STRETCH + lane * RUN;
    Message open = P::identity(), held = P::identity();  // from lanes that are done; of each lane by itself
    bool holds = false;
    partial += blocks.first[t];
    Eight<u16> next = stream_eight(arcs);
    Eight<typename P::Weight> next_weight{};
    if constexpr (!P::pattern) next_weight = stream_eight(its_weights);
#pragma unroll 1
    for (int chunk = 0; chunk < STRETCH; chunk += CHUNK) {
        const Eight<u16> arc = next;
        const Eight<typename P::Weight> weight = next_weight;
        if (chunk + CHUNK < STRETCH) {
            next = stream_eight(arcs + chunk + CHUNK);
            if constexpr (!P::pattern) next_weight = stream_eight(its_weights + chunk + CHUNK);
        }
        Message message[RUN];
        u32 ends = 0;
#pragma unroll
        for (int i = 0; i < RUN; ++i) {
            const u32 column = arc.at[i] & (LAST - 1u);
            if constexpr (P::pattern) message[i] = staged[column];
            else message[i] = staged_gather(i64(column), weight.at[i], 0);
            ends |= u32(arc.at[i] & LAST) >> (15 - i);
        }
        const u32 enders = __ballot_sync(ALL, ends != 0);
        if (enders == 0) {
            // The middle of a long row: each lane goes on by itself.
#pragma unroll
            for (int i = 0; i < RUN; ++i) held = P::reduce(held, message[i]);
            holds = true;
            continue;
        }
        if (holds) {
#pragma unroll
            for (int d = 16; d; d /= 2) held = P::reduce(held, shuffle_down(ALL, held, d, 32));
            open = P::reduce(open, shuffle(held, 0));
            held = P::identity();
            holds = false;
        }
        int through = __popc(ends);
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const int before = __shfl_up_sync(ALL, through, d);
            if (lane >= d) through += before;
        }
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
        // What lanes leave open joins what the lanes after them begin with, up to the first that ends a row.
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
        open = shuffle(value, 31);
        const int total = __shfl_sync(ALL, through, 31);
        __syncwarp();
        if (lane < total) partial[lane] = buffer[swizzled<Message>(lane)];
        if (total > 32) {
#pragma unroll
            for (int k = 1; k < RUN; ++k)
                if (lane + 32 * k < total) partial[lane + 32 * k] = buffer[swizzled<Message>(lane + 32 * k)];
        }
        partial += total;
        __syncwarp();
    }
    if (holds) {
#pragma unroll
        for (int d = 16; d; d /= 2) held = P::reduce(held, shuffle_down(ALL, held, d, 32));
        open = P::reduce(open, shuffle(held, 0));
    }
    return open;
}

// Phase 1: each thread block takes its share of the stretches, and loads the blocks of columns that it meets.
template <class P>
__global__ void __launch_bounds__(GATHERERS, 1)
gather_blocks(typename P::Gather gather, Blocks blocks, const typename P::Weight* weights,
              typename P::Message* partial, typename P::Message* open) {
    extern __shared__ uint4 memory[];
    typename P::Staged* staged = reinterpret_cast<typename P::Staged*>(memory);
    typename P::Message* buffer =
        reinterpret_cast<typename P::Message*>(staged + blocks.per_block) + threadIdx.x / 32 * CHUNK;
    typename P::Gather staged_gather = gather;
    if constexpr (!P::pattern) staged_gather.s0 = staged;
    const i64 end = blocks.share[blockIdx.x + 1];
    for (i64 t = blocks.share[blockIdx.x]; t < end;) {
        const u32 block = blocks.block[t];
        i64 low = t + 1, high = end;  // the first stretch of another block lies among these
        while (low < high) {
            const i64 middle = (low + high) / 2;
            if (blocks.block[middle] == block) low = middle + 1;
            else high = middle;
        }
        __syncthreads();
        const i64 base = block * blocks.per_block;
        for (int i = threadIdx.x; i < blocks.per_block; i += AT_ONCE * GATHERERS) {
            i64 u[AT_ONCE];
            typename P::Staged value[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                // Past the last column any will do: no arc asks for it.
                u[k] = min(base + i + k * GATHERERS, blocks.columns - 1);
                if (blocks.order) u[k] = blocks.order[u[k]];
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                if constexpr (P::pattern) value[k] = gather(u[k], typename P::Weight(1), 0);
                else value[k] = gather.s0[u[k]];
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) staged[i + k * GATHERERS] = value[k];
        }
        __syncthreads();
        for (i64 s = t + threadIdx.x / 32; s < low; s += GATHERERS / 32) {
            const typename P::Message left = fold_stretch_of<P>(staged_gather, staged, blocks, weights, s, buffer, partial);
            if (threadIdx.x % 32 == 0) open[s] = left;
        }
        t = low;
    }
}

// Rows that began in earlier stretches get what was left open there, in order.
template <class P>
__global__ void __launch_bounds__(BLOCK) join_stretches(Blocks blocks, const typename P::Message* open,
                                                        typename P::Message* partial) {
    const i64 t = i64(blockIdx.x) * BLOCK + threadIdx.x;
    if (t == 0 || t >= blocks.stretches) return;
    const u32 block = blocks.block[t], where = blocks.first[t];
    if (blocks.first[t + 1] == where || blocks.block[t - 1] != block) return;
    i64 s = t - 1;
    typename P::Message value = open[s];
    while (blocks.first[s + 1] == blocks.first[s] && s > 0 && blocks.block[s - 1] == block) {
        --s;
        value = P::reduce(open[s], value);
    }
    partial[where] = P::reduce(value, partial[where]);
}

// A warp adds up the partial results of a group of rows, block after block, SLOTS loads at a time.
template <class P>
__device__ void add_group(const typename P::Message* partial, const u16* row, const u32* bounds, i64 group,
                          i64 n_blocks, typename P::Message* sums) {
    const int lane = threadIdx.x % 32;
    for (int i = lane; i < GROUP; i += 32) sums[i] = P::identity();
    __syncwarp();
    for (i64 base = 0; base < n_blocks; base += 32) {
        const i64 b = group * n_blocks + base + lane;
        const bool there = base + lane < n_blocks;
        const u32 begins = there ? bounds[b] : 0, ends = there ? bounds[b + n_blocks] : 0;
        u32 left = __ballot_sync(ALL, begins < ends);
        u32 at = 0, stop = 0;
        while (left || at < stop) {
            typename P::Message value[SLOTS];
            int where[SLOTS];
#pragma unroll
            for (int k = 0; k < SLOTS; ++k) {
                if (at >= stop && left) {
                    const int from = __ffs(left) - 1;
                    left &= left - 1;
                    at = __shfl_sync(ALL, begins, from);
                    stop = __shfl_sync(ALL, ends, from);
                }
                where[k] = -1;
                if (at < stop && at + lane < stop) {
                    where[k] = __ldcs(row + at + lane);
                    value[k] = stream(partial + at + lane);
                }
                at += 32;
            }
#pragma unroll
            for (int k = 0; k < SLOTS; ++k) {
                if (where[k] >= 0) sums[where[k]] = P::reduce(sums[where[k]], value[k]);
                // The next ones may be of another block, and meet the same rows.
                __syncwarp();
            }
        }
    }
}

// Phase 2: `bounds` has for each group, and for the end, where its partial results of each block begin.
template <class P>
__global__ void __launch_bounds__(BLOCK)
add_blocks(const typename P::Message* partial, const u16* row, const u32* bounds, i64 groups, i64 n_blocks, i64 rows,
           typename P::Message* out) {
    extern __shared__ uint4 memory[];
    typename P::Message* sums = reinterpret_cast<typename P::Message*>(memory) + threadIdx.x / 32 * GROUP;
    const i64 group = i64(blockIdx.x) * (BLOCK / 32) + threadIdx.x / 32;
    if (group >= groups) return;
    add_group<P>(partial, row, bounds, group, n_blocks, sums);
    for (int i = threadIdx.x % 32; i < GROUP && group * GROUP + i < rows; i += 32) out[group * GROUP + i] = sums[i];
}

}  // namespace hpgraph
