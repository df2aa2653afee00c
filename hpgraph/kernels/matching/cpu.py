"""Maximum matching of a bipartite graph on one thread, by shortest augmenting paths in phases.

J. E. Hopcroft, R. M. Karp, "An n^(5/2) algorithm for maximum matchings in bipartite graphs", SIAM Journal on Computing
2 (1973). Each phase visits every arc at most twice: once to set the levels of rows, once in a search that never looks
at an arc again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.matching.cpu_assignment import lightest as lightest
from hpgraph.kernels.runtime.cpu.interruption import interruptible
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, vertex
from hpgraph.semiring.stop import is_stopped


def largest(arcs: CSR) -> tuple[Any, Any]:
    """The column of each row, and the row of each column, in a matching of most arcs; -1 for none."""
    rows, columns = arcs.shape
    ids = arcs.indices.dtype
    column_of, row_of = np.full(rows, -1, ids), np.full(columns, -1, ids)
    # The level of each row, a queue or path of rows, and the next arc of each row.
    work = np.empty(rows, ids), np.empty(rows, ids), np.empty(rows, np.int64)
    with interruptible():
        _match(arcs.indptr, arcs.indices, column_of, row_of, *work)
    return column_of, row_of


@njit(cache=True, nogil=True)
def _match(indptr, indices, column_of, row_of, level, queue, following):
    _take_free_columns(indptr, indices, column_of, row_of)
    while _set_levels(indptr, indices, column_of, row_of, level, queue, following):
        for v in range(column_of.size):
            if column_of[v] < 0:
                _augment(indptr, indices, column_of, row_of, level, queue, following, v)
        if is_stopped():
            break


@part
def _take_free_columns(indptr, indices, column_of, row_of):
    """Greedy matching: each row takes its first free column."""
    for v in range(column_of.size):
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            if row_of[u] < 0:
                column_of[v], row_of[u] = u, v
                break


@part
def _set_levels(indptr, indices, column_of, row_of, level, queue, following):
    """Breadth-first search from all free rows, up to the level of the first free column; whether there is one."""
    head, tail = 0, 0
    for v in range(column_of.size):
        level[v] = -1
        if column_of[v] < 0:
            level[v], following[v], queue[tail] = 0, indptr[v], v
            tail += 1
    last = column_of.size
    while head < tail and level[queue[head]] <= last and not is_stopped():
        v = vertex(queue, head)
        head += 1
        below = level[v] + 1
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            mate = row_of[vertex(indices, at)]
            if mate < 0:
                last = min(last, below - 1)
            elif level[mate] < 0 and below <= last:
                level[mate], following[mate], queue[tail] = below, indptr[mate], mate
                tail += 1
    return last < column_of.size and not is_stopped()


@part
def _augment(indptr, indices, column_of, row_of, level, path, following, start):
    """Search a free column along rising levels; the rows that were visited leave the levels of this phase."""
    path[0] = start
    depth = 0
    while depth >= 0:
        v = vertex(path, depth)
        at, end, below = following[v], peek(indptr, v + 1), level[v] + 1
        mate = np.int64(-2)
        while at < end:
            mate = np.int64(row_of[vertex(indices, at)])
            if mate < 0 or level[mate] == below:
                break
            at += 1
        following[v] = at
        if at == end:
            level[v] = -1
            depth -= 1
            if depth >= 0:
                following[path[depth]] += 1
        elif mate >= 0:
            depth += 1
            path[depth] = mate
        else:
            for i in range(depth + 1):
                v = vertex(path, i)
                u = vertex(indices, following[v])
                column_of[v], row_of[u], level[v] = u, v, -1
            return
