"""Matchings of most arcs between rows and columns, on one thread.

A first matching takes each row's first free column, and a search from each free row in turn augments it along a path.
Vertices reached by a failed search are on no augmenting path, so later searches skip them. If searches examine
too many arcs, the matching restarts from one that takes vertices of one free neighbour first (R. M. Karp, M. Sipser,
"Maximum matchings in sparse random graphs", FOCS'81).

Then alternating trees grow from all free rows at once, level by level, each up to its first free column, and all paths
to these are augmented; the other trees stay, and take up vertices of the augmented ones (A. Azad, A. Buluç,
A. Pothen, "Computing maximum cardinality matchings in parallel on bipartite graphs via tree-grafting", TPDS 28(1),
2017). If that does not suffice either, the rest is matched by phases of shortest paths, which bound the time (J. E.
Hopcroft, R. M. Karp, "An n^(5/2) algorithm for maximum matchings in bipartite graphs", SIAM Journal on Computing 2,
1973).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, part, peek, put, vertex

# Arcs to be examined at most, as multiples of all arcs: by single searches, and by tree grafting. Either allows one
# search of all arcs.
_SEARCH_LIMIT, _GRAFTING_LIMIT = 1.0, 32.0
# Bottom-up once the rows of the frontier are this many times the columns without a tree.
_ALPHA = 5
# Rows and columns whose roots are read in the time of one arc.
_SCANS_PER_ARC = 8


def largest(arcs: CSR, transpose: Callable[[CSR], CSR], rows: Any, columns: Any) -> tuple[Any, Any]:
    """`hpgraph.kernels.matching.Matching.largest` on the CPU."""
    ids, out = arcs.indices.dtype, (arcs.indptr, arcs.indices)
    column_of, row_of = np.full(arcs.shape[0], -1, ids), np.full(arcs.shape[1], -1, ids)
    rows, columns = rows.astype(ids, copy=False), columns.astype(ids, copy=False)
    if _take_free_columns(*out, rows, column_of, row_of) == min(rows.size, columns.size):
        return column_of, row_of
    before, lists = np.full_like(row_of, -1), np.empty((3, max(arcs.shape) + 1), ids)
    with interruptible():
        is_largest = _augment_from_each(*out, rows, column_of, row_of, before, lists[0], int(_SEARCH_LIMIT * arcs.nnz))
    if is_largest:
        return column_of, row_of
    transposed = transpose(arcs)
    # Root of each row's and each column's tree, parent of a column, and the free column that a root's tree reached.
    trees = np.empty_like(column_of), np.empty_like(row_of), before, np.empty_like(column_of)
    with interruptible():
        _match(
            out, (transposed.indptr, transposed.indices), rows, columns, column_of, row_of, trees, lists,
            np.empty(arcs.shape[0], np.int64), int(_GRAFTING_LIMIT * arcs.nnz),
        )  # fmt: skip
    return column_of, row_of


@njit(cache=True, nogil=True, counts_references=False)
def _match(out, into, rows, columns, column_of, row_of, trees, lists, following, max_examined):
    for i in range(rows.size):
        put(column_of, vertex(rows, i), column_of.dtype.type(-1))
    for i in range(columns.size):
        put(row_of, vertex(columns, i), row_of.dtype.type(-1))
    _karp_sipser(out, into, rows, columns, column_of, row_of, trees[0], trees[1], lists[0], lists[1])
    if _graft(out, into, rows, columns, column_of, row_of, trees, lists, max_examined):
        return
    level, queue = trees[0], lists[0]
    while _set_levels(*out, rows, column_of, row_of, level, queue, following):
        for i in range(rows.size):
            v = vertex(rows, i)
            if column_of[v] < 0:
                _augment(*out, column_of, row_of, level, queue, following, v)
        if is_stopped():
            break


@njit(cache=True, nogil=True, counts_references=False)
def _take_free_columns(indptr, indices, rows, column_of, row_of):
    """Match each row with its first free column; returns the number matched."""
    matched = 0
    for i in range(rows.size):
        v = vertex(rows, i)
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            if row_of[u] < 0:
                column_of[v], row_of[u] = u, v
                matched += 1
                break
    return matched


@njit(cache=True, nogil=True, counts_references=False)
def _augment_from_each(indptr, indices, rows, column_of, row_of, before, queue, max_examined):
    """Augment along a path from each free row, examining at most `max_examined` arcs; returns whether no path is left.

    `before` has the row before each column that this search has reached, or one that found no path; -1 for others.
    """
    for i in range(rows.size):
        start = vertex(rows, i)
        if column_of[start] >= 0:
            continue
        if max_examined < 0 or is_stopped():
            return False
        end, count, examined = _search(indptr, indices, row_of, before, queue, start, max_examined)
        max_examined -= examined
        if end >= 0:
            _augment_path(column_of, row_of, before, end, start)
            for k in range(count):
                put(before, vertex(queue, k), before.dtype.type(-1))
    return max_examined >= 0


@part(counts_references=False)
def _search(indptr, indices, row_of, before, queue, start, max_examined):
    """Breadth-first search for a free column: this or -1, and numbers of columns reached and of arcs."""
    v, head, tail, examined = start, 0, 0, 0
    while True:
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            if before[u] < 0:
                before[u], queue[tail] = v, u
                tail += 1
                if row_of[u] < 0:
                    return u, tail, examined
        examined += peek(indptr, v + 1) - peek(indptr, v)
        if head == tail or examined > max_examined:
            return np.int64(-1), tail, examined
        v = np.int64(row_of[queue[head]])
        head += 1


@part(counts_references=False)
def _karp_sipser(out, into, rows, columns, column_of, row_of, row_degree, column_degree, one_row, one_column):
    """Match rows and columns of one free neighbour while there are some, then the next row to its first free column."""
    rows_left, columns_left, following = 0, 0, 0
    for i in range(rows.size):
        rows_left = _degree(out[0], vertex(rows, i), row_degree, one_row, rows_left)
    for i in range(columns.size):
        columns_left = _degree(into[0], vertex(columns, i), column_degree, one_column, columns_left)
    while not is_stopped():
        v, u = np.int64(-1), np.int64(-1)
        if columns_left > 0:
            columns_left -= 1
            u = vertex(one_column, columns_left)
            v = _free(*into, column_of, u) if row_of[u] < 0 else v
        elif rows_left > 0 or following < rows.size:
            if rows_left > 0:
                rows_left -= 1
                v = vertex(one_row, rows_left)
            else:
                v = vertex(rows, following)
                following += 1
            u = _free(*out, row_of, v) if column_of[v] < 0 else u
        else:
            break
        if u < 0 or v < 0:
            continue
        column_of[v], row_of[u] = u, v
        columns_left = _decrement_degrees(*out, v, row_of, column_degree, one_column, columns_left)
        rows_left = _decrement_degrees(*into, u, column_of, row_degree, one_row, rows_left)


@part(counts_references=False)
def _degree(indptr, v, degree, ones, count):
    degree[v] = peek(indptr, v + 1) - peek(indptr, v)
    if degree[v] == 1:
        ones[count] = v
        count += 1
    return count


@part(counts_references=False)
def _free(indptr, indices, mate, v):
    """The first free neighbour, or -1."""
    for at in range(peek(indptr, v), peek(indptr, v + 1)):
        if mate[vertex(indices, at)] < 0:
            return vertex(indices, at)
    return np.int64(-1)


@part(counts_references=False)
def _decrement_degrees(indptr, indices, v, mate, degree, ones, count):
    """Decrement the free degrees of a matched vertex's neighbours; append those that fall to 1."""
    for at in range(peek(indptr, v), peek(indptr, v + 1)):
        u = vertex(indices, at)
        if mate[u] < 0:
            degree[u] -= 1
            if degree[u] == 1:
                ones[count] = u
                count += 1
    return count


