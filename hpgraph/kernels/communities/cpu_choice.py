"""Weight between a vertex and each community around it, on the CPU: a small hash table for each thread."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek

# Smaller tables are left nearly empty: these 16 KiB of keys and sums fit L1, and without collisions no branch is
# mispredicted (uniform random graphs: 4 ns an arc, half as full 7).
_SPARSE = 1024


class Tables(NamedTuple):
    """A hash table for each worker: keys, -1 in free slots; their sums; and the slots in use."""

    keys: Any
    sums: Any
    used: Any


def tables(workers: int, most: int) -> Tables:
    """Tables for up to `most` keys."""
    slots = _SPARSE
    while slots < 2 * most:
        slots *= 2
    return Tables(
        np.full((workers, slots), -1, np.int64),
        np.zeros((workers, slots), np.int64),
        np.empty((workers, slots // 2 + 1), np.int64),
    )


@part(whole=True)
def mask_for(most):
    """Mask of a table for up to `most` keys: sparse while the table is small."""
    slots = 8
    while slots < 2 * most or (slots < _SPARSE and slots < 8 * most):
        slots <<= 1
    return slots - 1


# Each caller inlines the update of a slot by hand, a new key or none and then the sum: in a part, or an inlined
# function, it takes up to 2.6 times as long with a branch, and up to 1.13 times without one.
@part(whole=True)
def slot_of(keys, mask, key):
    """The slot of a key, or the free one it belongs in: linear probing."""
    slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
    while peek(keys, slot) != key and peek(keys, slot) >= 0:
        slot = (slot + 1) & mask
    return slot
