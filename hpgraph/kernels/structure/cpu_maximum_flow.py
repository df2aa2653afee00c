"""Maximum flow on one thread, by blocking flows.

E. A. Dinic, "Algorithm for solution of a problem of maximum flow in networks with power estimation", Soviet Math.
Doklady 11 (1970). Levels count arcs from the source and paths are searched from the sink, so that at first no search
meets a dead end.
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, part, peek, vertex


def maximum_flow(arcs: CSR, residual: Any, source: int, sink: int) -> tuple[Any, Any]:
    """The value of a maximum flow, and a mask of the vertices that the residual graph connects to the source.

    ``residual``: the capacities, int64 below 2**62 or float64; overwritten by the residual capacities. An augmentation
    saturates the bottleneck of a path exactly, also with floats, so that there are at most as many phases as vertices.
    """
    n, ids = arcs.shape[0], arcs.indices.dtype
    level, queue = np.empty(n, ids), np.empty(n, ids)
    limit = np.empty(n + 1, residual.dtype)
    # The bottleneck of an empty path, read at index -1.
    limit[n] = np.inf if residual.dtype.kind == "f" else 1 << 62
    places = ids if arcs.nnz <= np.iinfo(ids).max else np.int64
    reverse, path, following = np.empty(arcs.nnz, places), np.empty(n, places), np.empty(n, places)
    with interruptible():
        value = _flow(
            arcs.indptr, arcs.indices, reverse, residual, (source, sink), level, queue, following, path, limit
        )
    return value, level >= 0


@part
def _set_reverse(indptr, indices, reverse, following):
    """Position of each arc's reverse: the arcs to a vertex ascend by tail, as its own arcs ascend by head."""
    for v in range(following.size):
        following[v] = indptr[v]
    for at in range(indices.size):
        v = vertex(indices, at)
        reverse[at] = following[v]
        following[v] += 1


@part
def _set_levels(indptr, indices, residual, source, sink, level, queue, following):
    """Breadth-first levels of the residual graph from the source; returns whether the sink is reached."""
    level[:] = -1
    level[source], queue[0] = 0, source
    head, tail = 0, 1
    while head < tail and level[sink] < 0 and not is_stopped():
        v = vertex(queue, head)
        head += 1
        further = level[v] + 1
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            if peek(level, u) < 0 and peek(residual, at) > 0:
                level[u] = further
                following[u] = peek(indptr, u)
                queue[tail] = u
                tail += 1
    return level[sink] >= 0


@part
def _blocking_flow(indptr, indices, reverse, residual, source, sink, level, following, path, limit):
    """Augment along paths of the levels until none is left; returns their flow.

    `path`: the reverses of a path's arcs, from the sink on; `limit`: the least residual capacity up to each, and at -1
    infinity.
    """
    value, depth, v, least = 0, 0, sink, limit[-1]
    while not is_stopped():
        if v == source:
            value += least
            first_full = 0
            for i in range(depth - 1, -1, -1):
                at = path[i]
                back = reverse[at]
                residual[back] -= least
                residual[at] += least
                limit[i] -= least
                if residual[back] == 0:
                    first_full = i
            depth = first_full
            v = vertex(indices, reverse[path[depth]])
            least = limit[depth - 1]
            continue
        at, end, below = following[v], peek(indptr, v + 1), level[v] - 1
        while at < end and not (level[vertex(indices, at)] == below and residual[reverse[at]] > 0):
            at += 1
        following[v] = at
        if at < end:
            least = min(least, residual[reverse[at]])
            path[depth], limit[depth] = at, least
            depth += 1
            v = vertex(indices, at)
        elif depth == 0:
            break
        else:
            # Dead end: no path of this phase leads through it.
            level[v] = -1
            depth -= 1
            v = vertex(indices, reverse[path[depth]])
            least = limit[depth - 1]
    return value


@njit(cache=True, nogil=True)
def _flow(indptr, indices, reverse, residual, ends, level, queue, following, path, limit):
    source, sink = ends
    value, is_set = 0, False
    while _set_levels(indptr, indices, residual, source, sink, level, queue, following) and not is_stopped():
        if not is_set:
            # Only if the sink is reached at all; `path` serves as scratch memory.
            _set_reverse(indptr, indices, reverse, path)
            is_set = True
        value += _blocking_flow(indptr, indices, reverse, residual, source, sink, level, following, path, limit)
    return value
