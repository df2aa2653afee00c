"""Strongly connected components on one thread, by one depth-first search.

R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1 (1972), in the form of D. J.
Pearce, "A space-efficient algorithm for finding strongly connected components", Inf. Process. Lett. 116 (2016): one
number a vertex, and only vertices that are no root of a component wait on the stack.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.interruption import interruptible
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.prefetch import peek, vertex
from hpgraph.semiring.stop import is_stopped


def strong_components(arcs: CSR, part: Any, smallest: Any) -> Any:
    """Write the smallest vertex of each vertex's strong component into ``smallest`` (array of vertex ids, shape (n,)).

    Returns these vertices in the order in which the components are complete: those behind a component are before it.

    ``part`` (int64 array, shape (n,), or None): no component has vertices in two parts; a vertex of a negative part
    is left as it is.
    """
    n, ids = arcs.shape[0], arcs.indices.dtype
    low = np.zeros(n, ids) if part is None else np.where(part < 0, n, 0).astype(ids)
    stack, path, start, complete = np.empty(n, ids), np.empty(n, ids), np.empty(n, ids), np.empty(n, ids)
    work = stack, path, start, np.empty(n, np.int64)
    with interruptible():
        count = _search(arcs.indptr, arcs.indices, part, low, work, smallest, complete)
    return complete[:count]


@njit(cache=True, nogil=True)
def _search(indptr, indices, part, low, work, smallest, complete):
    """`low`: 0 where not met, n where done. Beside each vertex on the `path`: its number, and its next arc."""
    stack, path, start, following = work
    n, components = low.size, 0
    count, waiting = 0, 0
    for root in range(n):
        if low[root] != 0:
            continue
        depth, v = 0, root
        count += 1
        path[0], start[0], following[0], low[v] = v, count, indptr[v], count
        while not is_stopped():
            at, end = following[depth], peek(indptr, v + 1)
            lowest, met = np.int64(low[v]), -1
            while at < end:
                u = vertex(indices, at)
                at += 1
                if part is not None and peek(part, u) != peek(part, v):
                    continue
                known = np.int64(peek(low, u))
                if known == 0:
                    met = u
                    break
                lowest = min(lowest, known)
            low[v] = lowest
            if met >= 0:
                following[depth] = at
                depth, v = depth + 1, met
                count += 1
                path[depth], start[depth], following[depth], low[v] = v, count, indptr[v], count
                continue
            if lowest < start[depth]:
                stack[waiting] = v
                waiting += 1
            else:
                # The members met since this root are on top of the stack.
                first, below, least = lowest, waiting, np.int64(v)
                while below > 0 and low[stack[below - 1]] >= first:
                    below -= 1
                    least = min(least, np.int64(stack[below]))
                smallest[v], low[v], complete[components] = least, n, least
                components += 1
                for i in range(below, waiting):
                    smallest[stack[i]], low[stack[i]] = least, n
                waiting = below
            if depth == 0:
                break
            depth -= 1
            above = vertex(path, depth)
            low[above] = min(low[above], low[v])
            v = above
        if is_stopped():
            break
    return components
