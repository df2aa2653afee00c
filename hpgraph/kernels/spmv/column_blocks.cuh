// Propagation blocking: a whole product by blocks of columns, in which all gathers are from shared memory.
//
// S. Beamer, K. Asanovic, D. Patterson, "Reducing Pagerank communication via propagation blocking", IPDPS'17, bin
// messages by target. Here the matrix is blocked by source instead: a block of columns, whose part of the vector fits
// shared memory, is multiplied row by row, so that memory traffic is one partial result for each row of a block, not
// one message for each arc. First phase: stretches of a block's arcs, one a warp, fold into partial results. Second
// phase: a warp for each group of rows sums their partial results in shared memory, block after block. Within a block a
// row has one partial result, so no two lanes conflict and no atomics are needed: results are bitwise reproducible.
//
// An arc is 16 bits: its column within the block, and in the highest bit whether it is its row's last in the block.
// The host adds to the struct of spmv.cuh the type Staged, what shared memory holds for a column: the message
// itself if all weights are 1, else the vector's entry.
#pragma once
#include "search.cuh"
#include "stretches.cuh"

namespace hpgraph {

constexpr int GATHERERS = 1024;       // threads of a block of the first phase
constexpr int GROUP = 1024;           // rows whose results one warp sums
constexpr int AT_ONCE = 8;             // columns whose loads a thread has in flight
constexpr int SLOTS = 8;              // loads of partial results in flight
constexpr int FINISHED = 4;           // rows whose properties a lane loads at once
constexpr u16 LAST = 0x8000;

struct Blocks {
    const u16* arcs;
    const u32* first;    // partial results before each stretch, then the total
    const u32* block;    // block of columns of each stretch
    const u32* order;    // columns in the order of the blocks; null for the identity
    const u32* share;    // first stretch of each thread block of the first phase, and the end
    i64 stretches;
    i64 columns;
    i64 per_block;
};

// Entries of a stretch, and their messages from shared memory.
template <class P>
struct BlockEntries {
    struct Held {
        Eight<u16> arc;
        Eight<typename P::Weight> weight;
    };
    const u16* arcs;                     // this lane's arcs
    const typename P::Weight* weights;
    const typename P::Staged* staged;
    const typename P::Gather& gather;    // from shared memory

    __device__ Held fetch(int chunk) const {
        Held held{};
        held.arc = stream_eight(arcs + chunk);
        if constexpr (!P::pattern) held.weight = stream_eight(weights + chunk);
        return held;
    }
    __device__ u32 messages(const Held& held, typename P::Message (&message)[RUN]) const {
        u32 ends = 0;
#pragma unroll
        for (int i = 0; i < RUN; ++i) {
            const u32 column = held.arc.at[i] & (LAST - 1u);
            if constexpr (P::pattern) message[i] = staged[column];
            else message[i] = gather(i64(column), held.weight.at[i], 0);
            ends |= u32(held.arc.at[i] & LAST) >> (15 - i);
        }
        return ends;
    }
};

// Phase 1: each thread block processes its share of the stretches, staging the blocks of columns that these lie in.
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
        const i64 low = lower_bound(blocks.block, t + 1, end, block + 1);  // the first stretch of another block
        __syncthreads();
        const i64 base = block * blocks.per_block;
        for (int i = threadIdx.x; i < blocks.per_block; i += AT_ONCE * GATHERERS) {
            i64 u[AT_ONCE];
            typename P::Staged value[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                // Columns past the last are not read by any arc: clamp.
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
            const i64 lane_at = s * STRETCH + threadIdx.x % 32 * RUN;
            const BlockEntries<P> entries{blocks.arcs + lane_at, P::pattern ? nullptr : weights + lane_at, staged,
                                          staged_gather};
            typename P::Message* const of_stretch = partial + blocks.first[s];
            const typename P::Message left =
                fold_segments<P>(entries, buffer, [=](u32 i, typename P::Message value) { of_stretch[i] = value; });
            if (threadIdx.x % 32 == 0) open[s] = left;
        }
        t = low;
    }
}

// Adds the open results of earlier stretches to rows that began there, in order.
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

// Groups of rows in the second phase: one warp each, or a whole thread block if a group has many partial results, as
// groups of adjacent hubs do.
struct Groups {
    const u32* bounds;   // start of each group's partial results of each block; then the end
    const u32* order;    // groups, those of whole thread blocks first
    i64 groups;
    i64 heavy;           // groups processed by whole thread blocks
    i64 n_blocks;
    i64 rows;
};

// Partial results of a group of rows in flight: SLOTS loads a lane, block after block.
template <class P>
struct Batch {
    typename P::Message value[SLOTS];
    int where[SLOTS];

