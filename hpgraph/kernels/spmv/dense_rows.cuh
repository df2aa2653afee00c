// Shared by SpMM and SDDMM: tasks (rows, or pieces of long rows), and vector loads.
#pragma once
#include "halves.cuh"
#include "spmv.cuh"

namespace hpgraph {

// Adjacent elements, read and written as one vector.
template <class T, int WIDTH>
struct alignas(WIDTH * sizeof(T)) Pack {
    T of[WIDTH];
};

// A row, or a piece of a long one; pieces come first, then the other rows, longest first.
struct RowPart {
    i64 v, begin, end;
    bool is_piece;

    __device__ RowPart(const i64* indptr, const Bins& bins, i64 task) : is_piece(task < bins.pieces) {
        v = is_piece ? bins.piece_slot[task] : bins.slots[task - bins.pieces];
        begin = indptr[v] + (is_piece ? i64(bins.piece_order[task]) * PIECE : 0);
        const i64 row_end = indptr[v + 1];
        end = is_piece && begin + PIECE < row_end ? begin + PIECE : row_end;
    }
};

}  // namespace hpgraph
