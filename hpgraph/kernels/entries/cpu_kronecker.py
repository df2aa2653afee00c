"""The Kronecker product of two sparse matrices on the CPU: every row of the result is a row of each factor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from hpgraph.formats import CSR, index_dtype
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.spmv.cpu_fold import at, convert, vertex, weight
from hpgraph.semiring.jit import call


@njit(error_model="numpy")
def _row(op, one_a, one_b, zero, a_indices, a_data, first, last, b_indices, b_data, begin, end, columns, indices, data,
         place):
    for p in range(first, last):
        base = vertex(a_indices, p) * columns
        x = weight(a_data, p, one_a)
        for q in range(begin, end):
            indices[place] = base + vertex(b_indices, q)
            data[place] = convert(zero, call(op, x, weight(b_data, q, one_b)))
            place += 1


@njit(parallel=True, cache=True, nogil=True, error_model="numpy")
def _rows(op, one_a, one_b, zero, a_indptr, a_indices, a_data, b_indptr, b_indices, b_data, columns, indptr, indices,
          data):
    b_rows = b_indptr.size - 1
    for row in prange(indptr.size - 1):
        i, k = row // b_rows, row % b_rows
        _row(op, one_a, one_b, zero, a_indices, a_data, at(a_indptr, i), at(a_indptr, i + 1), b_indices, b_data,
             at(b_indptr, k), at(b_indptr, k + 1), columns, indices, data, at(indptr, row))


def kron(a: CSR, b: CSR, op: Any, types: tuple[Any, Any], shape: tuple[int, int]) -> CSR:
    """The Kronecker product of two matrices.

    Parameters
    ----------
    a, b : CSR
        Rows sorted.
    op : BinaryOp
        ``f(a, b)`` makes a value of the result.
    types : (dtype, dtype)
        Of the factors' values, bool for a pattern.
    shape : (int, int)
        Of the result.

    Returns
    -------
    CSR
        Rows sorted.
    """
    dtype = op.result_dtype(*types)
    indptr = np.zeros(shape[0] + 1, np.int64)
    np.cumsum(np.multiply.outer(a.degrees, b.degrees).ravel(), out=indptr[1:])
    indices, data = np.empty(int(indptr[-1]), index_dtype(max(shape))), np.empty(int(indptr[-1]), dtype)
    if len(data):
        with team():
            _rows(
                op.typed(*types), types[0].type(1), types[1].type(1), dtype.type(0),
                *(plain(x) for x in (a.indptr, a.indices, a.data, b.indptr, b.indices, b.data)), b.shape[1], indptr,
                indices, data,
            )  # fmt: skip
    return CSR(shape, indptr, indices, data, validate=False)
