// The built-in index-unary operators: arithmetic.py's, of row, column and thunk.
#pragma once

namespace hpgraph {
namespace op {

#define HPGRAPH_FUNCTION_OF_PLACE(name, R, value) \
    struct name {                                 \
        __device__ static R apply(long long i, long long j, long long thunk) { return value; } \
    };
HPGRAPH_FUNCTION_OF_PLACE(rowindex, long long, i + thunk)
HPGRAPH_FUNCTION_OF_PLACE(colindex, long long, j + thunk)
HPGRAPH_FUNCTION_OF_PLACE(diagindex, long long, j - i - thunk)
HPGRAPH_FUNCTION_OF_PLACE(tril, bool, j - i <= thunk)
HPGRAPH_FUNCTION_OF_PLACE(triu, bool, j - i >= thunk)
HPGRAPH_FUNCTION_OF_PLACE(diag, bool, j - i == thunk)
HPGRAPH_FUNCTION_OF_PLACE(offdiag, bool, j - i != thunk)
HPGRAPH_FUNCTION_OF_PLACE(rowle, bool, i <= thunk)
HPGRAPH_FUNCTION_OF_PLACE(rowgt, bool, i > thunk)
HPGRAPH_FUNCTION_OF_PLACE(colle, bool, j <= thunk)
HPGRAPH_FUNCTION_OF_PLACE(colgt, bool, j > thunk)
#undef HPGRAPH_FUNCTION_OF_PLACE

}  // namespace op
}  // namespace hpgraph
