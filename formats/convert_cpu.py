"""Conversions between formats on the CPU, over bare NumPy arrays; `convert_cuda` has the same functions.

The work is done by compiled routines of SciPy. Its CSR-to-CSC conversion is a counting sort: one linear, stable pass,
which serves here for transposing, for sorting rows (transpose twice) and for building rows from triplets (Gustavson,
"Two fast algorithms for sparse matrices: multiplication and permuted transposition", ACM TOMS 4(3), 1978).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats.checks import INT32_MAX
from hpgraph.formats.duplicates import differ, duplicate_error, merge_runs, warn_unlike

Array = np.ndarray[Any, Any]
Rows = tuple[Array, Array, Array | None]


def occurrences(ids: Array, n: int) -> Array:
    """How often each of 0..n-1 occurs."""
    return np.bincount(ids, minlength=n)


def compress(row: Array, col: Array, data: Array | None, shape: tuple[int, int], duplicates: str | None) -> Rows:
    """Rows, sorted and without duplicates, from triplets in any order: (indptr, indices, data)."""
    rows, columns = shape
    entries = len(row)
    if entries == 0:
        return np.zeros(rows + 1, dtype=np.int64), col, data
    if entries < 2 or (row[1:] >= row[:-1]).all():
        # Files often come sorted, and then nothing is left to do.
        indptr = np.concatenate(([0], np.bincount(row, minlength=rows).cumsum()))
        if is_sorted(indptr, col, strictly=True):
            return indptr, col, data
    # First by column: transpose a matrix with one entry in each of its `entries` rows. Then by row, which is stable in
    # the columns. The positions follow, to fetch values and break ties by.
    _, position, by_column = _transpose(np.arange(entries + 1), col, row, columns)
    assert by_column is not None
    counts = np.concatenate(([0], np.bincount(col, minlength=columns).cumsum()))
    carried = None if data is None else position
    indptr, indices, order = _transpose(counts, by_column, carried, rows)
    first = np.empty(entries, dtype=bool)
    first[0] = True
    np.not_equal(indices[1:], indices[:-1], out=first[1:])
    first[indptr[:-1][np.diff(indptr) > 0]] = True
    values = None if data is None else data[order]
    if first.all():
        return indptr, indices, values
    heads = np.flatnonzero(first)
    kept = np.zeros(entries + 1, dtype=np.int64)
    np.cumsum(first, out=kept[1:])
    if duplicates == "error":
        again = int(np.flatnonzero(~first)[0])
        place = (int(np.searchsorted(indptr, again, side="right")) - 1, int(indices[again]))
        raise duplicate_error(place, entries - len(heads))
    if values is not None:
        if duplicates is None and differ(values, ~first[1:]):
            warn_unlike()
        values = merge_runs(values, heads, duplicates)
    return kept[indptr], indices[heads], values


def transpose(indptr: Array, indices: Array, data: Array | None, columns: int) -> Rows:
    """The transpose's (indptr, indices, data), each row in the order of the given rows."""
    return _transpose(indptr, indices, data, columns)


def _transpose(indptr: Array, indices: Array, data: Array | None, columns: int) -> Rows:
    from scipy import sparse

    rows, entries = len(indptr) - 1, len(indices)
    if entries == 0:
        return np.zeros(columns + 1, dtype=np.int64), indices, data
    # SciPy wants one type for offsets and indices; 32 bits whenever they fit.
    offsets = np.int32 if indices.dtype == np.int32 and max(entries, rows) <= INT32_MAX else np.int64
    # A byte stands in for the values of a pattern.
    values = np.zeros(entries, dtype=np.int8) if data is None else data
    matrix = sparse.csr_array(
        (values, indices.astype(offsets, copy=False), indptr.astype(offsets)), shape=(rows, columns), copy=False
    )
    turned = matrix.tocsc()
    return (
        turned.indptr.astype(np.int64),
        turned.indices.astype(indices.dtype, copy=False),
        None if data is None else turned.data,
    )


def sort_rows(indptr: Array, indices: Array, data: Array | None, columns: int) -> tuple[Array, Array | None]:
    """Indices and values with each row in ascending order, duplicates in the order they had."""
    turned = _transpose(indptr, indices, data, columns)
    _, indices, data = _transpose(*turned, len(indptr) - 1)
    return indices, data


