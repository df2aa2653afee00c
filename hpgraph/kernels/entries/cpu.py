"""Functions of a matrix's entries: maps and selections."""

from typing import Any

import numpy as np
from numba import prange

from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.entries.cpu_extract import bits_of, room
from hpgraph.kernels.runtime.cpu.interruption import interruptible
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.tasks import TASK_ENTRIES, task_bounds
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.spmv.cpu import NO_BITS, plain
from hpgraph.kernels.spmv.cpu_fold import at, convert, is_set, vertex, weight
from hpgraph.semiring.atomics import fetch_add
from hpgraph.semiring.jit import call


@njit(cache=True, nogil=True, error_model="numpy", counts_references=False)
def _map_rows(function, indptr, indices, data, one, thunk, begin, end, out, zero):
    for i in range(begin, end):
        for p in range(at(indptr, i), at(indptr, i + 1)):
            out[np.uint64(p)] = convert(zero, call(function, weight(data, p, one), thunk, i, vertex(indices, p)))


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def _map_rows_tasks(function, indptr, indices, data, one, thunk, bounds, out, zero, workers):
    counter = np.zeros(1, np.int64)
    for _ in prange(workers):
        while True:
            task = fetch_add(counter, 0, 1)
            if task >= bounds.size - 1:
                break
            _map_rows(function, indptr, indices, data, one, thunk, bounds[task], bounds[task + 1], out, zero)


def map_entries(csr: CSR, function: Any, thunk: Any = False) -> Any:
    """A value for each entry of a matrix: array, shape (nnz,), of the function's dtype."""
    out = np.empty(csr.nnz, function.dtype)
    if function.uses_position:
        indptr, bounds = plain(csr.indptr), task_bounds(csr.indptr)
    else:
        # Rows do not matter: stretches of as many entries as a task takes.
        indptr = np.minimum(np.arange(-(-csr.nnz // TASK_ENTRIES) + 1) * TASK_ENTRIES, csr.nnz)
        bounds = np.arange(len(indptr)) if len(indptr) > 3 else np.array([0, len(indptr) - 1])
    rows = indptr, plain(csr.indices), plain(csr.data), True, function.y_dtype.type(thunk)
    if len(bounds) == 2:
        with interruptible():
            _map_rows(function, *rows, 0, len(indptr) - 1, out, function.dtype.type(0))
    else:
        with team() as workers:
            _map_rows_tasks(function, *rows, bounds, out, function.dtype.type(0), workers)
    return out


def select_entries(csr: CSR, predicate: Any, thunk: Any = False) -> CSR:
    """The entries of a matrix that satisfy a predicate, in the same order; the matrix itself if all are kept."""
    return keep_entries(csr, map_entries(csr, predicate, thunk))


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def _count(flags, indptr, bounds, counts):
    for task in prange(bounds.size - 1):
        for i in range(bounds[task], bounds[task + 1]):
            count = np.int64(0)
            for p in range(at(indptr, i), at(indptr, i + 1)):
                count += np.int64(at(flags, p))
            counts[i] = count


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def _keep(flags, indptr, indices, data, bounds, kept_indptr, kept_indices, kept_data):
    for task in prange(bounds.size - 1):
        p, k, stop = at(indptr, bounds[task]), at(kept_indptr, bounds[task]), at(kept_indptr, bounds[task + 1])
        # Branch-free: every entry is written; one that is not kept is overwritten by the next.
        while k < stop:
            kept_indices[np.uint64(k)] = at(indices, p)
            if data.size:
                kept_data[np.uint64(k)] = at(data, p)
            k += np.int64(at(flags, p))
            p += 1


def keep_entries(csr: CSR, flags: Any) -> CSR:
    """The entries for which an array of bool, shape (nnz,), is true, in order; the matrix itself if all are."""
    bounds = task_bounds(csr.indptr)
    if len(bounds) == 2:
        # Other threads do not pay, nor do branches: NumPy gathers without any.
        before, kept = np.concatenate(([0], np.cumsum(flags))), np.flatnonzero(flags)
        if len(kept) == csr.nnz:
            return csr
        data = None if csr.data is None else csr.data[kept]
        return CSR(csr.shape, before[csr.indptr], csr.indices[kept], data, validate=False)
    kept_indptr = np.zeros(len(csr.indptr), np.int64)
    arrays = plain(flags), plain(csr.indptr), plain(csr.indices), plain(bits_of(csr.data)), bounds
    with team():
        _count(*arrays[:2], bounds, kept_indptr[1:])
        np.cumsum(kept_indptr, out=kept_indptr)
        nnz = int(kept_indptr[-1])
        if nnz == csr.nnz:
            return csr
        indices = np.empty(nnz, csr.indices.dtype)
        values, data = room(csr.data, nnz)
        _keep(*arrays, kept_indptr, indices, values)
    return CSR(csr.shape, kept_indptr, indices, data, validate=False)


@njit(error_model="numpy")
def _has(words, i):
    return words.size == 0 or is_set(words, i)


# Separate arrays: in a named tuple, LLVM assumes aliasing with the output, and the loop takes twice as long.
@njit(cache=True, nogil=True, error_model="numpy", counts_references=False)
def _zip(both, left, right, x, x_words, y, y_words, fill_x, fill_y, begin, end, out, zero):
    for i in range(begin, end):
        in_x, in_y = _has(x_words, i), _has(y_words, i)
        value = zero
        if in_x and in_y:
            value = convert(zero, call(both, x[i], y[i], i, 0))
        elif in_x:
            if left is not None:
                value = convert(zero, call(left, x[i], fill_y, i, 0))
        elif in_y:  # noqa: SIM102 (Numba prunes a branch that asks for None alone)
            if right is not None:
                value = convert(zero, call(right, fill_x, y[i], i, 0))
        out[i] = value


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def _zip_tasks(both, left, right, x, x_words, y, y_words, fill_x, fill_y, out, zero, task):
    for k in prange(-(-out.size // task)):
        _zip(both, left, right, x, x_words, y, y_words, fill_x, fill_y, k * task, min(k * task + task, out.size), out,
             zero)


def zip_entries(
    x: Any, y: Any, x_present: Bitmask | None, y_present: Bitmask | None, both: Any, left: Any, right: Any, dtype: Any,
    *, fill_x: Any = True, fill_y: Any = True,
) -> Any:  # fmt: skip
    """Two vectors combined, 0 where no function applies; ``x_present``: a bitmap of x's entries, None for all."""
    dtype = np.dtype(dtype)
    out = np.empty(len(x), dtype)
    x_words, y_words = (NO_BITS if present is None else present.words for present in (x_present, y_present))
    fills = x.dtype.type(fill_x), y.dtype.type(fill_y)
    what = both, left, right, plain(x), x_words, plain(y), y_words, *fills
    if len(out) <= 2 * TASK_ENTRIES:
        with interruptible():
            _zip(*what, 0, len(out), out, dtype.type(0))
    else:
        with team():
            _zip_tasks(*what, out, dtype.type(0), TASK_ENTRIES)
    return out
