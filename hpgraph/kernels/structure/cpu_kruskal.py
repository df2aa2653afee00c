"""Minimum spanning forest on one thread, arcs by rising weight.

J. B. Kruskal, "On the shortest spanning subtree of a graph and the traveling salesman problem", Proc. AMS 7 (1956).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.interruption import interruptible
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, vertex


def lightest_forest(arcs: CSR) -> Any:
    """Which arcs are in a spanning forest of least weight, whatever their direction; of equal ones the first."""
    rows = arcs.expand_rows()
    chosen = np.zeros(arcs.nnz, np.bool_)
    with interruptible():
        _choose(
            rows, arcs.indices, np.argsort(arcs.data, kind="stable"), np.arange(arcs.shape[0], dtype=rows.dtype), chosen
        )
    return chosen


@njit(cache=True, nogil=True)
def _choose(rows, columns, order, above, chosen):
    left = above.size - 1
    for i in range(order.size):
        at = peek(order, i)
        u, v = _root(above, vertex(rows, at)), _root(above, vertex(columns, at))
        if u != v:
            above[max(u, v)] = min(u, v)
            chosen[at] = True
            left -= 1
            if left == 0:
                break


@part
def _root(above, v):
    """Path halving."""
    while peek(above, v) != v:
        above[v] = peek(above, vertex(above, v))
        v = vertex(above, v)
    return v
