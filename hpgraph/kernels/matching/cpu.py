"""Matchings of bipartite graphs on one thread, by shortest augmenting paths: the largest, and the lightest of all rows.

J. E. Hopcroft, R. M. Karp, "An n^(5/2) algorithm for maximum matchings in bipartite graphs", SIAM Journal on Computing
2 (1973). Each phase visits every arc at most twice: once to set the levels of rows, once in a search that never looks
at an arc again. Before that come searches from one row after another, until those with success have looked at half as
many arcs as there are: what a search without success reaches can be on no augmenting path any more, and is left out
from then on (H. W. Kuhn, "The Hungarian method for the assignment problem", Naval Res. Logist. Quart. 2, 1955).

R. Jonker, A. Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment problems",
Computing 38 (1987): column reduction, augmenting row reduction, then one search for each row that is left. The searches
use a heap and touch only the columns that they reach, as sparse matrices ask for.
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.heap import pop, push
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, vertex
from hpgraph.kernels.runtime.cpu.search import lower_bound
from hpgraph.kernels.runtime.cpu.threads import interruptible
from hpgraph.semiring.stop import is_stopped


def largest(arcs: CSR) -> tuple[Any, Any]:
    """The column of each row, and the row of each column, in a matching of most arcs; -1 for none."""
    rows, columns = arcs.shape
    ids = arcs.indices.dtype
    column_of, row_of = np.full(rows, -1, ids), np.full(columns, -1, ids)
    # The level of each row, a queue or path of rows, and the next arc of each row.
    work = np.zeros(rows, ids), np.empty(rows, ids), np.empty(rows, np.int64)
    dead = np.zeros(rows, np.bool_), np.empty(rows, ids), arcs.indptr[:-1].astype(np.int64)
    with interruptible():
        _match(arcs.indptr, arcs.indices, column_of, row_of, dead, *work)
    return column_of, row_of


@njit(cache=True, nogil=True, counts_references=False)
def _match(indptr, indices, column_of, row_of, alone, level, queue, following):
    """`alone`: whether each row is out of the question, rows that a search visited, and each row's next arc."""
    _take_free_columns(indptr, indices, column_of, row_of)
    left = indices.size // 2
    for v in range(column_of.size):
        if column_of[v] < 0 and left >= 0 and _may_reach(indptr, indices, row_of, alone[0], v):
            looks = _search_alone(indptr, indices, column_of, row_of, alone, (level, queue, following), v)
            # Those without success look at no arc twice in all.
            left -= looks if column_of[v] >= 0 else 0
    while _set_levels(indptr, indices, column_of, row_of, alone[0], level, queue, following):
        for v in range(column_of.size):
            if column_of[v] < 0 and not alone[0][v]:
                _augment(indptr, indices, column_of, row_of, level, queue, following, v)
        if is_stopped():
            break


@part(counts_references=False)
def _take_free_columns(indptr, indices, column_of, row_of):
    """Greedy matching: each row takes its first free column."""
    for v in range(column_of.size):
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            if row_of[u] < 0:
                column_of[v], row_of[u] = u, v
                break


@part(counts_references=False)
def _may_reach(indptr, indices, row_of, dead, v):
    """Whether a row has an arc to a free column or to one of a row that is not out of the question; else it is, too."""
    for at in range(peek(indptr, v), peek(indptr, v + 1)):
        mate = row_of[vertex(indices, at)]
        if mate < 0 or not dead[mate]:
            return True
    dead[v] = True
    return False


@part(counts_references=False)
def _search_alone(indptr, indices, column_of, row_of, alone, work, start):
    """Augment along a path from one row if there is one; how many arcs were looked at.

    Columns never become free again: those that were looked at for a free one are not again.
    """
    dead, visited, ahead = alone
    stamp, path, following = work
    path[0], visited[0], stamp[start], following[start] = start, start, start + 1, indptr[start]
    count, depth, looks = 1, 0, 0
    while not is_stopped():
        v = vertex(path, depth)
        at, end = ahead[v], peek(indptr, v + 1)
        begin = at
        while at < end and row_of[vertex(indices, at)] >= 0:
            at += 1
        looks += at - begin + 1
        ahead[v] = at
        if at < end:
            following[v] = at
            for i in range(depth + 1):
                v = vertex(path, i)
                u = vertex(indices, following[v])
                column_of[v], row_of[u] = u, v
            return looks
        at, mate = following[v], np.int64(-1)
        begin = at
        while at < end:
            mate = np.int64(row_of[vertex(indices, at)])
            if not dead[mate] and stamp[mate] != start + 1:
                break
            at += 1
        looks += at - begin
        following[v] = at
        if at < end:
            depth += 1
            path[depth], visited[count], stamp[mate], following[mate] = mate, mate, start + 1, indptr[mate]
            count += 1
        elif depth > 0:
            depth -= 1
            following[path[depth]] += 1
        else:
            for i in range(count):
                dead[visited[i]] = True
            break
    return looks


