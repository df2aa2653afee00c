// Gathers rows of a matrix in page-locked host memory over the link, with FETCHED words per thread in flight.
//
// The grid has only as many blocks as saturate the link: other kernels use the other multiprocessors meanwhile.
#pragma once
#include "warp.cuh"

namespace hpgraph {

// out[order[i]] = cached[slot[i]] if there is a slot that is not negative, else matrix[vertex[i]]; a row has `words` words.
template <class Index, class Word>
__global__ void __launch_bounds__(256, 4)
fetch_rows(const Index* __restrict__ vertex, const i64* __restrict__ order, const int* __restrict__ slot, i64 count, i64 words,
           const Word* __restrict__ from, const Word* __restrict__ cached, Word* __restrict__ to) {
    for (i64 begin = i64(blockIdx.x) * 256 * FETCHED + threadIdx.x; begin - threadIdx.x < count * words;
         begin += i64(gridDim.x) * 256 * FETCHED) {
        Word word[FETCHED];
        i64 place[FETCHED];
#pragma unroll
        for (int k = 0; k < FETCHED; ++k) {
            const i64 at = begin + k * 256, row = at / words;
            if (row >= count) continue;
            const int near = slot ? slot[row] : -1;
            word[k] = near < 0 ? from[i64(vertex[row]) * words + at % words] : cached[near * words + at % words];
            place[k] = order[row] * words + at % words;
        }
#pragma unroll
        for (int k = 0; k < FETCHED; ++k)
            if (begin + k * 256 < count * words) to[place[k]] = word[k];
    }
}

}  // namespace hpgraph
