"""Searches by a FIFO queue on one thread: orders by arcs, by distance and topological; two-colouring; Cuthill-McKee.

E. Cuthill, J. McKee, "Reducing the bandwidth of sparse symmetric matrices", ACM '69: breadth-first, the neighbours of
each vertex by rising degree.
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.formats.checks import as_ids
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.prefetch import peek, put, vertex
from hpgraph.kernels.runtime.cpu.threads import interruptible
from hpgraph.semiring.stop import is_stopped


def fifo_order(rows: CSR, start: int, missing: int) -> tuple[Any, Any]:
    """Breadth-first order by rows, which need not be sorted, and the vertex that discovered each, or `missing`.

    Columns need not have been checked: one beyond the shape is an IndexError.
    """
    n = rows.shape[0]
    as_ids(rows.indices, "indices", n, "column")
    order, predecessors = np.empty(n, rows.indices.dtype), np.full(n, missing, rows.indices.dtype)
    count = _fill(rows.indptr, rows.indices, start, missing, order, predecessors)
    return order[:count], predecessors


def within(rows: CSR, count: int) -> int:
    """What a search returned; an IndexError where that is negative, as it met a column beyond the shape."""
    if count < 0:
        as_ids(rows.indices, "indices", rows.shape[1], "column")
    return count


def is_both_ways(csr: CSR) -> bool:
    """Whether rows ascend, and every arc has its reverse of the same weight; quick where the first arcs have none."""
    return bool(within(csr, _is_symmetric(csr.indptr, csr.indices, csr.data, csr.indptr[:-1].copy())))


def rows_both_ways(rows: CSR) -> CSR:
    """Rows of out-neighbours, then in-neighbours; neither sorted nor free of duplicates, and with their values.

    A symmetric matrix of ascending rows is returned as it is. Columns need not have been checked: one beyond the shape
    is an IndexError.
    """
    n, ends = rows.shape[0], 2 * rows.nnz
    if is_both_ways(rows):
        return rows
    indptr = np.zeros(n + 1, rows.indptr.dtype if ends <= np.iinfo(rows.indptr.dtype).max else np.int64)
    incoming = np.empty(n, indptr.dtype)
    within(rows, _count_ends(rows.indptr, rows.indices, indptr, incoming))
    indices = np.empty(ends, rows.indices.dtype)
    data = None if rows.data is None else np.empty(ends, rows.data.dtype)
    _place_ends(rows.indptr, rows.indices, rows.data, indptr, incoming, indices, data)
    return CSR(rows.shape, indptr, indices, data, validate=False)


@njit(cache=True, counts_references=False)
def _is_symmetric(indptr, indices, data, back):
    """Whether rows ascend, and every arc has its reverse of the same weight; -1 if a column is beyond the shape.

    Rows in turn meet the reverse of each arc where `back` is, as in a transpose; the first that is missing ends it.
    """
    n = back.size
    for v in range(n):
        before = -1
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            if u >= n:
                return -1
            there = peek(back, u)
            if u <= before or there >= peek(indptr, u + 1) or vertex(indices, there) != v:
                return 0
            if data is not None and peek(data, there) != peek(data, at):
                return 0
            back[u] = there + 1
            before = u
    return 1


@njit(cache=True)
def _count_ends(indptr, indices, ends, incoming):
    """Where rows of both directions end, and where the in-neighbours of each begin."""
    n = incoming.size
    for at in range(indices.size):
        u = vertex(indices, at)
        if u >= n:
            return -1
        ends[u + 1] += 1
    for v in range(n):
        incoming[v] = ends[v] + peek(indptr, v + 1) - peek(indptr, v)
        ends[v + 1] += incoming[v]
    return 0


@njit(cache=True)
def _place_ends(indptr, indices, data, begins, incoming, both, values):
    for v in range(incoming.size):
        to = np.int64(peek(begins, v))
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            back = np.int64(peek(incoming, u))
            incoming[u] = back + 1
            both[to], both[back] = u, v
            if data is not None:
                values[to] = values[back] = data[at]
            to += 1


@njit(cache=True, counts_references=False)
def _fill(indptr, indices, start, missing, order, predecessors):
    # Where the search is, a predecessor is the mark of a vertex that was found.
    order[0], predecessors[start] = start, start
    count, taken = np.int64(1), 0
    while taken < count < order.size:
        u = vertex(order, taken)
        taken += 1
        for at in range(peek(indptr, u), peek(indptr, u + 1)):
            v = vertex(indices, at)
            if peek(predecessors, v) == missing:
                put(predecessors, v, u)
                put(order, count, v)
                count += 1
    predecessors[start] = missing
    return count


def settling_order(rows: Any, distance: Any, sources: Any) -> tuple[Any, Any]:
    """The order in which Dijkstra's algorithm settles vertices, of equal distances the one first offered.

    ``rows``: indptr, indices and float64 weights, in the order in which each vertex relaxes them. Returns the vertices
    reached, and the first to offer each its distance; -1 at a source and where not reached.
    """
    reached = np.flatnonzero(distance < np.inf)
    ascending = distance[reached[np.argsort(distance[reached], kind="stable")]]
    # Vertices of one distance fill the slots of that distance in the order in which their last offers come.
    slot = np.full(len(distance), -1)
    slot[reached] = np.searchsorted(ascending, distance[reached])
    order, before = np.full(len(reached), -1), np.full(len(distance), -1)
    _settle(*rows, distance, np.asarray(sources, np.int64), slot, np.zeros(len(reached) + 1, np.int64), order, before)
    return order, before


@njit(cache=True, nogil=True)
def _settle(indptr, indices, weights, distance, sources, slot, filled, order, before):
    offered = np.zeros(distance.size, np.bool_)
    for s in sources:
        if not offered[s]:
            offered[s] = True
            order[slot[s] + filled[slot[s]]] = s
            filled[slot[s]] += 1
    for taken in range(order.size):
        u = order[taken]
        for at in range(indptr[u], indptr[u + 1]):
            v = indices[at]
            if not offered[v] and slot[v] >= 0 and distance[u] + weights[at] == distance[v]:
                offered[v], before[v] = True, u
                order[slot[v] + filled[slot[v]]] = v
                filled[slot[v]] += 1


@njit(cache=True, nogil=True)
def add_loads(indptr, indices, weights, distance, order, total):
    """Add the load of each vertex on shortest paths from one source; vertices reached are in order of distance.

    M. E. J. Newman, "Scientific collaboration networks. II", Physical Review E 64 (2001): each vertex passes what it
    has on to its predecessors, in equal parts; where the source is one, as in NetworkX, nothing to others.
    """
    offers, load = np.zeros(distance.size), np.ones(distance.size)
    for u in order:
        for at in range(indptr[u], indptr[u + 1]):
            if distance[u] + weights[at] == distance[indices[at]]:
                offers[indices[at]] += np.inf if u == order[0] else 1
    for k in range(order.size - 1, 0, -1):
        u = order[k]
        for at in range(indptr[u], indptr[u + 1]):
            v = indices[at]
            if distance[u] + weights[at] == distance[v]:
                load[u] += load[v] / offers[v]
        total[u] += load[u] - 1


def topological_order(indptr: Any, indices: Any) -> tuple[Any, Any]:
    """Vertices in the order of Kahn's queue, and their generations: as many as are not on cycles or behind them."""
    n = len(indptr) - 1
    order, generation = np.empty(n, np.int64), np.full(n, -1)
    count = _sort(indptr, indices, np.bincount(indices, minlength=n), generation, order)
    return order[:count], generation[order[:count]]


