// The product of two sparse matrices at the places of a mask, by dot products: place (i, j) gets the sum over k of
// A[i, k] (x) B[k, j], B being given by its transpose, whose row j lists those k.
//
// Row i of A is set in a bit filter in shared memory, and the entries of row j of the transpose are looked up there; where
// row j is much the longer one, its entries are searched for those of row i instead. The filter keeps k modulo its size: a
// bit that is set is confirmed by a search, except where the filter has room for all and only the count matters. The entries
// to look at for 32 places are dealt to the lanes in order, and each lane then joins what was found for its place, in
// order of k: results repeat bit for bit.
//
// Rows of A up to SHORT entries take a warp; the mask's places of longer ones are cut in tasks of PIECE, a block each, whose
// warps take 32 places at a time.
//
// The host writes a struct Multiply before this text, as for mxm.cuh, with a constant `counts` (1 for each pair, summed)
// and a type Count besides, which holds the entries of 32 rows.
#pragma once
#include "pairs.cuh"

namespace hpgraph {

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr i64 SHORT = 64;
constexpr i64 PIECE = 1024;
constexpr u32 SHORT_BITS = 4096;
// What a step of a search costs, in entries looked up.
constexpr i64 STEP = 4;

// Whether to search a list of `many` for `few` entries, rather than look all of the many up.
__device__ inline bool pays_to_search(i64 few, i64 many) { return few * STEP * (64 - __clzll(many)) < many; }

template <class M>
struct Operands {
    typedef typename M::Index Index;
    const i64* mask_indptr;
    const Index* mask_indices;
    const i64* a_indptr;
    const Index* a_indices;
    const typename M::A* a_data;
    const i64* b_indptr;  // of the transpose of B
    const Index* b_indices;
    const typename M::B* b_data;
};

// Row i of A, and the filter that holds its k.
template <class M>
struct Row {
    typedef typename M::Index Index;
    i64 i, begin, end;
    u32* filter;
    u32 mask;
    bool exact;

