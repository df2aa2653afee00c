"""Graph attention at the entries of a matrix, on the CPU: sums of two numbers, and row-wise softmax."""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, prange, tasks, team, vertex

# Rows of a task.
ROWS = 256


@njit(cache=True, nogil=True, parallel=LOOPS, error_model="numpy")
def _sums(indptr, indices, x, y, out, workers):
    counter, rows = np.zeros(1, np.int64), indptr.size - 1
    for _ in prange(workers):
        for begin in tasks(counter, rows, ROWS):
            for row in range(begin, min(begin + ROWS, rows)):
                for e in range(indptr[row], indptr[row + 1]):
                    column = vertex(indices, e)
                    for h in range(out.shape[1]):
                        out[e, h] = x[row, h] + y[column, h]


@njit(cache=True, nogil=True, parallel=LOOPS, error_model="numpy")
def _shifted(indptr, scores, out, workers):
    """Scores minus the maximum of their row and head."""
    counter, rows, heads = np.zeros(1, np.int64), indptr.size - 1, out.shape[1]
    for _ in prange(workers):
        most = np.empty(heads, out.dtype)
        for begin in tasks(counter, rows, ROWS):
            for row in range(begin, min(begin + ROWS, rows)):
                most[:] = -np.inf
                for e in range(indptr[row], indptr[row + 1]):
                    for h in range(heads):
                        most[h] = scores[e, h] if scores[e, h] > most[h] else most[h]
                for e in range(indptr[row], indptr[row + 1]):
                    for h in range(heads):
                        out[e, h] = scores[e, h] - most[h]


@njit(cache=True, nogil=True, parallel=LOOPS, error_model="numpy")
def _by_sums(indptr, values, gradient, out, workers):
    """Values over their row's and head's sum, or times the difference of a gradient from its mean by values."""
    counter, rows, heads = np.zeros(1, np.int64), indptr.size - 1, out.shape[1]
    for _ in prange(workers):
        total = np.empty(heads, out.dtype)
        for begin in tasks(counter, rows, ROWS):
            for row in range(begin, min(begin + ROWS, rows)):
                total[:] = 0
                for e in range(indptr[row], indptr[row + 1]):
                    for h in range(heads):
                        total[h] += values[e, h] if gradient is None else values[e, h] * gradient[e, h]
                for e in range(indptr[row], indptr[row + 1]):
                    for h in range(heads):
                        if gradient is None:
                            out[e, h] = values[e, h] / total[h]
                        else:
                            out[e, h] = values[e, h] * (gradient[e, h] - total[h])


def sample_sums(csr: CSR, x: Any, y: Any, out: Any, half: str | None = None) -> None:
    """`hpgraph.kernels.spmv.Products.sample_sums`."""
    assert half is None
    with team() as workers:
        _sums(csr.indptr, csr.indices, x, y, out, workers)


def row_softmax(csr: CSR, scores: Any, out: Any, half: str | None = None) -> None:
    """`hpgraph.kernels.spmv.Products.row_softmax`."""
    assert half is None
    with team() as workers:
        _shifted(csr.indptr, scores, out, workers)
    # NumPy's exponential is vectorized, which Numba's is not.
    np.exp(out, out=out)
    with team() as workers:
        _by_sums(csr.indptr, out, None, out, workers)


def softmax_derivative(csr: CSR, softmax: Any, gradient: Any, out: Any, half: str | None = None) -> None:
    """`hpgraph.kernels.spmv.Products.softmax_derivative`."""
    assert half is None
    with team() as workers:
        _by_sums(csr.indptr, softmax, gradient, out, workers)
