"""The one step under every assignment: a region of rows and columns, replaced by another matrix's entries."""

from typing import Any

import numpy as np

from hpgraph.algebra.extract import take
from hpgraph.algebra.selection import Axis, ids_of, index_of, is_whole, size_of
from hpgraph.core.device import array_module, to_device
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.checks import bits_type
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import get_binary
from hpgraph.semiring.entry import entry_function

# Most changed rows for which the unchanged rows between them are copied whole.
COPIED_ROWS = 64


def replaced(csr: CSR, source: CSR, i: Axis, j: Axis, dtype: np.dtype[Any]) -> CSR:
    """The matrix with the region of rows i and columns j replaced by the entries of `source`, of its shape."""
    rows, columns = csr.shape
    if is_whole(i, rows) and is_whole(j, columns):
        return source if csr.data is None and source.data is None else source.astype(dtype)
    if size_of(i) <= COPIED_ROWS:
        return _spliced(csr, source, i, j, dtype)
    return joined(_outside(csr, i, j), _spread(source, i, j, csr.shape), dtype)


def _spliced(csr: CSR, source: CSR, i: Axis, j: Axis, dtype: np.dtype[Any]) -> CSR:
    """The same where few rows change: these are computed alone, and the rows between them are copied."""
    xp = array_module(csr.device)
    rows = ids_of(i, csr.shape[0], csr.device)
    changed = xp.unique(rows)
    before = take(csr, changed, range(csr.shape[1]))
    local = xp.searchsorted(changed, rows)
    after = joined(_outside(before, local, j), _spread(source, local, j, before.shape), dtype)
    values = None if csr.data is None and after.data is None else (csr.astype(dtype).data, after.astype(dtype).data)
    # Offsets on the host, few of them: where each changed row lies, before and after.
    places = csr.indptr[changed], csr.indptr[changed + 1], after.indptr[:-1], after.indptr[1:]
    bounds = to_device(xp.stack(places), "cpu")
    parts: list[tuple[int, slice]] = []
    end = 0
    for first, last, new_first, new_last in bounds.T.tolist():
        parts += [(0, slice(end, first)), (1, slice(new_first, new_last))]
        end = last
    parts.append((0, slice(end, None)))
    ids = csr.indices, after.indices.astype(csr.indices.dtype, copy=False)
    indices = xp.concatenate([ids[which][piece] for which, piece in parts])
    data = None if values is None else xp.concatenate([values[which][piece] for which, piece in parts])
    more = xp.zeros(csr.shape[0] + 1, dtype=np.int64)
    more[changed + 1] = after.degrees - before.degrees
    return CSR(csr.shape, csr.indptr + xp.cumsum(more), indices, data, validate=False)


def _outside(csr: CSR, i: Axis, j: Axis) -> CSR:
    """The entries that do not lie in rows i and columns j."""
    return kernels(csr.device).keep_entries(csr, ~within(csr, i, j))


def within(csr: CSR, i: Axis, j: Axis) -> Any:
    """Mask of the entries in rows i and columns j."""
    xp = array_module(csr.device)
    in_row, in_column = xp.zeros(csr.shape[0], dtype=bool), xp.zeros(csr.shape[1], dtype=bool)
    in_row[index_of(i)] = True
    in_column[index_of(j)] = True
    return in_column[csr.indices] & in_row[csr.expand_rows()]


def _spread(source: CSR, i: Axis, j: Axis, shape: tuple[int, int]) -> CSR:
    """The region's entries where they belong in the whole; of rows and columns named twice the last."""
    device = source.device
    row_ids, column_ids = ids_of(i, shape[0], device), ids_of(j, shape[1], device)
    ids = index_dtype(max(shape))
    row, column = source.expand_rows(), source.indices
    kept = None
    for axis, place in ((i, row), (j, column)):
        if not isinstance(axis, int | range):
            is_last = last_of_each(axis)
            if is_last is not None:
                kept = is_last[place] if kept is None else kept & is_last[place]
    data = source.data
    if kept is not None:
        row, column, data = row[kept], column[kept], None if data is None else data[kept]
    return CSR.from_coo(
        row_ids[row].astype(ids, copy=False), column_ids[column].astype(ids, copy=False), data, shape,
        duplicates="error", copy=False,
    )  # fmt: skip


def last_of_each(axis: Any) -> Any:
    """Mask of the last occurrence of each index; None if all are distinct."""
    xp = array_module(axis)
    reverse = axis[::-1]
    unique, first = xp.unique(reverse, return_index=True)
    if len(unique) == len(axis):
        return None
    flags = xp.zeros(len(axis), dtype=bool)
    flags[len(axis) - 1 - first] = True
    return flags


def joined(held: CSR, written: CSR, dtype: np.dtype[Any]) -> CSR:
    """The union, what is written before what was held."""
    merge = kernels(held.device).merge
    if held.data is None and written.data is None:
        bits = np.dtype(bool)
        first, second = (entry_function(get_binary(name), bits, bits, bits) for name in ("first", "second"))
        return merge(held, written, second, first, second, None)
    # Values are only moved, and few kernels serve all types.
    bits = bits_type(dtype)
    a, b = (csr.astype(dtype) for csr in (held, written))
    a, b = (csr.with_data(csr.data.view(bits), copy=False) for csr in (a, b))
    first, second = (entry_function(get_binary(name), bits, bits, bits) for name in ("first", "second"))
    made = merge(a, b, second, first, second, bits)
    return CSR(made.shape, made.indptr, made.indices, made.data.view(dtype), validate=False)


def all_places(shape: tuple[int, int], device: str) -> CSR:
    """The pattern of a matrix without a gap."""
    xp = array_module(device)
    rows, columns = shape
    indptr = xp.arange(rows + 1, dtype=np.int64) * columns
    indices = xp.tile(xp.arange(columns, dtype=index_dtype(max(shape))), rows)
    return CSR(shape, indptr, indices, None, validate=False)
