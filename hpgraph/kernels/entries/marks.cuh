// Marked entries of a matrix: a bitmap, and the prefix sum of the marks over its words. So the place of a marked entry
// among those kept is one load and one popcount (rank of a bit vector), without a list.
#pragma once
#include "tiles.cuh"

namespace hpgraph {

struct Marks {
    u32* words;   // one more than the entries fill, if they fill them
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

}  // namespace hpgraph
