"""Similarity on the CPU: a long row is marked once for all of its pairs, or two rows are merged.

If rows are long, pairs are grouped by their longer row; its columns are marked in a bitmap, and those of the shorter
rows looked up, branch-free. Rows with too few pairs for that, and all if rows are short, are merged, or the shorter one
is searched in the longer by galloping.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, prefetch, team, vertex
from hpgraph.kernels.runtime.cpu.rows import Rows, lower_bound
from hpgraph.kernels.runtime.cpu.tasks import task_bounds, tasks
from hpgraph.kernels.similarity import COSINE, JACCARD, OVERLAP, SORENSEN, Common

# Rows that a thread takes at a time.
CHUNK = 64
# Prefetch distance, in pairs.
AHEAD = 6
# Ratio of lengths from which galloping, some 2 log₂ of the ratio steps an entry, beats merging.
RATIO = 16
# Mean entries of the shorter rows from which grouping pairs, a counting sort, costs less than it can save.
GROUP_FROM = 8
# The longer and the shorter row of each pair, and its index among those given, in the order of processing.
Pairs = namedtuple("Pairs", "long short order")


def pair_scores(rows: CSR, source: Any, target: Any, common: Common, measure: int, sizes: Any) -> Any:
    """A measure of each pair of rows, float64, by the size of each row."""
    found = np.empty(len(source))
    arrays = Rows(rows.indptr, rows.indices)
    long, short = np.empty(len(source), np.int64), np.empty(len(source), np.int64)
    ends = np.zeros(len(source) + 1, np.int64)
    with team() as threads:
        _sides(rows.indptr, source, target, long, short)
        pairs = Pairs(long, short, np.arange(len(source)))
        if _add_lengths(rows.indptr, short, ends) > GROUP_FROM * len(source):
            pairs = Pairs(*_group_pairs(rows.indptr, long, short))
            _add_lengths(rows.indptr, pairs.short, ends)
        parameters = np.int64(measure), common.product, rows.shape[1]
        bounds = task_bounds(ends)
        score = _score.alone if len(bounds) == 2 else _score
        score(arrays, rows.data, common.values, pairs, bounds, parameters, sizes, found, threads)
    return found


@njit(cache=True, nogil=True, parallel=LOOPS)
def _sides(indptr, source, target, long, short):
    for k in prange(source.size):
        u, v = vertex(source, k), vertex(target, k)
        if peek(indptr, u + 1) - peek(indptr, u) < peek(indptr, v + 1) - peek(indptr, v):
            u, v = v, u
        long[k], short[k] = u, v


@njit(cache=True, nogil=True)
def _add_lengths(indptr, short, ends):
    """Running sum of the shorter rows' lengths; returns the total."""
    total = 0
    for k in range(short.size):
        v = vertex(short, k)
        total += peek(indptr, v + 1) - peek(indptr, v)
        ends[k + 1] = total
    return total


@njit(cache=True, nogil=True)
def _group_pairs(indptr, long, short):
    """Counting sort by the longer row; stable."""
    first = np.zeros(indptr.size, np.int64)
    for k in range(long.size):
        first[vertex(long, k) + 1] += 1
    for v in range(1, first.size):
        first[v] += first[v - 1]
    of_long, of_short, order = np.empty_like(long), np.empty_like(short), np.empty(long.size, np.int64)
    for k in range(long.size):
        at = vertex(first, vertex(long, k))
        first[long[k]] = at + 1
        of_long[at], of_short[at], order[at] = long[k], short[k], k
    return of_long, of_short, order


@part
def _term(data, values, product, at, other, w):
    """The contribution of a common neighbour with entries at two places."""
    if values is not None:
        return peek(values, w)
    if data is not None:
        x, y = np.float64(peek(data, at)), np.float64(peek(data, other))
        return x * y if product else min(x, y)
    return 1.0


