"""Degree order: vertices by falling degree, and rows of lower-ranked neighbours, for triangle counting."""

from typing import Any

import numpy as np

from hpgraph.formats import CSR, attached
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import is_stopped, njit, part, peek, prefetch, tasks, team, vertex
from hpgraph.kernels.structure.orientation import DegreeOrder

# Vertices a thread takes at a time.
CHUNK = 2048
# Prefetch distance, in rows: without prefetching, a third of the time is memory latency.
PREFETCH_ROWS = 4
# Neighbours of one vertex that are ranked before any of them is used.
BATCH = 512
# Number of values, of any type, that fill a cache line.
_LINE = 64


@njit(cache=True, nogil=True, counts_references=False)
def _order_by_degree(indptr, order, rank, start):
    """Counting sort of the vertices by falling degree; ties by id. `start`: zeros, two more than the largest degree."""
    n, largest = order.size, start.size - 2
    for v in range(n):
        start[largest - (indptr[v + 1] - indptr[v]) + 1] += 1
    for k in range(largest + 1):
        start[k + 1] += start[k]
    for v in range(n):
        k = largest - (indptr[v + 1] - indptr[v])
        order[start[k]] = v
        rank[v] = start[k]
        start[k] += 1


def by_thread(threads: int, length: int, dtype: Any) -> np.ndarray:
    """Zeros, a row for each thread, at least a line of the cache apart."""
    return np.zeros((threads, length + _LINE), dtype)


def _cut_by_arcs(degrees: np.ndarray, order: np.ndarray, parts: int) -> np.ndarray:
    """Bounds of runs of ranks with about equal numbers of arcs."""
    arcs = np.cumsum(degrees[order])
    cuts = np.searchsorted(arcs, np.arange(1, parts) / parts * arcs[-1]) + 1 if parts > 1 else ()
    return np.array([0, *cuts, order.size], np.int64)


@part(forceinline=True)
def prefetch_row(indptr, indices, order, r):
    """Prefetch the row of a later vertex: rows are read in order of rank, so they are scattered in memory."""
    last = order.size - 1
    prefetch(indptr, np.int64(order[min(r + 2 * PREFETCH_ROWS, last)]))
    prefetch(indices, indptr[order[min(r + PREFETCH_ROWS, last)]])


@part(forceinline=True)
def rank_above(indices, rank, begin, end, r, above):
    """Write the ranks above r among those of indices[begin:end] to `above`; return how many.

    Every rank is written and the place moves on or not, to stay branch-free: half of them are above, unpredictably.
    """
    kept = 0
    for j in range(begin, end):
        u = rank[indices[j]]
        above[kept] = u
        kept += u > r
    return kept


@part
def _count_chunks(worker, indptr, indices, rank, part_of, place, tallies, following):
    """One thread's loop: take chunks of vertices and count how many entries of each row come from each part."""
    n, parts, counts = rank.size, place.shape[0], tallies[worker]
    for chunk in tasks(following, n, CHUNK):
        for v in range(chunk, min(chunk + CHUNK, n)):
            r = rank[v]
            for j in range(peek(indptr, v), peek(indptr, v + 1)):
                w = vertex(indices, j)
                counts[part_of[w]] += rank[w] < r
            for k in range(parts):
                place[k, r] = counts[k]
                counts[k] = 0


@part
def _write_rows(part, indptr, indices, order, rank, bounds, places, lower, room):
    """Write the entries that a part of the ranks contributes to each row, at its place."""
    place, above = places[part], room[part]
    for r in range(bounds[part], bounds[part + 1]):
        prefetch_row(indptr, indices, order, r)
        v = order[r]
        for first in range(indptr[v], indptr[v + 1], BATCH):
            last = min(first + BATCH, indptr[v + 1])
            for k in range(rank_above(indices, rank, first, last, r, above)):
                u = above[k]
                lower[place[u]] = r
                place[u] += 1


@njit(cache=True, nogil=True)
def _orient(indptr, indices, order, rank, bounds, row_start, lower, work):
    """Rows of the neighbours of lower rank, sorted: arcs visited in order of source, counting sort by target.

    The entries of each row that come from each part of the ranks are counted first, in the order in which rows lie in
    memory, which gives every part its places. ``work``: of each part its places, of shape (parts, n), zeros to count
    in, and space for `BATCH` ranks; of each vertex its part; a counter. `row_start` is zeros.
    """
    n, parts = order.size, bounds.size - 1
    place, counts, above, part_of, following = work
    for k in range(parts):
        for r in range(bounds[k], bounds[k + 1]):
            part_of[order[r]] = k
    in_parallel(parts, _count_chunks, (indptr, indices, rank, part_of, place, counts, following))
    if is_stopped():
        # Stopped before everything was counted: the rows stay empty.
        return
    for u in range(n):
        end = row_start[u]
        for k in range(parts):
            count = place[k, u]
            place[k, u] = end
            end += count
        row_start[u + 1] = end
    in_parallel(parts, _write_rows, (indptr, indices, order, rank, bounds, place, lower, above))


@attached
def degree_order(graph: CSR) -> DegreeOrder:
    """The graph's degree order, worked out once.

    ``graph``: symmetric, rows sorted and free of duplicates; self-loops are passed over.
    """
    n = graph.shape[0]
    with team() as threads:
        order, rank = np.empty(n, graph.indices.dtype), np.empty(n, graph.indices.dtype)
        degrees, kind = graph.degrees, graph.indices.dtype
        _order_by_degree(graph.indptr, order, rank, np.zeros(int(degrees.max(initial=0)) + 2, np.int64))
        # `place` takes no more memory than the arcs.
        parts = max(1, min(threads, graph.nnz // max(2 * n, 1)))
        place = np.empty((parts, n), np.int32 if graph.nnz <= np.iinfo(np.int32).max else np.int64)
        bounds = _cut_by_arcs(degrees, order, parts)
        row_start, lower = np.zeros(n + 1, np.int64), np.empty(graph.nnz // 2, kind)
        work = place, by_thread(parts, parts, np.int64), by_thread(parts, BATCH, kind), np.empty(n, np.uint16)
        _orient(graph.indptr, graph.indices, order, rank, bounds, row_start, lower, (*work, np.zeros(1, np.int64)))
        return DegreeOrder(order, rank, row_start, lower[: row_start[n]])
