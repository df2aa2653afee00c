"""Vertices in the order in which a queue, first in, first out, meets them, a level at a time on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.cuda.scatter import minimum_at


def fifo_order(rows: CSR, start: int, nobody: int) -> tuple[Any, Any]:
    """Breadth-first order with neighbours in the order of their rows.

    The arcs of a level are laid out in the order of the queue, and of those that meet the same vertex the first
    counts, so that the next level lies in order again. Every level waits for the stream.

    Parameters
    ----------
    rows : CSR
        The graph, on CUDA; rows need not be sorted.
    start : int
        The first vertex.
    nobody : int
        Predecessor of those that have none.

    Returns
    -------
    order : array of vertex ids
        Those that are reached.
    predecessors : array of shape (n,)
        Who met each vertex first.
    """
    import cupy

    n, ids = rows.shape[0], rows.indices.dtype
    predecessors = cupy.full(n, nobody, ids)
    met = cupy.zeros(n, dtype=bool)
    earliest = cupy.full(n, np.iinfo(np.int64).max, np.int64)
    level = cupy.array([start], ids)
    met[level] = True
    order = [level]
    while len(level):
        begin = rows.indptr[level]
        ends = cupy.cumsum(rows.indptr[level + 1] - begin)
        place = cupy.arange(int(ends[-1]), dtype=np.int64)
        sender = cupy.searchsorted(ends, place, side="right")
        before = cupy.concatenate([cupy.zeros(1, np.int64), ends[:-1]])
        target = rows.indices[begin[sender] + place - before[sender]]
        new = ~met[target]
        place, sender, target = place[new], sender[new], target[new]
        minimum_at(earliest, target, place)
        first = earliest[target] == place
        following = target[first]
        predecessors[following] = level[sender[first]]
        met[following] = True
        order.append(following)
        level = following
    return cupy.concatenate(order), predecessors
