"""Searches by a FIFO queue on one thread: orders by arcs, by distance and topological; two-colouring; Cuthill-McKee.

E. Cuthill, J. McKee, "Reducing the bandwidth of sparse symmetric matrices", ACM '69: breadth-first, the neighbours of
each vertex by rising degree.
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR, index_dtype
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, part, peek, prefetch, put, vertex
from hpgraph.kernels.structure.cpu_stored import is_column, is_row, within


def fifo_order(rows: CSR, start: int, missing: int) -> tuple[Any, Any]:
    """Breadth-first order by rows, which need not be sorted, and the vertex that discovered each, or `missing`.

    Neither offsets nor columns need have been checked: what a search reads is, and one beyond the shape is an error.
    """
    n, ids = rows.shape[0], index_dtype(rows.shape[0])
    order, predecessors = np.empty(n + 1, ids), np.empty(n, ids)
    predecessors.fill(missing)
    count = within(rows, _fill(rows.indptr, rows.indices, start, missing, order, predecessors))
    return order[:count], predecessors


@part(counts_references=False, forceinline=True)
def side_of(rows, back, side):
    """The arrays of out-neighbours, or of in-neighbours on side 1; there is none where `back` is None.

    For kernels that count no references, too, as those of arrays are not counted here.
    """
    if back is None:
        return rows
    return back if side else rows


# Places ahead in the queue of the vertex whose row is fetched; arcs from which on a row is followed without branches.
_AHEAD, _LONG = 4, 8


@njit(cache=True, counts_references=False)
def _fill(indptr, indices, start, missing, order, predecessors):
    """The number of vertices in `order`, which has room for one more; -1 if a column is beyond the shape.

    Where the search is, a predecessor is the mark of a vertex that was found. Whether an arc of a long row leads to one
    cannot be foreseen: to write in any case takes half the time of a branch. Short rows are read with branches, so that
    the next vertex is known before its predecessor is written.
    """
    order[0], predecessors[start] = start, start
    count, taken, last, n = np.int64(1), np.int64(0), np.int64(start), predecessors.size
    while taken < count < n:
        # The last vertex found need not be read again.
        u = vertex(order, taken) if taken + 1 < count else last
        taken += 1
        if taken + _AHEAD < count:
            prefetch(indices, np.int64(peek(indptr, vertex(order, taken + _AHEAD))))
        at, end = np.int64(peek(indptr, u)), np.int64(peek(indptr, u + 1))
        if not is_row(at, end, indices.size):
            return -1
        if end - at < _LONG:
            while at < end:
                v = vertex(indices, at)
                if not is_column(v, n):
                    return -1
                at += 1
                if peek(predecessors, v) == missing:
                    put(predecessors, v, u)
                    put(order, count, v)
                    count += 1
                    last = v
        else:
            while at < end:
                v = vertex(indices, at)
                if not is_column(v, n):
                    return -1
                at += 1
                before = np.int64(peek(predecessors, v))
                is_new = before == missing
                put(predecessors, v, u if is_new else before)
                put(order, count, v)
                count += is_new
            last = vertex(order, count - 1)
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
    """Vertices in the order of Kahn's queue, and their generations, without vertices on cycles or after them."""
    n = len(indptr) - 1
    order, generation = np.empty(n, np.int64), np.full(n, -1)
    count = _sort(indptr, indices, np.bincount(indices, minlength=n), generation, order)
    return order[:count], generation[order[:count]]


def generations(out: CSR, in_degree: Any) -> Any:
    """Length of the longest path to each vertex, -1 on cycles and after them.

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
            side_of_v = peek(side, v)
            for at in range(peek(indptr, v), peek(indptr, v + 1)):
                u = vertex(indices, at)
                its = peek(side, u)
                if its < 0:
                    side[u] = 1 - side_of_v
                    queue[tail] = u
                    tail += 1
                elif its == side_of_v:
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
