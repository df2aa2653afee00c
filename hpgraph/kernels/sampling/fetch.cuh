// Rows of a matrix that the GPU reads over the link from page-locked host memory, four words a thread under way.
#pragma once
#include "warp.cuh"

namespace hpgraph {

// Row order[i] of the result becomes row vertex[i] of the matrix; a row has so many words.
template <class Index, class Word>
__global__ void __launch_bounds__(256)
fetch_rows(const Index* __restrict__ vertex, const i64* __restrict__ order, i64 count, i64 words,
           const Word* __restrict__ from, Word* __restrict__ to) {
    constexpr int WORDS = 4;
    const i64 begin = i64(blockIdx.x) * 256 * WORDS + threadIdx.x;
    Word word[WORDS];
    i64 place[WORDS];
#pragma unroll
    for (int k = 0; k < WORDS; ++k) {
        const i64 at = begin + k * 256, row = at / words;
        if (row >= count) continue;
        word[k] = from[i64(vertex[row]) * words + at % words];
        place[k] = order[row] * words + at % words;
    }
#pragma unroll
    for (int k = 0; k < WORDS; ++k)
        if (begin + k * 256 < count * words) to[place[k]] = word[k];
}

}  // namespace hpgraph
