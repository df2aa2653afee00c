"""What a slab leaves of rows, and the rows of a slab and a tail, on either device."""

from typing import Any

import numpy as np

from hpgraph.core.device import array_module
from hpgraph.formats.launch import on_its_device
from hpgraph.formats.lengths import prefix_sum
from hpgraph.formats.storage import backend

# Places of a slab that are emptied at a time.
_AT_ONCE = 1 << 21


@on_its_device
def fill_tail(indptr: Any, indices: Any, data: Any, width: int) -> tuple[Any, Any, Any, Any]:
    """What a slab of this width leaves: (tail_rows, tail_indptr, tail_indices, tail_data)."""
    over = indptr[1:] - indptr[:-1] - width
    rows = array_module(indptr).flatnonzero(over > 0)
    offsets = prefix_sum(over[rows])
    tail, values = backend(indptr).gather_segments(offsets, indptr[rows] + width, indices, data)
    return rows.astype(indices.dtype), offsets, tail, values


@on_its_device
def join_slab_and_tail(
    slab: Any, slab_data: Any, rows: Any, offsets: Any, tail: Any, tail_data: Any
) -> tuple[Any, Any, Any]:
    """The rows whose first entries a slab holds and whose others a tail: (indptr, indices, data)."""
    xp = array_module(slab)
    held = xp.zeros(slab.shape[1], np.int64)
    for slots in _slots(slab):
        held += (slab[slots] >= 0).sum(axis=0)
    lengths = held.copy()
    lengths[rows] += offsets[1:] - offsets[:-1]
    indptr = prefix_sum(lengths)
    indices = xp.empty(int(indptr[-1]), slab.dtype)
    data = None if slab_data is None else xp.empty(len(indices), slab_data.dtype)
    row = backend(offsets).expand_rows(offsets, len(tail), np.int64)
    place = (indptr[rows] + held[rows] - offsets[:-1])[row] + xp.arange(len(tail))
    indices[place] = tail
    if data is not None:
        data[place] = tail_data
    for slots in _slots(slab):
        slot, row = xp.nonzero(slab[slots] >= 0)
        place = indptr[row] + slots.start + slot
        indices[place] = slab[slots][slot, row]
        if data is not None:
            data[place] = slab_data[slots][slot, row]
    return indptr, indices, data


def _slots(slab: Any) -> list[slice]:
    """Stretches of a slab's slots."""
    width, rows = slab.shape
    step = max(1, _AT_ONCE // max(rows, 1))
    return [slice(begin, min(begin + step, width)) for begin in range(0, width if rows else 0, step)]