@part(counts_references=False)
def _set_levels(indptr, indices, column_of, row_of, dead, level, queue, following):
    """Breadth-first search from all free rows, up to the level of the first free column; whether there is one."""
    head, tail = 0, 0
    for v in range(column_of.size):
        level[v] = -2 if dead[v] else -1
        if column_of[v] < 0 and not dead[v]:
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
            elif level[mate] == -1 and below <= last:
                level[mate], following[mate], queue[tail] = below, indptr[mate], mate
                tail += 1
    return last < column_of.size and not is_stopped()


@part(counts_references=False)
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


# Rows that the augmenting row reduction looks at, for each row: it might otherwise lower prices by tiny steps.
_LOOKS = 4


def lightest(arcs: CSR) -> Any:
    """The column of each row in a matching of all rows of least weight; None if some row must stay without.

    ``arcs``: float64 weights, finite or -inf; at least as many columns as rows.
    """
    rows, columns = arcs.shape
    arc_of, row_of = np.full(rows, -1, np.int64), np.full(columns, -1, arcs.indices.dtype)
    price = np.zeros(columns)
    distance, before = np.full(columns, np.inf), np.empty(columns, np.int64)
    heap = np.empty(arcs.nnz + 1), np.empty(arcs.nnz + 1, np.int64)
    free, touched = np.arange(rows), np.empty(columns, np.int64)
    with interruptible():
        done = _assign(
            arcs.indptr, arcs.indices, arcs.data, (arc_of, row_of, price), free, (distance, before, touched), heap
        )
    return arcs.indices[arc_of] if done else None


@njit(cache=True, nogil=True)
def _assign(indptr, indices, weight, held, free, search, heap):
    """`held`: each row's arc, each column's row and price; `free`: rows; `search`: what one search needs, cleared."""
    arc_of, row_of, price = held
    if arc_of.size == row_of.size and not _reduce_columns(indptr, indices, weight, price):
        return False
    left = _reduce_rows(indptr, indices, weight, arc_of, row_of, price, free)
    if left < 0:
        return False
    for i in range(left):
        if is_stopped() or not _augment_lightest(indptr, indices, weight, held, free[i], search, heap):
            return False
    return True


@part
def _reduce_columns(indptr, indices, weight, price):
    """Price each column at its least weight: every one will have a row, so that any prices serve. Whether all can."""
    price[:] = np.inf
    for at in range(indices.size):
        u = vertex(indices, at)
        price[u] = min(price[u], weight[at])
    return not (price == np.inf).any()


@part
def _reduce_rows(indptr, indices, weight, arc_of, row_of, price, free):
    """Augmenting row reduction: a row takes its cheapest column, whose price falls until the second is as cheap.

    Returns how many rows are left in `free`, or -1 where a row has no arc.
    """
    waiting, left, looks, taken = free.size, 0, _LOOKS * free.size, 0
    while taken < waiting:
        v = free[taken]
        taken += 1
        looks -= 1
        first, second, best = np.inf, np.inf, np.int64(-1)
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            cost = weight[at] - price[vertex(indices, at)]
            if cost < first or best < 0:
                first, second, best = cost, first, np.int64(at)
            elif cost < second:
                second = cost
        if best < 0:
            return -1
        u = vertex(indices, best)
        displaced = np.int64(row_of[u])
        if displaced >= 0 and (first == second or looks < 0):
            free[left] = v
            left += 1
            continue
        if second < np.inf:
            price[u] -= second - first
        arc_of[v], row_of[u] = best, v
        if displaced >= 0:
            arc_of[displaced] = -1
            taken -= 1
            free[taken] = displaced
    return left


@part
def _augment_lightest(indptr, indices, weight, held, start, search, heap):
    """Match one more row along a path of least reduced weight, and change prices accordingly; whether there is one."""
    arc_of, row_of, price = held
    distance, before, touched = search
    keys, columns = heap
    size, reached, bound, end = 0, 0, np.inf, np.int64(-1)
    v, offset, here = np.int64(start), 0.0, -np.inf
    while True:
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            # Rounding may make a reduced weight less than 0, but no column is settled twice.
            there = max(offset + (weight[at] - price[u]), here)
            if there < distance[u] and there < bound:
                if distance[u] == np.inf:
                    touched[reached] = u
                    reached += 1
                distance[u], before[u] = there, at
                if row_of[u] < 0:
                    bound, end = there, u
                else:
                    size = push(keys, columns, size, there, u)
        # Skip columns that were reached again, nearer.
        while size > 0 and keys[0] > distance[columns[0]]:
            size = pop(keys, columns, size)
        if size == 0 or keys[0] >= bound:
            break
        u, here = vertex(columns, 0), keys[0]
        size = pop(keys, columns, size)
        v = np.int64(row_of[u])
        offset = here - (weight[arc_of[v]] - price[u])
    for i in range(reached):
        u = touched[i]
        if distance[u] < bound and end >= 0:
            price[u] += distance[u] - bound
        distance[u] = np.inf
    return end >= 0 and _rematch(indptr, indices, arc_of, row_of, before, start, end)


@part
def _rematch(indptr, indices, arc_of, row_of, before, start, end):
    """Give each column on the path that ends at a free one to the row before it."""
    u = end
    while True:
        at = before[u]
        v = lower_bound(indptr, 0, indptr.size, at + 1) - 1
        former = arc_of[v]
        arc_of[v], row_of[u] = at, v
        if v == start:
            return True
        u = np.int64(indices[former])
