// Top-down search by one thread block cluster, for graphs whose frontiers are all small: road networks, lattices.
//
// Each block keeps its part of the frontier, with the rows of its vertices, in shared memory. While the parts are even,
// a block queues the vertices it discovers in its own part: between the cluster barrier and the loads of arcs it reads
// no other block's memory and computes no prefix sum. When the parts become uneven, each warp queues the vertices it
// discovers in another block's shared memory, round-robin. In dense graphs a warp distributes vertices of many arcs over
// all blocks. Sums over the blocks arrive one superstep late, so that no barrier waits for them: at the end two
// supersteps run without a vertex. If a part overflows, the search ends, and the host restarts it with `traverse`.
#pragma once
#include "traversal.cuh"

namespace hpgraph {

constexpr int CLUSTER = 16;
// Capacity in vertices of a block's part of the frontier, and the size of the largest part up to which parts count as
// even.
template <class Index>
constexpr u32 PART_ROOM = sizeof(Index) == 4 ? 1024 : 512;
constexpr u32 EVEN = 128;
// In graphs of a mean degree above DENSE, a warp that discovers vertices of more than SCATTERED arcs in total queues
// each of them in another block.
constexpr i64 DENSE = 8;
constexpr u32 SCATTERED = 512;

// A queued vertex and its row.
template <class Index>
struct QueuedRow {
    Index vertex;
    int degree;
    i64 start;
};

// Tally of a frontier. `light` is the tail of a block's part or, in the tally of all parts, the longest part's.
struct PartTally {
    u32 light, count, arcs;
};

template <class Index>
struct FrontierPart {
    PartTally own[3];  // one read, one filled, one cleared
    PartTally all[3];  // the same, one superstep later
    QueuedRow<Index> rows[2][PART_ROOM<Index>];
};

#if __CUDA_ARCH__ >= 900
// Cluster barrier: writes before it, to shared and to global memory, are visible after it.
__device__ inline void wait_for_cluster() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// Cluster barrier that does not wait for stores to global memory: data for another block must be written by atomics,
// and their results awaited.
__device__ inline void meet_cluster() {
    __syncthreads();
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}
// Address in another block's shared memory of an object in this block's.
template <class Value>
__device__ Value* of_block(Value* own, u32 rank) {
    Value* there;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(own), "r"(rank));
    return there;
}
#define HPGRAPH_IN_CLUSTER __cluster_dims__(CLUSTER, 1, 1)
#else
// Never launched on these devices.
__device__ inline void wait_for_cluster() { __trap(); }
__device__ inline void meet_cluster() {}
template <class Value>
__device__ Value* of_block(Value* own, u32) { return own; }
#define HPGRAPH_IN_CLUSTER
#endif

template <class T, class Program, class Index, class Weight>
struct ClusterTraversal {
    const Program& program;
    const Arcs<Index, Weight>& out;
    u32* settled;
    FrontierPart<Index>& part;
    u32 rank;
    bool scatters;  // whether the graph is dense

    // Warp-collective: queue the vertices with `mine` for superstep `step`, in this block's part or in another's.
    template <int size>
    __device__ void add(const bool (&mine)[size], const QueuedRow<Index> (&rows)[size], i64 step, bool even) {
        u32 votes = 0, total = 0, before = 0, arcs = 0;
        bool queued[size];
#pragma unroll
        for (int k = 0; k < size; ++k) {
            queued[k] = mine[k] && rows[k].degree;
            const u32 light = __ballot_sync(ALL, queued[k]);
            votes += __popc(__ballot_sync(ALL, mine[k]));
            before += __popc(light & lanes_below()), total += __popc(light);
            if (mine[k]) arcs += rows[k].degree;
        }
        if (!votes) return;
        FrontierPart<Index>* target = &part;
        if (!even) target = of_block(target, (rank + (threadIdx.x >> 5) + (u32)step) % CLUSTER);
        arcs = (u32)warp_sum((u64)arcs);
        u32 base = 0;
        if (scatters && arcs > SCATTERED) {
#pragma unroll
            for (int k = 0; k < size; ++k)
                if (queued[k]) {
                    FrontierPart<Index>* const there = of_block(&part, (rank + before++) % CLUSTER);
                    PartTally& tally = there->own[(u32)step % 3];
                    base = atomicAdd(&tally.light, 1), atomicAdd(&tally.arcs, rows[k].degree);
                    if (base < PART_ROOM<Index>) there->rows[step & 1][base] = rows[k];
                }
            if (lane_of_warp() == 0) atomicAdd(&part.own[(u32)step % 3].count, votes);
            return;
        }
        if (lane_of_warp() == 0) {
            if (even) base = atomicAdd(&part.own[(u32)step % 3].light, total);
            else base = atomicAdd(&target->own[(u32)step % 3].light, total);
            atomicAdd(&part.own[(u32)step % 3].count, votes), atomicAdd(&part.own[(u32)step % 3].arcs, arcs);
        }
        base = __shfl_sync(ALL, base, 0) + before;
#pragma unroll
        for (int k = 0; k < size; ++k)
            if (queued[k]) {
                if (base < PART_ROOM<Index>) {
                    if (even) part.rows[step & 1][base] = rows[k];
                    else target->rows[step & 1][base] = rows[k];
                }
                ++base;
            }
    }

