"""Searches from many vertices that end as soon as the sum of their distances must exceed a limit.

E. Bergamini et al., "Computing top-k closeness centrality faster in unweighted graphs", ACM TKDD 13 (2019), BFSCut. A
vertex of the next level has one arc from this one at least, and those that are not on it are two levels off or more.
"""

from typing import Any

import numpy as np
from numba import prange

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, vertex
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.tasks import next_task
from hpgraph.kernels.runtime.cpu.threads import team


def distance_sums(arcs: CSR, sources: Any, reached: Any, limits: Any) -> Any:
    """The sum of the distances from each source, or -1 where it exceeds the limit of the source.

    ``arcs``: of an undirected graph; ``reached``: how many vertices each source reaches, with itself.
    """
    n, found = arcs.shape[0], np.empty(len(sources), np.int64)
    with team() as workers:
        workers = min(workers, max(len(sources), 1))
        seen, queue = np.full((workers, n), -1, np.int32), np.empty((workers, n), arcs.indices.dtype)
        _search_all(arcs.indptr, arcs.indices, sources, reached, limits, found, seen, queue)
    return found


@njit(cache=True, nogil=True, parallel=LOOPS)
def _search_all(indptr, indices, sources, reached, limits, found, seen, queue):
    counter = np.zeros(1, np.int64)
    for worker in prange(seen.shape[0]):
        while True:
            i = next_task(counter)
            if i >= sources.size:
                break
            found[i] = _search(indptr, indices, sources[i], i, reached[i], limits[i], seen[worker], queue[worker])


@part
def _search(indptr, indices, source, mark, reached, limit, seen, queue):
    """``seen`` holds the mark of the last search that met each vertex."""
    seen[source] = mark
    queue[0] = source
    head, tail, level, total = 0, 1, 0, 0
    while head < tail and tail < reached:
        end, arcs = tail, 0
        for at in range(head, end):
            v = vertex(queue, at)
            arcs += peek(indptr, v + 1) - peek(indptr, v)
        # All but those back to the level before may lead to new vertices, and the others are farther.
        possible = arcs if level == 0 else arcs - (end - head)
        least = total + possible * (level + 1) + (reached - tail - possible) * (level + 2)
        if possible < reached - tail and least > limit:
            return -1
        back = level > 0
        for at in range(head, end):
            v = vertex(queue, at)
            first = back
            for j in range(peek(indptr, v), peek(indptr, v + 1)):
                w = vertex(indices, j)
                if seen[w] != mark:
                    seen[w] = mark
                    queue[tail] = w
                    tail += 1
                elif first:
                    # One arc at least leads back, and was left out.
                    first = False
                else:
                    least += 1
            if least > limit and possible < reached - end:
                return -1
        head = end
        level += 1
        total += level * (tail - end)
    return total if total <= limit else -1
