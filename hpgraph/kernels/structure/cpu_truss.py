"""Truss numbers on the CPU, by peeling edges of least support.

J. Cohen, "Trusses: cohesive subgraphs for social network analysis", NSA (2008); J. Wang, J. Cheng, "Truss decomposition
in massive networks", VLDB'12. An edge is one from the end of the lower degree to that of the higher, in the graph's
degree order, so that its triangles are found from the shorter row; when it is removed, the search ends at its support.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, part, peek, vertex
from hpgraph.kernels.runtime.cpu.rows import place_in_row
from hpgraph.kernels.structure.cpu_degree_order import degree_order

# Edges in degree order, by their positions in rows of lower neighbours, and from their lower ends. `row`: the row of
# each; row s of `upper`, up to `upper_end`: the edges of lower end s; removed ones may be missing.
Edges = namedtuple("Edges", "indptr lower row upper_indptr upper_end upper")


# Larger than any truss number.
_NO_LIMIT = 1 << 62


def truss(arcs: CSR, k: int) -> Any:
    """The arcs of the k-truss: a mask."""
    return truss_numbers(arcs, k) >= k


def truss_numbers(arcs: CSR, limit: int = _NO_LIMIT) -> Any:
    """The largest k for which each arc is in the k-truss, as far as k stays below a limit; 2 or more, 0 for loops."""
    order = degree_order(arcs)
    n, m = len(order.order), len(order.indices)
    row = np.repeat(np.arange(n, dtype=order.indices.dtype), np.diff(order.indptr))
    ends = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(order.indices, minlength=n), out=ends[1:])
    edges = Edges(order.indptr, order.indices, row, ends, ends[1:].copy(), np.empty(m, np.int64))
    support, number = np.zeros(m, np.int64), np.full(m, limit)
    of_arcs = np.zeros(arcs.nnz, np.int64)
    with interruptible():
        _group_edges(edges.lower, ends[:-1].copy(), edges.upper)
        support_of(edges.indptr, edges.lower, support)
        _peel(edges, support, limit - 2, number)
        rows = arcs.indptr, arcs.indices, arcs.indptr[:-1].copy()
        _number_arcs(*rows, order.rank, edges.indptr, edges.lower, number, of_arcs)
    return of_arcs


@njit(cache=True, nogil=True)
def _group_edges(lower, following, upper):
    """Group edges by their lower ends; `following` is the next free place of each group."""
    for edge in range(lower.size):
        s = vertex(lower, edge)
        at = peek(following, s)
        upper[at] = edge
        following[s] = at + 1


@njit(cache=True, nogil=True)
def _number_arcs(indptr, indices, following, rank, lower_indptr, lower, number, of_arcs):
    """Write the number of each edge to both of its arcs.

    Rows ascend, so that the reverses of a row's arcs are met in order: `following` is where each row's next one lies.
    """
    for v in range(indptr.size - 1):
        r = vertex(rank, v)
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            back = peek(following, u)
            following[u] = back + 1
            s = vertex(rank, u)
            if s < r:
                found = number[place_in_row(lower_indptr, lower, r, s)]
                of_arcs[at] = found
                of_arcs[back] = found


@njit(cache=True, nogil=True)
def support_of(indptr, lower, support):
    """Support of each edge, its number of triangles: neighbours of lower rank are marked by position."""
    n = indptr.size - 1
    mark = np.full(n, -1, np.int64)
    for r in range(n):
        begin, end = peek(indptr, r), peek(indptr, r + 1)
        if end - begin < 2:
            continue
        if is_stopped():
            break
        for at in range(begin, end):
            mark[vertex(lower, at)] = at
        for at in range(begin, end):
            s = vertex(lower, at)
            found = 0
            for other in range(peek(indptr, s), peek(indptr, s + 1)):
                third = peek(mark, vertex(lower, other))
                if third >= 0:
                    support[third] += 1
                    support[other] += 1
                    found += 1
            support[at] += found
        for at in range(begin, end):
            mark[vertex(lower, at)] = -1


@part
def _decrement_support(edge, level, support, queued, queue, tail):
    """Decrement an edge's support, and queue the edge once it reaches the level; returns the queue's tail."""
    support[edge] -= 1
    if support[edge] <= level and not queued[edge]:
        queued[edge] = True
        queue[tail] = edge
        tail += 1
    return tail


@njit(cache=True, nogil=True)
def _peel(edges, support, limit, number):
    """Remove edges with support below `limit`, level by level; a removed edge gets the level's number."""
    indptr, lower, row, upper_indptr, upper_end, upper = edges
    m = support.size
    alive, queued = np.ones(m, np.bool_), np.zeros(m, np.bool_)
    remaining, queue = np.arange(m), np.empty(m, np.int64)
    count = m
    while count > 0 and not is_stopped():
        level, kept, tail = np.int64(-1), 0, 0
        for i in range(count):
            edge = peek(remaining, i)
            if not alive[edge]:
                continue
            if level < 0 or support[edge] < level:
                level = support[edge]
                tail = 0
            if support[edge] == level:
                queue[tail] = edge
                tail += 1
            remaining[kept] = edge
            kept += 1
        count = kept
        if level >= limit:
            break
        for i in range(tail):
            queued[queue[i]] = True
        head = 0
        while head < tail and not is_stopped():
            edge = peek(queue, head)
            head += 1
            number[edge] = level + 2
            alive[edge] = False
            r, s = vertex(row, edge), vertex(lower, edge)
            left = support[edge]
            for at in range(peek(indptr, r), peek(indptr, r + 1)):
                if left == 0:
                    break
                if alive[at]:
                    w = vertex(lower, at)
                    third = place_in_row(indptr, lower, max(w, s), min(w, s))
                    if third >= 0 and alive[third]:
                        left -= 1
                        tail = _decrement_support(at, level, support, queued, queue, tail)
                        tail = _decrement_support(third, level, support, queued, queue, tail)
            if left == 0:
                continue
            kept = peek(upper_indptr, r)
            for i in range(kept, peek(upper_end, r)):
                at = peek(upper, i)
                if alive[at]:
                    upper[kept] = at
                    kept += 1
                    if left > 0:
                        third = place_in_row(indptr, lower, vertex(row, at), s)
                        if third >= 0 and alive[third]:
                            left -= 1
                            tail = _decrement_support(at, level, support, queued, queue, tail)
                            tail = _decrement_support(third, level, support, queued, queue, tail)
            upper_end[r] = kept
