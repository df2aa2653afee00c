"""The part of a matrix between chosen indices, on the CPU: rows and columns chosen alike, and numbered anew.

Who is chosen lies in a bit vector with ranks: for 64 indices a word of bits, and beside it how many are chosen before.
So one line of memory tells whether a column stays and what number it gets, and 4 million indices take a megabyte.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR, Bitmask, index_dtype
from hpgraph.kernels.entries.cpu_extract import bits_of, room
from hpgraph.kernels.runtime.cpu.bits import lowest_bit, popcount
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.prefetch import copy_items, peek, prefetch, vertex
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.tasks import TASK_ENTRIES, task_bounds
from hpgraph.kernels.runtime.cpu.threads import team

# Prefetch distance, in rows.
PREFETCH_ROWS = 16


class Entries(NamedTuple):
    """Columns and values of entries: those of the matrix, those kept, those of the result."""

    indices: Any
    data: Any


def induced(csr: CSR, chosen: Bitmask) -> tuple[CSR, Any]:
    """The entries whose row and column are both chosen.

    Parameters
    ----------
    csr : CSR
        Square, rows sorted.
    chosen : Bitmask
        Over its rows.

    Returns
    -------
    CSR
        With a row and a column for each chosen index, in ascending order.
    integer array
        The chosen indices.

    Notes
    -----
    Each task writes what it keeps to where it would stand if all were kept, so that entries are looked at once; of that
    memory only what is written to is ever touched.
    """
    rows = np.empty(chosen.count(), dtype=index_dtype(chosen.n))
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    ranks = np.empty(2 * len(chosen.words), dtype=np.uint64)
    looked = int(_list(chosen.words, csr.indptr, ranks, rows, offsets))
    width = csr.indices.itemsize + (csr.data.itemsize if csr.data is not None else 0)
    if looked > TASK_ENTRIES:
        check_memory(looked * width, "a part", "cpu")
    stored = Entries(csr.indices, bits_of(csr.data))
    ids = index_dtype(len(rows))
    values, data = room(csr.data, looked)
    kept = Entries(np.empty(looked, dtype=ids), values)
    indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    bounds = task_bounds(offsets)
    if len(bounds) == 2:
        _keep(rows, csr.indptr, stored, ranks, offsets, indptr, kept, 0, len(rows))
        nnz = int(np.cumsum(indptr, out=indptr)[-1])
        values = None if data is None else data[:nnz].copy()
        return CSR((len(rows), len(rows)), indptr, kept.indices[:nnz].copy(), values, validate=False), rows
    with team():
        _keep_tasks(rows, csr.indptr, stored, ranks, offsets, indptr, kept, bounds)
        nnz = int(np.cumsum(indptr, out=indptr)[-1])
        indices = kept.indices
        if nnz < looked:
            values, data = room(csr.data, nnz)
            indices = np.empty(nnz, dtype=ids)
            _gather(bounds, offsets, indptr, kept, Entries(indices, values))
    return CSR((len(rows), len(rows)), indptr, indices, data, validate=False), rows


@njit(cache=True, nogil=True)
def _list(words, indptr, ranks, rows, offsets):
    """The chosen rows, the entries before each of them, and the bits with their ranks; how many entries there are."""
    k, looked = 0, 0
    for w in range(words.size):
        word = words[w]
        ranks[2 * w], ranks[2 * w + 1] = word, k
        while word:
            row = np.uintp(w * 64 + lowest_bit(word))
            rows[k] = row
            looked += indptr[row + np.uintp(1)] - indptr[row]
            k += 1
            offsets[k] = looked
            word &= word - np.uint64(1)
    return looked


@njit(cache=True, nogil=True)
def _keep(rows, indptr, stored, ranks, offsets, counts, kept, begin, end):
    """Entries of the rows begin..end-1 that stay, from kept[offsets[begin]] on; counts[i + 1] = those of row i."""
    k = offsets[begin]
    for i in range(begin, end):
        if i + PREFETCH_ROWS < end:
            soon = peek(indptr, vertex(rows, i + PREFETCH_ROWS))
            prefetch(stored.indices, soon)
            prefetch(stored.indices, soon + 16)
            prefetch(stored.indices, soon + 32)
            if stored.data.size:
                prefetch(stored.data, soon)
        row = vertex(rows, i)
        before = k
        for p in range(peek(indptr, row), peek(indptr, row + 1)):
            column = vertex(stored.indices, p)
            place = (column >> 6) * 2
            word, bit = peek(ranks, place), np.uint64(column & 63)
            rank = popcount(word & ((np.uint64(1) << bit) - np.uint64(1)))
            # Every entry is written, and one that does not stay is overwritten by the next.
            kept.indices[np.uint64(k)] = np.int64(peek(ranks, place + 1)) + rank
            if stored.data.size:
                kept.data[np.uint64(k)] = peek(stored.data, p)
            k += np.int64((word >> bit) & np.uint64(1))
        counts[i + 1] = k - before


@njit(parallel=LOOPS, cache=True, nogil=True)
def _keep_tasks(rows, indptr, stored, ranks, offsets, counts, kept, bounds):
    for task in prange(bounds.size - 1):
        _keep(rows, indptr, stored, ranks, offsets, counts, kept, bounds[task], bounds[task + 1])


@njit(parallel=LOOPS, cache=True, nogil=True)
def _gather(bounds, offsets, indptr, kept, out):
    """What the tasks kept, side by side."""
    for task in prange(bounds.size - 1):
        first, last = bounds[task], bounds[task + 1]
        target, source = np.uintp(indptr[first]), np.uintp(offsets[first])
        length = np.uintp(indptr[last]) - target
        copy_items(out.indices, target, kept.indices, source, length)
        if out.data.size:
            copy_items(out.data, target, kept.data, source, length)
