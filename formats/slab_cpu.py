"""The slabs of ELL and HYB filled from rows and emptied into rows, on the CPU; `slab_cuda` has the same functions."""

from __future__ import annotations

import numpy as np

from hpgraph.formats.convert_cpu import Array, Rows, segment_positions


def fill_slab(indptr: Array, indices: Array, data: Array | None, width: int) -> tuple[Array, Array | None]:
    """The first `width` entries of each row as a slab of shape (width, rows), padded with -1 and 0."""
    rows = len(indptr) - 1
    slab = np.full((width, rows), -1, dtype=indices.dtype)
    values = None if data is None else np.zeros((width, rows), dtype=data.dtype)
    degrees = np.diff(indptr)
    held = np.arange(rows)
    for slot in range(width):
        held = held[degrees[held] > slot]
        source = indptr[held] + slot
        slab[slot, held] = indices[source]
        if values is not None and data is not None:
            values[slot, held] = data[source]
    return slab, values


def fill_tail(
    indptr: Array, indices: Array, data: Array | None, width: int
) -> tuple[Array, Array, Array, Array | None]:
    """What `fill_slab` leaves: (tail_rows, tail_indptr, tail_indices, tail_data)."""
    over = np.diff(indptr) - width
    rows = np.flatnonzero(over > 0)
    tail_indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(over[rows], out=tail_indptr[1:])
    position = segment_positions(tail_indptr, indptr[rows] + width)
    return rows.astype(indices.dtype), tail_indptr, indices[position], None if data is None else data[position]


def slab_lengths(slab: Array) -> Array:
    """Entries of each row of a slab, int64."""
    return np.count_nonzero(slab >= 0, axis=0).astype(np.int64, copy=False)


def join_slab_and_tail(
    slab: Array, slab_data: Array | None, rows: Array, offsets: Array, tail: Array, tail_data: Array | None
) -> Rows:
    """The rows whose first entries a slab holds and whose others a tail: (indptr, indices, data)."""
    width, n_rows = slab.shape
    held = slab_lengths(slab)
    lengths = held.copy()
    lengths[rows] += np.diff(offsets)
    indptr = np.zeros(n_rows + 1, dtype=np.int64)
    np.cumsum(lengths, out=indptr[1:])
    indices = np.empty(indptr[-1], dtype=slab.dtype)
    data = None if slab_data is None else np.empty(indptr[-1], dtype=slab_data.dtype)
    position = segment_positions(offsets, indptr[rows] + held[rows])
    indices[position] = tail
    if data is not None:
        data[position] = tail_data
    there = np.arange(n_rows)
    for slot in range(width):
        there = there[held[there] > slot]
        indices[indptr[there] + slot] = slab[slot, there]
        if data is not None and slab_data is not None:
            data[indptr[there] + slot] = slab_data[slot, there]
    return indptr, indices, data
