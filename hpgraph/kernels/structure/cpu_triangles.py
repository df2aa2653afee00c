"""Triangles on the CPU: mark a vertex's lower neighbours in a bitmap, then probe those of its upper neighbours.

A triangle u > v > w is found at its middle vertex v: the neighbours w below v are marked, and for each neighbour u
above v the neighbours of u below v are looked up. Each pair of arcs that leave the same u is looked at once,
Σ d⁺(d⁺-1)/2 in all, which is the least that any enumeration of wedges needs; walking the rows of u and v side by side,
as the GAP Benchmark Suite does (Beamer, Asanović & Patterson, arXiv:1508.03619), takes several times that and a
mispredicted branch at nearly every step.

"Below" is by rank in order of falling degree where that saves more than it costs, and by id where it does not; then
nothing has to be prepared, the rows are used as they lie. Where rows are short, as in road networks, triangles are
found at u instead, walking rows side by side: there is less to look at, and marking does not pay. Which of the three
loops it is, `hpgraph.kernels.structure.cpu_triangle_cost` says.
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.bits import lowest_bit, popcount
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import njit, part, peek, prefetch, tasks, team, vertex
from hpgraph.kernels.structure.cpu_degree_order import (
    BATCH,
    PREFETCH_ROWS,
    by_thread,
    degree_order,
    prefetch_row,
    rank_above,
)
from hpgraph.kernels.structure.cpu_triangle_cost import ORDER, WALK, cheapest
from hpgraph.kernels.structure.orientation import DegreeOrder

# Vertices a thread takes at a time.
CHUNK, WALK_CHUNK = 64, 256
# Neighbours looked up between two tests for the row's end.
VECTOR = 8
# Up to this many neighbours, walking two rows side by side is cheaper than marking.
WALK_DEGREE = 4


@part(counts_references=False, forceinline=True)
def _mark(marks, w):
    marks[np.uint64(w) >> np.uint64(5)] |= np.uint32(1) << np.uint32(np.uint64(w) & np.uint64(31))


@part(counts_references=False, forceinline=True)
def _marked(marks, w):
    return (marks[np.uint64(w) >> np.uint64(5)] >> np.uint32(np.uint64(w) & np.uint64(31))) & np.uint32(1)


@part(counts_references=False, forceinline=True)
def _common_few(lower, begin, stop, row, end, v, tally):
    """Size of the intersection of lower[begin:stop] and lower[row:end], by merging."""
    found = 0
    while row < end and lower[row] < v:
        w = lower[row]
        while begin < stop and lower[begin] < w:
            begin += np.uint64(1)
        if begin == stop:
            break
        if lower[begin] == w:
            found += 1
            if tally is not None:
                tally[w] += 1
        row += np.uint64(1)
    return found


@part(counts_references=False, forceinline=True)
def _common_marked(marks, lower, row, end, v, tally):
    """Number of marked vertices of lower[row:end] below v; none from v on is marked."""
    found = np.uint64(0)
    while row + np.uint64(VECTOR) <= end and lower[row + np.uint64(VECTOR - 1)] < v:
        if tally is None:
            for k in range(VECTOR):
                found += np.uint64(_marked(marks, lower[row + np.uint64(k)]))
        else:
            # Collect hits in a bit mask: the tallies of the others, which are scattered, are not touched.
            hits = np.uint64(0)
            for k in range(VECTOR):
                hits |= np.uint64(_marked(marks, lower[row + np.uint64(k)])) << np.uint64(k)
            found += np.uint64(popcount(hits))
            while hits:
                tally[lower[row + np.uint64(lowest_bit(hits))]] += 1
                hits &= hits - np.uint64(1)
        row += np.uint64(VECTOR)
    end = min(row + np.uint64(VECTOR), end)
    while row < end:
        w = lower[row]
        hit = _marked(marks, w)
        found += np.uint64(hit)
        if tally is not None and hit:
            tally[w] += 1
        row += np.uint64(1)
    return np.int64(found)


@part(counts_references=False, forceinline=True)
def _common(few, marks, lower, begin, stop, row_start, u, v, tally):
    """Common neighbours below v of v and of u, u being above v."""
    # Unsigned: Numba checks signed indices for being negative.
    row, end = np.uint64(row_start[np.uint64(u)]), np.uint64(row_start[np.uint64(u) + np.uint64(1)])
    if few:
        found = _common_few(lower, np.uint64(begin), np.uint64(stop), row, end, v, tally)
    else:
        found = _common_marked(marks, lower, row, end, v, tally)
    if tally is not None:
        tally[u] += found
    return found


@part(counts_references=False)
def _mark_chunks(thread, rows, order, rank, lower_rows, tallies, all_marks, room, following, found):
    """One thread's loop: take chunks of middle vertices v, and note the number of triangles found.

    `rows` and `lower_rows` are pairs of offsets and ids. Where the order is that of the ids, `order` and `rank` are
    None, and both pairs the graph's.
    The thread's marks, a bit for each vertex, and its room are zeros: entries past the last are prefetched too.
    """
    (indptr, indices), (row_start, lower) = rows, lower_rows
    n, marks, above = row_start.size - 1, all_marks[thread], room[thread]
    tally = None if tallies is None else tallies[thread]
    own_total = 0
    for chunk in tasks(following, n, CHUNK):
        for v in range(chunk, min(chunk + CHUNK, n)):
            if order is not None:
                prefetch_row(indptr, indices, order, v)
            begin, stop = row_start[v], row_start[v]
            while stop < row_start[v + 1] and lower[stop] < v:
                stop += 1
            if begin == stop:
                continue
            few = stop - begin <= WALK_DEGREE
            if not few:
                for j in range(begin, stop):
                    _mark(marks, lower[j])
            at_v = 0
            if rank is None:
                last = row_start[v + 1] - 1
                for j in range(stop, last + 1):
                    u = indices[j]
                    if u == v:
                        continue
                    prefetch(lower, row_start[np.uint64(indices[min(j + PREFETCH_ROWS, last)])])
                    at_v += _common(few, marks, lower, begin, stop, row_start, u, v, tally)
            else:
                first, last = indptr[order[v]], indptr[order[v] + 1]
                for batch in range(first, last, BATCH):
                    for k in range(rank_above(indices, rank, batch, min(batch + BATCH, last), v, above)):
                        prefetch(lower, row_start[np.uint64(above[min(k + PREFETCH_ROWS, BATCH - 1)])])
                        at_v += _common(few, marks, lower, begin, stop, row_start, above[k], v, tally)
            if tally is not None:
                tally[v] += at_v
            own_total += at_v
            if not few:
                for j in range(begin, stop):
                    marks[np.uint64(lower[j]) >> np.uint64(5)] = np.uint32(0)
    found[thread] = own_total


@njit(cache=True, nogil=True)
def _count(rows, order, rank, lower_rows, tallies, marks, above, following, found):
    """Triangles by thread; with `tallies`, of shape (threads, n), also those at each vertex."""
    in_parallel(found.size, _mark_chunks, (rows, order, rank, lower_rows, tallies, marks, above, following, found))


@part(counts_references=False)
def _walk_chunks(thread, indptr, indices, tallies, following, found):
    """One thread's loop: take chunks of vertices u, and note the number of triangles found."""
    n = indptr.size - 1
    tally = None if tallies is None else tallies[thread]
    own_total = 0
    for chunk in tasks(following, n, WALK_CHUNK):
        last = peek(indptr, chunk)
        for u in range(chunk, min(chunk + WALK_CHUNK, n)):
            first, last = last, peek(indptr, u + 1)
            for j in range(first + 1, last):
                v = vertex(indices, j)
                if v >= u:
                    break
                row, end = peek(indptr, v), peek(indptr, v + 1)
                for i in range(first, j):
                    w = vertex(indices, i)
                    while row < end and vertex(indices, row) < w:
                        row += 1
                    if row < end and vertex(indices, row) == w:
                        own_total += 1
                        if tally is not None:
                            for corner in (u, v, w):
                                tally[corner] += 1
    found[thread] = own_total


