"""The Kronecker product of two sparse matrices on the CPU: every row of the result is a pair of rows."""

from typing import Any

import numpy as np

from hpgraph.formats import CSR, index_dtype
from hpgraph.kernels.entries.cpu_merge import Entries
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, prange, team
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.spmv.cpu_fold import at, convert, vertex, weight
from hpgraph.semiring.jit import call


@njit(error_model="numpy")
def _row(op, zero, a, i, b, k, columns, out, place):
    """Row i of the first factor times row k of the second, from `place` on."""
    begin, end = at(b.indptr, k), at(b.indptr, k + 1)
    for p in range(at(a.indptr, i), at(a.indptr, i + 1)):
        base = vertex(a.indices, p) * columns
        x = weight(a.data, p, a.one)
        for q in range(begin, end):
            out.indices[place] = base + vertex(b.indices, q)
            out.data[place] = convert(zero, call(op, x, weight(b.data, q, b.one)))
            place += 1


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def _rows(op, zero, a, b, columns, out):
    b_rows = b.indptr.size - 1
    for row in prange(out.indptr.size - 1):
        _row(op, zero, a, row // b_rows, b, row % b_rows, columns, out, at(out.indptr, row))


def kron(a: CSR, b: CSR, op: Any, types: tuple[Any, Any], shape: tuple[int, int]) -> CSR:
    """The Kronecker product of two matrices with sorted rows; so are its own."""
    dtype = op.result_dtype(*types)
    indptr = np.zeros(shape[0] + 1, np.int64)
    np.cumsum(np.multiply.outer(a.degrees, b.degrees).ravel(), out=indptr[1:])
    indices, data = np.empty(int(indptr[-1]), index_dtype(max(shape))), np.empty(int(indptr[-1]), dtype)
    if len(data):
        with team():
            first, second = (
                Entries(plain(x.indptr), plain(x.indices), plain(x.data), one.type(1))
                for x, one in zip((a, b), types, strict=True)
            )
            _rows(op.typed(*types), dtype.type(0), first, second, b.shape[1], Entries(indptr, indices, data))
    return CSR(shape, indptr, indices, data, validate=False)
