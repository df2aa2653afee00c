"""Pearson's correlation of values at both ends of the arcs: two passes over the vertices and one over the arcs."""

from math import frexp, isfinite
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, put, team, vertex
from hpgraph.kernels.runtime.cpu.tasks import share_bounds

# Sums in any order, so that they are vectorized: two products and their sum otherwise wait for each other.
_SUMS = {"reassoc", "contract"}


def correlation(arcs: CSR, received: Any, x: Any, y: Any) -> float:
    """`hpgraph.algorithms.mixing.correlation` on the CPU."""
    with team() as threads:
        each = np.empty((threads, 2))
        x, x_sum, x_squares = first = _centred(x, arcs.degrees, arcs.nnz, each)
        y, y_sum, y_squares = first if received is None else _centred(y, received, arcs.nnz, each)
        # The centres are means up to rounding, for which the sums make up.
        spread = (max(x_squares - x_sum**2 / arcs.nnz, 0.0) * max(y_squares - y_sum**2 / arcs.nnz, 0.0)) ** 0.5
        if not spread:
            return float("nan")
        _multiply(arcs.indptr, arcs.indices, x, y, share_bounds(arcs.indptr, threads), each)
        return (sum(each[:, 0].tolist()) - x_sum * y_sum / arcs.nnz) / spread


def _centred(value: Any, times: Any, arcs: int, each: Any) -> tuple[Any, float, float]:
    """Values in units of their range, less about their mean over arcs; their sum there, and that of their squares.

    All are 0 if all values are equal. What vertices without arcs have does not matter.
    """
    value = np.ascontiguousarray(value, np.float64)
    held = value if int(times.min()) > 0 else value[times > 0]
    least, largest = float(held.min()), float(held.max())
    # Equal sums of weights may differ by rounding.
    if not 1e-14 * max(-least, largest) < largest - least < np.inf:
        return value, 0.0, 0.0
    _add(value, times, each)
    total, centred = sum(each[:, 0].tolist()), np.empty_like(value)
    # By a power of two no digit is lost.
    scale = 2.0 ** -min(max(frexp(largest - least)[1], -1000), 1000)
    # Where the sum overflows any value will do for the mean.
    _centre(value, times, total / arcs if isfinite(total) else least, scale, centred, each)
    return centred, sum(each[:, 0].tolist()), sum(each[:, 1].tolist())


@part
def _share(n, worker, workers):
    return n * worker // workers, n * (worker + 1) // workers


@njit(parallel=LOOPS, cache=True, nogil=True, fastmath=_SUMS)
def _add(value, times, each):
    for worker in prange(each.shape[0]):
        first, last = _share(value.size, worker, each.shape[0])
        total = 0.0
        for v in range(first, last):
            total += peek(times, v) * peek(value, v) if peek(times, v) > 0 else 0.0
        each[worker, 0] = total


@njit(parallel=LOOPS, cache=True, nogil=True, fastmath=_SUMS)
def _centre(value, times, mean, scale, centred, each):
    for worker in prange(each.shape[0]):
        first, last = _share(value.size, worker, each.shape[0])
        total, squares = 0.0, 0.0
        for v in range(first, last):
            own = (peek(value, v) - mean) * scale if peek(times, v) > 0 else 0.0
            put(centred, v, own)
            total += peek(times, v) * own
            squares += peek(times, v) * own * own
        each[worker, 0], each[worker, 1] = total, squares


@njit(parallel=LOOPS, cache=True, nogil=True, fastmath=_SUMS)
def _multiply(indptr, indices, x, y, bounds, each):
    """Sum over arcs of products of x at sources and y at targets."""
    for worker in prange(each.shape[0]):
        total = 0.0
        for v in range(bounds[worker], bounds[worker + 1]):
            around = 0.0
            for at in range(peek(indptr, v), peek(indptr, v + 1)):
                around += peek(y, vertex(indices, at))
            total += peek(x, v) * around
        each[worker, 0] = total