    __device__ void set(Index k) const { atomicOr(filter + ((u32(k) & mask) >> 5), 1u << (u32(k) & 31)); }
    __device__ void clear(Index k) const { filter[(u32(k) & mask) >> 5] = 0; }
    __device__ bool may_hold(Index k) const { return filter[(u32(k) & mask) >> 5] >> (u32(k) & 31) & 1; }
};

// Compute up to 32 places of the mask, from `base` to `end`; all lanes of the warp call it.
template <class M>
__device__ __forceinline__ void dots(const Operands<M>& f, const Row<M>& row, i64 base, i64 end, typename M::C* values,
                                     bool* found) {
    typedef typename M::Index Index;
    typedef typename M::C C;
    typedef typename M::Count Count;
    const int lane = threadIdx.x & 31;
    const i64 at = base + lane;
    i64 j = 0, begin = 0;
    Count length = 0;
    if (at < end) {
        j = f.mask_indices[at];
        begin = f.b_indptr[j];
        length = Count(f.b_indptr[j + 1] - begin);
    }
    const bool searches = pays_to_search(row.end - row.begin, length);
    const Count looks = searches ? Count(row.end - row.begin) : length;
    Count upto = looks;
    for (int offset = 1; offset < 32; offset *= 2) {
        const Count before = __shfl_up_sync(ALL, upto, offset);
        if (lane >= offset) upto += before;
    }
    const Count start = upto - looks, total = __shfl_sync(ALL, upto, 31);
    const u32 search_lanes = __ballot_sync(ALL, searches);
    C value = M::identity();
    bool met = false;
    i64 count = 0;
    for (Count first = 0; first < total; first += 32) {
        const Count mine = first + lane;
        int owner = 0;
#pragma unroll
        for (int step = 16; step; step /= 2)
            if (__shfl_sync(ALL, upto, owner + step - 1) <= mine) owner += step;
        const i64 its_begin = __shfl_sync(ALL, begin, owner);
        const Count its_length = __shfl_sync(ALL, length, owner), order = mine - __shfl_sync(ALL, start, owner);
        const bool by_search = search_lanes >> owner & 1;
        i64 its_j = 0;
        if constexpr (!M::counts) its_j = __shfl_sync(ALL, j, owner);
        bool hit = false;
        C sent = C();
        if (mine < total) {
            i64 p = row.begin, q = its_begin;
            Index k;
            if (by_search) {
                p += order;
                k = f.a_indices[p];
                q = lower_bound(f.b_indices, its_begin, its_begin + its_length, k);
                hit = q < its_begin + its_length && f.b_indices[q] == k;
            } else {
                q += order;
                k = f.b_indices[q];
                hit = row.may_hold(k);
                if (hit && (M::reads_a || !row.exact)) {
                    p = lower_bound(f.a_indices, row.begin, row.end, k);
                    hit = p < row.end && f.a_indices[p] == k;
                }
            }
            if (!M::counts && hit) {
                typename M::A a = typename M::A(1);
                typename M::B b = typename M::B(1);
                if constexpr (M::reads_a) a = f.a_data[p];
                if constexpr (M::reads_b) b = f.b_data[q];
                sent = M::product(a, b, row.i, k, its_j);
            }
        }
        // Of these 32, those from start to upto are this lane's.
        const u32 hits = __ballot_sync(ALL, hit);
        const u32 below = upto >= first + 32 ? ALL : upto <= first ? 0 : (1u << (upto - first)) - 1;
        const u32 before = start >= first + 32 ? ALL : start <= first ? 0 : (1u << (start - first)) - 1;
        u32 own = hits & below & ~before;
        if constexpr (M::counts) count += __popc(own);
        else {
            met |= own != 0;
            while (__any_sync(ALL, own != 0)) {
                const C other = shuffle(sent, own ? __ffs(own) - 1 : lane);
                if (own) {
                    value = M::reduce(value, other);
                    own &= own - 1;
                }
            }
        }
    }
    if (at < end) {
        if constexpr (M::counts) values[at] = C(count);
        else values[at] = value;
        found[at] = M::counts ? count > 0 : met;
    }
}

// A warp for each row of the mask whose row of A is short; the others are listed as tasks: row, and first place. `tasks`
// counts them and starts at 0. Places of rows where A has nothing are written here.
template <class M>
__global__ void __launch_bounds__(THREADS) dot_short(Operands<M> f, i64 rows, bool exact, typename M::Index* task_row,
                                                     i64* task_begin, u64* tasks, typename M::C* values, bool* found) {
    __shared__ u32 filters[WARPS][SHORT_BITS / 32];
    const int lane = threadIdx.x & 31;
    u32* const filter = filters[threadIdx.x / 32];
    const i64 i = (i64(blockIdx.x) * THREADS + threadIdx.x) / 32;
    if (i >= rows) return;
    const i64 begin = f.mask_indptr[i], end = f.mask_indptr[i + 1];
    const Row<M> row{i, f.a_indptr[i], f.a_indptr[i + 1], filter, SHORT_BITS - 1, exact};
    if (begin == end) return;
    if (row.begin == row.end) {
        for (i64 m = begin + lane; m < end; m += 32) found[m] = false;
        return;
    }
    if (row.end - row.begin > SHORT || end - begin > PIECE) {
        const i64 pieces = (end - begin + PIECE - 1) / PIECE;
        u64 place = 0;
        if (lane == 0) place = atomicAdd(tasks, u64(pieces));
        place = __shfl_sync(ALL, place, 0);
        for (i64 piece = lane; piece < pieces; piece += 32) {
            task_row[place + piece] = typename M::Index(i);
            task_begin[place + piece] = begin + piece * PIECE;
        }
        return;
    }
    for (u32 w = lane; w < SHORT_BITS / 32; w += 32) filter[w] = 0;
    __syncwarp();
    for (i64 p = row.begin + lane; p < row.end; p += 32) row.set(f.a_indices[p]);
    __syncwarp();
    for (i64 base = begin; base < end; base += 32) dots(f, row, base, end, values, found);
}

// The tasks that dot_short listed. Dynamic shared memory: a filter of `bits` bits, a power of two. `next` starts at 0.
template <class M>
__global__ void __launch_bounds__(THREADS) dot_long(Operands<M> f, u32 bits, bool exact,
                                                    const typename M::Index* task_row, const i64* task_begin,
                                                    const u64* tasks, u64* next, typename M::C* values, bool* found) {
    extern __shared__ u32 filter[];
    __shared__ u64 task;
    __shared__ u32 batch;
    const int lane = threadIdx.x & 31;
    for (u32 w = threadIdx.x; w < bits / 32; w += THREADS) filter[w] = 0;
    for (;;) {
        // Everyone is done with the last task's filter, and has read its number.
        __syncthreads();
        if (threadIdx.x == 0) {
            task = atomicAdd(next, u64(1));
            batch = 0;
        }
        __syncthreads();
        if (task >= *tasks) break;
        const i64 i = task_row[task], begin = task_begin[task], row_end = f.mask_indptr[i + 1];
        const i64 end = begin + PIECE < row_end ? begin + PIECE : row_end;
        const Row<M> row{i, f.a_indptr[i], f.a_indptr[i + 1], filter, bits - 1, exact};
        for (i64 p = row.begin + threadIdx.x; p < row.end; p += THREADS) row.set(f.a_indices[p]);
        __syncthreads();
        for (;;) {
            u32 mine = 0;
            if (lane == 0) mine = atomicAdd(&batch, 32u);
            mine = __shfl_sync(ALL, mine, 0);
            if (begin + mine >= end) break;
            dots(f, row, begin + mine, end, values, found);
        }
        __syncthreads();
        for (i64 p = row.begin + threadIdx.x; p < row.end; p += THREADS) row.clear(f.a_indices[p]);
    }
}

// What the two ways of computing the places of a mask would look at, in every `step`-th row: totals[0] by dots, totals[1]
// by rows.
template <class Index>
__global__ void __launch_bounds__(THREADS) masked_work(const i64* mask_indptr, const Index* mask_indices,
                                                       const i64* a_indptr, const Index* a_indices, i64 rows, i64 step,
                                                       const i64* row_lengths, const i64* column_lengths, u64* totals) {
    const i64 i = (i64(blockIdx.x) * THREADS + threadIdx.x) / 32 * step;
    if (i >= rows) return;
    const int lane = threadIdx.x & 31;
    const i64 length = a_indptr[i + 1] - a_indptr[i];
    if (!length || mask_indptr[i] == mask_indptr[i + 1]) return;
    u64 by_dots = 0, by_rows = 0;
    for (i64 m = mask_indptr[i] + lane; m < mask_indptr[i + 1]; m += 32) {
        const i64 other = column_lengths[mask_indices[m]];
        by_dots += pays_to_search(length, other) ? length * STEP * (64 - __clzll(other)) : other;
    }
    for (i64 p = a_indptr[i] + lane; p < a_indptr[i + 1]; p += 32) by_rows += row_lengths[a_indices[p]];
    for (int offset = 16; offset; offset /= 2) {
        by_dots += __shfl_xor_sync(ALL, by_dots, offset);
        by_rows += __shfl_xor_sync(ALL, by_rows, offset);
    }
    if (lane == 0) {
        atomicAdd(totals, by_dots);
        // Each column is searched in the mask's row.
        atomicAdd(totals + 1, by_rows * u64(64 - __clzll(mask_indptr[i + 1] - mask_indptr[i])));
    }
}

// Keep the places where something met: place m goes where `before` counts it.
template <class M>
__global__ void __launch_bounds__(THREADS) keep_found(const typename M::Index* mask_indices, const typename M::C* values,
                                                      const bool* found, const i64* before, i64 places,
                                                      typename M::Index* indices, typename M::C* data) {
    const i64 m = i64(blockIdx.x) * THREADS + threadIdx.x;
    if (m >= places || !found[m]) return;
    indices[before[m]] = mask_indices[m];
    data[before[m]] = values[m];
}

}  // namespace hpgraph
