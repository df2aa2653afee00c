"""The most similar rows of each row, on the CPU: row-wise products that keep only the best entries.

F. G. Gustavson, "Two fast algorithms for sparse matrices: multiplication and permuted transposition", ACM TOMS 4
(1978): a thread sums a row's products in a dense array. The row is measured and its best are selected while it lies
in the cache, so that the product, most of whose entries are not among the best, is never stored.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.core.device import prefix_sum
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, team, vertex
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.tasks import task_bounds, tasks
from hpgraph.kernels.similarity.cpu import _measured, _offer, _rank

# How rows are compared: the measure, whether a term is the product of both values, and the sizes of all rows.
Likeness = namedtuple("Likeness", "measure product sizes")

# The best entries of each row: start of its space, their columns and scores, and their number.
Best = namedtuple("Best", "room indices data found")


def best_pairs(
    left: CSR, right: CSR, product: bool, vertices: Any, k: int, barred: list[CSR], measure: int, sizes: Any
) -> CSR:
    """The k most similar rows of each of some ``vertices``, the most similar first, then by column.

    What two rows have in common is their entry in ``left @ right``: a term is 1, or the value of `left` if only that
    has values, or the lesser or `product` of both. Columns in a row of a matrix in `barred`, and the diagonal, are left
    out.
    """
    n = left.shape[1]
    work = np.zeros(len(vertices) + 1, np.int64)
    none = np.zeros(n + 1, np.int64), np.empty(0, left.indices.dtype)
    first, second = (*(Rows(csr.indptr, csr.indices) for csr in barred), Rows(*none), Rows(*none))[:2]
    total = left.indices.dtype if left.data is None else left.data.dtype
    with team() as threads:
        _count_products(left.indptr, left.indices, right.indptr, vertices, work)
        room = prefix_sum(np.minimum(work[1:], min(k, n)))
        np.cumsum(work, out=work)
        indices, data = np.empty(room[-1], left.indices.dtype), np.empty(room[-1])
        found = np.zeros(len(vertices), np.int64)
        bounds = task_bounds(work)
        select = _select.alone if len(bounds) == 2 else _select
        select(
            Rows(left.indptr, left.indices, left.data), Rows(right.indptr, right.indices, right.data),
            Likeness(np.int64(measure), product, sizes), vertices, first, second, np.empty(0, total),
            bounds, Best(room, indices, data, found), threads,
        )  # fmt: skip
    indptr = prefix_sum(found)
    if indptr[-1] < room[-1]:
        places = np.arange(indptr[-1]) + np.repeat(room[:-1] - indptr[:-1], found)
        indices, data = indices[places], data[places]
    return CSR((len(vertices), n), indptr, indices, data, validate=False)


@njit(cache=True, nogil=True, parallel=LOOPS)
def _count_products(indptr, indices, right, vertices, work):
    """Terms in the row of each of some vertices, from ``work[1]`` on."""
    for i in prange(vertices.size):
        count = 0
        for at in range(peek(indptr, vertices[i]), peek(indptr, vertices[i] + 1)):
            w = vertex(indices, at)
            count += peek(right, w + 1) - peek(right, w)
        work[i + 1] = count


@part
def _sum_row(left, right, factor, other_factor, product, u, i, sums, last, touched):
    """Sum the products of row u, the i-th; returns the number of its columns, which `touched` lists."""
    count = 0
    for at in range(peek(left.indptr, u), peek(left.indptr, u + 1)):
        w = vertex(left.indices, at)
        for other in range(peek(right.indptr, w), peek(right.indptr, w + 1)):
            v = vertex(right.indices, other)
            # Branch-free: whether a column is new is unpredictable.
            touched[count] = v
            if factor is None:
                before = sums[v]
                count += before == 0
                sums[v] = before + 1
            else:
                # A sum of weights may be 0.
                count += last[v] != i
                last[v] = i
                x = peek(factor, at)
                if other_factor is not None:
                    y = peek(other_factor, other)
                    x = x * y if product else min(x, y)
                sums[v] += x
    return count


@part
def _leave_out(sums, last, v):
    sums[v] = 0
    if last.size > 0:
        last[v] = -1


@part
def _leave_out_row(sums, last, rows, u):
    for at in range(peek(rows.indptr, u), peek(rows.indptr, u + 1)):
        _leave_out(sums, last, vertex(rows.indices, at))


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _select(left, right, likeness, vertices, first, second, like, bounds, best, threads):
    following, n = np.zeros(1, np.int64), left.indptr.size - 1
    for _ in prange(threads):
        sums, touched = np.zeros(n, like.dtype), np.empty(n + 1, best.indices.dtype)
        # The row that met each column last; counts are above 0 where a row has.
        last = np.full(0 if left.data is None else n, -1, best.indices.dtype)
        for task in tasks(following, bounds.size - 1):
            for i in range(bounds[task], bounds[task + 1]):
                u = vertex(vertices, i)
                count = _sum_row(left, right, left.data, right.data, likeness.product, u, i, sums, last, touched)
                _leave_out(sums, last, u)
                _leave_out_row(sums, last, first, u)
                _leave_out_row(sums, last, second, u)
                _select_row(likeness, u, i, count, left.data, sums, last, touched, best)


@part
def _select_row(likeness, u, i, count, factor, sums, last, touched, best):
    """Rank the best of the `count` columns that `touched` lists; clears their sums."""
    begin, space, kept = best.room[i], best.room[i + 1] - best.room[i], 0
    for place in range(count):
        v = vertex(touched, place)
        is_present = sums[v] > 0 if factor is None else last[v] == i
        common = np.float64(sums[v])
        sums[v] = 0
        if not is_present:
            continue
        sizes = likeness.sizes
        score = _measured(likeness.measure, common, peek(sizes, min(u, v)), peek(sizes, max(u, v)))
        kept = _offer(best.indices, best.data, begin, space, kept, v, score)
    _rank(best.indices, best.data, begin, space, kept)
    best.found[i] = kept
