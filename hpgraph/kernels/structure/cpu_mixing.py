"""Pearson's correlation of values at both ends of the arcs; and arcs that have their reverse.

Sums of whole numbers are exact, so that one pass does; other values are centred first, in three.
"""

from math import frexp, isfinite, sqrt
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, put, team, vertex
from hpgraph.kernels.runtime.cpu.tasks import share_bounds

# Sums in any order, so that they are vectorized: two products and their sum otherwise wait for each other.
_SUMS = {"reassoc", "contract"}
# Entries of a row that are added up without a branch.
_FIRST = 4
# Entries of a block of running sums, which fits L1.
_BLOCK = 2048
# Sums of integers from 0 on that come out below it are exact in float64.
_EXACT = 1 << 53


def correlation(arcs: CSR, received: Any, x: Any, y: Any) -> float:
    """`hpgraph.algorithms.mixing.correlation` on the CPU."""
    if x.dtype.kind == "i":
        exact = _of_degrees(arcs, received, x, y)
        if exact is not None:
            return exact
    with team() as threads:
        each = np.empty((threads, 3))
        x, x_sum, x_squares = first = _centred(x, arcs.degrees, arcs.nnz, each)
        y, y_sum, y_squares = first if received is None else _centred(y, received, arcs.nnz, each)
        # The centres are means up to rounding, for which the sums make up.
        spread = (max(x_squares - x_sum**2 / arcs.nnz, 0.0) * max(y_squares - y_sum**2 / arcs.nnz, 0.0)) ** 0.5
        if not spread:
            return float("nan")
        _multiply(arcs.indptr, arcs.indices, x, y, share_bounds(arcs.indptr, threads), each)
        return (sum(each[:, 0].tolist()) - x_sum * y_sum / arcs.nnz) / spread


def _of_degrees(arcs: CSR, received: Any, x: Any, y: Any) -> float | None:
    """The correlation of integers from 0 on, or None where float64 does not hold the sums of their squares."""
    times = None if received is None else np.asarray(received)
    x, y = np.asarray(x), np.asarray(y)
    with team() as threads:
        each = np.empty((threads, 5))
        _add_up(arcs.indptr, arcs.indices, times, x, y, share_bounds(arcs.indptr, threads), each)
    if each[:, : 3 if received is None else 5].max() >= _EXACT:
        return None
    both, *ends = (sum(map(int, column)) for column in each.T.tolist())
    x_sum, x_squares, y_sum, y_squares = ends if received is not None else ends[:2] * 2
    spread = sqrt(arcs.nnz * x_squares - x_sum**2) * sqrt(arcs.nnz * y_squares - y_sum**2)
    return (arcs.nnz * both - x_sum * y_sum) / spread if spread else float("nan")


def _centred(value: Any, times: Any, arcs: int, each: Any) -> tuple[Any, float, float]:
    """Values in units of their range, less about their mean over arcs; their sum there, and that of their squares.

    All are 0 if all values are equal. What vertices without arcs have does not matter.
    """
    # Plain arrays, which NumPy and kernels accept faster.
    value, times = np.ascontiguousarray(value, np.float64), np.asarray(times)
    _look_over(value, times, each)
    least, largest, total = min(each[:, 0].tolist()), max(each[:, 1].tolist()), sum(each[:, 2].tolist())
    # Equal sums of weights may differ by rounding.
    if not 1e-14 * max(-least, largest) < largest - least < np.inf:
        return value, 0.0, 0.0
    centred = np.empty_like(value)
    # Scaling by a power of two is exact.
    scale = 2.0 ** -min(max(frexp(largest - least)[1], -1000), 1000)
    # If the sum overflows, any value serves as the mean.
    _centre(value, times, total / arcs if isfinite(total) else least, scale, centred, each)
    return centred, sum(each[:, 0].tolist()), sum(each[:, 1].tolist())


@part
def _share(n, worker, workers):
    return n * worker // workers, n * (worker + 1) // workers


