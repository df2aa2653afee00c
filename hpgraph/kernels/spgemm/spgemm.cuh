// The product of two sparse matrices over a semiring, row by row: C[i, :] = sum over k of A[i, k] (x) B[k, :].
//
// A warp computes a row (F. G. Gustavson, ACM TOMS 4(3), 1978) in two passes: the symbolic one counts its entries, the
// numeric one computes them in place. The sparse accumulator of a row of up to MAX pairs is a hash table in shared
// memory, of the least sufficient size (after Y. Nagasaka, A. Nukada, S. Matsuoka, "High-performance and memory-saving
// sparse general matrix-matrix multiplication for NVIDIA Pascal GPU", ICPP'17), sorted there. Longer rows are processed
// by windows: a window is a range of columns with a bitmap in shared memory, and the rank of a bit (popcount) is the
// position of its entry. Very long rows are several tasks, each a range of columns.
//
// The pairs of a row are assigned to the lanes 32 at a time in the order of A's entries. Lanes that hold the same
// column reduce their values first, in their order, and no other warp writes there: no sum uses atomics, and results
// are bitwise reproducible.
//
// The host writes before this text a struct that describes the product:
//
//     struct Multiply {
//     types A, B, C, Index; constants reads_a, reads_b, excludes (the mask excludes entries), within (it selects them)
//         static C product(A a, B b, i64 i, i64 k, i64 j), reduce(C a, C b), identity()
//     };
#pragma once
#include "hash_rows.cuh"
#include "window_rows.cuh"

namespace hpgraph {

constexpr int THREADS = 256;
// Maximum number of pairs of a row for a hash table; slots of the smallest table; the kind of rows by windows, and the
// number of kinds.
constexpr i64 MAX = 1024;
constexpr u32 MIN = 64;
constexpr int WINDOWED = 6;
constexpr int KINDS = 7;
// Pairs of one task of a long row.
constexpr i64 SHARE = 32768;

// Pairs of each row, and its number of tasks.
template <class M>
__global__ void __launch_bounds__(THREADS) count_pairs(Factors<M> f, i64 rows, i64 windows, i64* pairs, i64* tasks) {
    const i64 row = (i64(blockIdx.x) * THREADS + threadIdx.x) / 32;
    if (row >= rows) return;
    i64 sum = 0;
    for (i64 p = f.a_indptr[row] + threadIdx.x % 32; p < f.a_indptr[row + 1]; p += 32) {
        const i64 k = f.a_indices[p];
        sum += f.b_indptr[k + 1] - f.b_indptr[k];
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32) return;
    if constexpr (M::within) {
        if (f.mask_indptr[row] == f.mask_indptr[row + 1]) sum = 0;
    }
    const i64 shares = (sum + SHARE - 1) / SHARE;
    pairs[row] = sum;
    tasks[row] = sum > MAX ? (shares < windows ? shares : windows) : sum > 0;
}

// The kind of a task: a table of MIN << kind slots, or windows; -1 if it is empty.
__device__ inline int kind_of(i64 pairs, i64 size) {
    if (size == 0) return -1;
    if (pairs > MAX) return WINDOWED;
    int kind = 0;
    while ((i64(MIN) << kind) < 2 * size) ++kind;
    return kind;
}

// Sorts the tasks by kind: first counts them, in `totals`; then lists them, from `starts` on. `sizes` has the number of
// entries of each task; null if not yet known.
template <bool LIST>
__global__ void __launch_bounds__(THREADS) sort_tasks(const i64* pairs, const i64* first_task, i64 rows, i64 columns,
                                                      const i64* sizes, const i64* starts, u64* totals, i64* list,
                                                      i64* task_row) {
    __shared__ u32 here[KINDS];
    __shared__ u64 base[KINDS];
    if (threadIdx.x < KINDS) here[threadIdx.x] = 0;
    __syncthreads();
    const i64 row = i64(blockIdx.x) * THREADS + threadIdx.x;
    const i64 begin = row < rows ? first_task[row] : 0, end = row < rows ? first_task[row + 1] : 0;
    const i64 most = row < rows ? pairs[row] : 0;
    // A row is one task, or several by windows: count all of its kind at once.
    u32 place = 0, count = 0;
    int kind = -1;
    for (i64 task = begin; task < end; ++task) {
        const int its = kind_of(most, sizes ? sizes[task] : most < columns ? most : columns);
        if (its >= 0) {
            kind = its;
            ++count;
        }
    }
    if (count) place = atomicAdd(here + kind, count);
    __syncthreads();
    if (threadIdx.x < KINDS && here[threadIdx.x])
        base[threadIdx.x] = atomicAdd(totals + threadIdx.x, u64(here[threadIdx.x]));
    if constexpr (LIST) {
        __syncthreads();
        for (i64 task = begin; task < end; ++task) {
            if (task_row) task_row[task] = row;
            if (!sizes || sizes[task]) list[starts[kind] + i64(base[kind]) + place++] = task;
        }
    }
}

}  // namespace hpgraph
