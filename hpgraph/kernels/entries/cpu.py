"""Functions of a matrix's entries: maps and selections."""

from typing import Any

import numpy as np

from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, interruptible, njit, part, prange, team
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.tasks import TASK_ENTRIES, task_bounds, tasks
from hpgraph.kernels.spmv.cpu import NO_BITS, plain
from hpgraph.kernels.spmv.cpu_fold import at, convert, is_set, vertex, weight
from hpgraph.semiring.jit import call


@njit(cache=True, nogil=True, error_model="numpy", counts_references=False)
def _map_values(function, data, thunk, begin, end, out, zero):
    for p in range(begin, end):
        # Unsigned: Numba checks signed indices for being negative.
        out[np.uint64(p)] = convert(zero, call(function, weight(data, p, True), thunk, 0, 0))


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def _map_values_tasks(function, data, thunk, out, zero, task):
    for k in prange(-(-out.size // task)):
        _map_values(function, data, thunk, k * task, min(k * task + task, out.size), out, zero)


@njit(cache=True, nogil=True, error_model="numpy", counts_references=False)
def _map_rows(function, indptr, indices, data, thunk, begin, end, out, zero):
    for i in range(begin, end):
        for p in range(at(indptr, i), at(indptr, i + 1)):
            out[np.uint64(p)] = convert(zero, call(function, weight(data, p, True), thunk, i, vertex(indices, p)))


@part(error_model="numpy", counts_references=False)
def _map_some(worker, function, indptr, indices, data, thunk, bounds, out, zero, counter):
    for task in tasks(counter, bounds.size - 1):
        _map_rows(function, indptr, indices, data, thunk, bounds[task], bounds[task + 1], out, zero)


@njit(cache=True, nogil=True, error_model="numpy")
def _map_rows_tasks(function, indptr, indices, data, thunk, bounds, out, zero, workers):
    counter = np.zeros(1, np.int64)
    in_parallel(workers, _map_some, (function, indptr, indices, data, thunk, bounds, out, zero, counter))


def map_entries(csr: CSR, function: Any, thunk: Any = False) -> Any:
    """A value for each entry of a matrix: array, shape (nnz,), of the function's dtype."""
    out = np.empty(csr.nnz, function.dtype)
    data, thunk, zero = plain(csr.data), function.y_dtype.type(thunk), function.dtype.type(0)
    if not function.uses_position:
        if len(out) <= 2 * TASK_ENTRIES:
            with interruptible():
                _map_values(function, data, thunk, 0, len(out), out, zero)
        else:
            with team():
                _map_values_tasks(function, data, thunk, out, zero, TASK_ENTRIES)
        return out
    bounds = task_bounds(csr.indptr)
    what = function, plain(csr.indptr), plain(csr.indices), data, thunk
    _run(_map_rows, _map_rows_tasks, what, bounds, out, zero)
    return out


def _run(rows: Any, kernel: Any, what: tuple[Any, ...], bounds: Any, *out: Any) -> None:
    """Run a kernel of rows in this thread if they are one task, else its parallel form."""
    if len(bounds) == 2:
        with interruptible():
            rows(*what, 0, int(bounds[-1]), *out)
    else:
        with team() as workers:
            kernel(*what, bounds, *out, workers)


@njit(cache=True, nogil=True, error_model="numpy", counts_references=False)
def _count_rows(predicate, indptr, indices, data, thunk, begin, end, counts):
    for i in range(begin, end):
        count = 0
        for p in range(at(indptr, i), at(indptr, i + 1)):
            count += call(predicate, weight(data, p, True), thunk, i, vertex(indices, p))
        counts[i] = count


@njit(cache=True, nogil=True, error_model="numpy", counts_references=False)
def _keep_rows(predicate, indptr, indices, data, thunk, begin, end, kept):
    kept_indices, kept_data = kept.indices, kept.data
    for i in range(begin, end):
        p, k, stop = at(indptr, i), at(kept.indptr, i), at(kept.indptr, i + 1)
        if stop - k == at(indptr, i + 1) - p:
            while k < stop:
                kept_indices[np.uint64(k)] = at(indices, p)
                if data is not None:
                    kept_data[np.uint64(k)] = at(data, p)
                p += 1
                k += 1
        # Branch-free: every entry is written; one that is not kept is overwritten by the next.
        while k < stop:
            kept_indices[np.uint64(k)] = at(indices, p)
            if data is not None:
                kept_data[np.uint64(k)] = at(data, p)
            k += call(predicate, weight(data, p, True), thunk, i, vertex(indices, p))
            p += 1


@part(error_model="numpy", counts_references=False)
def _count_some(worker, predicate, indptr, indices, data, thunk, bounds, counts, counter):
    for task in tasks(counter, bounds.size - 1):
        _count_rows(predicate, indptr, indices, data, thunk, bounds[task], bounds[task + 1], counts)


@njit(cache=True, nogil=True, error_model="numpy")
def _count_tasks(predicate, indptr, indices, data, thunk, bounds, counts, workers):
    counter = np.zeros(1, np.int64)
    in_parallel(workers, _count_some, (predicate, indptr, indices, data, thunk, bounds, counts, counter))


@part(error_model="numpy", counts_references=False)
def _keep_some(worker, predicate, indptr, indices, data, thunk, bounds, kept, counter):
    for task in tasks(counter, bounds.size - 1):
        _keep_rows(predicate, indptr, indices, data, thunk, bounds[task], bounds[task + 1], kept)


@njit(cache=True, nogil=True, error_model="numpy")
def _keep_tasks(predicate, indptr, indices, data, thunk, bounds, kept, workers):
    counter = np.zeros(1, np.int64)
    in_parallel(workers, _keep_some, (predicate, indptr, indices, data, thunk, bounds, kept, counter))


def select_entries(csr: CSR, predicate: Any, thunk: Any = False) -> CSR:
    """The entries of a matrix that satisfy a predicate, in the same order; the matrix itself if all are kept."""
    rows = csr.shape[0]
    bounds = task_bounds(csr.indptr)
    what = predicate, plain(csr.indptr), plain(csr.indices), plain(csr.data), predicate.y_dtype.type(thunk)
    kept_indptr = np.zeros(rows + 1, np.int64)
    counts = kept_indptr[1:]
    _run(_count_rows, _count_tasks, what, bounds, counts)
    np.cumsum(counts, out=counts)
    nnz = int(kept_indptr[-1])
    if nnz == csr.nnz:
        return csr
    indices = np.empty(nnz, csr.indices.dtype)
    data = None if csr.data is None else np.empty(nnz, csr.dtype)
    kept = Rows(kept_indptr, indices, data)
    _run(_keep_rows, _keep_tasks, what, bounds, kept)
    return CSR(csr.shape, kept_indptr, indices, data, validate=False)


def keep_entries(csr: CSR, flags: Any) -> CSR:
    """The entries for which an array of bool, shape (nnz,), is true, in order; the matrix itself if all are."""
    if flags.all():
        return csr
    # Places rather than flags: NumPy gathers without branches.
    kept = np.flatnonzero(flags)
    data = None if csr.data is None else csr.data[kept]
    return CSR(csr.shape, np.searchsorted(kept, csr.indptr), csr.indices[kept], data, validate=False)


@njit(error_model="numpy")
def _has(words, i):
    return words.size == 0 or is_set(words, i)


# Separate arrays: in a named tuple, LLVM assumes aliasing with the output, and the loop takes twice as long.
@njit(cache=True, nogil=True, error_model="numpy", counts_references=False)
def _zip(both, left, right, x, y, present, fills, begin, end, out):
    x_words, y_words = present
    fill_x, fill_y = fills
    zero = out.dtype.type(0)
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
def _zip_tasks(both, left, right, x, y, present, fills, out, task):
    for k in prange(-(-out.size // task)):
        _zip(both, left, right, x, y, present, fills, k * task, min(k * task + task, out.size), out)


def zip_entries(
    x: Any, y: Any, x_present: Bitmask | None, y_present: Bitmask | None, both: Any, left: Any, right: Any, dtype: Any,
    *, fills: tuple[Any, Any] = (True, True),
) -> Any:  # fmt: skip
    """Two vectors combined, 0 where no function applies; ``x_present``: a bitmap of x's entries, None for all."""
    dtype = np.dtype(dtype)
    out = np.empty(len(x), dtype)
    x_words, y_words = (NO_BITS if present is None else present.words for present in (x_present, y_present))
    typed = x.dtype.type(fills[0]), y.dtype.type(fills[1])
    what = both, left, right, plain(x), plain(y), (x_words, y_words), typed
    if len(out) <= 2 * TASK_ENTRIES:
        with interruptible():
            _zip(*what, 0, len(out), out)
    else:
        with team():
            _zip_tasks(*what, out, TASK_ENTRIES)
    return out
