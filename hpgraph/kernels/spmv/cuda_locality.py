"""Locality of a matrix's gathers, measured on a sample of its entries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hpgraph.core.device import array_module
from hpgraph.core.reductions import count
from hpgraph.formats import CSR

# Bytes of a sector, and adjacent entries that a thread block has in flight.
SECTOR, LOOKED = 32, 2048
# Most stretches of LOOKED entries in a sample, uniformly strided.
STRETCHES = 512
# Entries that warm up the model of L2: at least FIRST, at most MAX; then the misses of TESTED entries are counted.
FIRST, MAX, TESTED = 1 << 20, 1 << 26, 1 << 18
# Share of L2 that a vector can occupy. The rest goes to streamed entries, and to lines that both halves of the cache
# hold.
HELD = 2 / 3


class Locality(NamedTuple):
    """Cache traffic of a vector's gathers, for each entry."""

    # Distinct sectors of 32 bytes that adjacent entries touch, as many entries as a thread block has in flight.
    sectors: float
    misses: float  # sectors fetched again after L2 is full, beyond once for each


def locality(csr: CSR, operand: int, cache: int) -> Locality:
    """The locality of a matrix; waits for the device.

    ``operand``: bytes of an element of the vector: a power of two up to 32; ``cache``: bytes of L2.
    """
    xp, entries, shift = array_module(csr.indices), csr.nnz, (SECTOR // operand).bit_length() - 1
    stretches = -(-entries // LOOKED)
    every = -(-stretches // STRETCHES)
    at = (xp.arange(-(-stretches // every)) * (every * LOOKED))[:, None] + xp.arange(LOOKED)
    sample = csr.indices[xp.minimum(at, entries - 1)] >> shift
    sample.sort(axis=1)
    sectors = (count(sample[:, 1:] != sample[:, :-1]) + len(sample)) / min(entries, at.size)
    held = HELD * cache
    if csr.shape[1] * operand <= held:
        return Locality(sectors, 0.0)
    seen = xp.zeros((csr.shape[1] >> shift) + 1, np.bool_)

    def touch(begin: int, end: int) -> int:
        """Mark the sectors that a range of entries, modulo their number, touches; returns how many are marked."""
        for low, high in ((begin, min(end, entries)), (0, end - entries)):
            if low < high:
                seen[csr.indices[low:high] >> shift] = True
        return count(seen)

    # From the middle on: rows at either end may be atypical, as at the start of a crawl.
    start = at = entries // 2
    found, step = 0, FIRST
    while found * SECTOR < held:
        if at - start >= min(entries, MAX):
            return Locality(sectors, 0.0)
        step = min(max(step, at - start), start + entries - at)
        found = touch(at, at + step)
        at += step
        if at >= entries:
            start, at = start - entries, at - entries
    tested = min(TESTED, entries)
    # Once for each sector is counted as streaming.
    misses = (touch(at, at + tested) - found) / tested - csr.shape[1] * operand / SECTOR / entries
    return Locality(sectors, max(0.0, misses))
