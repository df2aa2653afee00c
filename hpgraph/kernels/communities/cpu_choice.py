"""How much a vertex has in common with each community around it, on the CPU: a small hash table for each thread."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hpgraph.kernels.runtime.cpu.part import part


class Tables(NamedTuple):
    """For each worker a hash table: a key in each slot, -1 in free ones, its sum, and which slots are in use."""

    keys: Any
    sums: Any
    used: Any


def tables(workers: int, most: int) -> Tables:
    """Tables for so many keys at the most.

    Parameters
    ----------
    workers, most : int

    Returns
    -------
    Tables
    """
    slots = 1 << max(2, (2 * most - 1).bit_length()) if most else 4
    return Tables(
        np.full((workers, slots), -1, np.int64),
        np.zeros((workers, slots), np.int64),
        np.empty((workers, slots // 2 + 1), np.int64),
    )


@part
def mask_for(most):
    """Slots for so many keys, half of them free, less one."""
    slots = 4
    while slots < 2 * most:
        slots <<= 1
    return slots - 1


# What follows, a new key or none and then the sum, each caller writes out: in a part, or an inlined function, it takes
# up to 2.6 times as long with a branch, and up to 1.13 times without one.
@part
def slot_of(keys, mask, key):
    """Where a key is, or is to be: linear probing."""
    slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
    while keys[slot] != key and keys[slot] >= 0:
        slot = (slot + 1) & mask
    return slot