@njit(parallel=LOOPS, cache=True, nogil=True, fastmath=_SUMS | {"nnan", "nsz"})
def _look_over(value, times, each):
    """The least and the largest value of a vertex with arcs, and the sum over these; the sum alone is NaN if one is."""
    for worker in prange(each.shape[0]):
        first, last = _share(value.size, worker, each.shape[0])
        least, largest, total = np.inf, -np.inf, 0.0
        for v in range(first, last):
            held, own = peek(times, v) > 0, peek(value, v)
            low, high = own if held else np.inf, own if held else -np.inf
            least, largest = low if low < least else least, high if high > largest else largest
            total += peek(times, v) * own if held else 0.0
        each[worker, 0], each[worker, 1], each[worker, 2] = least, largest, total


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


@part
def _around(indices, y, first, last):
    """Sum of y over the targets of the entries from first to last.

    Branch-free for the first ones, even those past the row's end: lengths of short rows are unpredictable.
    """
    ahead, total = indices.size - 1, 0.0
    for k in range(_FIRST):
        total += peek(y, vertex(indices, min(first + k, ahead))) * np.float64(first + k < last)
    for at in range(first + _FIRST, last):
        total += peek(y, vertex(indices, at))
    return total


@njit(parallel=LOOPS, cache=True, nogil=True, fastmath=_SUMS)
def _multiply(indptr, indices, x, y, bounds, each):
    """Sum over arcs of products of x at sources and y at targets."""
    for worker in prange(each.shape[0]):
        total = 0.0
        for v in range(bounds[worker], bounds[worker + 1]):
            total += peek(x, v) * _around(indices, y, peek(indptr, v), peek(indptr, v + 1))
        each[worker, 0] = total


@njit(parallel=LOOPS, cache=True, nogil=True, fastmath=_SUMS)
def _add_up(indptr, indices, received, x, y, bounds, each):
    """Sums over arcs of integers: products of x at sources and y at targets, x and its squares, y and its squares.

    A row's sum is the difference of two running sums: rows end without a branch, which would be unpredictable.
    """
    for worker in prange(each.shape[0]):
        both, x_sum, x_squares, y_sum, y_squares = 0.0, 0.0, 0.0, 0.0, 0.0
        running, total, before = np.empty(_BLOCK + 1, np.int64), np.int64(0), np.int64(0)
        v, last, end = bounds[worker], bounds[worker + 1], peek(indptr, bounds[worker + 1])
        for start in range(peek(indptr, v), end + 1, _BLOCK):
            stop = min(start + _BLOCK, end)
            put(running, 0, total)
            for at in range(start, stop):
                total += peek(y, vertex(indices, at))
                put(running, at - start + 1, total)
            while v < last and peek(indptr, v + 1) <= stop:
                own, after = np.float64(peek(x, v)), peek(running, peek(indptr, v + 1) - start)
                both += own * np.float64(after - before)
                before = after
                share = np.float64(peek(indptr, v + 1) - peek(indptr, v)) * own
                x_sum += share
                x_squares += share * own
                if received is not None:
                    other = np.float64(peek(y, v))
                    share = np.float64(peek(received, v)) * other
                    y_sum += share
                    y_squares += share * other
                v += 1
        each[worker, 0], each[worker, 1], each[worker, 2] = both, x_sum, x_squares
        each[worker, 3], each[worker, 4] = y_sum, y_squares


def mutual_arcs(out: CSR, in_: CSR) -> tuple[int, int]:
    """`hpgraph.algorithms.mixing.mutual_arcs` on the CPU, of rows that ascend without repetitions."""
    with team() as threads:
        each = np.empty((threads, 2), np.int64)
        _meet(out.indptr, out.indices, in_.indptr, in_.indices, share_bounds(out.indptr, threads), each)
    both, loops = each.sum(axis=0).tolist()
    return both, loops


@njit(parallel=LOOPS, cache=True, nogil=True)
def _meet(begins, targets, in_begins, sources, bounds, each):
    for worker in prange(each.shape[0]):
        both, loops = np.int64(0), np.int64(0)
        for v in range(bounds[worker], bounds[worker + 1]):
            at, last = peek(begins, v), peek(begins, v + 1)
            back, end = peek(in_begins, v), peek(in_begins, v + 1)
            while at < last and back < end:
                # Branch-free: which comes first is unpredictable.
                u, w = vertex(targets, at), vertex(sources, back)
                both += np.int64(u == w)
                loops += np.int64((u == w) & (u == v))
                at += np.int64(u <= w)
                back += np.int64(w <= u)
        each[worker, 0], each[worker, 1] = both, loops
