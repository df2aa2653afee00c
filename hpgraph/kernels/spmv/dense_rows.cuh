// What SpMM and SDDMM share: tasks, which are rows or pieces of long ones, and elements that one load takes.
#pragma once
#include "halves.cuh"
#include "spmv.cuh"

namespace hpgraph {

// Adjacent elements, read and written at once.
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

// Elements j..j + 3 of an array of `count`, in one load where all are there and `in_fours` says where they begin.
template <class T>
struct Four {
    T of[4];

    __device__ void load(const T* from, i64 j, i64 count, bool in_fours) {
        constexpr int SIZE = 4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16;
        if (in_fours && j + 4 <= count) {
            struct alignas(SIZE) Whole { T of[4]; };
            const auto whole = *(const Whole*)(from + j);
#pragma unroll
            for (int b = 0; b < 4; ++b) of[b] = whole.of[b];
        } else {
#pragma unroll
            for (int b = 0; b < 4; ++b)
                if (j + b < count) of[b] = from[j + b];
        }
    }
};

}  // namespace hpgraph