    __device__ QueuedRow<Index> row(Index v) const {
        const i64 start = out.indptr[v];
        return {v, (int)(out.indptr[v + 1] - start), start};
    }

    __device__ void begin(const Sources<Index>& sources, const u32* no_in_arcs, i64 n) {
        if (threadIdx.x < 3) part.own[threadIdx.x] = part.all[threadIdx.x] = PartTally{0, 0, 0};
        fill_words(program, no_in_arcs, 0, (n + 31) / 32, n, [&](i64 word, u32 bits) { settled[word] = bits; });
        wait_for_cluster();
        for (i64 i = (i64)blockIdx.x * THREADS + threadIdx.x; i - lane_of_warp() < sources.count; i += gridDim.x * THREADS) {
            const bool mine[1] = {i < sources.count};
            QueuedRow<Index> rows[1] = {};
            if (mine[0]) {
                rows[0] = row(sources[i]);
                program.start(rows[0].vertex);
                atomicOr(settled + (rows[0].vertex >> 5), 1u << (rows[0].vertex & 31));
            }
            add(mine, rows, 1, true);
        }
        wait_for_cluster();
    }

    // Add this block's tally to the common tally of every block. The caller waits for the result.
    __device__ u32 tell(const PartTally& own, i64 step) {
        if (threadIdx.x >= CLUSTER || !(own.count | own.light)) return 0;
        PartTally* const there = of_block(&part.all[(u32)step % 3], threadIdx.x);
        return atomicAdd(&there->count, own.count) | atomicAdd(&there->arcs, own.arcs) | atomicMax(&there->light, own.light);
    }

    __device__ void push(const PartTally& own, i64 step, bool even) {
        const QueuedRow<Index>* const queue = part.rows[step & 1];
        for_each_arc_of_few<T::BATCH, Index>(min(own.light, PART_ROOM<Index>), own.arcs, threadIdx.x, THREADS, [&](u32 i) {
            const QueuedRow<Index> mine = queue[i];
            return Row<Index>{mine.vertex, mine.start, mine.degree};
        }, [&](const Batch<Index, T::BATCH>& batch) {
            Index v[T::BATCH];
            QueuedRow<Index> rows[T::BATCH];
            bool mine[T::BATCH];
            // Load row pointers together with the bits of vertices, not after them.
            const u32 claimed = claim(program, out, settled, batch, v, [&](int k) {
                rows[k] = batch.live[k] ? row(v[k]) : QueuedRow<Index>{};
            });
#pragma unroll
            for (int k = 0; k < T::BATCH; ++k) {
                mine[k] = claimed >> k & 1;
                if (mine[k]) {
                    asm volatile("prefetch.global.L2 [%0];" ::"l"(out.indices + rows[k].start));
                    const i64 j = batch.arc[k];
                    mine[k] = program.receive(v[k], program.gather(batch.source[k], out.weight(j), v[k]), step);
                }
            }
            add(mine, rows, step + 1, even);
        });
    }

    __device__ void run(const Policy& policy, const Trace& trace) {
        trace.begin();
        i64 step = 1, thin = 0;
        PartTally all{0, 0, 0};
        bool fits = true;
        for (;; ++step) {
            const PartTally own = part.own[(u32)step % 3];
            if (step > 1) {
                all = part.all[(u32)(step - 1) % 3];
                // Not step > limit + 1: the limit may be the largest integer.
                const bool ends = step - 1 > policy.limit;
                fits = ends || all.light <= PART_ROOM<Index>;
                if (!all.count || !fits || ends) break;
                trace.add(step - 1, PUSH, all.count, all.arcs);
                thin += all.arcs <= THIN;
            }
            if (threadIdx.x == 0) part.own[(u32)(step + 2) % 3] = part.all[(u32)(step + 1) % 3] = PartTally{0, 0, 0};
            const u32 told = tell(own, step);
            const bool even = all.light <= EVEN || all.light * CLUSTER * 2 <= all.count * 3;
            if (step <= policy.limit) push(own, step, even);
            asm volatile("" ::"r"(told));
            // While parts are even and nothing is scattered, a block reads only its own writes and sums.
            if (even && !scatters) meet_cluster();
            else wait_for_cluster();
        }
        // A block must not end while another may write to its shared memory.
        wait_for_cluster();
        trace.end(step - 2, !fits);
        if (trace.is_writer()) policy.local.report(thin), policy.local.to_host[2] = step - 2;
    }
};

// Alternative to `traverse` by one cluster. Reports 1 active vertex if `traverse` must run instead.
template <class Program, class Index, class Weight, class T = Techniques<>>
__global__ void HPGRAPH_IN_CLUSTER __launch_bounds__(THREADS, 1)
traverse_in_cluster(const Program program, const i64 n, const Arcs<Index, Weight> out, const Sources<Index> sources,
                    const Policy policy, const u32* no_in_arcs, u32* settled, const Trace trace) {
    __shared__ FrontierPart<Index> part;
    ClusterTraversal<T, Program, Index, Weight> traversal{program, out, settled, part, blockIdx.x,
                                                           policy.arcs > n * DENSE};
    traversal.begin(sources, no_in_arcs, n);
    traversal.run(policy, trace);
}

}  // namespace hpgraph
