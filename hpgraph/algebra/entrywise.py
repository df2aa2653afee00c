"""A function of each entry of a matrix or of a vector: what apply, select and the elementwise operations share."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.containers.vector import VectorStorage
from hpgraph.core.device import array_module
from hpgraph.formats import Bitmask
from hpgraph.kernels.backend import kernels
from hpgraph.semiring.entry import EntryFunction, Operator, entry_function


def function_for(
    op: Operator, x: np.dtype[Any], y: np.dtype[Any], dtype: Any, out: Any, *, swapped: bool = False
) -> EntryFunction:
    """An operator as a function of an entry, in the type that its result is to have."""
    function = entry_function(op, x, y, dtype, swapped=swapped)
    if dtype is None and op.result == "returned" and function.dtype.kind in "iu":
        held = getattr(out, "dtype", None)
        if isinstance(held, np.dtype) and held.kind in "iu":
            return entry_function(op, x, y, held, swapped=swapped)
    return function


def map_container(A: Any, function: EntryFunction, thunk: Any) -> Any:
    """``function(x, thunk, row, column)`` of each entry."""
    backend = kernels(A.device)
    if not isinstance(A, VectorStorage):
        return backend.map_entries(A.csr, function, thunk)
    # The thunk stands in for a second vector of which nothing is present.
    nothing = array_module(A.device).empty(0, function.y_dtype)
    absent = Bitmask.zeros(A.size, A.device)
    return backend.zip_entries(A.values, nothing, None, absent, function, function, None, function.dtype, fill_y=thunk)
