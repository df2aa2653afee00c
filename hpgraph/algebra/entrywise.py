"""A function of each entry of a matrix or of a vector: the one step that apply and select share."""

from __future__ import annotations

from typing import Any

from hpgraph.device import array_module, kernels
from hpgraph.formats import Bitmask
from hpgraph.semiring.entry import EntryFunction
from hpgraph.vector.vector import Vector


def map_container(A: Any, function: EntryFunction, thunk: Any) -> Any:
    """``function(x, thunk, row, column)`` of each entry.

    Parameters
    ----------
    A : Matrix or Vector
        The column of a vector's entry is 0.
    function : EntryFunction
    thunk : scalar
        In the type that the function takes.

    Returns
    -------
    array
        A value for each stored entry of a matrix, for each index of a vector.
    """
    backend = kernels(A.device)
    if not isinstance(A, Vector):
        return backend.map_entries(A.csr, function, thunk)
    # The thunk stands in for a second vector of which nothing is present.
    nothing = array_module(A.device).empty(0, function.y_dtype)
    absent = Bitmask.zeros(A.size, A.device)
    return backend.zip_entries(A.values, nothing, None, absent, function, function, None, function.dtype, fill_y=thunk)
