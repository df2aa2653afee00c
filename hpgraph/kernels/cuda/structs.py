"""C structs passed to kernels by value."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np


def struct(*fields: Any) -> np.ndarray:
    """A C struct of the given fields, laid out as a C compiler would.

    Parameters
    ----------
    *fields : CuPy array, None, int or NumPy scalar
        An array stands for its address, None for a null pointer, an int has 64 bits.

    Returns
    -------
    numpy array of shape ()
        One void element, as CuPy passes it to a kernel by value.

    Examples
    --------
    >>> made = struct(np.int32(1), np.float64(2), None)
    >>> made.dtype.itemsize
    24
    """
    values = tuple([_field(field) for field in fields])
    layout, void = _layout(tuple([value.dtype.char for value in values]))
    # CuPy takes a structured type apart in Python at every launch.
    return np.array(values, layout).view(void)


@cache
def _layout(chars: tuple[str, ...]) -> tuple[np.dtype, np.dtype]:
    """The structured type of fields of these types, and the void type of its size."""
    layout = np.dtype([(f"f{i}", char) for i, char in enumerate(chars)], align=True)
    return layout, np.dtype((np.void, layout.itemsize))


def _field(field: Any) -> Any:
    if isinstance(field, np.generic):
        return field
    if type(field) is int:
        return np.int64(field)
    return np.uint64(0 if field is None else field.data.ptr)
