"""Union, intersection and difference of two matrices, entry by entry, with the operator in the same pass.

Rows are sorted, so a row of the result is one merge of two lists. What two rows share is counted first, which gives
every row its place; then rows are merged, in tasks of about equal numbers of entries. Counting compares four entries
with four at a time, so that the compiler makes vector instructions of it (B. Schlegel, T. Willhalm, W. Lehner, "Fast
sorted-set intersection using SIMD instructions", ADMS 2011).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from hpgraph.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.cpu.entries import select_entries
from hpgraph.kernels.cpu.fold import at, convert, vertex, weight
from hpgraph.kernels.cpu.product import plain
from hpgraph.kernels.cpu.tasks import task_bounds
from hpgraph.kernels.cpu.threads import team
from hpgraph.semiring import get_binary
from hpgraph.semiring.atomics import fetch_add
from hpgraph.semiring.entry import entry_function
from hpgraph.semiring.jit import call


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
    four = np.uint64(4)
    for i in range(begin, end):
        p, p_end = np.uint64(indptr_a[i]), np.uint64(indptr_a[i + 1])
        q, q_end = np.uint64(indptr_b[i]), np.uint64(indptr_b[i + 1])
        found = np.int32(0)
        while p + four <= p_end and q + four <= q_end:
            for u in range(4):
                b = indices_b[q + np.uint64(u)]
                for v in range(4):
                    found += np.int32(indices_a[p + np.uint64(v)] == b)
            a, b = indices_a[p + np.uint64(3)], indices_b[q + np.uint64(3)]
            p += four * np.uint64(a <= b)
            q += four * np.uint64(b <= a)
        while p < p_end and q < q_end:
            a, b = indices_a[p], indices_b[q]
            found += np.int32(a == b)
            p += np.uint64(a <= b)
            q += np.uint64(b <= a)
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


@njit(error_model="numpy", inline="always")
def _put(function, x, y, i, j, indices, data, k, zero, nonzero):
    """Write one entry, or, without `indices`, count it; where the next one goes."""
    # Unsigned, because Numba tests a signed index for being negative, each time.
    if indices is not None:
        indices[np.uint64(k)] = j
    if data is None:
        if nonzero is None:
            return k + 1
        return k + (convert(zero, call(function, x, y, i, j)) != zero)
    value = convert(zero, call(function, x, y, i, j))
    data[np.uint64(k)] = value
    if nonzero is None:
        return k + 1
    return k + (value != zero)


@njit(error_model="numpy")
def _merge_rows(both, left, right, nonzero, indptr_a, indices_a, data_a, indptr_b, indices_b, data_b, one_a, one_b,
                fill_a, fill_b, begin, end, indptr, start, counts, indices, data, zero):
    """Rows to their places; without `indptr` one behind the other from `start` on; without `indices` only counted."""
    for i in range(begin, end):
        p, p_end, q, q_end = at(indptr_a, i), at(indptr_a, i + 1), at(indptr_b, i), at(indptr_b, i + 1)
        k, k_end = start, start + p_end - p + q_end - q
        if indptr is not None:
            k, k_end = at(indptr, i), at(indptr, i + 1)
        # Where zeros are dropped the last one would be written behind the row.
        while p < p_end and q < q_end and k < k_end:
            a, b = vertex(indices_a, p), vertex(indices_b, q)
            if a == b:
                if both is not None:
                    x, y = weight(data_a, p, one_a), weight(data_b, q, one_b)
                    k = _put(both, x, y, i, a, indices, data, k, zero, nonzero)
                p += 1
                q += 1
            elif a < b:
                if left is not None:
                    k = _put(left, weight(data_a, p, one_a), fill_b, i, a, indices, data, k, zero, nonzero)
                p += 1
            else:
                if right is not None:
                    k = _put(right, fill_a, weight(data_b, q, one_b), i, b, indices, data, k, zero, nonzero)
                q += 1
        if left is not None:
            while p < p_end and k < k_end:
                a = vertex(indices_a, p)
                k = _put(left, weight(data_a, p, one_a), fill_b, i, a, indices, data, k, zero, nonzero)
                p += 1
        if right is not None:
            while q < q_end and k < k_end:
                b = vertex(indices_b, q)
                k = _put(right, fill_a, weight(data_b, q, one_b), i, b, indices, data, k, zero, nonzero)
                q += 1
        if counts is not None:
            counts[i] = k - start
            start = k


@njit(parallel=True, cache=True, nogil=True, error_model="numpy")
def _merge(both, left, right, nonzero, indptr_a, indices_a, data_a, indptr_b, indices_b, data_b, one_a, one_b, fill_a,
           fill_b, bounds, indptr, starts, counts, indices, data, zero, workers):
    cursor = np.zeros(1, np.int64)
    for _ in prange(workers):
        while True:
            task = fetch_add(cursor, 0, 1)
            if task >= bounds.size - 1:
                break
            start = np.int64(0)
            if starts is not None:
                start = at(starts, task)
            _merge_rows(both, left, right, nonzero, indptr_a, indices_a, data_a, indptr_b, indices_b, data_b, one_a,
                        one_b, fill_a, fill_b, bounds[task], bounds[task + 1], indptr, start, counts, indices, data,
                        zero)


@njit(parallel=True, cache=True, nogil=True, error_model="numpy")
def _close_up(bounds, starts, indptr, indices, data, packed_indices, packed_data):
    """Move what each task left behind `starts` to where it belongs."""
    for task in prange(bounds.size - 1):
        begin, end, start = indptr[bounds[task]], indptr[bounds[task + 1]], starts[task]
        packed_indices[begin:end] = indices[start : start + end - begin]
        if data is not None:
            packed_data[begin:end] = data[start : start + end - begin]


# The same for one thread: quicker to compile.
@njit(cache=True, nogil=True, error_model="numpy")
def _merge_alone(both, left, right, nonzero, indptr_a, indices_a, data_a, indptr_b, indices_b, data_b, one_a, one_b,
                 fill_a, fill_b, indptr, counts, indices, data, zero):
    _merge_rows(both, left, right, nonzero, indptr_a, indices_a, data_a, indptr_b, indices_b, data_b, one_a, one_b,
                fill_a, fill_b, 0, indptr_a.size - 1, indptr, np.int64(0), counts, indices, data, zero)


def _arguments(csr: CSR, ids: Any) -> tuple[Any, Any]:
    return plain(csr.indptr), plain(csr.indices.astype(ids, copy=False))


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
    nonzero: bool = False,
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
    nonzero : bool, default False
        Whether entries that come out as zero are dropped.

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
    ends = a.indptr + b.indptr
    bounds = task_bounds(ends)
    dtype = None if dtype is None else np.dtype(dtype)
    kind, x, y = (np.dtype(bool) if given is None else given for given in (dtype, a.dtype, b.dtype))
    # Comparisons are mostly false, and counted by what they give; other results are mostly not zero.
    counted = True if nonzero and dtype is not None and kind.kind == "b" else None
    fills = x.type(fill_a), y.type(fill_b)
    what = (both, left, right, counted, *first, plain(a.data), *second, plain(b.data), True, True, *fills)

    def run(where: Any, starts: Any, *outputs: Any) -> None:
        if len(bounds) == 2:
            _merge_alone(*what, where, *outputs, kind.type(0))
        else:
            with team() as workers:
                _merge(*what, bounds, where, starts, *outputs, kind.type(0), workers)

    indptr = np.zeros(len(a.indptr), np.int64)
    alone = left is None and right is None
    if len(bounds) > 2 and (alone or counted):
        # An intersection, and where a comparison holds, is small beside the operands: merged at once into as much room
        # as there may be need of, and closed up.
        room = ends if not alone else a.indptr if a.nnz <= b.nnz else b.indptr
        starts, most = room[bounds[:-1]], int(room[-1])
        check_memory(2 * most * (ids.itemsize + kind.itemsize), f"a result of up to {most} entries", "cpu")
        loose = np.empty(most, ids), None if dtype is None else np.empty(most, dtype)
        run(None, starts, indptr[1:], *loose)
        np.cumsum(indptr, out=indptr)
        nnz = int(indptr[-1])
        indices, data = np.empty(nnz, ids), None if dtype is None else np.empty(nnz, dtype)
        with team():
            _close_up(bounds, starts, indptr, *loose, indices, data)
        return _without_zeros(CSR(a.shape, indptr, indices, data, validate=False), nonzero and not counted)
    if counted:
        run(None, None, indptr[1:], None, None)
        np.cumsum(indptr, out=indptr)
    else:
        indptr += _places(first, second, both is not None, left is not None, right is not None, bounds)
    nnz = int(indptr[-1])
    check_memory(nnz * (ids.itemsize + (0 if dtype is None else dtype.itemsize)), f"a result of {nnz} entries", "cpu")
    indices = np.empty(nnz, ids)
    data = None if dtype is None else np.empty(nnz, dtype)
    if nnz:
        run(indptr, None, None, indices, data)
    return _without_zeros(CSR(a.shape, indptr, indices, data, validate=False), nonzero and not counted)


def _without_zeros(csr: CSR, wanted: bool) -> CSR:
    if not wanted or csr.data is None or np.count_nonzero(csr.data) == csr.nnz:
        return csr
    return select_entries(csr, entry_function(get_binary("ne"), csr.data.dtype, csr.data.dtype), 0)


def _places(
    first: tuple[Any, Any], second: tuple[Any, Any], both: bool, left: bool, right: bool, bounds: Any
) -> Any:
    """Where each row of the result begins: behind the entries of either matrix, less those counted twice."""
    places = first[0] * left + second[0] * right
    excess = both - left - right
    if excess == 0:
        return places
    shared = np.zeros(len(places), np.int64)
    if len(bounds) == 2:
        _count_shared(*first, *second, 0, len(shared) - 1, shared[1:])
    else:
        with team() as workers:
            _count_shared_tasks(*first, *second, bounds, shared[1:], workers)
    np.cumsum(shared, out=shared)
    return places + excess * shared


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
            position[np.uint64(p)] = q if a == b else -1
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
