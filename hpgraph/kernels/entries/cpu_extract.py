"""Parts of a matrix on the CPU: rows, ranges of columns, any columns, single entries.

Rows are contiguous, so extracting them is copying; a range of columns narrows them by two binary searches a row. Any
other columns are looked up in a table of their places in the result.
"""

from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.checks import bits_type
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, copy_items, njit, prange, prefetch, team
from hpgraph.kernels.runtime.cpu.rows import lower_bound, place_in_row
from hpgraph.kernels.runtime.cpu.tasks import share_bounds

# Entries that a task copies, and entries up to which one thread copies all: it nearly saturates memory bandwidth.
TASK_COPIES = 1 << 15
PARALLEL_ENTRIES = 1 << 20
# Prefetch distance, in rows.
PREFETCH_ROWS = 8
_NONE = np.empty(0, dtype=np.uint8)


def rows_of(csr: CSR, rows: Any, low: int, high: int) -> CSR:
    """Sorted rows in the order of `rows`, restricted to the columns low..high-1, which become 0..high-low-1."""
    begin, indptr = np.empty(len(rows), dtype=np.int64), np.empty(len(rows) + 1, dtype=np.int64)
    whole = low == 0 and high == csr.shape[1]
    nnz = int(_stretches(csr.indptr, csr.indices, rows, whole, low, high, begin, indptr))
    if nnz > TASK_COPIES:
        check_memory(nnz * (csr.indices.itemsize + (csr.data.itemsize if csr.data is not None else 0)), "a part", "cpu")
    ids = index_dtype(max(len(rows), high - low))
    indices = np.empty(nnz, dtype=csr.indices.dtype)
    values, data = room(csr.data, nnz)
    arrays = begin, indptr, csr.indices, bits_of(csr.data), csr.indices.dtype.type(low), indices, values
    if nnz <= PARALLEL_ENTRIES:
        _copy.alone(np.array([0, len(rows)]), *arrays)
    else:
        with team() as threads:
            _copy(share_bounds(indptr, min(-(-nnz // TASK_COPIES), 8 * threads)), *arrays)
    return CSR((len(rows), high - low), indptr, indices.astype(ids, copy=False), data, validate=False)


def columns_of(csr: CSR, columns: Any) -> CSR:
    """Columns in any order, with repetitions; rows of the result are sorted if the columns ascend."""
    rows, width = csr.shape
    # Column c of the matrix becomes the columns order[first[c]:first[c + 1]] of the result.
    first = np.zeros(width + 1, dtype=np.int64)
    np.cumsum(np.bincount(columns, minlength=width), out=first[1:])
    order = columns.argsort(kind="stable")
    indptr = np.zeros(rows + 1, dtype=np.int64)
    with team():
        _count_columns(csr.indptr, csr.indices, first, indptr)
        np.cumsum(indptr, out=indptr)
        nnz = int(indptr[-1])
        indices = np.empty(nnz, dtype=index_dtype(max(rows, len(columns))))
        values, data = room(csr.data, nnz)
        _fill_columns(csr.indptr, csr.indices, bits_of(csr.data), first, order, indptr, indices, values)
    return CSR((rows, len(columns)), indptr, indices, data, validate=False)


def positions_of(csr: CSR, rows: Any, columns: Any) -> Any:
    """Positions of the entries at the given places in the arrays of a matrix, int64; -1 where there is none."""
    found = np.empty(len(rows), dtype=np.int64)
    with team():
        _find(csr.indptr, csr.indices, rows, columns, found)
    return found


def bits_of(data: Any) -> Any:
    """Values as `bits_type` of their width: they are only moved, so that few kernels serve all types."""
    return _NONE if data is None else data.view(bits_type(data.dtype))


def room(data: Any, nnz: int) -> tuple[Any, Any]:
    """An uninitialized array of the dtype of `data`, viewed as `bits_of` gives it and as itself."""
    if data is None:
        return _NONE, None
    made = np.empty(nnz, dtype=data.dtype)
    return bits_of(made), made


@njit(cache=True, nogil=True)
def _stretches(indptr, indices, rows, whole, low, high, begin, offsets):
    """Start of each row's part in the matrix, and in the result; returns the number of entries."""
    total = 0
    offsets[0] = 0
    for i in range(rows.size):
        row = np.uintp(rows[i])
        first, last = indptr[row], indptr[row + np.uintp(1)]
        if not whole:
            first = lower_bound(indices, first, last, low)
            last = lower_bound(indices, first, last, high)
        begin[i] = first
        total += last - first
        offsets[i + 1] = total
    return total


@njit(cache=True, nogil=True, inline="always")
def _copy_rows(first, last, begin, indptr, indices, data, low, out, values):
    # Unsigned indices: Numba does not check them for being negative, and the loops are vectorized.
    for i in range(first, last):
        source, target = np.uintp(begin[i]), np.uintp(indptr[i])
        length = np.uintp(indptr[i + 1]) - target
        if i + PREFETCH_ROWS < last:
            soon = begin[i + PREFETCH_ROWS]
            prefetch(indices, soon)
            prefetch(indices, soon + 16)
            if data.size:
                for line in range(4):
                    prefetch(data, soon + 8 * line)
        if low == 0:
            copy_items(out, target, indices, source, length)
        else:
            for k in range(length):
                out[target + k] = indices[source + k] - low
        if data.size:
            copy_items(values, target, data, source, length)


@njit(parallel=LOOPS, heavy=True, cache=True, nogil=True)
def _copy(cuts, begin, indptr, indices, data, low, out, values):
    for task in prange(cuts.size - 1):
        _copy_rows(cuts[task], cuts[task + 1], begin, indptr, indices, data, low, out, values)


@njit(parallel=LOOPS, cache=True, nogil=True)
def _count_columns(indptr, indices, first, count):
    """count[row + 1] = entries of the row in the result."""
    for row in prange(indptr.size - 1):
        total = 0
        for p in range(np.uintp(indptr[row]), np.uintp(indptr[row + 1])):
            column = np.uintp(indices[p])
            total += first[column + np.uintp(1)] - first[column]
        count[row + 1] = total


@njit(parallel=LOOPS, cache=True, nogil=True)
def _fill_columns(indptr, indices, data, first, order, offsets, out, values):
    for row in prange(indptr.size - 1):
        target = np.uintp(offsets[row])
        for p in range(np.uintp(indptr[row]), np.uintp(indptr[row + 1])):
            column = np.uintp(indices[p])
            for k in range(np.uintp(first[column]), np.uintp(first[column + np.uintp(1)])):
                out[target] = order[k]
                if data.size:
                    values[target] = data[p]
                target += np.uintp(1)


@njit(parallel=LOOPS, cache=True, nogil=True)
def _find(indptr, indices, rows, columns, found):
    for k in prange(rows.size):
        found[k] = place_in_row(indptr, indices, rows[k], columns[k])
