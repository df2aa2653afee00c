"""Pearson's correlation of values at both ends of the arcs; and arcs that have their reverse.

One pass adds up products and squares of differences from a value among them; another follows where that value is far
from the mean, so that squares would cancel. Sums of whole numbers are exact.
"""

from math import frexp, sqrt
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, peek, prange, put, team, vertex
from hpgraph.kernels.runtime.cpu.tasks import share_bounds

# Sums in any order, so that they are vectorized: two products and their sum otherwise wait for each other.
_SUMS = {"reassoc", "contract"}
# Arcs from which threads share a pass: fewer take less time than a thread that has to wait for a core.
_MIN_SHARED = 1 << 18
# Entries of a block of running sums, which fits L1.
_BLOCK = 2048
# Sums of integers from 0 on that come out below it are exact in float64.
_EXACT = 1 << 53
# Sums of squares in between neither overflow nor lose digits, nor do products of sums.
_LEAST, _MOST = 2.0**-600, 2.0**600
# Share of the squares that must remain without the mean, for sums to have lost no more than three digits.
_REMAINS = 1e-3


def correlation(arcs: CSR, received: Any, x: Any, y: Any) -> float:
    """`hpgraph.algorithms.mixing.correlation` on the CPU."""
    if x.dtype.kind == "i":
        exact = _of_degrees(arcs, received, x, y)
        if exact is not None:
            return exact
    # Plain arrays, which kernels accept faster.
    times = None if received is None else np.asarray(received)
    x = np.ascontiguousarray(x, np.float64)
    y = x if times is None else np.ascontiguousarray(y, np.float64)
    row = int(np.searchsorted(arcs.indptr, 1)) - 1
    ends = row, row if times is None else int(arcs.indices[0])
    near = [float(x[ends[0]]), float(y[ends[1]])]
    means = _means(arcs, times, x, y, near)
    if not _LEAST < min(means[2], means[4]) <= max(means[2], means[4]) < _MOST:
        x = _scaled(x, arcs.degrees)
        y = x if times is None else _scaled(y, times)
        near = [float(x[ends[0]]), float(y[ends[1]])]
        means = _means(arcs, times, x, y, near)
    if any(squares - mean * mean <= _REMAINS * squares for mean, squares in (means[1:3], means[3:])):
        near = [near[0] + means[1], near[1] + means[3]]
        means = _means(arcs, times, x, y, near)
    both, x_mean, x_squares, y_mean, y_squares = means
    x_spread, y_spread = sqrt(max(x_squares - x_mean**2, 0.0)), sqrt(max(y_squares - y_mean**2, 0.0))
    # Equal sums of weights may differ by rounding.
    if x_spread > 1e-14 * abs(near[0]) and y_spread > 1e-14 * abs(near[1]):
        return (both - x_mean * y_mean) / (x_spread * y_spread)
    return float("nan")


def _means(arcs: CSR, received: Any, x: Any, y: Any, near: list[float]) -> list[float]:
    """Means over the arcs of what `_totals` adds up, of differences from numbers near x and y."""
    return [total / arcs.nnz for total in _totals(_add_products, arcs, received, x, y, *near)]


def _scaled(value: Any, times: Any) -> Any:
    """Values times a power of two, which is exact, so that those of vertices with arcs are near 1."""
    held = value[times > 0]
    return value * 2.0 ** -min(max(frexp(max(held.max(), -held.min()))[1], -1000), 1000)


def _totals(add: Any, arcs: CSR, received: Any, *of: Any) -> list[float]:
    """What a kernel adds up over the arcs: products, values and squares at sources, and the same two at targets."""
    if arcs.nnz < _MIN_SHARED:
        each = np.empty((1, 5))
        add.alone(arcs.indptr, arcs.indices, received, *of, np.array([0, arcs.shape[0]]), each)
    else:
        with team() as threads:
            each = np.empty((threads, 5))
            add(arcs.indptr, arcs.indices, received, *of, share_bounds(arcs.indptr, threads), each)
    both, *ends = each.sum(axis=0).tolist()
    return [both, *(ends[:2] * 2 if received is None else ends)]


def _of_degrees(arcs: CSR, received: Any, x: Any, y: Any) -> float | None:
    """The correlation of integers from 0 on, or None where float64 does not hold the sums of their squares."""
    times = None if received is None else np.asarray(received)
    sums = _totals(_add_up, arcs, times, np.asarray(x), np.asarray(y))
    if max(sums) >= _EXACT:
        return None
    both, x_sum, x_squares, y_sum, y_squares = map(int, sums)
    spread = sqrt(arcs.nnz * x_squares - x_sum**2) * sqrt(arcs.nnz * y_squares - y_sum**2)
    return (arcs.nnz * both - x_sum * y_sum) / spread if spread else float("nan")


@njit(parallel=LOOPS, cache=True, nogil=True, fastmath=_SUMS)
def _add_products(indptr, indices, received, x, y, x_near, y_near, bounds, each):
    """What `_add_up` adds up, of differences from numbers near x and y. Vertices without arcs may have NaN."""
    for worker in prange(each.shape[0]):
        both, x_sum, x_squares, y_sum, y_squares = 0.0, 0.0, 0.0, 0.0, 0.0
        for v in range(bounds[worker], bounds[worker + 1]):
            first, last, around = peek(indptr, v), peek(indptr, v + 1), 0.0
            for at in range(first, last):
                around += peek(y, vertex(indices, at)) - y_near
            own = peek(x, v) - x_near if first < last else 0.0
            both += own * around
            share = np.float64(last - first) * own
            x_sum += share
            x_squares += share * own
            if received is not None:
                times = peek(received, v)
                other = peek(y, v) - y_near if times > 0 else 0.0
                y_sum += times * other
                y_squares += times * other * other
        each[worker, 0], each[worker, 1], each[worker, 2] = both, x_sum, x_squares
        each[worker, 3], each[worker, 4] = y_sum, y_squares


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
    with team(alone=out.nnz < _MIN_SHARED) as threads:
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
