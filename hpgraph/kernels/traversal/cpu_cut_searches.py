"""Searches for the vertices of largest closeness: some end early, others bound the closeness of all that they reach.

E. Bergamini et al., "Computing top-k closeness centrality faster in unweighted graphs", ACM TKDD 13 (2019). BFSCut: a
vertex of the next level has one arc from this one at least, and those that are not on it are two levels off or more.
BFSBound: between vertices of levels i and j of a search, the distance is |i - j| at least, and 2 where these are near
and no arc joins the vertices.
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, tasks, team, vertex

# Larger than any sum of distances.
NO_LIMIT = 1 << 60


def cut_searches(arcs: CSR, sources: Any, reached: Any, limits: Any) -> tuple[Any, int]:
    """The sum of the distances from each source, -1 if it exceeds the source's limit; and the arcs examined.

    ``arcs``: of an undirected simple graph; ``reached``: how many vertices each vertex reaches, with itself.
    """
    found = np.empty(len(sources), np.int64)
    with team() as workers:
        room, passed = _room(arcs, min(workers, max(len(sources), 1)))
        _cut(arcs.indptr, arcs.indices, sources, reached, limits, found, passed, room)
    return found, int(passed.sum())


def bounding_searches(
    arcs: CSR, reached: Any, share: Any, bound: Any, done: Any, lowest: float, count: int
) -> tuple[Any, Any, int]:
    """Searches from `count` vertices that are not `done`, of the largest bounds: they, their sums, the arcs passed.

    ``share``: what over a sum of distances is the closeness of each vertex; ``bound``: upper bounds of closeness, which
    are lowered; ``done``: a mask, to which the sources are added; vertices of bounds below `lowest` are none.
    """
    with team() as workers:
        workers = max(1, min(workers, count))
        room, passed = _room(arcs, workers)
        sources, sums = np.full((2, workers, -(-count // workers)), -1, np.int64)
        _bound(arcs.indptr, arcs.indices, reached, (share, bound, done), lowest, sources, sums, passed, room)
    chosen = sources >= 0
    return sources[chosen], sums[chosen], int(passed.sum())


def _room(arcs: CSR, workers: int) -> tuple[Any, Any]:
    """For each worker marks of vertices, a queue and where levels end in it; and numbers of arcs."""
    n, ids = arcs.shape[0], arcs.indices.dtype
    room = np.full((workers, n), -1, np.int32), np.empty((workers, n + 1), ids), np.empty((workers, n + 1), ids)
    return room, np.zeros(workers, np.int64)


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _cut(indptr, indices, sources, reached, limits, found, passed, room):
    counter = np.zeros(1, np.int64)
    for worker in prange(passed.size):
        seen, queue, ends = room[0][worker], room[1][worker], room[2][worker]
        for i in tasks(counter, sources.size):
            s = sources[i]
            found[i], arcs, _ = _search(indptr, indices, s, i, reached[s], limits[i], seen, queue, ends)
            passed[worker] += arcs


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _bound(indptr, indices, reached, closeness, lowest, sources, sums, passed, room):
    share, bound, done = closeness
    n, workers = bound.size, passed.size
    for worker in prange(workers):
        seen, queue, ends = room[0][worker], room[1][worker], room[2][worker]
        for turn in range(sources.shape[1]):
            s, best = -1, lowest
            # Each worker has separate sources; bounds that another worker lowers concurrently may be lost.
            for v in range(n * worker // workers, n * (worker + 1) // workers):
                if not done[v] and (bound[v] > best or (s < 0 and bound[v] == best)):
                    s, best = v, bound[v]
            if s < 0:
                break
            done[s] = True
            total, arcs, levels = _search(indptr, indices, s, turn, reached[s], NO_LIMIT, seen, queue, ends)
            sources[worker, turn], sums[worker, turn] = s, total
            passed[worker] += arcs
            _lower(indptr, queue, ends, levels, total, share, bound)


@part
def _search(indptr, indices, source, mark, reached, limit, seen, queue, ends):
    """The sum of distances, -1 beyond the limit; arcs passed; levels. ``seen``: the mark of the last search there."""
    seen[source] = mark
    queue[0] = source
    ends[0] = 1
    head, tail, level, total, passed = 0, 1, 0, 0, 0
    while head < tail and tail < reached:
        end, arcs = tail, 0
        for at in range(head, end):
            v = vertex(queue, at)
            arcs += peek(indptr, v + 1) - peek(indptr, v)
        # All but those back to the level before may lead to new vertices; of these some are on the next level, the
        # others farther.
        left = reached - tail
        least, farther = total + left * (level + 1), left - arcs + (end - head if level > 0 else 0)
        if least + max(farther, 0) > limit:
            return -1, passed, level
        for at in range(head, end):
            v, before = vertex(queue, at), tail
            begin, stop = peek(indptr, v), peek(indptr, v + 1)
            for j in range(begin, stop):
                w = vertex(indices, j)
                if seen[w] != mark:
                    seen[w] = mark
                    queue[tail] = w
                    tail += 1
            passed += stop - begin
            # Arcs to vertices that were met before, but for one back that was left out.
            farther += stop - begin - (tail - before) - (level > 0)
            if least + max(farther, 0) > limit:
                return -1, passed, level
        head = end
        level += 1
        ends[level] = tail
        total += level * (tail - end)
    return total if total <= limit else -1, passed, level


@part
def _lower(indptr, queue, ends, levels, total, share, bound):
    """Bound the closeness of the vertices that a search reached, by the sizes of its levels."""
    near, sum_near, reached = 0, 0, ends[levels]
    begin = 0
    for level in range(levels + 1):
        end = ends[level]
        near, sum_near = end, sum_near + level * (end - begin)
        apart = level * near - sum_near + (total - sum_near) - level * (reached - near)
        # On this level and the adjacent ones all vertices have distance 2, except neighbours and the vertex itself.
        after = ends[level + 1] - end if level < levels else 0
        before = begin - (ends[level - 2] if level > 1 else 0) if level > 0 else 0
        apart += 2 * (end - begin) + before + after - 2
        for at in range(begin, end):
            v = vertex(queue, at)
            least = apart - (peek(indptr, v + 1) - peek(indptr, v))
            bound[v] = min(bound[v], share[v] / max(least, 1))
        begin = end
