"""Trees of shortest paths by tight arcs, whose lengths are the differences of their ends' distances, on the CPU.

A tight arc that leads to a larger distance closes no cycle with others: one for each vertex makes a tree. One pass over
the arcs finds them, where a search along them would be compiled for each type of weights. Arcs so short that they add
nothing are left, and are followed from the vertices that have a parent by then.
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import njit, part, peek, prefetch, put, tasks, team, vertex
from hpgraph.kernels.runtime.cpu.weights import entry
from hpgraph.kernels.spmv.cpu import arrays, plain

# Vertices that a thread takes at a time.
CHUNK = 1024
# Prefetch distance of distances, in arcs.
PREFETCH_ARCS = 32


def tree(arcs: CSR, start: int, distance: Any, deterministic: bool) -> Any:
    """A vertex before each on a shortest path, -1 if it is not reached; None where arcs of negative length matter.

    None also if `deterministic`: of several such vertices, any is taken.
    """
    if deterministic:
        return None
    parent, level = np.full(len(distance), -1, arcs.indices.dtype), np.zeros(len(distance), np.bool_)
    parent[start] = start
    what = *arrays(arcs), plain(distance)
    with team() as threads:
        _select_rising(threads, *what, np.zeros(1, np.int64), parent, level)
    reached = distance < np.inf
    if (reached == (parent >= 0)).all():
        return parent
    _select_level(*what, np.flatnonzero(level), parent, level)
    return parent if (reached == (parent >= 0)).all() else None


@njit(cache=True, nogil=True, counts_references=False)
def _select_rising(threads, indptr, indices, data, distance, following, parent, level):
    """Tight arcs to larger distances; and a flag for each vertex that one to the same distance leaves."""
    in_parallel(threads, _select_from_chunks, (indptr, indices, data, distance, following, parent, level))


@part(counts_references=False)
def _select_from_chunks(thread, indptr, indices, data, distance, following, parent, level):
    n, last = indptr.size - 1, indices.size - 1
    for chunk in tasks(following, n, CHUNK):
        for u in range(chunk, min(chunk + CHUNK, n)):
            dist_u, j, end = peek(distance, u), peek(indptr, u), peek(indptr, u + 1)
            while j < end:
                prefetch(distance, vertex(indices, min(j + PREFETCH_ARCS, last)))
                v = vertex(indices, j)
                dist_v = peek(distance, v)
                if dist_u + entry(data, j) == dist_v and dist_v != np.inf:
                    if dist_u < dist_v:
                        # Several threads may write; every written parent is valid.
                        put(parent, v, parent.dtype.type(u))
                    elif dist_u == dist_v:
                        put(level, u, True)
                j += 1


@njit(cache=True, nogil=True, counts_references=False)
def _select_level(indptr, indices, data, distance, stack, parent, level):
    """Tight arcs to the same distance, from the flagged vertices, given in `stack`, that have a parent or get one."""
    height = 0
    for u in stack:
        if parent[u] >= 0:
            stack[height] = u
            height += 1
    while height:
        height -= 1
        u = stack[height]
        dist_u = peek(distance, u)
        for j in range(peek(indptr, u), peek(indptr, u + 1)):
            v = vertex(indices, j)
            if parent[v] < 0 and peek(distance, v) == dist_u and dist_u + entry(data, j) == dist_u:
                parent[v] = u
                if level[v]:
                    stack[height] = v
                    height += 1
