"""Lengths of paths from their predecessors, on one thread: no vertex of a row is passed twice."""

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.threads import interruptible
from hpgraph.semiring.stop import is_stopped


def path_lengths(weight: Any, before: Any, missing: int, null_value: float) -> Any:
    """The length of the path to each column from its row, by predecessors; `null_value` where it does not lead there.

    ``weight`` (float64 array, shape (n, n)): lengths of arcs; ``before`` (int32 array, shape (n, n)).
    """
    length = np.empty(before.shape)
    with interruptible():
        _walk(weight, before, missing, null_value, length)
    return length


@njit(cache=True, nogil=True)
def _walk(weight, before, missing, null_value, length):
    n = before.shape[0]
    known, path = np.full(n, -1, np.int64), np.empty(n, np.int64)
    for row in range(n):
        if is_stopped():
            break
        known[row], length[row, row] = row, 0.0
        for column in range(n):
            depth, v = 0, column
            while known[v] != row:
                # Marked now, so that a cycle ends here, as a path that does not lead to the row.
                known[v], length[row, v] = row, np.nan
                path[depth] = v
                depth += 1
                u = before[row, v]
                if u == missing:
                    break
                v = int(u)
            total = length[row, v]
            for i in range(depth - 1, -1, -1):
                u = path[i]
                if before[row, u] != missing:
                    total += weight[before[row, u], u]
                length[row, u] = total
        for column in range(n):
            if np.isnan(length[row, column]):
                length[row, column] = null_value
