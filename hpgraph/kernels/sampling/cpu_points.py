"""Pairs of points within a radius on the CPU, in parallel: each point's neighbours are counted, and then written.

Candidates of points one after the other lie in windows of each column, which only move forward. Rows of the numbers of
points need no sort: the pattern is symmetric, and the rows of its transpose ascend.
"""

import numpy as np

from hpgraph.core.device import check_memory, prefix_sum
from hpgraph.formats import CSR, index_dtype
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, put, tasks, team
from hpgraph.kernels.sampling.cpu_draws import MAX_SERIAL
from hpgraph.kernels.sampling.points import Points, near_pairs
from hpgraph.kernels.structure.cpu_transpose import transpose
from hpgraph.kernels.structure.cpu_undirected import undirected

# Points of a task, whose windows are found by binary search.
_CHUNK = 512


def near_points(points: Points) -> CSR:
    """`hpgraph.kernels.sampling.Sampling.near_points` on the CPU."""
    n = len(points.key)
    if n * n * min(2 * points.radius, 1) ** len(points.sides) <= MAX_SERIAL:
        return undirected(n, *near_pairs(points))
    sides = (*points.sides, None, None)[:3]
    given = points.key, points.order, *sides, points.shifts, points.reach, points.radius * points.radius
    degree = np.empty(n, np.int64)
    with team() as threads:
        _search(given, degree, None, None, 0, threads)
        indptr = prefix_sum(degree)
        nnz, ids = int(indptr[-1]), index_dtype(n)
        check_memory(2 * nnz * ids.itemsize, "the graph of near points", "cpu")
        indices = np.empty(nnz, ids)
        _search(given, None, indptr, indices, int(degree.max(initial=0)), threads)
    return transpose(CSR((n, n), indptr, indices, validate=False))


@njit(cache=True, nogil=True, parallel=LOOPS)
def _search(points, degree, indptr, indices, longest, threads):
    """Write the degree of each point or, where `degree` is None, its row."""
    key, order, x, y, z, shifts, reach, square = points
    following = np.zeros(1, np.int64)
    for _ in prange(threads):
        begins, ends = np.empty(shifts.size, np.int64), np.empty(shifts.size, np.int64)
        found = np.empty(longest + 1, np.int64)
        for first in tasks(following, key.size, _CHUNK):
            for column in range(shifts.size):
                begins[column] = np.searchsorted(key, key[first] + (shifts[column] - reach))
                ends[column] = begins[column]
            for i in range(first, min(first + _CHUNK, key.size)):
                count = np.int64(0)
                for column in range(shifts.size):
                    low, high = key[i] + (shifts[column] - reach), key[i] + (shifts[column] + reach)
                    begin, end = begins[column], ends[column]
                    while begin < key.size and peek(key, begin) < low:
                        begin += 1
                    while end < key.size and peek(key, end) <= high:
                        end += 1
                    begins[column], ends[column] = begin, end
                    if degree is not None:
                        count += _count(x, y, z, i, begin, end, square)
                    else:
                        count = _collect(x, y, z, order, i, begin, end, square, found, count)
                if degree is not None:
                    # The point itself is among its candidates.
                    put(degree, order[i], count - 1)
                else:
                    start = peek(indptr, order[i])
                    for k in range(count):
                        put(indices, start + k, indices.dtype.type(found[k]))


@part
def _apart(x, y, z, i, j):
    """The square of the distance of two points."""
    square = (peek(x, i) - peek(x, j)) ** 2
    if y is not None:
        square += (peek(y, i) - peek(y, j)) ** 2
    if z is not None:
        square += (peek(z, i) - peek(z, j)) ** 2
    return square


@part
def _count(x, y, z, i, begin, end, square):
    count = np.int64(0)
    for j in range(begin, end):
        count += _apart(x, y, z, i, j) <= square
    return count


@part
def _collect(x, y, z, order, i, begin, end, square, found, count):
    """Append the numbers of the points within the radius, but that of the point itself."""
    for j in range(begin, end):
        put(found, count, peek(order, j))
        # Branch-free: the branch is unpredictable.
        count += (_apart(x, y, z, i, j) <= square) & (j != i)
    return count
