"""The product of two sparse matrices over a semiring on the CPU, row by row: C[i, :] = ⊕ₖ A[i, k] ⊗ B[k, :].

F. G. Gustavson, "Two fast algorithms for sparse matrices: multiplication and permuted transposition", ACM TOMS 4(3),
1978. A row is added up in a sparse accumulator (SPA; J. Gilbert, C. Moler, R. Schreiber, "Sparse matrices in MATLAB",
SIAM J. Matrix Anal. Appl. 13(1), 1992): a dense array of one value a column. Its nonzero columns stand in a bit set of
two levels rather than in a list, so they are read in ascending order without a sort. Rows of at most 24 pairs are
merged by insertion instead. Each row is computed by one thread in the order of A's entries: sums are the same, bit for
bit, on any number of threads.

A row has at most as many entries as pairs meet in it. Where memory has room for that bound, one pass computes runs of
rows and hands them over in order (`hpgraph.kernels.runtime.cpu.handover`), and unused memory is given back. Otherwise a
symbolic pass counts the entries of every row, and a numeric pass computes them in place.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from numba import prange

from hpgraph.core.device import check_memory, free_memory
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.bits import lowest_bit, popcount
from hpgraph.kernels.runtime.cpu.handover import cut, hand_over, new_ends
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.spgemm.cpu_rows import ROW, TASK_PAIRS, bits_beside, next_run, pairs_of_rows, share
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.spmv.cpu_fold import at, convert, is_set, join, vertex, weight
from hpgraph.semiring.jit import call

# Pairs of a row up to which insertion is quicker than the accumulator.
INSERTION_PAIRS = 24


@njit(inline="always")
def _is_excluded(excluded, j):
    return excluded is not None and is_set(excluded, j)


@njit(error_model="numpy")
def _place(indices, begin, end, j):
    """Where column j belongs in the sorted indices[begin:end], looked for from the end."""
    while end > begin and vertex(indices, end - 1) >= j:
        end -= 1
    return end


@njit(error_model="numpy")
def _count_few(a_indices, first, last, b_indptr, b_indices, excluded, columns):
    count = 0
    for p in range(first, last):
        k = vertex(a_indices, p)
        for q in range(at(b_indptr, k), at(b_indptr, k + 1)):
            j = vertex(b_indices, q)
            if _is_excluded(excluded, j):
                continue
            s = _place(columns, 0, count, j)
            if s < count and columns[s] == j:
                continue
            for t in range(count, s, -1):
                columns[t] = columns[t - 1]
            columns[s] = j
            count += 1
    return count


@njit(error_model="numpy")
def _fill_few(product, reduce, one_a, one_b, zero, i, a_indices, a_data, first, last, b_indptr, b_indices, b_data,
              excluded, indices, data, begin):
    end = begin
    for p in range(first, last):
        k = vertex(a_indices, p)
        for q in range(at(b_indptr, k), at(b_indptr, k + 1)):
            j = vertex(b_indices, q)
            if _is_excluded(excluded, j):
                continue
            value = convert(zero, call(product, weight(a_data, p, one_a), weight(b_data, q, one_b), i, k, j))
            s = _place(indices, begin, end, j)
            if s < end and vertex(indices, s) == j:
                data[s] = join(reduce, data[s], value)
                continue
            for t in range(end, s, -1):
                indices[t] = indices[t - 1]
                data[t] = data[t - 1]
            indices[s] = j
            data[s] = join(reduce, zero, value)
            end += 1
    return end


@njit(error_model="numpy")
def _count_many(a_indices, first, last, b_indptr, b_indices, excluded, bits, some):
    low, high = some.size, -1
    for p in range(first, last):
        k = vertex(a_indices, p)
        for q in range(at(b_indptr, k), at(b_indptr, k + 1)):
            j = vertex(b_indices, q)
            if _is_excluded(excluded, j):
                continue
            word = j >> 6
            before = at(bits, word)
            if before == 0:
                some[word >> 6] |= np.uint64(1) << np.uint64(word & 63)
                low, high = min(low, word >> 6), max(high, word >> 6)
            bits[word] = before | (np.uint64(1) << np.uint64(j & 63))
    count = 0
    for group in range(low, high + 1):
        words = some[group]
        some[group] = 0
        while words:
            word = (group << 6) + lowest_bit(words)
            words &= words - np.uint64(1)
            count += popcount(bits[word])
            bits[word] = 0
    return count


@njit(error_model="numpy")
def _fill_many(product, reduce, one_a, one_b, zero, i, a_indices, a_data, first, last, b_indptr, b_indices, b_data,
               excluded, bits, some, values, indices, data, place):
    low, high = some.size, -1
    for p in range(first, last):
        k = vertex(a_indices, p)
        x = weight(a_data, p, one_a)
        for q in range(at(b_indptr, k), at(b_indptr, k + 1)):
            j = vertex(b_indices, q)
            if _is_excluded(excluded, j):
                continue
            # A column without an entry yet holds the identity, so no branch asks whether this is the first value.
            value = convert(zero, call(product, x, weight(b_data, q, one_b), i, k, j))
            values[j] = join(reduce, at(values, j), value)
            word = j >> 6
            before = at(bits, word)
            if before == 0:
                some[word >> 6] |= np.uint64(1) << np.uint64(word & 63)
                low, high = min(low, word >> 6), max(high, word >> 6)
            bits[word] = before | (np.uint64(1) << np.uint64(j & 63))
    for group in range(low, high + 1):
        words = some[group]
        some[group] = 0
        while words:
            word = (group << 6) + lowest_bit(words)
            words &= words - np.uint64(1)
            columns = bits[word]
            bits[word] = 0
            while columns:
                j = (word << 6) + lowest_bit(columns)
                columns &= columns - np.uint64(1)
                indices[place] = j
                data[place] = values[j]
                values[j] = zero
                place += 1
    return place


@njit(error_model="numpy")
def _exclude(excluded, x_indptr, x_indices, i, exclude):
    """Put the columns of a row of the mask into the set, or take them out again."""
    if excluded is not None:
        for q in range(at(x_indptr, i), at(x_indptr, i + 1)):
            j = vertex(x_indices, q)
            if exclude:
                excluded[j >> 6] |= np.uint64(1) << np.uint64(j & 63)
            else:
                excluded[j >> 6] = 0


@njit(error_model="numpy")
def _count_runs(a_indptr, a_indices, b_indptr, b_indices, x_indptr, x_indices, pairs, bounds, columns, counter, counts):
    """What one thread does: take runs of rows and count each row's entries."""
    bits = bits_beside(pairs, columns)
    some = bits_beside(pairs, bits.size)
    excluded = bits_beside(x_indptr, columns)
    few = np.empty(INSERTION_PAIRS, b_indices.dtype)
    while True:
        run = next_run(counter, bounds)
        if run < 0:
            break
        for i in range(bounds[run], bounds[run + 1]):
            first, last = at(a_indptr, i), at(a_indptr, i + 1)
            if pairs[i] == 0:
                counts[i] = 0
            elif last - first == 1 and x_indptr is None:
                counts[i] = pairs[i]
            else:
                _exclude(excluded, x_indptr, x_indices, i, True)
                if pairs[i] <= INSERTION_PAIRS:
                    counts[i] = _count_few(a_indices, first, last, b_indptr, b_indices, excluded, few)
                else:
                    counts[i] = _count_many(a_indices, first, last, b_indptr, b_indices, excluded, bits, some)
                _exclude(excluded, x_indptr, x_indices, i, False)


