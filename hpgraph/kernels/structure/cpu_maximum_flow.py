"""Maximum flow on one thread, by blocking flows.

E. A. Dinic, "Algorithm for solution of a problem of maximum flow in networks with power estimation", Soviet Math.
Doklady 11 (1970). Levels count arcs from the source and paths are searched from the sink, so that at first no search
meets a dead end.
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, part, peek, vertex


def maximum_flow(arcs: CSR, room: Any, source: int, sink: int) -> tuple[Any, Any]:
    """The value of a maximum flow, and a mask of the vertices that arcs with room lead to from the source then.

    ``room``, int64 below 2**62 or float64, becomes what arcs and their reverses can still carry. Of floats, too, the
    arc of the least room on a path is filled exactly: no more phases are needed than there are vertices.
    """
    n, ids = arcs.shape[0], arcs.indices.dtype
    level, queue = np.empty(n, ids), np.empty(n, ids)
    limit = np.empty(n + 1, room.dtype)
    # Before the first arc of a path: of the last place an index of -1 reads.
    limit[n] = np.inf if room.dtype.kind == "f" else 1 << 62
    places = ids if arcs.nnz <= np.iinfo(ids).max else np.int64
    reverse, path, following = np.empty(arcs.nnz, places), np.empty(n, places), np.empty(n, places)
    with interruptible():
        value = _flow(arcs.indptr, arcs.indices, reverse, room, (source, sink), level, queue, following, path, limit)
    return value, level >= 0


@part
def _set_reverse(indptr, indices, reverse, following):
    """Position of each arc's reverse: arcs to a vertex come by rising tails, as its own come by rising heads."""
    for v in range(following.size):
        following[v] = indptr[v]
    for at in range(indices.size):
        v = vertex(indices, at)
        reverse[at] = following[v]
        following[v] += 1


@part
def _set_levels(indptr, indices, room, source, sink, level, queue, following):
    """Count the arcs with room from the source, as far as to the sink; whether it is reached."""
    level[:] = -1
    level[source], queue[0] = 0, source
    head, tail = 0, 1
    while head < tail and level[sink] < 0 and not is_stopped():
        v = vertex(queue, head)
        head += 1
        further = level[v] + 1
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            if peek(level, u) < 0 and peek(room, at) > 0:
                level[u] = further
                following[u] = peek(indptr, u)
                queue[tail] = u
                tail += 1
    return level[sink] >= 0


@part
def _blocking_flow(indptr, indices, reverse, room, source, sink, level, following, path, limit):
    """Augment along paths of the levels until none is left; returns their flow.

    `path`: the arcs from the sink back, against which it flows; `limit`: the least room from the sink on, at -1 none.
    """
    value, depth, v, least = 0, 0, sink, limit[-1]
    while not is_stopped():
        if v == source:
            value += least
            first_full = 0
            for i in range(depth - 1, -1, -1):
                at = path[i]
                back = reverse[at]
                room[back] -= least
                room[at] += least
                limit[i] -= least
                if room[back] == 0:
                    first_full = i
            depth = first_full
            v = vertex(indices, reverse[path[depth]])
            least = limit[depth - 1]
            continue
        at, end, below = following[v], peek(indptr, v + 1), level[v] - 1
        while at < end and not (level[vertex(indices, at)] == below and room[reverse[at]] > 0):
            at += 1
        following[v] = at
        if at < end:
            least = min(least, room[reverse[at]])
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
def _flow(indptr, indices, reverse, room, ends, level, queue, following, path, limit):
    source, sink = ends
    value, is_set = 0, False
    while _set_levels(indptr, indices, room, source, sink, level, queue, following) and not is_stopped():
        if not is_set:
            # Only where any path is: `path` is free until then.
            _set_reverse(indptr, indices, reverse, path)
            is_set = True
        value += _blocking_flow(indptr, indices, reverse, room, source, sink, level, following, path, limit)
    return value
