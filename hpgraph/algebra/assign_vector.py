"""Entries of a vector overwritten: w⟨m⟩(I) accum= u (GrB_assign), v[...] = x."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.algebra.assign_matrix import (
    assign_region,
    assigned_values,
    broadcast,
    set_selected,
    subassign_region,
)
from hpgraph.algebra.dense_operands import as_mask
from hpgraph.algebra.region import last_of_each
from hpgraph.algebra.selection import Axis, as_axis, index_of, parse, size_of
from hpgraph.algebra.take import as_row, vector_of
from hpgraph.containers.matrix import MatrixStorage
from hpgraph.containers.public import make_vector
from hpgraph.containers.vector import VectorStorage
from hpgraph.core.device import array_module
from hpgraph.formats import Bitmask


def assign_entries(
    w: Any, u: Any, indices: Any, mask: Any, complement: bool, accum: Any, replace: bool, *, within: bool = False
) -> Any:
    """`hpgraph.assign`, or `hpgraph.subassign`, of `u` to a vector `w`, as to a matrix of one row."""
    row = MatrixStorage._of(as_row(w))
    if isinstance(indices, int | np.integer):
        indices = [indices]
    size = size_of(as_axis(indices, w.size, "row", w.device)) if within else w.size
    allowed = as_mask(mask, "mask", size, w.device)
    places = None if allowed is None else MatrixStorage._of(as_row(VectorStorage._of(*_places(allowed), size)))
    if isinstance(u, list | tuple):
        u = array_module(w.device).asarray(u)
    if not isinstance(u, VectorStorage) and getattr(u, "ndim", 0) == 1:
        u = make_vector(u)
    write = subassign_region if within else assign_region
    write(row, u, [0], indices, places, complement, accum, replace)
    return w._become(vector_of(row.csr))


def set_entries(v: Any, axis: Axis, x: Any) -> None:
    """``v[...] = x`` on a parsed key: in place, in the type of `v`; absent entries of a Vector `x` become absent."""
    if v.format == "list":
        row = MatrixStorage._of(as_row(v))
        set_selected(row, parse((0, index_of(axis)), row.shape, row.device), x)
        v._become(vector_of(row.csr))
        return
    values, present = v._held
    shape = () if isinstance(axis, int) else (size_of(axis),)
    xp = array_module(v.device)
    given = make_vector(x) if isinstance(x, VectorStorage) else x
    flags = None
    if isinstance(given, VectorStorage):
        flags = None if given.format == "full" else broadcast(given.structure.to_bool(), shape)
        given = given.toarray()
    array = broadcast(assigned_values(given, v), shape)
    where = index_of(axis)
    kept = None if isinstance(axis, int | range) else last_of_each(axis)
    if kept is not None:
        where, array, flags = axis[kept], array[kept], None if flags is None else flags[kept]
    values[where] = array
    if present is not None or flags is not None:
        bits = xp.ones(v.size, dtype=bool) if present is None else present.to_bool()
        bits[where] = True if flags is None else flags
        v._present = None if bool(bits.all()) else Bitmask.from_bool(bits)


def _places(allowed: Bitmask) -> tuple[Any, Any]:
    indices = allowed.to_indices()
    return indices, array_module(indices).ones(len(indices), dtype=bool)
