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

// Vertices of the far pile that a lane examines at once: their loads are independent, and a warp appends those that it
// selects by one atomic. An atomic of the list's tail takes 2 ns, more than all else for 32 vertices (H200).
constexpr int AT_ONCE = 8;

// Append the vertices v[k] with bit k of `mine`; warp-collective.
template <class Index>
__device__ void append_all(u32 mine, const Index (&v)[AT_ONCE], Index* list, u64* tail) {
    const WarpScan scan(__popc(mine));
    if (scan.total == 0) return;
    u64 place = warp_fetch_add(tail, (u64)scan.total) + scan.through - __popc(mine);
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k)
        if (mine >> k & 1) list[place++] = v[k];
}

// The same to the next superstep's queue.
template <class T, class Index>
__device__ void queue_all(u32 mine, const Index (&v)[AT_ONCE], Collector<T, Index>& found) {
    u32 light = 0, heavy = 0;
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) {
        const i64 degree = found.note(mine >> k & 1, mine >> k & 1 ? found.indptr[v[k] + 1] - found.indptr[v[k]] : 0);
        light |= (u32)(degree > 0 && degree <= T::PIECE) << k, heavy |= (u32)(degree > T::PIECE) << k;
    }
    append_all(light, v, found.next.light, &found.tally->light);
    for (; __any_sync(ALL, heavy); heavy &= heavy - 1) {
        const Index one = pick(v, __ffs(heavy) - 1);
        found.add_row(one, heavy ? found.indptr[one + 1] - found.indptr[one] : 0);
    }
}

// Call examine(vertices) for AT_ONCE of `size` vertices of each lane, pile[i], or -1; warp-collective.
template <class Index, class Examine>
__device__ void for_each_of_pile(const Index* pile, u64 size, Examine examine) {
    const u64 threads = (u64)gridDim.x * THREADS, thread = (u64)blockIdx.x * THREADS + threadIdx.x;
    for (u64 first = thread; first - lane_of_warp() < size; first += AT_ONCE * threads) {
        Index v[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) v[k] = first + k * threads < size ? pile[first + k * threads] : -1;
        examine(v);
    }
}

// Split the far pile by the new threshold: near vertices are queued, the others kept. The least value counts as near in
// any case: if the width is below the precision of the values, or the bucket's end beyond their type, the threshold
// would never exceed it.
template <class T, class Program, class Index, class Value>
__device__ void split(const Program& program, const Index* pile, u64 size, u32* queued, u32* waiting, Value below,
                      Value least, Value threshold, Collector<T, Index>& found, Index* kept, u64* kept_tail) {
    for_each_of_pile(pile, size, [&](const Index (&v)[AT_ONCE]) {
        Value value[AT_ONCE];
        u32 keep = 0, joins = 0;
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) value[k] = v[k] >= 0 ? program.p0[v[k]] : Value();
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
            if (v[k] < 0) continue;
            const u32 flag = 1u << (v[k] & 31);
            if (!(value[k] < threshold) && value[k] != least) {
                keep |= 1u << k;
                continue;
            }
            atomicAnd(waiting + (v[k] >> 5), ~flag);
            // Values below the old threshold were queued when they were lowered.
            if (!(value[k] < below)) joins |= (u32)!(atomicOr(queued + (v[k] >> 5), flag) & flag) << k;
        }
        append_all(keep, v, kept, kept_tail);
        queue_all(joins, v, found);
    });
}

// Write the least value in the far pile to `cell`, and the sum of all threads' `mine` to `sum`; complete after a
// barrier.
template <class Program, class Index, class Value>
__device__ void find_least(const Program& program, const Index* pile, u64 size, Value largest, Value* cell, u64 mine,
                           u64* sum) {
    Value least = largest;
    for_each_of_pile(pile, size, [&](const Index (&v)[AT_ONCE]) {
        Value value[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) value[k] = v[k] >= 0 ? program.p0[v[k]] : largest;
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k)
            if (value[k] < least) least = value[k];
    });
    for (int d = 16; d; d >>= 1) {
        const Value other = __shfl_down_sync(ALL, least, d);
        if (other < least) least = other;
    }
    mine = warp_sum(mine);
    if (lane_of_warp() == 0 && least < largest) atomic_least(cell, least);
    if (lane_of_warp() == 0 && mine) atomicAdd(sum, mine);
}

}  // namespace hpgraph
