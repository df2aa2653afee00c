"""A* on one thread, which visits vertices again if a bound was not consistent.

P. E. Hart, N. J. Nilsson, B. Raphael, "A formal basis for the heuristic determination of minimum cost paths", IEEE
Trans. SSC 4 (1968).
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.bidirectional import way_along
from hpgraph.kernels.runtime.cpu.heap import pop, push
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, peek, vertex
from hpgraph.kernels.runtime.cpu.weights import entry
from hpgraph.semiring.jit import call


def astar(arcs: CSR, source: int, target: int, bounds: Any, heuristic: Any) -> tuple[list[int], float] | None:
    """A shortest path and its length; None if there is none.

    A lower bound of the distance to the target is ``bounds[v]``, float64, or, if that is None, the value of
    `heuristic`, a `Function` of vertex and target, when a vertex is first reached.
    """
    n, room = arcs.shape[0], 1024
    while True:
        # Undefined where `before` is 0, the predecessor plus 1: distance, bound.
        state = np.zeros(n, np.int64), np.empty(n), np.empty(n)
        with interruptible():
            found = _search(
                arcs.indptr, arcs.indices, arcs.data, (source, target), bounds, heuristic, state,
                (np.empty(room), np.empty(room, np.int64)),
            )  # fmt: skip
        if found >= 0:
            break
        room *= 4
    return (way_along(state[0] - 1, source, target), float(state[1][target])) if found else None


@njit(cache=True, nogil=True)
def _search(indptr, indices, weight, ends, bounds, heuristic, state, queue):
    """1 if there is a path, 0 if there is none, -1 if the queue was too small."""
    source, target = ends
    before, distance, bound = state
    keys, vertices = queue
    before[source], distance[source], bound[source] = source + 1, 0.0, 0.0
    size = push(keys, vertices, 0, 0.0, source)
    while size > 0 and not is_stopped():
        v, key = np.int64(vertices[0]), keys[0]
        size = pop(keys, vertices, size)
        if v == target:
            return 1
        dist = distance[v]
        if key > dist + bound[v]:
            continue
        begin, end = peek(indptr, v), peek(indptr, v + 1)
        if size + end - begin > keys.size:
            return -1
        for at in range(begin, end):
            u = vertex(indices, at)
            tentative = dist + entry(weight, at)
            if before[u] == 0:
                if bounds is None:
                    bound[u] = call(heuristic, np.int64(u), np.int64(target))
                else:
                    bound[u] = bounds[u]
            elif tentative >= distance[u]:
                continue
            before[u], distance[u] = v + 1, tentative
            if tentative + bound[u] < np.inf:
                size = push(keys, vertices, size, tentative + bound[u], u)
    return 0
