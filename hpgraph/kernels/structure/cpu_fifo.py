"""Vertices in the order in which a queue, first in, first out, meets them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import njit


def fifo_order(rows: CSR, start: int, nobody: int) -> tuple[Any, Any]:
    """Breadth-first order with neighbours in the order of their rows, on one thread: the order is what is asked for.

    ``rows``: the graph, on the CPU; rows need not be sorted. Returns ``predecessors`` (array of shape (n,)): who met
    each vertex first.
    """
    n = rows.shape[0]
    order = np.empty(n, rows.indices.dtype)
    predecessors = np.full(n, nobody, rows.indices.dtype)
    count = _fill(rows.indptr, rows.indices, start, nobody, order, predecessors)
    return order[:count], predecessors


@njit(cache=True)
def _fill(indptr, indices, start, nobody, order, predecessors):
    order[0], count, taken = start, 1, 0
    while taken < count:
        u = order[taken]
        taken += 1
        for at in range(indptr[u], indptr[u + 1]):
            v = indices[at]
            if predecessors[v] == nobody and v != start:
                predecessors[v] = u
                order[count] = v
                count += 1
    return count
