"""One scan of the search for a minimum cut, on one thread: which vertices no lighter cut than the best divides.

H. Nagamochi, T. Ono, T. Ibaraki, "Implementing an efficient minimum capacity cut algorithm", Mathematical Programming
67 (1994): vertices are visited in the order of the weight of their edges to those visited before, as M. Stoer and F.
Wagner do ("A simple min-cut algorithm", JACM 44, 1997). Where that weight reaches that of a known cut, the ends of the
edge are on one side of every lighter one.
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu import heap
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit
from hpgraph.kernels.runtime.cpu.union_find import root_of


def scan(arcs: CSR, bound: float) -> tuple[float, Any, Any]:
    """The weight of the lightest cut met, at most `bound`; a mask of one side, empty if it is none of these; labels.

    ``arcs``: both directions of each edge, float64 weights, no loops; `bound` is at most the least weighted degree.
    """
    n = arcs.shape[0]
    order, root, reached = np.empty(n, np.int64), np.arange(n), np.zeros(n)
    queue = np.empty(arcs.nnz + 1), np.empty(arcs.nnz + 1, np.int64)
    with interruptible():
        best, count = _scan(arcs.indptr, arcs.indices, arcs.data, bound, order, root, reached, queue)
    side = np.zeros(n, np.bool_)
    side[order[:count]] = True
    return best, side, root


@njit(cache=True, nogil=True)
def _scan(indptr, indices, weight, bound, order, root, reached, queue):
    """`reached`: weight of the edges to visited vertices, -1 of those visited; `root`: union-find of the contracted."""
    keys, vertices = queue
    n, best, divided, cut, size = order.size, bound, 0, 0.0, 0
    size = heap.push(keys, vertices, size, 0.0, 0)
    count = 0
    while size > 0 and not is_stopped():
        u, key = vertices[0], -keys[0]
        size = heap.pop(keys, vertices, size)
        if reached[u] != key:
            continue
        order[count] = u
        count += 1
        cut -= 2 * reached[u]
        reached[u] = -1
        for at in range(indptr[u], indptr[u + 1]):
            cut += weight[at]
        if count < n and cut < best:
            best, divided = cut, count
        for at in range(indptr[u], indptr[u + 1]):
            v = indices[at]
            if reached[v] >= 0:
                reached[v] += weight[at]
                size = heap.push(keys, vertices, size, -reached[v], v)
                if reached[v] >= best:
                    a, b = root_of(root, u), root_of(root, v)
                    root[max(a, b)] = min(a, b)
    for v in range(n):
        root[v] = root_of(root, v)
    if count < n:
        return 0.0, count
    return best, divided
