"""Two-colouring of a bipartite graph, by one search that ends at the first edge within a side."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.interruption import interruptible
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.prefetch import peek, vertex
from hpgraph.semiring.stop import is_stopped


def two_sides(arcs: CSR) -> Any:
    """The side of each vertex.

    Returns int8 array of shape (n,), or None: 0 for the least vertex of each component, and 0 or 1 for the others; None
    where some edge, or loop, joins vertices of one side.
    """
    n = arcs.shape[0]
    side, queue = np.full(n, -1, np.int8), np.empty(n, arcs.indices.dtype)
    with interruptible():
        return side if _search(arcs.indptr, arcs.indices, side, queue) else None


@njit(cache=True, nogil=True)
def _search(indptr, indices, side, queue):
    for root in range(side.size):
        if side[root] >= 0:
            continue
        if is_stopped():
            break
        side[root] = 0
        queue[0] = root
        head, tail = 0, 1
        while head < tail and not is_stopped():
            v = vertex(queue, head)
            head += 1
            mine = peek(side, v)
            for at in range(peek(indptr, v), peek(indptr, v + 1)):
                u = vertex(indices, at)
                its = peek(side, u)
                if its < 0:
                    side[u] = 1 - mine
                    queue[tail] = u
                    tail += 1
                elif its == mine:
                    return False
    return True
