"""Locality of a matrix's gathers, measured on a sample of its entries: see locality.cuh."""

from typing import NamedTuple

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet

# As in locality.cuh.
LOOKERS, LOOKED = 256, 2048
SECTOR = 32
KERNELS = KernelSet("locality.cuh", "samples of matrices", {"<{Index}>": "sample_sectors touch_sectors"})
# Maximum number of stretches of LOOKED entries in a sample, uniformly strided.
STRETCHES = 4096
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


def locality(csr: CSR, operand: int) -> Locality:
    """The locality of a matrix; `operand`: bytes of an element, a power of two up to 32. Waits for the device."""
    kernels = KERNELS.of(Index=csr.indices.dtype)
    entries, shift = csr.nnz, (SECTOR // operand).bit_length() - 1
    stretches = -(-entries // LOOKED)
    every = -(-stretches // STRETCHES)
    blocks = -(-stretches // every)
    tally = cupy.zeros(1, np.uint64)
    sample = csr.indices, np.int64(entries), np.int64(every), np.int32(shift), tally
    kernels.launch("sample_sectors", blocks, *sample)
    sectors = int(tally[0]) / min(entries, blocks * LOOKED)
    held = HELD * cupy.cuda.Device().attributes["L2CacheSize"]
    if csr.shape[1] * operand <= held:
        return Locality(sectors, 0.0)
    seen = cupy.zeros((csr.shape[1] >> shift) // 32 + 1, np.uint32)

    def fresh(begin: int, end: int) -> int:
        """Sectors that a range of entries, modulo their number, touches for the first time."""
        tally.fill(0)
        for low, high in ((begin, min(end, entries)), (0, end - entries)):
            if low < high:
                blocks = min(1024, -(-(high - low) // LOOKERS))
                part = csr.indices, np.int64(low), np.int64(high), np.int32(shift), seen, tally
                kernels.launch("touch_sectors", blocks, *part)
        return int(tally[0])

    # From the middle on: rows at either end may be atypical, as at the start of a crawl.
    start = at = entries // 2
    found, step = 0, FIRST
    while found * SECTOR < held:
        if at - start >= min(entries, MAX):
            return Locality(sectors, 0.0)
        step = min(max(step, at - start), start + entries - at)
        found += fresh(at, at + step)
        at += step
        if at >= entries:
            start, at = start - entries, at - entries
    tested = min(TESTED, entries)
    # Once for each sector is counted as streaming.
    misses = fresh(at, at + tested) / tested - csr.shape[1] * operand / SECTOR / entries
    return Locality(sectors, max(0.0, misses))
