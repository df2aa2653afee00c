"""Distances between all vertices of a small dense graph, on one thread.

R. W. Floyd, "Algorithm 97: Shortest path", Communications of the ACM 5 (1962). The innermost loop has no branches, so
that several columns are compared by one instruction.
"""

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.threads import interruptible
from hpgraph.semiring.stop import is_stopped


def distances_between_all(distance: Any) -> None:
    """Turn lengths of arcs (float64, shape (n, n), inf where there is none, 0 from a vertex to itself) into distances.

    Where there are cycles of negative length, one leaves a number below 0 on the diagonal.
    """
    with interruptible():
        _relax(distance)


@njit(cache=True, nogil=True)
def _relax(distance):
    n = distance.shape[0]
    for k in range(n):
        if is_stopped():
            break
        beyond = distance[k]
        for i in range(n):
            here, row = distance[i, k], distance[i]
            if here < np.inf and i != k:
                for j in range(n):
                    there = here + beyond[j]
                    row[j] = there if there < row[j] else row[j]
