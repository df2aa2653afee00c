"""The lightest matching of all rows, on one thread, by shortest augmenting paths.

R. Jonker, A. Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment problems",
Computing 38 (1987): column reduction, augmenting row reduction, then one search for each row that is left. The searches
use a heap and touch only the columns that they reach, as sparse matrices ask for.
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.heap import pop, push
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, part, peek, vertex
from hpgraph.kernels.runtime.cpu.rows import lower_bound

# Limit of augmenting row reductions, per row: they might otherwise lower prices by tiny steps. Searches that read as
# many arcs are followed by reductions that may read as many again, so that neither costs much more than the other.
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
    """`held`: each row's arc, each column's row and price; `free`: rows; `search`: work space of a search, cleared."""
    arc_of, row_of, price = held
    if arc_of.size == row_of.size and not _reduce_columns(indices, weight, price):
        return False
    left, rows, arcs = np.int64(free.size), free.size, _LOOKS * indices.size
    while left > 0:
        if arcs * rows >= _LOOKS * left * indices.size:
            left = _reduce_rows(indptr, indices, weight, held, free, left, arcs)
            arcs = 0
        if left > 0:
            left -= 1
            read = _augment_lightest(indptr, indices, weight, held, free[left], search, heap)
            arcs += read
            if is_stopped() or read < 0:
                return False
    return left == 0


@part
def _reduce_columns(indices, weight, price):
    """Column reduction: price each column at its least weight; returns whether every column has an entry."""
    price[:] = np.inf
    for at in range(indices.size):
        u = vertex(indices, at)
        price[u] = min(price[u], weight[at])
    return not (price == np.inf).any()


@part
def _reduce_rows(indptr, indices, weight, held, free, waiting, arcs):
    """Augmenting row reduction: a row takes its cheapest column, whose price falls until the second is as cheap.

    Returns how many of the rows `waiting` in `free` are left after so many arcs; -1 if a row has no arc, or others must
    have its columns.
    """
    arc_of, row_of, price = held
    left, taken = np.int64(0), np.int64(0)
    while taken < waiting:
        v = free[taken]
        taken += 1
        arcs -= peek(indptr, v + 1) - peek(indptr, v)
        first, second, best = np.inf, np.inf, np.int64(-1)
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            cost = weight[at] - price[vertex(indices, at)]
            if cost < first or best < 0:
                first, second, best = cost, first, np.int64(at)
            elif cost < second:
                second = cost
        if best < 0 or first == np.inf:
            return -1
        u = vertex(indices, best)
        displaced = np.int64(row_of[u])
        if displaced >= 0 and (first == second or arcs < 0):
            free[left] = v
            left += 1
            continue
        # The price falls to -inf if the row has no other column: only it can have this column, and the rows left may
        # have one column less.
        price[u] -= second - first
        arc_of[v], row_of[u] = best, v
        if displaced >= 0:
            arc_of[displaced] = -1
            taken -= 1
            free[taken] = displaced
    return left


@part
def _augment_lightest(indptr, indices, weight, held, start, search, heap):
    """Match one more row along a shortest augmenting path, and update the prices.

    Returns the number of arcs read, or -1 if there is no path.
    """
    arc_of, row_of, price = held
    distance, before, touched = search
    keys, columns = heap
    size, reached, bound, end, read = 0, 0, np.inf, np.int64(-1), np.int64(0)
    v, offset, dist = np.int64(start), 0.0, -np.inf
    while True:
        read += peek(indptr, v + 1) - peek(indptr, v)
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            # Rounding may make a reduced weight less than 0, but no column is settled twice.
            tentative = max(offset + (weight[at] - price[u]), dist)
            if tentative < distance[u] and tentative < bound:
                if distance[u] == np.inf:
                    touched[reached] = u
                    reached += 1
                distance[u], before[u] = tentative, at
                if row_of[u] < 0:
                    bound, end = tentative, u
                else:
                    size = push(keys, columns, size, tentative, u)
        # Skip stale entries of the heap.
        while size > 0 and keys[0] > distance[columns[0]]:
            size = pop(keys, columns, size)
        if size == 0 or keys[0] >= bound:
            break
        u, dist = vertex(columns, 0), keys[0]
        size = pop(keys, columns, size)
        v = np.int64(row_of[u])
        offset = dist - (weight[arc_of[v]] - price[u])
    for i in range(reached):
        u = touched[i]
        if distance[u] < bound and end >= 0:
            price[u] += distance[u] - bound
        distance[u] = np.inf
    if end < 0:
        return -1
    _augment_path(indptr, indices, arc_of, row_of, before, start, end)
    return read


@part
def _augment_path(indptr, indices, arc_of, row_of, before, start, end):
    """Augment: match each column on the path to its predecessor row."""
    u = end
    while True:
        at = before[u]
        v = lower_bound(indptr, 0, indptr.size, at + 1) - 1
        former = arc_of[v]
        arc_of[v], row_of[u] = at, v
        if v == start:
            return
        u = np.int64(indices[former])
