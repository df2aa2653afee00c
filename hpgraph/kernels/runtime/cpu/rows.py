"""A matrix in CSR as kernels take it, in one parameter, and arrays made beside its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload


class Rows(NamedTuple):
    """The arrays of a CSR matrix; `one` is what an entry is where the matrix is a pattern, or nobody reads its values.

    Its type is that of what the entries are combined with.
    """

    indptr: Any
    indices: Any
    data: Any = None
    one: Any = True


def beside(data, length):
    """An array of the type of `data`, of another length; None for None, which Numba must know by its type."""
    return None if data is None else np.empty(length, data.dtype)


@overload(beside)
def _beside(data, length):
    if isinstance(data, types.NoneType):
        return lambda data, length: None
    return lambda data, length: np.empty(length, data.dtype)
