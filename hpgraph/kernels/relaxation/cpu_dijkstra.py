"""Distances and trees of shortest paths on the CPU, one thread a search: Dijkstra's algorithm with a ladder queue.

E. W. Dijkstra, "A note on two problems in connexion with graphs", Numerische Mathematik 1 (1959). Stale elements of the
queue stay in it, and are skipped. Of paths of equal length one with fewest arcs wins: while every arc
makes a path longer, all vertices before another on its shortest paths are expanded before it. Where one does not, the
search goes on for distances alone, from which trees are found then. No pass over all weights comes before a search.
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.heap import pop
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, prefetch, team, vertex
from hpgraph.kernels.runtime.cpu.ladder import clear, enlarged, has_room, insert, ladder_of, refill, waiting
from hpgraph.kernels.runtime.cpu.tasks import tasks
from hpgraph.kernels.runtime.cpu.weights import entry, prefetch_entry
from hpgraph.kernels.structure.cpu_both_ways import incoming_rows
from hpgraph.kernels.structure.cpu_fifo import side_of
from hpgraph.kernels.structure.cpu_predecessors import shortest_path_trees
from hpgraph.kernels.structure.cpu_stored import interruptible_beyond, is_row, within
from hpgraph.semiring.stop import is_stopped

# More than any number of arcs.
NO_LIMIT = 1 << 62
# Results of a search, beside -1 for a column beyond the shape: it met a weight that is not handled here.
BAD_WEIGHT = -2
# Results from here on down: the queue is full.
QUEUE_FULL = -3
# Initial capacity of a queue; it is enlarged on demand.
MIN_CAPACITY = 1 << 10
# The heap's size, arcs looked at, and whether trees are sought.
SIZE, EXAMINED, TREES = range(3)
# Vertices that one thread expands before several threads share the remaining searches: ten times the start-up cost.
MAX_IN_TURN = 1 << 13
# Number of waiting vertices from which on they are worth sharing among threads.
MIN_WAITING = 1024


def shortest_trees(
    rows: CSR, sources: Any, limit: float, missing: int | None, *, directed: bool = True, most: int = NO_LIMIT
) -> tuple[Any, Any] | None:
    """Distances up to a limit and predecessors, arrays of shape (k, n), of k searches from arrays of sources each.

    None where a search met a weight that is negative or NaN, or a path longer than floats; or where one has looked at
    more than `most` arcs, and there are others, or so many vertices wait that several threads may take some each: a
    search of few at a time is best left to one. Predecessors are int32, `missing` where there is none; if that is None,
    they are not sought, and are an array without elements.

    ``rows``: float64 weights, or none, which are 1 each. Rows need neither be sorted nor free of duplicates, and rows
    that a search reads are checked; unless `directed`, arcs go both ways, and offsets must have been checked.
    ``sources`` (integer array, shape (k, s)).
    """
    k, n = len(sources), rows.shape[0]
    joined = None if directed else incoming_rows(rows)
    arcs = (rows.indptr, rows.indices, rows.data), joined and (joined.indptr, joined.indices, joined.data)
    distance, before = np.empty((k, n)), np.empty((k, 0 if missing is None else n), np.int32)
    distance.fill(np.inf)
    before.fill(missing or 0)
    # Whether a search met an arc that does not lengthen its path.
    flat = np.zeros(k, np.bool_)
    with interruptible_beyond(k * (rows.nnz + n)):
        done = _search_in_turn(*arcs, sources, limit, most, (distance, before, flat))
    if done == NO_LIMIT:
        return None
    if 0 <= done < k:
        distance[done], before[done], flat[done] = np.inf, missing or 0, False
        with team() as workers:
            least = np.full(min(workers, k - done), NO_LIMIT)
            _search_all(*arcs, sources[done:], limit, (distance[done:], before[done:], flat[done:]), least)
            done = int(least.min())
    if done == BAD_WEIGHT:
        return None
    within(rows, done)
    if missing is not None and flat.any():
        before[flat] = shortest_path_trees(*arcs, sources[flat], distance[flat], missing)
    return distance, before


@njit(cache=True, nogil=True)
def _search_in_turn(rows, back, sources, limit, most, found):
    """Number of searches done before several threads should share the rest; `NO_LIMIT` if a single one should be."""
    distance, before, flat = found
    alone, is_tried = sources.shape[0] == 1, most < NO_LIMIT
    # For several searches the limit counts vertices, unless they are tried: one hub does not mean that much is left.
    left, wide = (most, MIN_WAITING if alone else 1) if alone or is_tried else (MAX_IN_TURN, 0)
    queue, hops = ladder_of(MIN_CAPACITY, rows[1]), np.empty(before.shape[1], np.int32)
    for search in range(sources.shape[0]):
        state = distance[search], before[search], hops, flat[search : search + 1]
        examined, queue = _search(rows, back, sources[search], limit, left, wide, state, queue)
        if examined < 0 or examined == NO_LIMIT:
            return search if examined == NO_LIMIT and not (alone or is_tried) else examined
        left -= examined if wide == 0 else 0
    return sources.shape[0]


@njit(parallel=LOOPS, heavy=True, cache=True, nogil=True)
def _search_all(rows, back, sources, limit, found, least):
    distance, before, flat = found
    counter = np.zeros(1, np.int64)
    for worker in prange(least.size):
        queue, hops = ladder_of(MIN_CAPACITY, rows[1]), np.empty(before.shape[1], np.int32)
        for search in tasks(counter, sources.shape[0]):
            state = distance[search], before[search], hops, flat[search : search + 1]
            examined, queue = _search(rows, back, sources[search], limit, NO_LIMIT, MIN_WAITING, state, queue)
            least[worker] = min(least[worker], examined)


@part
def _search(rows, back, sources, limit, most, wide, state, queue):
    """The result of `_run` at the end of a search, and the queue, which may have been enlarged."""
    clear(queue)
    if not has_room(queue, 0, sources.size):
        queue = enlarged(queue, 0, sources.size)
    progress = np.zeros(3, np.int64)
    progress[SIZE], progress[TREES] = _start(sources, state, queue), state[1].size > 0
    while True:
        examined = _run(rows, back, limit, most, wide, state, queue, progress)
        if examined >= 0 or examined == BAD_WEIGHT or examined == -1:
            return examined, queue
        queue = enlarged(queue, progress[SIZE], QUEUE_FULL - examined)


@part(counts_references=False)
def _start(sources, state, queue):
    """Insert the sources; returns the size of the heap."""
    distance, before, hops, _ = state
    size = 0
    for source in sources:
        distance[source] = 0.0
        if before.size > 0:
            hops[source] = 0
        size = insert(queue, size, 0.0, source)
    return size


@part(counts_references=False, forceinline=True)
def _fetch(rows, v):
    """Prefetch the row of the vertex that is likely to be next."""
    indptr, indices, weight = rows
    at = np.int64(peek(indptr, v))
    prefetch(indices, at)
    prefetch_entry(weight, at)


@part(counts_references=False)
def _run(rows, back, limit, most, wide, state, queue, progress):
    """Arcs examined; `NO_LIMIT` if it gave up, -1 for a column beyond the shape, `BAD_WEIGHT` for a bad weight.

    `QUEUE_FULL` less the number of elements that the queue lacks room for: the call is to be repeated with a larger
    queue. The number of arcs of a path, `hops`, is set where the distance is finite.
    """
    distance, before, hops, flat = state
    size, examined, keeps = progress[SIZE], progress[EXAMINED], progress[TREES] > 0
    keys, vertices = queue.keys, queue.vertices
    while not is_stopped():
        if examined > most:
            if waiting(queue, size) >= wide:
                return NO_LIMIT
            most += most
        if size == 0:
            size = refill(queue, distance)
            if size == 0:
                break
        v, dist = vertex(vertices, 0), keys[0]
        first, last = np.int64(peek(rows[0], v)), np.int64(peek(rows[0], v + 1))
        if not is_row(first, last, rows[1].size):
            return -1
        ends = last - first
        if back is not None:
            ends += np.int64(peek(back[0], v + 1) - peek(back[0], v))
        if not has_room(queue, size, ends):
            progress[SIZE], progress[EXAMINED], progress[TREES] = size, examined, keeps
            return QUEUE_FULL - ends
        size = pop(keys, vertices, size)
        if dist > distance[v]:
            continue
        if size > 0:
            _fetch(rows, vertex(vertices, 0))
            if back is not None:
                _fetch(back, vertex(vertices, 0))
        examined += ends if wide > 0 else 1
        arcs = hops[v] + 1 if keeps else 0
        for side in range(1 if back is None else 2):
            indptr, indices, weight = side_of(rows, back, side)
            for at in range(peek(indptr, v), peek(indptr, v + 1)):
                u = vertex(indices, at)
                if u >= distance.size:
                    return -1
                tentative = dist + entry(weight, at)
                if not tentative > dist:
                    if tentative != dist:
                        return BAD_WEIGHT
                    flat[0], keeps = True, False
                known = distance[u]
                if tentative > known or tentative > limit:
                    continue
                if tentative < known:
                    size = insert(queue, size, tentative, u)
                elif tentative == np.inf:
                    if entry(weight, at) < np.inf:
                        return BAD_WEIGHT
                    continue
                elif not keeps or hops[u] <= arcs:
                    continue
                distance[u] = tentative
                if keeps:
                    before[u], hops[u] = v, arcs
    return examined
