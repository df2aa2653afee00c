"""Distances and trees of shortest paths on the CPU, one thread a search: Dijkstra's algorithm with a heap.

E. W. Dijkstra, "A note on two problems in connexion with graphs", Numerische Mathematik 1 (1959). Elements of the heap
that became out of date stay in it, and are skipped. Of paths of equal length one with fewest arcs wins: as no arc has
length 0, all vertices before another on its shortest paths are expanded before it.
"""

from typing import Any

import numpy as np
from numba import prange

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.heap import pop, push
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, vertex
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.tasks import next_task
from hpgraph.kernels.runtime.cpu.threads import interruptible, team
from hpgraph.kernels.runtime.cpu.weights import entry
from hpgraph.kernels.structure.cpu_fifo import within
from hpgraph.semiring.stop import is_stopped

# More arcs than there are.
MANY = 1 << 62


def shortest_trees(rows: CSR, sources: Any, limit: float, missing: int, most: int = MANY) -> tuple[Any, Any] | None:
    """Distances up to a limit and predecessors, arrays of shape (k, n), of k searches from arrays of sources each.

    None where a single search has looked at more than `most` arcs.

    ``rows``: float64 weights above 0, or none, which are 1 each. Rows need neither be sorted nor free of
    duplicates, and columns need not have been checked. ``sources`` (integer array, shape (k, s)).
    """
    k, n = len(sources), rows.shape[0]
    distance, before = np.full((k, n), np.inf), np.full((k, n), missing, rows.indices.dtype)
    arcs, found = (rows.indptr, rows.indices, rows.data), (distance, before)
    if k == 1:
        with interruptible():
            looked = _search_one(*arcs, sources[0], limit, most, found, _room(rows, sources, 1))
    else:
        with team() as workers:
            least = np.zeros(min(workers, k), np.int64)
            _search_all(*arcs, sources, limit, found, _room(rows, sources, len(least)), least)
            looked = int(least.min())
    return (distance, before) if within(rows, looked) <= most else None


def _room(rows: CSR, sources: Any, workers: int) -> tuple[Any, Any, Any]:
    """For each worker the numbers of arcs to vertices, and a heap: an arc inserts its end at most once."""
    most = rows.nnz + sources.shape[1]
    heap = np.empty((workers, most)), np.empty((workers, most), rows.indices.dtype)
    return np.empty((workers, rows.shape[0]), np.int32), *heap


@njit(cache=True, nogil=True)
def _search_one(indptr, indices, weight, sources, limit, most, found, room):
    distance, before = found
    hops, keys, vertices = room
    state = distance[0], before[0], hops[0]
    return _search(indptr, indices, weight, sources, limit, most, state, (keys[0], vertices[0]))


@njit(parallel=LOOPS, cache=True, nogil=True)
def _search_all(indptr, indices, weight, sources, limit, found, room, least):
    distance, before = found
    hops, keys, vertices = room
    counter = np.zeros(1, np.int64)
    for worker in prange(least.size):
        while True:
            search = next_task(counter)
            if search >= sources.shape[0]:
                break
            heap = keys[worker], vertices[worker]
            state = distance[search], before[search], hops[worker]
            looked = _search(indptr, indices, weight, sources[search], limit, MANY, state, heap)
            least[worker] = min(least[worker], looked)


@part
def _search(indptr, indices, weight, sources, limit, most, state, heap):
    """How many arcs it looked at, more than `most` where it gave up; -1 where a column was beyond the shape.

    The number of arcs of a path, `hops`, is set where the distance is finite.
    """
    distance, before, hops = state
    keys, vertices = heap
    size, looked = 0, 0
    for source in sources:
        distance[source], hops[source] = 0.0, 0
        size = push(keys, vertices, size, 0.0, source)
    while size > 0 and looked <= most and not is_stopped():
        v, here = vertex(vertices, 0), keys[0]
        size = pop(keys, vertices, size)
        if here > distance[v]:
            continue
        arcs = hops[v] + 1
        looked += peek(indptr, v + 1) - peek(indptr, v)
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            if u >= distance.size:
                return -1
            there = here + entry(weight, at)
            known = distance[u]
            if there > known or there > limit:
                continue
            if there < known:
                size = push(keys, vertices, size, there, u)
            elif hops[u] <= arcs or there == np.inf:
                continue
            distance[u], before[u], hops[u] = there, v, arcs
    return looked
