"""Distances between all vertices of a small dense graph, and predecessors, on one thread.

R. W. Floyd, "Algorithm 97: Shortest path", Communications of the ACM 5 (1962). The innermost loop has no branches, so
that several columns are compared by one instruction.
"""

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, part

# The entry of no path, and the mask of an entry's bits that count arcs.
_NOWHERE, _HOPS = 1 << 62, ~0xFFFFFFFF


def distances_between_all(distance: Any, missing: int | None = None) -> Any:
    """Turn lengths of arcs (float64, shape (n, n), inf where there is none, 0 from a vertex to itself) into distances.

    Where there are cycles of negative length, one leaves a number below 0 on the diagonal. Returns the predecessors
    (int32, shape (n, n)), or `missing`, if that is given: of paths of equal length on one of fewest arcs.
    """
    if missing is None:
        with interruptible():
            return _relax(distance)
    # For each path its number of arcs, above the 32 bits of the vertex before its end: sums and comparisons of one
    # integer, as wide as a distance, serve both.
    n = len(distance)
    last = np.where(distance < np.inf, np.arange(n)[:, None] + (1 << 32), _NOWHERE)
    # No arcs and no predecessor, so that a path extended from no path is not taken for a better one.
    np.fill_diagonal(last, ~_HOPS)
    with interruptible():
        _relax_with_ends(distance, last)
    before = (last & ~_HOPS).astype(np.int32)
    before[last == _NOWHERE] = missing
    np.fill_diagonal(before, missing)
    return before


@njit(cache=True, nogil=True)
def _relax(distance):
    n = distance.shape[0]
    for k in range(n):
        if is_stopped():
            break
        beyond = distance[k]
        for i in range(n):
            offset, row = distance[i, k], distance[i]
            if offset < np.inf and i != k:
                for j in range(n):
                    through = offset + beyond[j]
                    row[j] = through if through < row[j] else row[j]


@njit(cache=True, nogil=True)
def _relax_with_ends(distance, last):
    n = distance.shape[0]
    for k in range(n):
        if is_stopped():
            break
        for i in range(n):
            offset = distance[i, k]
            if offset < np.inf and i != k:
                _pass_through(offset, last[i, k] & _HOPS, distance[k], last[k], distance[i], last[i])


# A separate function: otherwise LLVM does not vectorize the comparison of columns.
@part(whole=True)
def _pass_through(offset, arcs, beyond, ends, row, own_ends):
    """The paths from one vertex through another."""
    for j in range(row.size):
        through, end, old, tail = offset + beyond[j], arcs + ends[j], row[j], own_ends[j]
        of_equal = end if end < tail else tail
        of_equal = of_equal if through == old else tail
        own_ends[j] = end if through < old else of_equal
        row[j] = through if through < old else old
