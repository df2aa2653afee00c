// The buckets of delta-stepping: their width, and the far pile of vertices that wait for a later one.
#pragma once
#include "lowering.cuh"

namespace hpgraph {

// A wide bucket saves supersteps; a narrow one saves repeated arcs, whose source was lowered after it had sent. Both
// are measured in the latency of one chain of dependent loads. A superstep takes at least one such latency; each wave
// of repeated arcs (the number that the grid has in flight) takes another. At the best constant width of sixteen kinds
// of graphs there were between a twentieth and three waves of repeated arcs a superstep: below an eighth the width is
// doubled; above four it is halved, if enough arcs are left that could be repeated. One bucket is enough to halve.
// Doubling takes several, as the first buckets of an expander are nearly empty at any width; but only one after most
// arcs have been sent: the rest belong to a few distant vertices. Arcs sent by one block alone are too few to be
// counted.
template <class Value>
struct BucketWidth {
    static constexpr int MIN_BUCKETS = 8;
    Value width;
    int buckets;
    i64 began;                 // superstep after which the bucket began
    i64 supersteps, repeated;  // of the buckets since the last change
    i64 sent, covered;         // since the beginning: arcs sent, and those that the grid sent for the first time

    // Adapt after a bucket that ended with superstep `step` and repeated `arcs` of the graph's `all` arcs.
    __device__ void adapt(i64 step, i64 arcs, i64 all, Value largest, i64 wave) {
        const i64 steps = step - began + 1;
        began = step;
        const Value half = width / 2;
        ++buckets, supersteps += steps, repeated += arcs, covered -= arcs;
        const i64 left = all - covered;
        if (min(arcs, left) > 4 * steps * wave && half > 0) {
            width = half;
        } else if (buckets < MIN_BUCKETS && 2 * left > all) {
            return;
        } else if (8 * repeated < supersteps * wave && width < largest / 2) {
            width += width;
        }
        buckets = 0, supersteps = repeated = 0;
    }
};

// value + width; `largest` on overflow.
template <class Value>
__device__ Value above(Value value, Value width, Value largest) {
    return value > 0 && largest - value < width ? largest : (Value)(value + width);
}

// Stages in shared memory for vertices to append to the near queue, and to the far pile.
template <class Index>
struct Stages {
    Stage<Index> near, far;
};

// A vertex and whether it sends repeatedly in this bucket, encoded in one word.
template <class Index>
__device__ Index marked(Index v, bool again) {
    return again ? ~v : v;
}
template <class Index>
__device__ bool unmark(Index& v) {
    const bool again = v < 0;
    if (again) v = ~v;
    return again;
}

// Count repeated arcs of a bucket in shared memory; warp-collective.
__device__ inline void note_repeated(u32& repeated, bool again, i64 degree) {
    if (!__any_sync(ALL, again)) return;
    const u32 arcs = (u32)warp_sum(again ? (u64)degree : 0);
    if (lane_of_warp() == 0) atomicAdd(&repeated, arcs);
}

// Flush the stages of all warps, near and far, and finish the collector.
template <class T, class Index>
__device__ void finish_found(Collector<T, Index>& found, Stages<Index>& stages, BlockSums& sums, u32& repeated, Index* far,
                             u64* far_tail) {
    Index near_one = 0, far_one = 0;
    const bool has_near = stages.near.rest(near_one), has_far = stages.far.rest(far_one);
    const bool again = unmark(near_one);
    const i64 degree = found.note(has_near, has_near ? found.indptr[near_one + 1] - found.indptr[near_one] : 0);
    note_repeated(repeated, again, degree);
    found.finish_row(sums, near_one, degree, has_far, far_one, far, far_tail);
}

// End of the next bucket: one width above both the last bucket's end and the least waiting value.
template <class Value>
__device__ Value next_threshold(Value below, Value least, Value width, Value largest) {
    const Value next = above(least, width, largest), end = above(below, width, largest);
    return end < next ? next : end;
}

// Split the far pile by the new threshold: near vertices are queued, the others stay. The least value counts as near in
// any case: if the width is below the precision of the values, or the bucket's end beyond their type, the threshold
// would never exceed it.
template <class Program, class Index, class Value, class Near, class Far>
__device__ void split(const Program& program, const Index* pile, u64 size, u32* queued, u32* waiting, Value below,
                      Value least, Value threshold, Stages<Index>& stages, Near near, Far far) {
    const i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, threads = (i64)gridDim.x * THREADS;
    const int lane = lane_of_warp();
    for (i64 i = thread; i - lane < (i64)size; i += threads) {
        const bool has = i < (i64)size;
        const Index v = has ? pile[i] : 0;
        const Value value = has ? program.p0[v] : Value();
        const bool keep = has && !(value < threshold) && value != least;
        if (has && !keep) atomicAnd(waiting + (v >> 5), ~(1u << (v & 31)));
        // Values below the old threshold were queued when they were lowered.
        const u32 flag = 1u << (v & 31);
        const bool joins = has && !keep && !(value < below) && !(atomicOr(queued + (v >> 5), flag) & flag);
        stages.near.add(joins, v, near);
        stages.far.add(keep, v, far);
    }
}

// Write the least value in the far pile to `cell`, and the sum of all threads' `mine` to `sum`; complete after a
// barrier.
template <class Program, class Index, class Value>
__device__ void find_least(const Program& program, const Index* pile, u64 size, Value largest, Value* cell, u64 mine,
                           u64* sum) {
    Value least = largest;
    for (i64 i = (i64)blockIdx.x * THREADS + threadIdx.x; i < (i64)size; i += (i64)gridDim.x * THREADS) {
        const Value value = program.p0[pile[i]];
        if (value < least) least = value;
    }
    for (int d = 16; d; d >>= 1) {
        const Value other = __shfl_down_sync(ALL, least, d);
        if (other < least) least = other;
    }
    mine = warp_sum(mine);
    if (lane_of_warp() == 0 && least < largest) atomic_least(cell, least);
    if (lane_of_warp() == 0 && mine) atomicAdd(sum, mine);
}

}  // namespace hpgraph
