"""SDDMM on the CPU: a product of two dense matrices at the entries of a sparse one, by stretches of entries."""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, prange, tasks, team, vertex

# Products of two numbers that a thread takes at a time: some 20 microseconds.
TASK = 65536


@njit(cache=True, nogil=True, parallel=LOOPS, error_model="numpy", fastmath={"reassoc", "contract"})
def _sample(indptr, indices, rows, size, x, y, out, workers):
    """Stretch t of `size` entries begins in row rows[t]."""
    counter, entries = np.zeros(1, np.int64), indices.size
    for _ in prange(workers):
        for task in tasks(counter, rows.size):
            row = rows[task]
            for e in range(task * size, min((task + 1) * size, entries)):
                while e >= indptr[row + 1]:
                    row += 1
                column = vertex(indices, e)
                for h in range(x.shape[1]):
                    total = out.dtype.type(0)
                    for c in range(x.shape[2]):
                        total += x[row, h, c] * y[column, h, c]
                    out[e, h] = total


@njit(cache=True, nogil=True, parallel=LOOPS, error_model="numpy")
def _first(indptr, indices, values, x, extreme, first, workers):
    counter, rows = np.zeros(1, np.int64), first.shape[0]
    for _ in prange(workers):
        for begin in tasks(counter, rows, 64):
            for row in range(begin, min(begin + 64, rows)):
                for e in range(indptr[row], indptr[row + 1]):
                    column = vertex(indices, e)
                    for c in range(x.shape[1]):
                        message = x[column, c]
                        if values is not None:
                            message = message * values[e]
                        if first[row, c] < 0 and message == extreme[row, c]:
                            first[row, c] = e


def sample_dense(csr: CSR, x: Any, y: Any, out: Any, half: str | None = None) -> None:
    """`hpgraph.kernels.spmv.Products.sample_dense`."""
    assert half is None
    size = max(1, TASK // max(1, x.shape[1] * x.shape[2]))
    rows = np.searchsorted(csr.indptr, np.arange(0, csr.nnz, size), side="right") - 1
    with team() as workers:
        _sample(csr.indptr, csr.indices, rows, size, x, y, out, workers)


def extreme_entries(csr: CSR, x: Any, extreme: Any, first: Any) -> None:
    """`hpgraph.kernels.spmv.Products.extreme_entries`."""
    first.fill(-1)
    with team() as workers:
        _first(csr.indptr, csr.indices, csr.data, x, extreme, first, workers)
