"""Breadth-first order with a FIFO queue, neighbours in row order."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import njit


def fifo_order(rows: CSR, start: int, missing: int) -> tuple[Any, Any]:
    """Breadth-first order with neighbours in the order of their rows; sequential, since that order is the result.

    ``rows``: the graph, on the CPU; rows need not be sorted. Returns ``predecessors`` (array of shape (n,)): the vertex
    that discovered each, or `missing`.
    """
    n = rows.shape[0]
    order = np.empty(n, rows.indices.dtype)
    predecessors = np.full(n, missing, rows.indices.dtype)
    count = _fill(rows.indptr, rows.indices, start, missing, order, predecessors)
    return order[:count], predecessors


@njit(cache=True)
def _fill(indptr, indices, start, missing, order, predecessors):
    order[0], count, taken = start, 1, 0
    while taken < count:
        u = order[taken]
        taken += 1
        for at in range(indptr[u], indptr[u + 1]):
            v = indices[at]
            if predecessors[v] == missing and v != start:
                predecessors[v] = u
                order[count] = v
                count += 1
    return count
