"""Distances and trees of shortest paths on the CPU, one thread a search: Dijkstra's algorithm with a ladder queue.

E. W. Dijkstra, "A note on two problems in connexion with graphs", Numerische Mathematik 1 (1959). Elements of the queue
that became out of date stay in it, and are skipped. Of paths of equal length one with fewest arcs wins: as no arc has
length 0, all vertices before another on its shortest paths are expanded before it.
"""

from typing import Any

import numpy as np
from numba import prange

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.heap import pop
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.ladder import clear, insert, is_wide, ladder_of, refill
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


def shortest_trees(
    rows: CSR, sources: Any, limit: float, missing: int | None, most: int = MANY
) -> tuple[Any, Any] | None:
    """Distances up to a limit and predecessors, arrays of shape (k, n), of k searches from arrays of sources each.

    None where a single search has looked at more than `most` arcs, and so many vertices wait that several threads may
    take some each: a search of few at a time is best left to one. Predecessors are int32, `missing` where there is
    none; if that is None, they are not sought, and are an array without elements.

    ``rows``: float64 weights above 0, from 0 on where predecessors are not sought, or none, which are 1 each. Rows need
    neither be sorted nor free of duplicates, and columns need not have been checked. ``sources`` (integer array, shape
    (k, s)).
    """
    k, n = len(sources), rows.shape[0]
    distance = np.full((k, n), np.inf)
    before = np.empty((k, 0), np.int32) if missing is None else np.full((k, n), missing, np.int32)
    arcs, found = (rows.indptr, rows.indices, rows.data), (distance, before)
    if k == 1:
        with interruptible():
            looked = _search_one(*arcs, sources[0], limit, most, found)
    else:
        with team() as workers:
            least = np.zeros(min(workers, k), np.int64)
            _search_all(*arcs, sources, limit, found, least)
            looked = int(least.min(initial=0))
    return (distance, before) if within(rows, looked) < MANY else None


@njit(cache=True, nogil=True)
def _search_one(indptr, indices, weight, sources, limit, most, found):
    distance, before = found
    state = distance[0], before[0], np.empty(before.shape[1], np.int32)
    queue = ladder_of(indices.size + sources.size, indices)
    return _search(indptr, indices, weight, sources, limit, most, state, queue)


@njit(parallel=LOOPS, cache=True, nogil=True)
def _search_all(indptr, indices, weight, sources, limit, found, least):
    distance, before = found
    counter = np.zeros(1, np.int64)
    for worker in prange(least.size):
        # An arc inserts its end at most once.
        queue = ladder_of(indices.size + sources.shape[1], indices)
        hops = np.empty(before.shape[1], np.int32)
        while True:
            search = next_task(counter)
            if search >= sources.shape[0]:
                break
            clear(queue)
            state = distance[search], before[search], hops
            looked = _search(indptr, indices, weight, sources[search], limit, MANY, state, queue)
            least[worker] = min(least[worker], looked)


@part(counts_references=False)
def _search(indptr, indices, weight, sources, limit, most, state, queue):
    """How many arcs it looked at, or `MANY` where it gave up; -1 where a column was beyond the shape.

    The number of arcs of a path, `hops`, is set where the distance is finite.
    """
    distance, before, hops = state
    keeps = before.size > 0
    keys, vertices = queue.keys, queue.vertices
    size, looked = 0, 0
    for source in sources:
        distance[source] = 0.0
        if keeps:
            hops[source] = 0
        size = insert(queue, size, 0.0, source)
    while not is_stopped():
        if looked > most:
            if is_wide(queue, size):
                return MANY
            most += most
        if size == 0:
            size = refill(queue, distance)
            if size == 0:
                break
        v, here = vertex(vertices, 0), keys[0]
        size = pop(keys, vertices, size)
        if here > distance[v]:
            continue
        arcs = hops[v] + 1 if keeps else 0
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
                size = insert(queue, size, there, u)
            elif not keeps or hops[u] <= arcs or there == np.inf:
                continue
            distance[u] = there
            if keeps:
                before[u], hops[u] = v, arcs
    return looked