@njit(error_model="numpy")
def _fill_rows(product, reduce, one_a, one_b, zero, a_indptr, a_indices, a_data, b_indptr, b_indices, b_data, x_indptr,
               x_indices, pairs, begin, end, bits, some, excluded, values, indptr, indices, data, place):
    """Compute the rows begin..end one behind the other, the first at `place`; returns where they end."""
    for i in range(begin, end):
        if pairs[i]:
            first, last = at(a_indptr, i), at(a_indptr, i + 1)
            _exclude(excluded, x_indptr, x_indices, i, True)
            if pairs[i] <= INSERTION_PAIRS:
                place = _fill_few(product, reduce, one_a, one_b, zero, i, a_indices, a_data, first, last, b_indptr,
                                  b_indices, b_data, excluded, indices, data, place)
            else:
                place = _fill_many(product, reduce, one_a, one_b, zero, i, a_indices, a_data, first, last, b_indptr,
                                   b_indices, b_data, excluded, bits, some, values, indices, data, place)
            _exclude(excluded, x_indptr, x_indices, i, False)
        indptr[i + 1] = place
    return place


@njit(parallel=True, cache=True, nogil=True, error_model="numpy")
def _count(a_indptr, a_indices, b_indptr, b_indices, x_indptr, x_indices, pairs, bounds, columns, threads, counts):
    counter = np.zeros(1, np.int64)
    for _ in prange(threads):
        _count_runs(a_indptr, a_indices, b_indptr, b_indices, x_indptr, x_indices, pairs, bounds, columns, counter,
                    counts)


