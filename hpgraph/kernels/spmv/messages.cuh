// Messages summed over the columns of the operands, as in SDDMM. `lanes` lanes, a power of two, share a row.
#pragma once
#include "spmm.cuh"

namespace hpgraph {

template <class P>
__global__ void __launch_bounds__(BLOCK) dense_sums(typename P::Gather gather, const i64* indptr, Entries<P> entries,
                                                    Bins bins, i64 short_rows, Columns columns,
                                                    typename P::Message* out, typename P::Message* part) {
    constexpr int WIDTH = P::Gather::width;
    const i64 task = columns.row();
    const bool there = task < bins.pieces + short_rows;
    const RowPart row(indptr, bins, there ? task : 0);
    auto sum = P::identity();
    for (i64 column = columns.first(WIDTH, 1); there && column < columns.count; column += columns.lanes * WIDTH) {
        const auto value = fold_columns<P>(gather, entries, columns, row, column);
#pragma unroll
        for (int c = 0; c < WIDTH; ++c) sum += value.of[0][c];
    }
    for (u32 distance = columns.lanes / 2; distance; distance /= 2) sum += __shfl_xor_sync(ALL, sum, distance);
    if (there && threadIdx.x % columns.lanes == 0) (row.is_piece ? part[task] : out[row.v]) = sum;
}

}  // namespace hpgraph