@part(counts_references=False)
def _graft(out, into, rows, columns, column_of, row_of, trees, lists, max_examined):
    """Tree grafting, until no augmenting path is left (returns True) or `max_examined` arcs were examined."""
    row_root, column_root, before, end = trees
    frontier, other, left = lists
    unvisited, size = _start_trees(rows, columns, column_of, row_root, column_root, end, frontier)
    while max_examined > 0 and not is_stopped():
        listed = -1
        while size > 0 and max_examined > 0 and not is_stopped():
            if size * _ALPHA < unvisited:
                following, examined = _top_down(*out, frontier, size, row_of, trees, other)
            else:
                max_examined -= (columns.size if listed < 0 else listed) // _SCANS_PER_ARC
                listed = _list_unvisited(columns, columns.size, column_root, left) if listed < 0 else _list_unvisited(
                    left, listed, column_root, left)  # fmt: skip
                following, examined = _bottom_up(*into, left, listed, row_of, trees, other)
            unvisited -= examined[1]
            max_examined -= examined[0]
            frontier, other, size = other, frontier, following
        active, renewed, augmented = 0, 0, 0
        for i in range(rows.size):
            v = vertex(rows, i)
            if column_of[v] < 0 and end[v] >= 0:
                augmented += 1
                _augment_path(column_of, row_of, before, vertex(end, v), v)
        if augmented == 0:
            return size == 0
        for i in range(rows.size):
            v = vertex(rows, i)
            root = row_root[v]
            if root >= 0 and end[root] >= 0:
                row_root[v] = -1
            elif root >= 0:
                active += 1
        for i in range(columns.size):
            u = vertex(columns, i)
            root = column_root[u]
            if root >= 0 and end[root] >= 0:
                column_root[u] = -1
                left[renewed] = u
                renewed += 1
        max_examined -= (rows.size + columns.size) // _SCANS_PER_ARC
        if active * _ALPHA > renewed:
            unvisited += renewed
            size, examined = _bottom_up(*into, left, renewed, row_of, trees, frontier)
            unvisited -= examined[1]
            max_examined -= examined[0]
        else:
            unvisited, size = _start_trees(rows, columns, column_of, row_root, column_root, end, frontier)
    return False


