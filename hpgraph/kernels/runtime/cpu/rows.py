"""A CSR matrix as one kernel parameter, and further arrays of its arrays' types."""

from collections import namedtuple

import numpy as np
from numba import types
from numba.extending import overload

# The arrays of a CSR matrix; `one` is the entry of a pattern, in the type of the values it is combined with.
Rows = namedtuple("Rows", "indptr indices data one", defaults=(None, True))


def beside(data, length):
    """An array of the type of `data`, of another length; None for None, which Numba needs as a type."""
    return None if data is None else np.empty(length, data.dtype)


@overload(beside)
def _beside(data, length):
    if isinstance(data, types.NoneType):
        return lambda data, length: None
    return lambda data, length: np.empty(length, data.dtype)
