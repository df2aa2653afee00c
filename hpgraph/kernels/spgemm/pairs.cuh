// Load balancing within a warp: the pairs A[i, k], B[k, j] of one row of a matrix product are assigned to the lanes, 32
// at a time in the order of A's entries, for any lengths of B's rows. Lanes that hold the same column reduce their
// values first, in the order of the lanes: such a sum needs no atomics and is bitwise reproducible.
#pragma once
#include "search.cuh"
#include "warp.cuh"

namespace hpgraph {

__device__ inline i64 warp_min(i64 x) {
    for (int offset = 16; offset; offset /= 2) {
        const i64 other = __shfl_xor_sync(ALL, x, offset);
        if (other < x) x = other;
    }
    return x;
}

template <class M>
struct Factors {
    typedef typename M::Index Index;
    const i64* a_indptr;
    const Index* a_indices;
    const typename M::A* a_data;
    const i64* b_indptr;
    const Index* b_indices;
    const typename M::B* b_data;
    const i64* mask_indptr;
    const Index* mask_indices;

    __device__ bool allows(i64 i, i64 j) const {
        if constexpr (!M::excludes && !M::within) return true;
        else {
            const i64 end = mask_indptr[i + 1], at = lower_bound(mask_indices, mask_indptr[i], end, j);
            return (at < end && mask_indices[at] == j) == M::within;
        }
    }
    // Contribution of entry p of A and entry q of B to C[i, j].
    __device__ typename M::C product(i64 i, i64 p, i64 k, i64 q, i64 j) const {
        typename M::A a = typename M::A(1);
        typename M::B b = typename M::B(1);
        if constexpr (M::reads_a) a = a_data[p];
        if constexpr (M::reads_b) b = b_data[q];
        return M::product(a, b, i, k, j);
    }
};

// The entries of B's row k that a task processes: all of them.
struct WholeRows {
    const i64* indptr;
    __device__ void operator()(i64, i64 k, i64& begin, u32& length) const {
        begin = indptr[k];
        length = u32(indptr[k + 1] - begin);
    }
};

// Assigns the pairs of a row to the lanes: calls use(has a pair, p, k, q, lane that read p) for entries p of A and q of
// B; `range` selects entries of B's row. Warp-collective, including the calls of `use`.
template <class M, class Range, class Use>
__device__ __forceinline__ void for_pairs(const Factors<M>& f, i64 row, Range range, Use use) {
    const int lane = threadIdx.x & 31;
    const i64 first = f.a_indptr[row], last = f.a_indptr[row + 1];
    for (i64 base = first; base < last; base += 32) {
        i64 k = 0, begin = 0;
        u32 length = 0;
        if (base + lane < last) {
            k = f.a_indices[base + lane];
            range(base + lane - first, k, begin, length);
        }
        const u32 upto = warp_prefix_sum(length), total = __shfl_sync(ALL, upto, 31);
        for (u32 at = 0; at < total; at += 32) {
            const u32 mine = at + lane;
            // The first lane whose pairs end beyond this one.
            int owner = 0;
#pragma unroll
            for (int step = 16; step; step /= 2)
                if (__shfl_sync(ALL, upto, owner + step - 1) <= mine) owner += step;
            const u32 start = __shfl_sync(ALL, upto - length, owner);
            const i64 q = __shfl_sync(ALL, begin, owner) + (mine - start);
            const i64 its_k = __shfl_sync(ALL, k, owner);
            use(mine < total, base + owner, its_k, q, owner);
        }
    }
}

// Reduces the values of lanes with the same column, in the order of the lanes. Returns true in the first of them, which
// receives the result.
template <class M>
__device__ __forceinline__ bool join_lanes(bool valid, int owner, typename M::Index j, typename M::C& value) {
    // Rows of B are free of duplicates.
    const int first_owner = __shfl_sync(ALL, owner, 0);
    if (__all_sync(ALL, !valid || owner == first_owner)) return valid;
    const int lane = threadIdx.x & 31;
    u32 same;
    if constexpr (sizeof(j) == 4) same = __match_any_sync(ALL, valid ? u32(j) : ~0u);
    else same = __match_any_sync(ALL, valid ? u64(j) : ~0ull);
    const bool leads = valid && __ffs(same) - 1 == lane;
    u32 rest = leads ? same & ~(1u << lane) : 0;
    while (__any_sync(ALL, rest != 0)) {
        const typename M::C other = warp_shuffle(value, rest ? __ffs(rest) - 1 : lane);
        if (rest) {
            value = M::reduce(value, other);
            rest &= rest - 1;
        }
    }
    return leads;
}

}  // namespace hpgraph