@part(counts_references=False)
def _start_trees(rows, columns, column_of, row_root, column_root, end, frontier):
    """Restart from the free rows; returns the numbers of columns without a tree and of rows in the frontier."""
    size = 0
    for i in range(columns.size):
        put(column_root, vertex(columns, i), column_root.dtype.type(-1))
    for i in range(rows.size):
        v = vertex(rows, i)
        put(row_root, v, row_root.dtype.type(-1))
        put(end, v, end.dtype.type(-1))
        if column_of[v] < 0:
            row_root[v], frontier[size] = v, v
            size += 1
    return columns.size, size


@part(counts_references=False)
def _list_unvisited(columns, size, column_root, left):
    """List those of some columns that are in no tree; returns their number."""
    count = 0
    for i in range(size):
        u = columns[i]
        if column_root[u] < 0:
            left[count] = u
            count += 1
    return count


@part(counts_references=False)
def _top_down(indptr, indices, frontier, size, row_of, trees, found):
    """Top-down step to columns without a tree and their mates: size of the next frontier, (arcs, columns) visited."""
    row_root, column_root, before, end = trees
    count, examined, visited = 0, 0, 0
    for i in range(size):
        v = vertex(frontier, i)
        root = row_root[v]
        if end[root] >= 0:
            continue
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            examined += 1
            if column_root[u] >= 0:
                continue
            column_root[u], before[u] = root, v
            visited += 1
            mate = row_of[u]
            if mate < 0:
                end[root] = u
                break
            row_root[mate], found[count] = root, mate
            count += 1
    return count, (examined, visited)


@part(counts_references=False)
def _bottom_up(indptr, indices, left, size, row_of, trees, found):
    """Bottom-up step: each column without a tree joins that of its first neighbour in an active tree."""
    row_root, column_root, before, end = trees
    count, examined, visited = 0, 0, 0
    for i in range(size):
        u = vertex(left, i)
        for at in range(peek(indptr, u), peek(indptr, u + 1)):
            v = vertex(indices, at)
            examined += 1
            root = row_root[v]
            if root < 0 or end[root] >= 0:
                continue
            column_root[u], before[u] = root, v
            visited += 1
            mate = row_of[u]
            if mate < 0:
                end[root] = u
            else:
                row_root[mate], found[count] = root, mate
                count += 1
            break
    return count, (examined, visited)


@part(counts_references=False)
def _augment_path(column_of, row_of, before, u, root):
    """Augment along the path from a root to a free column."""
    while True:
        v = vertex(before, u)
        following = column_of[v]
        column_of[v], row_of[u] = u, v
        if v == root:
            break
        u = np.int64(following)


@part(counts_references=False)
def _set_levels(indptr, indices, rows, column_of, row_of, level, queue, following):
    """Breadth-first search from all free rows, up to the level of the first free column; whether there is one."""
    head, tail = 0, 0
    for i in range(rows.size):
        v = vertex(rows, i)
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
