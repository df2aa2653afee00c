"""The arrays of a CSR, as a caller gives them, checked against each other."""

from typing import Any

import numpy as np

from hpgraph.core.device import array_module, check_memory, device_of
from hpgraph.formats.checks import as_ids, as_offsets, as_shape, as_values, index_dtype
from hpgraph.formats.duplicates import Duplicates, checked_duplicates
from hpgraph.formats.interchange import own
from hpgraph.formats.storage import backend


def as_rows(shape: Any, indptr: Any, indices: Any, data: Any) -> tuple[tuple[int, int], Any, Any, Any, bool]:
    """A CSR matrix's shape and arrays, which fit each other, and whether rows are sorted and free of duplicates.

    Arrays whose types serve are not copied. Reading them on CUDA waits for the stream.
    """
    rows, columns = as_shape(shape)
    # Other types are read before they are converted: what is too large would wrap.
    serves = getattr(indices, "dtype", None) in (np.int32, np.int64)
    ids = as_ids(indices, "indices", columns, "column", check=not serves)
    offsets = as_offsets(indptr, "indptr", rows, len(ids))
    values = as_values(data, "data", ids.shape)
    # One pass over the columns checks both; the position of an error is searched for only if there is one.
    inside, canonical = backend(offsets, ids, values).inspect_rows(offsets, ids, columns)
    if not inside:
        as_ids(ids, "indices", columns, "column")
    return (rows, columns), offsets, ids, values, canonical


def compressed(
    row: Any, col: Any, data: Any, shape: Any, duplicates: Duplicates | None, copy: bool
) -> tuple[tuple[int, int], Any, Any, Any]:
    """`CSR.from_coo`, returning shape, offsets, columns and values."""
    checked_duplicates(duplicates, data)
    rows, columns = _least_shape(row, col) if shape is None else as_shape(shape)
    ids = index_dtype(max(rows, columns))
    given = col, data
    row = as_ids(row, "row", rows, "row").astype(ids, copy=False)
    col = as_ids(col, "col", columns, "column").astype(ids, copy=False)
    if len(row) != len(col):
        raise ValueError(f"row and col must have the same length, not {len(row)} and {len(col)}")
    data = as_values(data, "data", row.shape)
    sorted_already = col, data
    device = device_of(row, col, data)
    final = len(row) * (ids.itemsize + (0 if data is None else data.itemsize)) + 8 * (rows + 1)
    check_memory(2 * final, f"a CSR matrix of {len(row)} entries", device)
    indptr, indices, data = backend(row).compress(row, col, data, (rows, columns), duplicates)
    if copy and indices is sorted_already[0]:
        indices, data = own(indices, given[0]), own(data, given[1])
    return (rows, columns), indptr, indices, data


def _least_shape(row: Any, col: Any) -> tuple[int, int]:
    """One more than the largest ids, by axis."""
    xp = array_module(row)
    row, col = xp.asarray(row), xp.asarray(col)
    return tuple(int(ids.max()) + 1 if ids.size else 0 for ids in (row, col))  # type: ignore[return-value]
