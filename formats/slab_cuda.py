"""The slabs of ELL and HYB filled from rows and emptied into rows, on the GPU; `slab_cpu` has the same functions."""

from __future__ import annotations

import numpy as np

from hpgraph.core.c_types import ID_TYPES
from hpgraph.core.device import require_cupy
from hpgraph.formats.convert_cuda import Array, Rows, copy_segments, prefix_sum, words
from hpgraph.formats.launch import launch, on_its_device, strided


@on_its_device
def fill_slab(indptr: Array, indices: Array, data: Array | None, width: int) -> tuple[Array, Array | None]:
    """The first `width` entries of each row as a slab of shape (width, rows), padded with -1 and 0."""
    cupy = require_cupy()
    rows = len(indptr) - 1
    slab = cupy.empty((width, rows), dtype=indices.dtype)
    values = None if data is None else cupy.empty((width, rows), dtype=data.dtype)
    if slab.size:
        word, source = words(data)
        launch(
            "convert.cuh", f"fill_slab<{ID_TYPES[indices.itemsize]}, {word}>", strided(rows),
            indptr, rows, width, indices, source, slab, words(values)[1],
        )  # fmt: skip
    return slab, values


@on_its_device
def fill_tail(
    indptr: Array, indices: Array, data: Array | None, width: int
) -> tuple[Array, Array, Array, Array | None]:
    """What `fill_slab` leaves: (tail_rows, tail_indptr, tail_indices, tail_data)."""
    cupy = require_cupy()
    over = indptr[1:] - indptr[:-1]
    over -= width
    rows = cupy.flatnonzero(over > 0)
    offsets = prefix_sum(over[rows])
    entries = int(offsets[-1])  # synchronizes, to learn the size of the result
    tail = cupy.empty(entries, dtype=indices.dtype)
    values = None if data is None else cupy.empty(entries, dtype=data.dtype)
    copy_segments(offsets, indptr[rows] + width, None, None, indices, data, tail, values)
    return rows.astype(indices.dtype), offsets, tail, values


@on_its_device
def join_slab_and_tail(
    slab: Array, slab_data: Array | None, rows: Array, offsets: Array, tail: Array, tail_data: Array | None
) -> Rows:
    """The rows whose first entries a slab holds and whose others a tail: (indptr, indices, data)."""
    cupy = require_cupy()
    width, n_rows = slab.shape
    kind = ID_TYPES[slab.itemsize]
    held = cupy.zeros(n_rows, dtype=np.int64)
    if slab.size:
        launch("convert.cuh", f"slab_lengths<{kind}>", strided(n_rows), slab, n_rows, width, held)
    lengths = held.copy()
    lengths[rows] += offsets[1:] - offsets[:-1]
    indptr = prefix_sum(lengths)
    entries = int(indptr[-1])  # synchronizes, to learn the size of the result
    indices = cupy.empty(entries, dtype=slab.dtype)
    data = None if slab_data is None else cupy.empty(entries, dtype=slab_data.dtype)
    if slab.size:
        word, source = words(slab_data)
        launch(
            "convert.cuh", f"empty_slab<{kind}, {word}>", strided(n_rows),
            slab, source, n_rows, width, indptr, indices, words(data)[1],
        )  # fmt: skip
    copy_segments(offsets, offsets[:-1], indptr[rows] + held[rows], None, tail, tail_data, indices, data)
    return indptr, indices, data
