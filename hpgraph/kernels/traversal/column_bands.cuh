// Ends of the column bands in each row; see MultiSourcePull.
#pragma once
#include "search.cuh"
#include "warp.cuh"

namespace hpgraph {

constexpr int BANDS_THREADS = 256;

// For sorted rows of up to `banded` arcs: the number of arcs before each band but the first. A band has `width`
// columns.
template <class Index>
__global__ void __launch_bounds__(BANDS_THREADS)
end_bands(const i64* indptr, const Index* indices, i64 n, int bands, i64 width, int banded, unsigned short* ends) {
    const i64 v = (i64)blockIdx.x * BANDS_THREADS + threadIdx.x;
    if (v >= n) return;
    const i64 begin = indptr[v], end = indptr[v + 1];
    i64 at = begin;
    for (int band = 1; band < bands && end - begin <= banded; ++band) {
        at = lower_bound(indices, at, end, band * width);
        ends[(band - 1) * n + v] = (unsigned short)(at - begin);
    }
}

}  // namespace hpgraph
