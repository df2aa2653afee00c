"""Messages between workers: raw arrays after a typed header.

Received bytes are never unpickled. The receiver states in advance the types and the largest sizes that it accepts, and
refuses any other header before it reads the arrays.
"""

import struct
from typing import Any, NamedTuple

import numpy as np

MAGIC = b"hpg1"
_HEAD = struct.Struct("<4sBBHQQ")
_ENTRY = struct.Struct("<B7xQ")
# Maximum number of arrays in a message, so that every header has the same length.
MAX = 14
HEADER_BYTES = _HEAD.size + MAX * _ENTRY.size
_TYPES = tuple(map(np.dtype, ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]))
_CODES = {dtype: code for code, dtype in enumerate(_TYPES)}

# Purposes of a message.
FOLD, SPREAD, CONTROL, ARCS = 1, 2, 3, 4
# Forms in which a message identifies vertices: all of a range, bits, a list of numbers.
ALL, BITS, LISTED = 0, 1, 2


class MessageError(ValueError):
    """A message that its receiver does not accept; none of its arrays was read."""


class Header(NamedTuple):
    """The header of a message: superstep, number of vertices, and the type and length of each array."""

    kind: int
    form: int
    step: int
    vertices: int
    arrays: tuple[tuple[np.dtype, int], ...]


def packed(kind: int, form: int, step: int, count: int, arrays: list[np.ndarray]) -> list[Any]:
    """A message as buffers, in the order of sending."""
    if len(arrays) > MAX:
        raise MessageError(f"a message holds {MAX} arrays at the most, not {len(arrays)}")
    table = b"".join(_ENTRY.pack(_CODES[array.dtype], array.size) for array in arrays)
    head = _HEAD.pack(MAGIC, kind, form, len(arrays), step, count) + table
    return [head.ljust(HEADER_BYTES, b"\0"), *(memoryview(a.data).cast("B") for a in arrays if a.size)]


def parsed(data: bytes) -> Header:
    """Decode a header."""
    magic, kind, form, arrays, step, count = _HEAD.unpack_from(data)
    if magic != MAGIC:
        raise MessageError("not a message of hpgraph")
    if arrays > MAX or kind not in (FOLD, SPREAD, CONTROL, ARCS) or form not in (ALL, BITS, LISTED):
        raise MessageError(f"a header with kind {kind}, form {form} and {arrays} arrays")
    table = []
    for k in range(arrays):
        code, size = _ENTRY.unpack_from(data, _HEAD.size + k * _ENTRY.size)
        if code >= len(_TYPES):
            raise MessageError(f"a type that is none: {code}")
        table.append((_TYPES[code], size))
    return Header(kind, form, step, count, tuple(table))


def check(header: Header, kind: int, step: int, most: int, dtypes: tuple[Any, ...], beside: tuple[Any, ...]) -> None:
    """Raise if a message is not the expected one."""
    if (header.kind, header.step) != (kind, step):
        raise MessageError(f"kind {header.kind} of superstep {header.step} where {kind} of {step} was expected")
    if header.vertices > most or (header.form == ALL and header.vertices != most):
        raise MessageError(f"values of {header.vertices} vertices where there are {most}")
    wanted = tuple((np.dtype(dtype), header.vertices) for dtype in dtypes) + beside
    if header.form == BITS:
        wanted = ((np.dtype(np.uint64), -(-most // 64)), *wanted)
    elif header.form == LISTED:
        wanted = ((np.dtype(np.uint32), header.vertices), *wanted)
    if header.arrays != wanted:
        raise MessageError(f"arrays {header.arrays} where {wanted} were expected")
