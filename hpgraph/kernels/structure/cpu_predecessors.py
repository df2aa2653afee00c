"""Path lengths and tree arcs from predecessors, on one thread."""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, peek, put, vertex
from hpgraph.kernels.runtime.cpu.weights import entry
from hpgraph.kernels.structure.cpu_fifo import side_of
from hpgraph.kernels.structure.cpu_stored import within


def path_lengths(weight: Any, before: Any, missing: int, null_value: float) -> Any:
    """The length of the path to each column from its row, by predecessors; `null_value` if there is none.

    No vertex of a row is passed twice.

    ``weight`` (float64 array, shape (n, n)): lengths of arcs; ``before`` (int32 array, shape (n, n)).
    """
    length = np.empty(before.shape)
    with interruptible():
        _walk(weight, before, missing, null_value, length)
    return length


@njit(cache=True, nogil=True)
def _walk(weight, before, missing, null_value, length):
    n = before.shape[0]
    known, path = np.full(n, -1, np.int64), np.empty(n, np.int64)
    for row in range(n):
        if is_stopped():
            break
        known[row], length[row, row] = row, 0.0
        for column in range(n):
            depth, v = 0, column
            while known[v] != row:
                # Marked now, so that a cycle ends here, as a path that does not lead to the row.
                known[v], length[row, v] = row, np.nan
                path[depth] = v
                depth += 1
                u = before[row, v]
                if u == missing:
                    break
                v = int(u)
            total = length[row, v]
            for i in range(depth - 1, -1, -1):
                u = path[i]
                if before[row, u] != missing:
                    total += weight[before[row, u], u]
                length[row, u] = total
        for column in range(n):
            if np.isnan(length[row, column]):
                length[row, column] = null_value


def shortest_path_trees(rows: Any, back: Any, starts: Any, distance: Any, missing: int) -> Any:
    """Predecessors from distances of shape (k, n) and starts of shape (k, s); `missing` if there is none.

    Of paths of equal length they are on one of fewest arcs, and of such predecessors the smallest. ``rows``: indptr,
    indices and weights of the arcs; ``back``: the same of arcs that are in-arcs there, or None.
    """
    n, ids = distance.shape[1], rows[1].dtype
    before = np.full(distance.shape, missing, ids)
    arcs = len(rows[1]) + (0 if back is None else len(back[1]))
    work = np.empty(arcs, ids), np.empty(n, np.int64), np.empty(n, ids), np.empty(n, np.int32)
    for start, row, found in zip(starts, distance, before, strict=True):
        with interruptible():
            _find_tree(rows, back, start, row, found, work)
    return before


@njit(cache=True, nogil=True, counts_references=False)
def _find_tree(rows, back, starts, distance, before, work):
    """Breadth-first search along `tight` arcs, those that shortest paths may take: never round a cycle."""
    tight, ends, queue, hops = work
    to = 0
    for v in range(ends.size):
        dist = distance[v]
        if dist < np.inf:
            for side in range(1 if back is None else 2):
                indptr, indices, weight = side_of(rows, back, side)
                for at in range(peek(indptr, v), peek(indptr, v + 1)):
                    u = vertex(indices, at)
                    tentative = dist + entry(weight, at)
                    if tentative == distance[u] and tentative < np.inf:
                        tight[to] = u
                        to += 1
        ends[v], hops[v] = to, -1
    count, taken = 0, 0
    for start in starts:
        queue[count], hops[start] = start, 0
        count += 1
    while taken < count and not is_stopped():
        v = vertex(queue, taken)
        taken += 1
        for at in range(ends[v - 1] if v else 0, ends[v]):
            u = vertex(tight, at)
            if hops[u] < 0:
                hops[u], before[u], queue[count] = hops[v] + 1, v, u
                count += 1
            elif hops[u] == hops[v] + 1 and v < before[u]:
                before[u] = v


def roots(before: Any, starts: Any, missing: int) -> Any:
    """The root of each vertex by predecessors, a start; `missing` if there is none (int32)."""
    root = np.empty(len(before), np.int32)
    root.fill(missing)
    root[starts] = starts
    _climb(before, missing, root)
    return root


@njit(cache=True, nogil=True, counts_references=False)
def _climb(before, missing, root):
    for u in range(before.size):
        # A search may reach few.
        if peek(before, u) == missing:
            continue
        v = np.int64(u)
        while peek(root, v) == missing and peek(before, v) != missing:
            v = vertex(before, v)
        found, v = peek(root, v), np.int64(u)
        while peek(root, v) != found:
            put(root, v, found)
            v = vertex(before, v)


def tree_arcs(rows: CSR, before: Any, directed: bool) -> CSR:
    """The arcs from the predecessor of each vertex, in either direction unless `directed`, of several the lightest.

    Rows need neither be sorted nor free of duplicates, and columns need not have been checked.
    """
    n = rows.shape[0]
    # One more element: each row's start becomes its end.
    arc, indptr = np.empty(n, rows.indptr.dtype), np.zeros(n + 2, rows.indptr.dtype)
    arc.fill(-1)
    count = within(rows, _find_arcs(rows.indptr, rows.indices, rows.data, before, directed, arc, indptr))
    indices, data = np.empty(count, rows.indices.dtype), np.empty(count, rows.data.dtype)
    _fill_rows(arc, before, rows.data, indptr, indices, data)
    return CSR(rows.shape, indptr[:-1], indices, data, validate=False)


@njit(cache=True, nogil=True)
def _find_arcs(indptr, indices, weight, before, directed, arc, begins):
    """The position of the `arc` to each vertex from its predecessor, and where each row `begins`, one place further on.

    Only rows that may have one are read.
    """
    n = arc.size
    has_arcs = np.zeros(n, np.bool_)
    for v in range(n):
        if 0 <= before[v] < n:
            has_arcs[before[v]] = True
            has_arcs[v] |= not directed
    for v in range(n):
        if not has_arcs[v]:
            continue
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            if u >= n:
                return -1
            if before[u] == v and (arc[u] < 0 or weight[at] < weight[arc[u]]):
                arc[u] = at
            if not directed and before[v] == u and (arc[v] < 0 or weight[at] < weight[arc[v]]):
                arc[v] = at
    for v in range(n):
        if arc[v] >= 0:
            begins[before[v] + 2] += 1
    for v in range(n):
        begins[v + 2] += begins[v + 1]
    return begins[n + 1]


@njit(cache=True, nogil=True)
def _fill_rows(arc, before, weight, following, indices, data):
    for v in range(arc.size):
        if arc[v] >= 0:
            at = following[before[v] + 1]
            following[before[v] + 1] = at + 1
            indices[at], data[at] = v, weight[arc[v]]
