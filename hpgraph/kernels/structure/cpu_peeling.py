"""Peeling on the CPU: remove vertices of least remaining degree, for core numbers.

S. B. Seidman, "Network structure and minimum degree", Social Networks 5 (1983); level by level as in H. Kabir,
K. Madduri, "Parallel k-core decomposition on multicore platforms", IPDPSW'17. The remaining vertices are scanned once a
level. At level k each of them has at least k arcs left, so all levels together scan O(m log n) vertices at most, and
every arc is followed once: that is less than keeping buckets of all degrees in order.
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, peek, prefetch, vertex
from hpgraph.kernels.runtime.cpu.rows import lower_bound

# Prefetch distance, in rows: those of a round are scattered.
PREFETCH_ROWS = 8


def peel(arcs: CSR, beyond: Any = None) -> tuple[Any, Any]:
    """Core numbers, and the round in which each vertex is peeled; `beyond`: arcs of each vertex that stay to the end.

    A round removes the vertices that have at most the level's number of arcs left when it begins: in order of rounds,
    each vertex has at most its core number of arcs to those after it.
    """
    n, ids = arcs.shape[0], arcs.indices.dtype
    core, round_ = np.zeros(n, ids), np.zeros(n, ids)
    with interruptible():
        _peel(arcs.indptr, arcs.indices, np.zeros(n, ids) if beyond is None else beyond.astype(ids), core, round_)
    return core, round_


@njit(cache=True, nogil=True)
def _peel(indptr, indices, beyond, core, round_):
    n = core.size
    left = np.empty(n, np.int64)
    remaining = np.empty(n, core.dtype)
    queue = np.empty(n, core.dtype)
    alive = 0
    for v in range(n):
        begin, end = peek(indptr, v), peek(indptr, v + 1)
        # A self-loop is where the row, if it ascends, passes the vertex itself.
        at = lower_bound(indices, begin, end, v)
        loop = at < end and indices[at] == v
        left[v] = end - begin - loop + beyond[v]
        if left[v] > 0:
            remaining[alive] = v
            alive += 1
    level, count = 0, 0
    while alive > 0 and not is_stopped():
        least = left[remaining[0]]
        kept = 0
        tail = 0
        # Drop those peeled in the last level; the least degree of the others is the next level.
        for i in range(alive):
            v = vertex(remaining, i)
            d = peek(left, v)
            if d > level:
                if kept == 0 or d < least:
                    least = d
                    tail = 0
                if d == least:
                    queue[tail] = v
                    tail += 1
                remaining[kept] = v
                kept += 1
        alive = kept
        level = least
        head = 0
        while head < tail:
            count += 1
            end = tail
            for i in range(head, end):
                v = vertex(queue, i)
                core[v], round_[v] = level, count
                if i + PREFETCH_ROWS < end:
                    soon = peek(indptr, vertex(queue, i + PREFETCH_ROWS))
                    prefetch(indices, soon)
                    prefetch(indices, soon + 16)
                for at in range(peek(indptr, v), peek(indptr, v + 1)):
                    u = vertex(indices, at)
                    d = peek(left, u)
                    if d > level:
                        left[u] = d - 1
                        if d - 1 == level:
                            queue[tail] = u
                            tail += 1
            head = end
