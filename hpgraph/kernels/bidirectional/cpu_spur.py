"""One simple path that avoids given vertices and arcs, on one thread: the inner search of Yen's algorithm.

P. E. Hart, N. J. Nilsson, B. Raphael, "A formal basis for the heuristic determination of minimum cost paths", IEEE
Trans. SSC 4 (1968): lengths are reduced by the exact distances to the sink in the whole graph, so that the search
leaves shortest paths only at blocked arcs.
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu import heap as queue
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, peek, vertex


class SpurSearch:
    """Searches to one sink in one graph; the memory is kept between them.

    ``arcs``: float64 weights. ``left``: the distance of each vertex to the sink, inf where it is not reached; each
    weight is reduced by the difference of its ends' distances, to 0 or more, as a search reads it.
    """

    def __init__(self, arcs: CSR, sink: int, left: Any) -> None:
        n = arcs.shape[0]
        self._arcs = arcs.indptr, arcs.indices, arcs.data, left
        self._sink, self._search = sink, 0
        # Number of the search in which a vertex was reached or blocked; else distance and predecessor are undefined.
        self._state = np.zeros(n, np.int64), np.empty(n), np.empty(n, np.int64)
        self._heap = np.empty(arcs.nnz + 1), np.empty(arcs.nnz + 1, np.int64)

    def path(self, root: Any, banned: Any) -> Any:
        """A shortest path from the last of `root` around the others, not to `banned` next; None if there is none."""
        self._search += 2
        with interruptible():
            found = _spur(*self._arcs, (root, banned), self._sink, self._search, self._state, self._heap)
        if not found:
            return None
        before, v = self._state[2], self._sink
        way = [v]
        while v != root[-1]:
            v = int(before[v])
            way.append(v)
        return way[::-1]


@njit(cache=True, nogil=True)
def _spur(indptr, indices, weight, left, avoided, sink, search, state, heap):
    """`state`: `search` marks reached vertices, and `search + 1` those that are blocked or settled."""
    root, banned = avoided
    mark, distance, before = state
    keys, vertices = heap
    for v in root:
        mark[v] = search + 1
    v, dist, size = np.int64(root[-1]), 0.0, 0
    first = True
    while not is_stopped():
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            tentative = dist + max(weight[at] + left[u] - left[v], 0.0)
            if mark[u] > search or tentative == np.inf or (mark[u] == search and distance[u] <= tentative):
                continue
            if first and (banned == u).any():
                continue
            mark[u], distance[u], before[u] = search, tentative, v
            size = queue.push(keys, vertices, size, tentative, u)
        first = False
        while size > 0 and mark[vertices[0]] > search:
            size = queue.pop(keys, vertices, size)
        if size == 0:
            return False
        v, dist = np.int64(vertices[0]), keys[0]
        if v == sink:
            return True
        size = queue.pop(keys, vertices, size)
        mark[v] = search + 1
    return False
