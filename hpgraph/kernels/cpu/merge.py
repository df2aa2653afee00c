"""Union, intersection and difference of two matrices, entry by entry, with the operator in the same pass.

Rows are sorted, so a row of the result is one merge of two lists. Counting what two rows share gives every row's place
in the result; then rows are merged in tasks of about equal numbers of entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from hpgraph.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.cpu.fold import at, convert, vertex, weight
from hpgraph.kernels.cpu.product import plain
from hpgraph.kernels.cpu.threads import team
from hpgraph.semiring.atomics import fetch_add
from hpgraph.semiring.jit import call

# Entries of both matrices, and rows, that one task takes; below twice that one thread does it all.
TASK = 32768


@njit(error_model="numpy")
def _lower_bound(indices, begin, end, column):
    """Where in the sorted indices[begin:end] a column stands, or would."""
    while begin < end:
        middle = (begin + end) >> 1
        if vertex(indices, middle) < column:
            begin = middle + 1
        else:
            end = middle
    return begin


@njit(cache=True, nogil=True, error_model="numpy")
def _count_shared(indptr_a, indices_a, indptr_b, indices_b, begin, end, shared):
    for i in range(begin, end):
        p, p_end, q, q_end = at(indptr_a, i), at(indptr_a, i + 1), at(indptr_b, i), at(indptr_b, i + 1)
        found = 0
        while p < p_end and q < q_end:
            # Without a branch: which of the two comes first is anybody's guess, also the processor's.
            a, b = vertex(indices_a, p), vertex(indices_b, q)
            found += a == b
            p += a <= b
            q += b <= a
        shared[i] = found


@njit(parallel=True, cache=True, nogil=True, error_model="numpy")
def _count_shared_tasks(indptr_a, indices_a, indptr_b, indices_b, bounds, shared, workers):
    cursor = np.zeros(1, np.int64)
    for _ in prange(workers):
        while True:
            task = fetch_add(cursor, 0, 1)
            if task >= bounds.size - 1:
                break
            _count_shared(indptr_a, indices_a, indptr_b, indices_b, bounds[task], bounds[task + 1], shared)


@njit(error_model="numpy")
def _merge_rows(both, left, right, indptr_a, indices_a, data_a, indptr_b, indices_b, data_b, one_a, one_b, fill_a,
                fill_b, begin, end, indptr, indices, data, zero):
    for i in range(begin, end):
        p, p_end, q, q_end = at(indptr_a, i), at(indptr_a, i + 1), at(indptr_b, i), at(indptr_b, i + 1)
        k = at(indptr, i)
        while p < p_end and q < q_end:
            a, b = vertex(indices_a, p), vertex(indices_b, q)
            if a == b:
                if both is not None:
                    indices[k] = a
                    if data is not None:
                        x, y = weight(data_a, p, one_a), weight(data_b, q, one_b)
                        data[k] = convert(zero, call(both, x, y, i, a))
                    k += 1
                p += 1
                q += 1
            elif a < b:
                if left is not None:
                    indices[k] = a
                    if data is not None:
                        data[k] = convert(zero, call(left, weight(data_a, p, one_a), fill_b, i, a))
                    k += 1
                p += 1
            else:
                if right is not None:
                    indices[k] = b
                    if data is not None:
                        data[k] = convert(zero, call(right, fill_a, weight(data_b, q, one_b), i, b))
                    k += 1
                q += 1
        if left is not None:
            while p < p_end:
                a = vertex(indices_a, p)
                indices[k] = a
                if data is not None:
                    data[k] = convert(zero, call(left, weight(data_a, p, one_a), fill_b, i, a))
                k += 1
                p += 1
        if right is not None:
            while q < q_end:
                b = vertex(indices_b, q)
                indices[k] = b
                if data is not None:
                    data[k] = convert(zero, call(right, fill_a, weight(data_b, q, one_b), i, b))
                k += 1
                q += 1


@njit(parallel=True, cache=True, nogil=True, error_model="numpy")
def _merge(both, left, right, indptr_a, indices_a, data_a, indptr_b, indices_b, data_b, one_a, one_b, fill_a, fill_b,
           bounds, indptr, indices, data, zero, workers):
    cursor = np.zeros(1, np.int64)
    for _ in prange(workers):
        while True:
            task = fetch_add(cursor, 0, 1)
            if task >= bounds.size - 1:
                break
            _merge_rows(both, left, right, indptr_a, indices_a, data_a, indptr_b, indices_b, data_b, one_a, one_b,
                        fill_a, fill_b, bounds[task], bounds[task + 1], indptr, indices, data, zero)


# The same for one thread: quicker to compile.
@njit(cache=True, nogil=True, error_model="numpy")
def _merge_alone(both, left, right, indptr_a, indices_a, data_a, indptr_b, indices_b, data_b, one_a, one_b, fill_a,
                 fill_b, indptr, indices, data, zero):
    _merge_rows(both, left, right, indptr_a, indices_a, data_a, indptr_b, indices_b, data_b, one_a, one_b, fill_a,
                fill_b, 0, indptr.size - 1, indptr, indices, data, zero)


def task_bounds(ends: Any, task: int = TASK) -> Any:
    """Rows to begin and end tasks at, so that each has about as much work.

    Parameters
    ----------
    ends : int64 array, shape (rows + 1,)
        Entries before each row.
    task : int
        Entries and rows to a task.

    Returns
    -------
    int64 array
        Ascending, from 0 to the number of rows; of two elements where one thread should do it all.
    """
    rows = len(ends) - 1
    total = int(ends[-1]) + rows
    if total <= 2 * task:
        return np.array([0, rows])
    work = ends + np.arange(rows + 1)
    return np.unique(np.concatenate(([0], np.searchsorted(work, np.arange(task, total, task)), [rows])))


def _arguments(csr: CSR, ids: Any) -> tuple[Any, Any]:
    return plain(csr.indptr), plain(csr.indices.astype(ids, copy=False))


def _shared(a: tuple[Any, Any], b: tuple[Any, Any], bounds: Any) -> Any:
    """How many columns each row of one matrix has in common with that of the other."""
    shared = np.empty(len(a[0]) - 1, np.int64)
    if len(bounds) == 2:
        _count_shared(*a, *b, 0, len(shared), shared)
    else:
        with team() as workers:
            _count_shared_tasks(*a, *b, bounds, shared, workers)
    return shared


def merge(
    a: CSR,
    b: CSR,
    both: Any,
    left: Any,
    right: Any,
    dtype: Any,
    *,
    fill_a: Any = True,
    fill_b: Any = True,
) -> CSR:
    """The entries that two matrices have, joined place by place.

    Parameters
    ----------
    a, b : CSR
        Of the same shape, rows sorted and free of duplicates. Where one is a pattern its values are True.
    both, left, right : EntryFunction or None
        ``f(x, y, row, column)`` makes the value where both matrices have an entry, only `a` and only `b`. None leaves
        such places out: an intersection has `both` alone, a difference `left` alone.
    dtype : dtype or None
        Of the result; None makes a pattern, for which the functions are not called.
    fill_a, fill_b : scalar
        What stands in for the absent value of `a`, for `right`, and of `b`, for `left`.

    Returns
    -------
    CSR
        Rows sorted.

    Raises
    ------
    DeviceMemoryError
        When it will not fit.
    """
    ids = np.result_type(a.indices.dtype, b.indices.dtype)
    first, second = _arguments(a, ids), _arguments(b, ids)
    bounds = task_bounds(a.indptr + b.indptr)
    indptr = np.zeros(len(a.indptr), np.int64)
    # Entries of a, of b, and how often the shared ones, which are in both, were counted too often.
    keeps = both is not None, left is not None, right is not None
    excess = keeps[0] - keeps[1] - keeps[2]
    if keeps[1]:
        indptr += a.indptr
    if keeps[2]:
        indptr += b.indptr
    if excess:
        shared = np.cumsum(_shared(first, second, bounds))
        indptr[1:] += excess * shared
    nnz = int(indptr[-1])
    dtype = None if dtype is None else np.dtype(dtype)
    check_memory(nnz * (ids.itemsize + (0 if dtype is None else dtype.itemsize)), f"a result of {nnz} entries", "cpu")
    indices = np.empty(nnz, ids)
    data = None if dtype is None else np.empty(nnz, dtype)
    if nnz:
        kind, x, y = (np.dtype(bool) if given is None else given for given in (dtype, a.dtype, b.dtype))
        fills = x.type(fill_a), y.type(fill_b)
        what = (both, left, right, *first, plain(a.data), *second, plain(b.data), True, True, *fills)
        if len(bounds) == 2:
            _merge_alone(*what, indptr, indices, data, kind.type(0))
        else:
            with team() as workers:
                _merge(*what, bounds, indptr, indices, data, kind.type(0), workers)
    return CSR(a.shape, indptr, indices, data, validate=False)


@njit(cache=True, nogil=True, error_model="numpy")
def _locate_rows(indptr_a, indices_a, indptr_b, indices_b, begin, end, position):
    for i in range(begin, end):
        p, p_end, q, q_end = at(indptr_a, i), at(indptr_a, i + 1), at(indptr_b, i), at(indptr_b, i + 1)
        if q_end - q > 16 * (p_end - p):
            while p < p_end:
                a = vertex(indices_a, p)
                q = _lower_bound(indices_b, q, q_end, a)
                position[p] = q if q < q_end and vertex(indices_b, q) == a else -1
                p += 1
            continue
        while p < p_end and q < q_end:
            a, b = vertex(indices_a, p), vertex(indices_b, q)
            # Written again until it is final, rather than by a branch.
            position[p] = q if a == b else -1
            p += a <= b
            q += b <= a
        while p < p_end:
            position[p] = -1
            p += 1


@njit(parallel=True, cache=True, nogil=True, error_model="numpy")
def _locate(indptr_a, indices_a, indptr_b, indices_b, bounds, position, workers):
    cursor = np.zeros(1, np.int64)
    for _ in prange(workers):
        while True:
            task = fetch_add(cursor, 0, 1)
            if task >= bounds.size - 1:
                break
            _locate_rows(indptr_a, indices_a, indptr_b, indices_b, bounds[task], bounds[task + 1], position)


def locate(a: CSR, b: CSR) -> Any:
    """Where in one matrix the entries of another stand.

    Parameters
    ----------
    a, b : CSR
        Of the same shape, rows sorted and free of duplicates.

    Returns
    -------
    int64 array, shape (a.nnz,)
        Position in `b` of each entry of `a`, -1 where `b` has none.
    """
    ids = np.result_type(a.indices.dtype, b.indices.dtype)
    first, second = _arguments(a, ids), _arguments(b, ids)
    position = np.empty(a.nnz, np.int64)
    bounds = task_bounds(a.indptr + b.indptr)
    if len(bounds) == 2:
        _locate_rows(*first, *second, 0, a.shape[0], position)
    else:
        with team() as workers:
            _locate(*first, *second, bounds, position, workers)
    return position
