"""Reading the weight of an arc, where a pattern-only matrix has no array of weights: every one of them is 1."""

from __future__ import annotations

from numba import types
from numba.extending import overload

from hpgraph.kernels.cpu.loads import peek


def entry(data, position):
    """``data[position]``, or 1 where the matrix is a pattern and ``data`` is None."""
    return 1 if data is None else data[position]


@overload(entry, inline="always")
def _entry(data, position):
    if isinstance(data, types.NoneType):
        return lambda data, position: 1
    return lambda data, position: peek(data, position)