@njit(parallel=True, cache=True, nogil=True, error_model="numpy")
def _fill(product, reduce, one_a, one_b, zero, a_indptr, a_indices, a_data, b_indptr, b_indices, b_data, x_indptr,
          x_indices, pairs, bounds, columns, threads, ends, room, indptr, indices, data):
    """Compute every row where `indptr` says. With `ends`, runs of rows are handed over instead and `indptr` is made."""
    counter = np.zeros(1, np.int64)
    for _ in prange(threads):
        bits = bits_beside(pairs, columns)
        some = bits_beside(pairs, bits.size)
        excluded = bits_beside(x_indptr, columns)
        values = np.full(columns, zero, data.dtype)
        own_indices, own_data = np.empty(room, indices.dtype), np.empty(room, data.dtype)
        while True:
            run = next_run(counter, bounds)
            if run < 0:
                break
            begin, end = bounds[run], bounds[run + 1]
            if ends is None:
                _fill_rows(product, reduce, one_a, one_b, zero, a_indptr, a_indices, a_data, b_indptr, b_indices,
                           b_data, x_indptr, x_indices, pairs, begin, end, bits, some, excluded, values, indptr,
                           indices, data, indptr[begin])
            else:
                count = _fill_rows(product, reduce, one_a, one_b, zero, a_indptr, a_indices, a_data, b_indptr,
                                   b_indices, b_data, x_indptr, x_indices, pairs, begin, end, bits, some, excluded,
                                   values, indptr, own_indices, own_data, np.int64(0))
                hand_over(ends, run, begin, end, indptr, count, own_indices, own_data, indices, data)


# The same for one thread: quicker to compile.
@njit(cache=True, nogil=True, error_model="numpy")
def _fill_alone(product, reduce, one_a, one_b, zero, a_indptr, a_indices, a_data, b_indptr, b_indices, b_data,
                x_indptr, x_indices, pairs, columns, indptr, indices, data):
    bits = bits_beside(pairs, columns)
    _fill_rows(product, reduce, one_a, one_b, zero, a_indptr, a_indices, a_data, b_indptr, b_indices, b_data, x_indptr,
               x_indices, pairs, 0, pairs.size, bits, bits_beside(pairs, bits.size), bits_beside(x_indptr, columns),
               np.full(columns, zero, data.dtype), indptr, indices, data, np.int64(0))


def multiply(a: CSR, b: CSR, product: Any, reduce: Any, exclude: CSR | None = None) -> CSR:
    """The product of two matrices over a semiring.

    Parameters
    ----------
    a : CSR, shape (m, l)
    b : CSR, shape (l, n)
        Rows sorted, no duplicates; its indices of the type of a's.
    product : Product
        ``f(a, b, i, k, j)`` makes what a pair of entries contributes.
    reduce : Monoid
        Joins contributions.
    exclude : CSR, shape (m, n), optional
        A pattern: entries that are not to be computed.

    Returns
    -------
    CSR, shape (m, n)
        Rows sorted. An entry stands wherever a pair met, also where contributions cancel.

    Raises
    ------
    DeviceMemoryError
        When it will not fit.

    Notes
    -----
    Each thread has an array of n values and n/8 bytes besides, and room for a run of rows.
    """
    rows, columns = a.shape[0], b.shape[1]
    dtype, ids = product.dtype, b.indices.dtype
    pairs = pairs_of_rows(a, b)
    alone = int(pairs.sum()) + ROW * rows <= TASK_PAIRS
    # Prefix sum of each row's bound: as many entries as pairs meet, but no more than columns.
    room = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.minimum(pairs, columns))))
    nnz, size = int(room[-1]), dtype.itemsize + ids.itemsize
    counted = not alone and nnz * size > free_memory("cpu") // 2
    pattern_a, pattern_b = (plain(a.indptr), plain(a.indices)), (plain(b.indptr), plain(b.indices))
    excluded = (None, None) if exclude is None else (plain(exclude.indptr), plain(exclude.indices))
    operands = (
        product, reduce.reduce_for(dtype), product.a_dtype.type(1), product.b_dtype.type(1),
        reduce.identity_for(dtype), *pattern_a, plain(a.data) if product.reads_a else None, *pattern_b,
        plain(b.data) if product.reads_b else None, *excluded, pairs,
    )  # fmt: skip
    indptr = np.zeros(rows + 1, np.int64)
    with contextlib.nullcontext(1) if alone else team() as threads:
        check_memory(threads * columns * (dtype.itemsize + 1), "work space of a matrix product", "cpu")
        bounds = None if alone else share(pairs, threads)
        if counted:
            _count(*pattern_a, *pattern_b, *excluded, pairs, bounds, columns, threads, indptr[1:])
            np.cumsum(indptr, out=indptr)
            nnz = int(indptr[-1])
        check_memory(nnz * size, f"a product of {'' if counted else 'up to '}{nnz} entries", "cpu")
        indices, data = np.empty(nnz, ids), np.empty(nnz, dtype)
        if bounds is None:
            _fill_alone(*operands, columns, indptr, indices, data)
        else:
            ends, widest = (None, 0) if counted else (new_ends(len(bounds) - 1), int(np.diff(room[bounds]).max()))
            _fill(*operands, bounds, columns, threads, ends, widest, indptr, indices, data)
    nnz = int(indptr[-1])
    return CSR((rows, columns), indptr, cut(indices, nnz), cut(data, nnz), validate=False)