@njit(cache=True, nogil=True)
def _count_by_walking(indptr, indices, tallies, following, found):
    """`_count` where rows are short, at the highest vertex u > v > w: two neighbours below it may be neighbours too."""
    in_parallel(found.size, _walk_chunks, (indptr, indices, tallies, following, found))


@njit(cache=True, nogil=True)
def _add_tallies(tallies, order, triangles):
    in_parallel(triangles.size, _add_tally, (tallies, order, triangles))


@part(counts_references=False)
def _add_tally(r, tallies, order, triangles):
    total = 0
    for thread in range(tallies.shape[0]):
        total += tallies[thread, r]
    triangles[r if order is None else order[r]] = total


def _found(graph: CSR, tallies: np.ndarray | None, order: DegreeOrder | None, threads: int) -> int:
    """Triangles, and those at each vertex in ``tallies``, by the loop chosen for the graph."""
    following, found = np.zeros(1, np.int64), np.zeros(threads, np.int64)
    if order is None and cheapest(graph) == WALK:
        _count_by_walking(graph.indptr, graph.indices, tallies, following, found)
        return int(found.sum())
    rows = graph.indptr, graph.indices
    ordered: tuple[Any, ...] = (None, None, rows)
    if order is not None:
        ordered = order.order, order.rank, (order.indptr, order.indices)
    marks = by_thread(threads, (graph.shape[0] + 31) // 32, np.uint32)
    above = by_thread(threads, BATCH, graph.indices.dtype)
    _count(rows, *ordered, tallies, marks, above, following, found)
    return int(found.sum())


def count(graph: CSR, part: int = 0, parts: int = 1) -> int:
    """Number of triangles of a symmetric graph with canonical rows; loops are passed over."""
    if part:
        return 0
    order = degree_order(graph) if cheapest(graph) == ORDER else None
    with team() as threads:
        return _found(graph, None, order, threads)


def per_vertex(graph: CSR, part: int = 0, parts: int = 1) -> np.ndarray:
    """Number of triangles at each vertex; each thread has its own tally, 8 bytes for each vertex."""
    if part:
        return np.zeros(graph.shape[0], np.int64)
    order = degree_order(graph) if cheapest(graph) == ORDER else None
    triangles = np.empty(graph.shape[0], np.int64)
    with team() as threads:
        tallies = np.zeros((threads, graph.shape[0]), np.int64)
        _found(graph, tallies, order, threads)
        _add_tallies(tallies, None if order is None else order.order, triangles)
    return triangles
