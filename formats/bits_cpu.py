"""Bitmasks to and from lists and flags on the CPU; `bits_cuda` has the same functions."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def bits_from_indices(indices: Array, words: int) -> Array:
    """Words with the bits of the given indices set."""
    if len(indices) * 16 < words * 64:
        bits = np.zeros(words, dtype=np.uint64)
        np.bitwise_or.at(bits, indices >> 6, np.uint64(1) << (indices & 63).astype(np.uint64))
        return bits
    flags = np.zeros(words * 64, dtype=bool)
    flags[indices] = True
    return np.packbits(flags, bitorder="little").view(np.uint64)


def bits_to_indices(words: Array, dtype: Any) -> Array:
    """The positions of the bits that are set, ascending."""
    some = np.flatnonzero(words)
    # As bool: NumPy's nonzero is several times as fast.
    bits = np.flatnonzero(np.unpackbits(words[some].view(np.uint8), bitorder="little").view(np.bool_))
    return ((some[bits >> 6] << 6) | (bits & 63)).astype(dtype)


def bits_from_bool(flags: Array, words: int) -> Array:
    """Words with a bit for each flag that is true."""
    packed = np.zeros(words * 8, dtype=np.uint8)
    bits = np.packbits(flags, bitorder="little")
    packed[: len(bits)] = bits
    return packed.view(np.uint64)


def bits_of_empty_rows(indptr: Array, words: int) -> Array:
    """Words with a bit for each row without entries."""
    return bits_from_bool(indptr[1:] == indptr[:-1], words)


def bits_to_bool(words: Array, n: int) -> Array:
    """The first n bits as flags."""
    return np.unpackbits(words.view(np.uint8), count=n, bitorder="little").view(np.bool_)


def bits_count(words: Array) -> int:
    """How many bits are set."""
    return int(np.bitwise_count(words).sum(dtype=np.int64))