def expand_rows(indptr: Array, entries: int, dtype: Any) -> Array:
    """The row of each entry."""
    return np.repeat(np.arange(len(indptr) - 1, dtype=dtype), np.diff(indptr))


def is_sorted(indptr: Array, indices: Array, *, strictly: bool) -> bool:
    """Whether columns rise within every row, strictly or not."""
    if len(indices) < 2:
        return True
    falls = indices[1:] <= indices[:-1] if strictly else indices[1:] < indices[:-1]
    # Where a row begins, the entry before belongs to another one.
    starts = indptr[1:-1]
    starts = starts[(starts > 0) & (starts < len(indices))]
    falls[starts - 1] = False
    return not falls.any()


def inspect_rows(indptr: Array, indices: Array, columns: int) -> tuple[bool, bool]:
    """Whether all columns lie in 0..columns-1, and whether they rise strictly within every row."""
    entries = len(indices)
    if entries == 0:
        return True, True
    rises = is_sorted(indptr, indices, strictly=True)
    first = last = indices
    if rises and 8 * len(indptr) < entries:
        # The ends of the rows suffice; offsets of empty rows address entries of other rows, which does no harm.
        first, last = indices[np.minimum(indptr[:-1], entries - 1)], indices[np.maximum(indptr[1:], 1) - 1]
    return bool(first.min() >= 0 and last.max() < columns), rises


def count_lengths(indptr: Array, few: int) -> tuple[Array, Array]:
    """How many rows have each length below `few`, and the lengths of the other rows, in any order."""
    lengths = np.diff(indptr)
    return np.bincount(np.minimum(lengths, few), minlength=few + 1)[:few], lengths[lengths >= few]


def is_symmetric(indptr: Array, indices: Array, data: Array | None) -> bool:
    """Whether the rows are those of the transpose, as sets of (column, value)."""
    vertices = len(indptr) - 1
    # Cheap and enough to refuse most directed graphs.
    if not np.array_equal(_in_degrees(indices, vertices), np.diff(indptr)):
        return False
    turned = _transpose(indptr, indices, data, vertices)
    _, mirrored, values = turned
    if not is_sorted(indptr, indices, strictly=True):
        # Twice transposed is sorted; the values of duplicates are compared in ascending order.
        _, indices, data = _transpose(*turned, vertices)
        if data is not None and values is not None:
            row = expand_rows(indptr, len(indices), indices.dtype)
            data, values = data[np.lexsort((data, indices, row))], values[np.lexsort((values, mirrored, row))]
    if not np.array_equal(mirrored, indices):
        return False
    return data is None or values is None or np.array_equal(values, data, equal_nan=data.dtype.kind in "fc")


def _in_degrees(indices: Array, vertices: int) -> Array:
    """How often each column occurs; by parts, since NumPy counts in a copy of 64-bit ids, which then stays in cache."""
    counts = np.zeros(vertices, dtype=np.int64)
    part = max(1 << 19, 4 * vertices)
    for begin in range(0, len(indices), part):
        counts += np.bincount(indices[begin : begin + part], minlength=vertices)
    return counts


def gather_rows(indptr: Array, indices: Array, data: Array | None, order: Array, relabel: Array) -> Rows:
    """Row i of the result is row order[i], its columns c replaced by relabel[c] and left in their order."""
    new_indptr = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum((indptr[1:] - indptr[:-1])[order], out=new_indptr[1:])
    position = segment_positions(new_indptr, indptr[:-1][order])
    return new_indptr, relabel[indices[position]], None if data is None else data[position]


def segment_positions(indptr: Array, start: Array) -> Array:
    """start[s], start[s] + 1, ... for each segment s, as many as indptr says, one segment after the other."""
    position = np.arange(indptr[-1])
    position += np.repeat(start - indptr[:-1], np.diff(indptr))
    return position


def without_diagonal(indptr: Array, indices: Array, data: Array | None) -> Rows:
    """The rows without the entries (i, i); the very arrays given where there are none."""
    row = expand_rows(indptr, len(indices), indices.dtype)
    loops = np.flatnonzero(row == indices)
    if not len(loops):
        return indptr, indices, data
    removed = np.bincount(row[loops], minlength=len(indptr) - 1)
    fewer = indptr.copy()
    fewer[1:] -= removed.cumsum()
    return fewer, np.delete(indices, loops), None if data is None else np.delete(data, loops)
