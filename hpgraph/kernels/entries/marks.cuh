// Marked entries of a matrix: a bitmap, and the prefix sum of the marks over its words. The position of a marked entry
// among those kept is one load and one popcount (rank of a bit vector), without a list.
#pragma once
#include "tiles.cuh"

namespace hpgraph {

struct Marks {
    u32* words;   // with one more word if the entries fill all
    i64* before;  // before[w]: marks in the words before w; one more element than words

    __device__ bool has(i64 p) const { return words[p >> 5] >> (p & 31) & 1; }
    // Marked entries before entry p, which may be one past the last.
    __device__ i64 count_before(i64 p) const { return before[p >> 5] + __popc(words[p >> 5] & ((1u << (p & 31)) - 1)); }
};

// Marks the entries of this block's tile for which flag(p) is true, and writes the marks of word w to before[w + 1];
// the caller computes the prefix sum. All threads of the block must call it, in enough blocks for one more entry.
template <class Flag>
__device__ __forceinline__ void mark_tile(i64 entries, const Marks& marks, Flag flag) {
    for (int item = 0; item < TILE_ITEMS; ++item) {
        const i64 p = (i64)blockIdx.x * TILE + item * TILE_THREADS + threadIdx.x;
        const u32 word = __ballot_sync(0xffffffffu, p < entries && flag(p));
        if (p <= entries && p % 32 == 0) {
            marks.words[p / 32] = word;
            marks.before[p / 32 + 1] = __popc(word);
            if (p == 0) marks.before[0] = 0;
        }
    }
}

__global__ void __launch_bounds__(TILE_THREADS) mark_true(const bool* wanted, i64 entries, Marks marks) {
    mark_tile(entries, marks, [&](i64 p) { return wanted[p]; });
}

// Writes the marked entries, in order, and their row pointers. I: int or long long, the type of ids. V: an unsigned
// integer as wide as a value; if there are none their pointer is null.
template <class I, class V>
__global__ void __launch_bounds__(TILE_THREADS)
keep_marked(const i64* __restrict__ indptr, i64 rows, const I* __restrict__ indices, const V* __restrict__ data,
            i64 entries, Marks marks, i64* kept_indptr, I* kept_indices, V* kept_data) {
    const i64 thread = (i64)blockIdx.x * TILE_THREADS + threadIdx.x, threads = (i64)gridDim.x * TILE_THREADS;
    for (i64 row = thread; row <= rows; row += threads) kept_indptr[row] = marks.count_before(indptr[row]);
    for (i64 p = thread; p < entries; p += threads) {
        if (!marks.has(p)) continue;
        const i64 to = marks.count_before(p);
        kept_indices[to] = indices[p];
        if (data) kept_data[to] = data[p];
    }
}

}  // namespace hpgraph