@part
def _sum_common(rows, data, values, product, u, v):
    """The sum over the common columns of two rows, by merging or galloping; the first row is the longer."""
    a, a_end = peek(rows.indptr, v), peek(rows.indptr, v + 1)
    b, b_end = peek(rows.indptr, u), peek(rows.indptr, u + 1)
    total = 0.0
    if (a_end - a) * RATIO < b_end - b:
        while a < a_end and b < b_end:
            x, step = vertex(rows.indices, a), 1
            while b + step < b_end and vertex(rows.indices, b + step) < x:
                b += step
                step += step
            b = lower_bound(rows.indices, b, min(b + step, b_end), x)
            if b < b_end and vertex(rows.indices, b) == x:
                total += _term(data, values, product, a, b, x)
            a += 1
        return total
    if values is None and data is None:
        # Branch-free: the branch is unpredictable.
        count = 0
        while a < a_end and b < b_end:
            x, y = vertex(rows.indices, a), vertex(rows.indices, b)
            count += x == y
            a += x <= y
            b += y <= x
        return np.float64(count)
    while a < a_end and b < b_end:
        x, y = vertex(rows.indices, a), vertex(rows.indices, b)
        if x == y:
            total += _term(data, values, product, a, b, x)
        a += x <= y
        b += y <= x
    return total


@part
def _measured(measure, common, a, b):
    whole = 1.0
    if measure == JACCARD:
        whole = a + b - common
    elif measure == OVERLAP:
        whole = min(a, b)
    elif measure == SORENSEN:
        common, whole = 2 * common, a + b
    elif measure == COSINE:
        whole = np.sqrt(a) * np.sqrt(b)
    return common / whole if whole > 0 else 0.0


@part
def _mark(rows, data, v, bits, weights, flag):
    """Mark the columns of a row, by a bit or by the weight; or clear them."""
    for at in range(peek(rows.indptr, v), peek(rows.indptr, v + 1)):
        w = vertex(rows.indices, at)
        if data is not None:
            weights[w] = np.float64(peek(data, at)) if flag else 0.0
        elif flag:
            bits[w >> 6] |= np.uint64(1) << np.uint64(w & 63)
        else:
            bits[w >> 6] = np.uint64(0)


@part
def _is_marked(bits, w):
    return (peek(bits, w >> 6) >> np.uint64(w & 63)) & np.uint64(1)


@part
def _sum_marked(rows, data, values, product, v, bits, weights):
    """The sum over the marked columns of a row."""
    begin, end = peek(rows.indptr, v), peek(rows.indptr, v + 1)
    if values is not None:
        return _values_marked(rows.indices, values, begin, end, bits)
    if data is not None:
        return _weights_marked(rows.indices, data, product, begin, end, weights)
    count = np.uint64(0)
    for at in range(begin, end):
        count += _is_marked(bits, vertex(rows.indices, at))
    return np.float64(count)


@part
def _values_marked(indices, values, begin, end, bits):
    total = 0.0
    for at in range(begin, end):
        w = vertex(indices, at)
        if _is_marked(bits, w):
            total += peek(values, w)
    return total


@part
def _weights_marked(indices, data, product, begin, end, weights):
    total = 0.0
    for at in range(begin, end):
        # Unmarked columns have weight zero.
        x, y = np.float64(peek(data, at)), peek(weights, vertex(indices, at))
        total += x * y if product else min(x, y)
    return total


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _score(rows, data, values, pairs, bounds, parameters, sizes, found, threads):
    measure, product, width = parameters
    following, last = np.zeros(1, np.int64), pairs.order.size - 1
    for _ in prange(threads):
        bits = np.zeros((width >> 6) + 1 if data is None else 0, np.uint64)
        weights = np.zeros(0 if data is None else width)
        for task in tasks(following, bounds.size - 1):
            k = bounds[task]
            while k < bounds[task + 1]:
                u, first, work = vertex(pairs.long, k), k, 0
                while k < bounds[task + 1] and vertex(pairs.long, k) == u:
                    v = vertex(pairs.short, k)
                    work += peek(rows.indptr, v + 1) - peek(rows.indptr, v)
                    far, near = min(k + 2 * AHEAD, last), min(k + AHEAD, last)
                    prefetch(rows.indptr, vertex(pairs.long, far))
                    prefetch(rows.indptr, vertex(pairs.short, far))
                    prefetch(rows.indices, peek(rows.indptr, vertex(pairs.long, near)))
                    prefetch(rows.indices, peek(rows.indptr, vertex(pairs.short, near)))
                    k += 1
                # Marking and clearing a column takes about as long as two look-ups.
                marked = work > 2 * (peek(rows.indptr, u + 1) - peek(rows.indptr, u)) and k - first > 1
                if marked:
                    _mark(rows, data, u, bits, weights, True)
                for i in range(first, k):
                    v = vertex(pairs.short, i)
                    if marked:
                        common = _sum_marked(rows, data, values, product, v, bits, weights)
                    else:
                        common = _sum_common(rows, data, values, product, u, v)
                    # The measures are symmetric, except for rounding.
                    low, high = min(u, v), max(u, v)
                    found[pairs.order[i]] = _measured(measure, common, peek(sizes, low), peek(sizes, high))
                if marked:
                    _mark(rows, data, u, bits, weights, False)