def generations(out: CSR, in_degree: Any) -> Any:
    """Length of the longest path to each vertex, -1 on cycles and behind them.

    A. B. Kahn, "Topological sorting of large networks", Communications of the ACM 5 (1962).
    """
    n, ids = out.shape[0], out.indices.dtype
    generation = np.full(n, -1, ids)
    with interruptible():
        _sort(out.indptr, out.indices, in_degree.copy(), generation, np.empty(n, ids))
    return generation


@njit(cache=True, nogil=True)
def _sort(indptr, indices, left, generation, queue):
    tail = 0
    for v in range(generation.size):
        if left[v] == 0:
            generation[v] = 0
            queue[tail] = v
            tail += 1
    head = 0
    while head < tail and not is_stopped():
        v = vertex(queue, head)
        head += 1
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            left[u] -= 1
            if left[u] == 0:
                # The last in-neighbour removed is of the latest generation.
                generation[u] = generation[v] + 1
                queue[tail] = u
                tail += 1
    return tail


def two_sides(arcs: CSR) -> Any:
    """The side, 0 or 1, of each vertex, 0 for the least of a component; None if an edge or loop joins a side."""
    n = arcs.shape[0]
    side, queue = np.full(n, -1, np.int8), np.empty(n, arcs.indices.dtype)
    with interruptible():
        return side if _search_sides(arcs.indptr, arcs.indices, side, queue) else None


@njit(cache=True, nogil=True)
def _search_sides(indptr, indices, side, queue):
    for root in range(side.size):
        if side[root] >= 0:
            continue
        if is_stopped():
            break
        side[root] = 0
        queue[0] = root
        head, tail = 0, 1
        while head < tail and not is_stopped():
            v = vertex(queue, head)
            head += 1
            mine = peek(side, v)
            for at in range(peek(indptr, v), peek(indptr, v + 1)):
                u = vertex(indices, at)
                its = peek(side, u)
                if its < 0:
                    side[u] = 1 - mine
                    queue[tail] = u
                    tail += 1
                elif its == mine:
                    return False
    return True


# Fewer neighbours are sorted by insertion.
_MIN_SORTED = 32


def cuthill_mckee(arcs: CSR, degree: Any, seeds: Any) -> Any:
    """Vertices in Cuthill-McKee order; each component begins at the first of its vertices in `seeds`."""
    n = arcs.shape[0]
    order, seen, keys = np.empty(n, arcs.indices.dtype), np.zeros(n, np.bool_), np.empty(n, np.int64)
    with interruptible():
        _search_by_degree(arcs.indptr, arcs.indices, degree, seeds, order, seen, keys)
    return order


@njit(cache=True, nogil=True)
def _search_by_degree(indptr, indices, degree, seeds, order, seen, keys):
    """`keys`: the degree of a neighbour above the 32 bits of its place, so that equal degrees keep their order."""
    taken, count = 0, 0
    for seed in seeds:
        if is_stopped():
            break
        if seen[seed]:
            continue
        order[count], seen[seed] = seed, True
        count += 1
        while taken < count:
            v = vertex(order, taken)
            taken += 1
            first = count
            for at in range(peek(indptr, v), peek(indptr, v + 1)):
                u = vertex(indices, at)
                if not seen[u]:
                    seen[u] = True
                    order[count] = u
                    count += 1
            if count - first < _MIN_SORTED:
                for i in range(first + 1, count):
                    u, at = order[i], i
                    while at > first and degree[order[at - 1]] > degree[u]:
                        order[at] = order[at - 1]
                        at -= 1
                    order[at] = u
                continue
            found = order[first:count].copy()
            for i in range(found.size):
                keys[i] = np.int64(degree[found[i]]) << 32 | i
            keys[: found.size].sort()
            for i in range(found.size):
                order[first + i] = found[keys[i] & 0xFFFFFFFF]
