"""Nearest neighbours on the CPU: few of a tile's distances are below the largest kept, and a count finds these."""

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, team

# Columns whose distances are compared without a branch.
STRETCH = 64


def factors(points: Any) -> tuple[Any, Any]:
    """`hpgraph.kernels.nearest.Nearest.factors`."""
    return points, points


def multiply(left: Any, right: Any, out: Any) -> None:
    """`hpgraph.kernels.nearest.Nearest.multiply`."""
    np.matmul(left, right.T, out=out)


def keep_nearest(products: Any, squares: Any, row: int, column: int, nearest: tuple[Any, Any]) -> None:
    """`hpgraph.kernels.nearest.Nearest.keep_nearest`."""
    with team():
        _keep(products, squares, row, column, *nearest)


@part
def _insert(distance, index, value, number):
    """Put a distance into its place among a row's ascending ones; the last falls out."""
    at = distance.size - 1
    while at > 0 and distance[at - 1] > value:
        distance[at], index[at] = distance[at - 1], index[at - 1]
        at -= 1
    distance[at], index[at] = value, number


@part(whole=True)
def _apart(squares, products, j):
    # Not twice the product: an integer as a factor would make it a float64.
    return peek(squares, j) - (peek(products, j) + peek(products, j))


@njit(parallel=LOOPS, cache=True, nogil=True)
def _keep(products, squares, row, column, distance, index):
    rows, columns = products.shape
    last = distance.shape[1] - 1
    for i in prange(rows):
        one, kept, numbers = products[i], distance[i], index[i]
        for begin in range(0, columns, STRETCH):
            end = min(begin + STRETCH, columns)
            limit, below = kept[last], 0
            for j in range(begin, end):
                below += _apart(squares, one, j) < limit
            if below == 0:
                continue
            for j in range(begin, end):
                value = _apart(squares, one, j)
                if value < kept[last] and np.int64(column + j) != np.int64(row + i):
                    _insert(kept, numbers, value, column + j)
