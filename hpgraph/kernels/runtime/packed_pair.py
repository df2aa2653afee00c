"""Pairs of a key and a payload as one word of 64 bits in their order: minima of pairs are minima of words.

A message (key, payload) is such a word: the key in the upper half, the payload in the lower one. "argmin" is then "min"
of words and "argmax" is "max" of words with the payload reversed, by the hardware's own atomics on the GPU; of equal
keys the smaller payload is taken in both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

# The reductions of pairs, and the monoids of their words.
PAIRS = {"argmin": "min", "argmax": "max"}
PAIR_TYPES = tuple(np.dtype(name) for name in ("int32", "uint32", "float32"))
WORD = np.dtype(np.uint64)

_HALF, _ALL, _SIGN = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(0x80000000)


@dataclass(frozen=True)
class PackedPair:
    """How a program's messages (key, payload) become words."""

    reduce: str
    key: np.dtype
    payload: np.dtype

    def __str__(self) -> str:
        return f"({self.key}, {self.payload})"

    @cached_property
    def pack(self) -> Callable[..., Any]:
        """``pack(key, payload) -> word``, of values of their types; plain Python, to be compiled."""
        # A NaN loses to every number, as with "min" and "max".
        key = _order(self.key, _ALL if self.reduce == "argmin" else np.uint64(0))
        payload, turned = _order(self.payload, _ALL), self._turned

        def pack(first, second):  # type: ignore[no-untyped-def]
            return (key(first) << _HALF) | (payload(second) ^ turned)

        return pack

    @cached_property
    def unpack(self) -> Callable[..., Any]:
        """``unpack(word) -> (key, payload)``."""
        key, payload, turned = _value(self.key), _value(self.payload), self._turned

        def unpack(word):  # type: ignore[no-untyped-def]
            return key(word >> _HALF), payload((word & _ALL) ^ turned)

        return unpack

    @property
    def _turned(self) -> np.uint64:
        return np.uint64(0) if self.reduce == "argmin" else _ALL


def _order(dtype: np.dtype, nan: np.uint64) -> Callable[..., Any]:
    """A function from values of a type to 32 bits in the same order, zeros of both signs alike."""
    if dtype.kind == "u":
        return lambda value: np.uint64(value)
    if dtype.kind == "i":
        return lambda value: np.uint64(np.int64(value) + 2**31)

    def order(value):  # type: ignore[no-untyped-def]
        if value != value:
            return nan
        # A negative zero plus zero is a positive one.
        bits = np.uint64(np.float32(value + np.float32(0)).view(np.uint32))
        # Among floats with sign bit the order is the reverse of that of their bits.
        return bits ^ (_ALL if bits & _SIGN else _SIGN)

    return order


def _value(dtype: np.dtype) -> Callable[..., Any]:
    """The inverse of `_order`; words that encode no value give the largest integer, or NaN."""
    kind = dtype.type
    if dtype.kind == "u":
        return lambda bits: kind(bits)
    if dtype.kind == "i":
        return lambda bits: kind(np.int64(bits) - 2**31)
    return lambda bits: np.uint32(bits ^ (_SIGN if bits & _SIGN else _ALL)).view(np.float32)