    // `left`: lanes whose blocks are still to be processed; `at` and `stop`: the warp's range in the current block.
    __device__ void load(const typename P::Message* partial, const u16* row, u32 begins, u32 ends, u32& left, u32& at,
                         u32& stop) {
        const int lane = threadIdx.x % 32;
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
    }
    __device__ void add(typename P::Message* sums) const {
#pragma unroll
        for (int k = 0; k < SLOTS; ++k) {
            if (where[k] >= 0) sums[where[k]] = P::reduce(sums[where[k]], value[k]);
            // The next partial results may belong to another block, with the same rows.
            __syncwarp();
        }
    }
};

// A warp sums the partial results of a group of rows: those of every `step`-th block from `first` on. The next batch is
// loaded while the current one is added.
template <class P>
__device__ void add_group(const typename P::Message* partial, const u16* row, const Groups& groups, i64 group,
                          int first, int step, typename P::Message* sums) {
    const int lane = threadIdx.x % 32;
    for (int i = lane; i < GROUP; i += 32) sums[i] = P::identity();
    __syncwarp();
    for (i64 base = first; base < groups.n_blocks; base += 32 * step) {
        const i64 block = base + lane * step;
        const bool there = block < groups.n_blocks;
        const u32* const at_block = groups.bounds + group * groups.n_blocks + block;
        const u32 begins = there ? at_block[0] : 0, ends = there ? at_block[groups.n_blocks] : 0;
        u32 left = __ballot_sync(ALL, begins < ends);
        u32 at = 0, stop = 0;
        if (!left) continue;
        Batch<P> next;
        next.load(partial, row, begins, ends, left, at, stop);
        bool more = true;
        while (more) {
            const Batch<P> batch = next;
            more = left || at < stop;
            if (more) next.load(partial, row, begins, ends, left, at, stop);
            batch.add(sums);
        }
    }
}

// A lane's rows of a group whose messages are complete: what `finish` needs of several is loaded before the first is
// finished, as its stores would delay later loads.
template <class P, class Finish>
__device__ void finish_rows(i64 base, i64 rows, int first, int step, Finish& finish,
                            const typename P::Message* sums) {
    const int end = int(min(i64(GROUP), rows - base));
    for (int i = first; i < end; i += FINISHED * step) {
        typename Finish::Held held[FINISHED];
#pragma unroll
        for (int k = 0; k < FINISHED; ++k) held[k] = finish.fetch(base + min(i + k * step, end - 1));
#pragma unroll
        for (int k = 0; k < FINISHED; ++k)
            if (i + k * step < end) finish(base + i + k * step, sums[i + k * step], held[k]);
    }
}

// Phase 2: `finish(row, message, fetch(row))` is called once for each row, by the thread block that has summed it.
template <class P, class Finish>
__device__ void finish_groups(const typename P::Message* partial, const u16* row, const Groups& groups,
                              typename P::Message* memory, Finish& finish) {
    const int warp = threadIdx.x / 32;
    typename P::Message* const sums = memory + warp * GROUP;
    if (blockIdx.x < groups.heavy) {
        const i64 group = groups.order[blockIdx.x];
        add_group<P>(partial, row, groups, group, warp, BLOCK / 32, sums);
        __syncthreads();
        for (int i = threadIdx.x; i < GROUP; i += BLOCK)
            for (int w = 1; w < BLOCK / 32; ++w) memory[i] = P::reduce(memory[i], memory[w * GROUP + i]);
        finish_rows<P>(group * GROUP, groups.rows, threadIdx.x, BLOCK, finish, memory);
        return;
    }
    const i64 place = groups.heavy + (blockIdx.x - groups.heavy) * (BLOCK / 32) + warp;
    if (place >= groups.groups) return;
    const i64 group = groups.order[place];
    add_group<P>(partial, row, groups, group, 0, 1, sums);
    finish_rows<P>(group * GROUP, groups.rows, threadIdx.x % 32, 32, finish, sums);
}

// Stores a row's message.
template <class P>
struct Store {
    struct Held {};
    typename P::Message* out;

    __device__ Held fetch(i64) const { return {}; }
    __device__ void operator()(i64 r, typename P::Message value, Held) const { out[r] = value; }
};

template <class P>
__global__ void __launch_bounds__(BLOCK)
add_blocks(const typename P::Message* partial, const u16* row, Groups groups, typename P::Message* out) {
    extern __shared__ uint4 memory[];
    Store<P> store{out};
    finish_groups<P>(partial, row, groups, reinterpret_cast<typename P::Message*>(memory), store);
}

}  // namespace hpgraph
