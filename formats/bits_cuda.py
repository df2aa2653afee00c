"""Bitmasks to and from lists and flags on the GPU, by the kernels of bitmask.cuh; `bits_cpu` has the same functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.core.c_types import ID_TYPES
from hpgraph.core.device import require_cupy
from hpgraph.formats.launch import THREADS, launch, on_its_device, strided

Array = Any


@on_its_device
def bits_from_indices(indices: Array, words: int) -> Array:
    """Words with the bits of the given indices set."""
    bits = require_cupy().zeros(words, dtype=np.uint64)
    if len(indices):
        kind = ID_TYPES[indices.itemsize]
        launch("bitmask.cuh", f"set_bits<{kind}>", strided(len(indices)), indices, len(indices), bits)
    return bits


@on_its_device
def bits_to_indices(words: Array, dtype: Any) -> Array:
    """The positions of the bits that are set, ascending."""
    cupy = require_cupy()
    kept = _bits_by_block(words)
    ends = cupy.cumsum(kept)
    ids = cupy.empty(int(ends[-1]) if len(ends) else 0, dtype=dtype)  # synchronizes, to learn how many there are
    if len(ids):
        launch("bitmask.cuh", f"list_bits<{ID_TYPES[ids.itemsize]}>", len(kept), words, len(words), ends - kept, ids)
    return ids


def _bits_by_block(words: Array) -> Array:
    blocks = -(-len(words) // THREADS)
    kept = require_cupy().empty(blocks, dtype=np.int64)
    if blocks:
        launch("bitmask.cuh", "count_bits", blocks, words, len(words), kept)
    return kept


@on_its_device
def bits_from_bool(flags: Array, words: int) -> Array:
    """Words with a bit for each flag that is true."""
    bits = require_cupy().empty(words, dtype=np.uint64)
    if words:
        launch("bitmask.cuh", "pack_flags", strided(64 * words), flags, len(flags), bits, 2 * words)
    return bits


@on_its_device
def bits_of_empty_rows(indptr: Array, words: int) -> Array:
    """Words with a bit for each row without entries."""
    bits = require_cupy().empty(words, dtype=np.uint64)
    if words:
        launch("bitmask.cuh", "pack_empty_rows", strided(64 * words), indptr, len(indptr) - 1, bits, 2 * words)
    return bits


@on_its_device
def bits_to_bool(words: Array, n: int) -> Array:
    """The first n bits as flags."""
    flags = require_cupy().empty(n, dtype=np.bool_)
    if n:
        launch("bitmask.cuh", "unpack_flags", strided(n), words, n, flags)
    return flags


@on_its_device
def bits_count(words: Array) -> int:
    """How many bits are set."""
    return int(_bits_by_block(words).sum()) if len(words) else 0
