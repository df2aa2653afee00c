"""C structs passed to kernels by value."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from struct import Struct
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
    pack, void, addresses = _layout(tuple([type(field) for field in fields]))
    values = list(fields)
    for i in addresses:
        values[i] = 0 if fields[i] is None else fields[i].data.ptr
    # CuPy takes a structured type apart in Python at every launch: bytes it passes on as they are.
    return np.ndarray((), void, bytearray(pack(*values)))


@cache
def _layout(kinds: tuple[type, ...]) -> tuple[Callable[..., bytes], np.dtype, tuple[int, ...]]:
    """What packs fields of these types, the void type of the struct's size, and which fields are addresses."""
    chars = ["q" if kind is int else np.dtype(kind).char if issubclass(kind, np.generic) else "P" for kind in kinds]
    # The end is padded to where another struct of the kind may begin.
    widest = max(chars, key=lambda char: Struct(char).size)
    layout = Struct(f"@{''.join(chars)}0{widest}")
    addresses = tuple(i for i, char in enumerate(chars) if char == "P")
    return layout.pack, np.dtype((np.void, layout.size)), addresses
