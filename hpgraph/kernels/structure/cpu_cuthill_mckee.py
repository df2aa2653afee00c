"""Cuthill-McKee order on one thread: breadth-first, the neighbours of each vertex by rising degree.

E. Cuthill, J. McKee, "Reducing the bandwidth of sparse symmetric matrices", ACM '69.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.interruption import interruptible
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.prefetch import peek, vertex
from hpgraph.semiring.stop import is_stopped

# Fewer neighbours are sorted by insertion.
_MIN_SORTED = 32


def cuthill_mckee(arcs: CSR, degree: Any, seeds: Any) -> Any:
    """Vertices in Cuthill-McKee order; each component begins at the first of its vertices in `seeds`."""
    n = arcs.shape[0]
    order, seen, keys = np.empty(n, arcs.indices.dtype), np.zeros(n, np.bool_), np.empty(n, np.int64)
    with interruptible():
        _search(arcs.indptr, arcs.indices, degree, seeds, order, seen, keys)
    return order


@njit(cache=True, nogil=True)
def _search(indptr, indices, degree, seeds, order, seen, keys):
    """`keys`: the degree of a neighbour above the 32 bits of its place, so that equal degrees keep their order."""
    taken, count = 0, 0
    for seed in seeds:
        if is_stopped():
            break
        if seen[seed]:
            continue
        order[count], seen[seed] = seed, True
        count += 1
        while taken < count:
            v = vertex(order, taken)
            taken += 1
            first = count
            for at in range(peek(indptr, v), peek(indptr, v + 1)):
                u = vertex(indices, at)
                if not seen[u]:
                    seen[u] = True
                    order[count] = u
                    count += 1
            if count - first < _MIN_SORTED:
                for i in range(first + 1, count):
                    u, at = order[i], i
                    while at > first and degree[order[at - 1]] > degree[u]:
                        order[at] = order[at - 1]
                        at -= 1
                    order[at] = u
                continue
            found = order[first:count].copy()
            for i in range(found.size):
                keys[i] = np.int64(degree[found[i]]) << 32 | i
            keys[: found.size].sort()
            for i in range(found.size):
                order[first + i] = found[keys[i] & 0xFFFFFFFF]