def best_of_rows(rows: CSR, k: int) -> CSR:
    """The k largest entries of each row, in descending order; ties in ascending order of columns.

    Returns CSR: its rows are not sorted by column.
    """
    indptr = np.zeros(rows.shape[0] + 1, np.int64)
    np.cumsum(np.minimum(np.diff(rows.indptr), k), out=indptr[1:])
    indices, data = np.empty(indptr[-1], rows.indices.dtype), np.empty(indptr[-1])
    with team() as threads:
        _select_entries(Rows(rows.indptr, rows.indices, rows.data), indptr, indices, data, threads)
    return CSR(rows.shape, indptr, indices, data, validate=False)


@part
def _worse(data, indices, i, j):
    """Whether the entry at place i ranks after that at place j."""
    x, y = peek(data, i), peek(data, j)
    return x < y or (x == y and peek(indices, i) > peek(indices, j))


@part
def _sift(indices, data, begin, count, at):
    """Sift down an entry of a heap with the worst at the top."""
    while True:
        child = 2 * at + 1
        if child >= count:
            return
        if child + 1 < count and _worse(data, indices, begin + child + 1, begin + child):
            child += 1
        if not _worse(data, indices, begin + child, begin + at):
            return
        _swap(indices, data, begin + at, begin + child)
        at = child


@part
def _swap(indices, data, i, j):
    indices[i], indices[j] = indices[j], indices[i]
    data[i], data[j] = data[j], data[i]


@part
def _heap(indices, data, begin, count):
    for at in range(count // 2 - 1, -1, -1):
        _sift(indices, data, begin, count, at)


@part
def _offer(indices, data, begin, space, kept, v, score):
    """Offer an entry to a heap of at most `space` best entries; returns the heap's size."""
    if kept < space:
        indices[begin + kept], data[begin + kept] = v, score
        kept += 1
        if kept == space:
            _heap(indices, data, begin, kept)
    elif space > 0 and (score > data[begin] or (score == data[begin] and v < indices[begin])):
        indices[begin], data[begin] = v, score
        _sift(indices, data, begin, space, 0)
    return kept


@part
def _rank(indices, data, begin, space, kept):
    """Sort the entries kept, the best first."""
    if kept < space:
        _heap(indices, data, begin, kept)
    for rest in range(kept - 1, 0, -1):
        _swap(indices, data, begin, begin + rest)
        _sift(indices, data, begin, rest, 0)


@njit(cache=True, nogil=True, parallel=LOOPS)
def _select_entries(rows, indptr, indices, data, threads):
    following, n = np.zeros(1, np.int64), indptr.size - 1
    for _ in prange(threads):
        for chunk in tasks(following, n, CHUNK):
            for row in range(chunk, min(chunk + CHUNK, n)):
                begin, space, kept = indptr[row], indptr[row + 1] - indptr[row], 0
                for at in range(rows.indptr[row], rows.indptr[row + 1]):
                    kept = _offer(indices, data, begin, space, kept, rows.indices[at], rows.data[at])
                _rank(indices, data, begin, space, kept)
