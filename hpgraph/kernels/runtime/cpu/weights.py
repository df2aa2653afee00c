"""Reading the weight of an arc, where a pattern-only matrix has no array of weights: every one of them is 1."""

from __future__ import annotations

from numba import types
from numba.extending import overload

from hpgraph.kernels.runtime.cpu.prefetch import peek, prefetch


def entry(data, position, one=1):
    """``data[position]``, or `one` where the matrix is a pattern and ``data`` is None."""
    return one if data is None else data[position]


@overload(entry, inline="always")
def _entry(data, position, one=1):
    if isinstance(data, types.NoneType):
        # A constant, of the type of `one`: what is multiplied by it need not be.
        kind = types.unliteral(one) if isinstance(one, types.Type) else types.int64
        if isinstance(kind, types.Boolean):
            return lambda data, position, one=1: True
        if isinstance(kind, types.Number):
            return lambda data, position, one=1: kind(1)
        return lambda data, position, one=1: 1
    return lambda data, position, one=1: peek(data, position)


def prefetch_entry(data, position):
    """Fetch the line of ``data[position]``, where there is one."""


@overload(prefetch_entry, inline="always")
def _prefetch_entry(data, position):
    if isinstance(data, types.NoneType):
        return lambda data, position: None
    return lambda data, position: prefetch(data, position)
