"""Induced submatrix on the CPU: the same rows and columns, renumbered.

The chosen indices are a bitmap with ranks: for 64 indices a word of bits, and beside it the number of bits set before.
So one cache line holds whether a column is kept and its new number, and 4 million indices take a megabyte.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR, Bitmask, index_dtype
from hpgraph.kernels.entries.cpu_extract import bits_of, room
from hpgraph.kernels.runtime.cpu.bits import lowest_bit, popcount
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import copy_items, njit, part, peek, prefetch, team, vertex
from hpgraph.kernels.runtime.cpu.tasks import TASK_ENTRIES, task_bounds

# Prefetch distances: in rows, and in kept entries.
PREFETCH_ROWS, PREFETCH_ENTRIES = 16, 24
# If fewer than one vertex in SPARSE is chosen, kept entries are found first and numbered later: at a tenth that takes
# up to two fifths less time, for any row lengths; at a quarter up to a third as much; at a half up to a half more.
SPARSE = 4


# Columns and values of entries, of the matrix or of the result.
Entries = namedtuple("Entries", "indices data")

# Columns and values of kept entries, and their positions in the matrix.
Kept = namedtuple("Kept", "indices data place")


def induced(csr: CSR, chosen: Bitmask) -> tuple[CSR, Any]:
    """The entries of a square matrix of which both the row and the column are chosen, renumbered in ascending order.

    Each task writes what it keeps to the place it would have if all were kept, so that entries are read once; memory
    that is not written is never touched.
    """
    rows = np.empty(chosen.count(), dtype=index_dtype(chosen.n))
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    ranks = np.empty(2 * len(chosen.words), dtype=np.uint64)
    examined = int(_list(chosen.words, csr.indptr, ranks, rows, offsets))
    few = SPARSE * len(rows) < chosen.n
    width = csr.indices.itemsize + (csr.data.itemsize if csr.data is not None else 0) + 8 * few
    if examined > TASK_ENTRIES:
        check_memory(examined * width, "a part", "cpu")
    stored = Entries(csr.indices, bits_of(csr.data))
    ids = index_dtype(len(rows))
    values, data = room(csr.data, examined)
    kept = Kept(np.empty(examined, dtype=ids), values, np.empty(examined if few else 0, dtype=np.int64))
    indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    bounds = task_bounds(offsets)
    if len(bounds) == 2:
        _keep(rows, csr.indptr, stored, chosen.words, ranks, offsets, indptr, kept)
        nnz = int(indptr[-1])
        values = None if data is None else data[:nnz].copy()
        return CSR((len(rows), len(rows)), indptr, kept.indices[:nnz].copy(), values, validate=False), rows
    with team():
        _keep_tasks(rows, csr.indptr, stored, chosen.words, ranks, offsets, indptr, kept, bounds)
        starts = np.zeros(len(bounds), dtype=np.int64)
        nnz = int(np.cumsum(indptr[bounds[1:]], out=starts[1:])[-1])
        if nnz == examined:
            return CSR((len(rows), len(rows)), offsets, kept.indices, data, validate=False), rows
        values, data = room(csr.data, nnz)
        indices = np.empty(nnz, dtype=ids)
        _gather(bounds, offsets, starts, indptr, kept, Entries(indices, values))
    return CSR((len(rows), len(rows)), indptr, indices, data, validate=False), rows


@njit(cache=True, nogil=True)
def _list(words, indptr, ranks, rows, offsets):
    """List the chosen rows, the entries before each, and the bitmap with ranks; returns the number of entries."""
    k, examined = 0, 0
    for w in range(words.size):
        word = words[w]
        ranks[2 * w], ranks[2 * w + 1] = word, k
        while word:
            row = np.uintp(w * 64 + lowest_bit(word))
            rows[k] = row
            examined += indptr[row + np.uintp(1)] - indptr[row]
            k += 1
            offsets[k] = examined
            word &= word - np.uint64(1)
    return examined


@part(counts_references=False)
def _keep_rows(rows, indptr, stored, words, ranks, offsets, ends, kept, begin, end):
    """Write the kept entries of rows begin..end-1 from kept[offsets[begin]] on; ends[i + 1] counts them up to row i."""
    if kept.place.size:
        _find(rows, indptr, stored.indices, words, offsets[begin], ends, kept.place, begin, end)
        _number(stored, ranks, kept, offsets[begin], offsets[begin] + ends[end])
    else:
        _number_all(rows, indptr, stored, ranks, offsets[begin], ends, kept, begin, end)


@part(counts_references=False)
def _number_all(rows, indptr, stored, ranks, first, ends, kept, begin, end):
    k = first
    for i in range(begin, end):
        if i + PREFETCH_ROWS < end:
            soon = peek(indptr, vertex(rows, i + PREFETCH_ROWS))
            prefetch(stored.indices, soon)
            prefetch(stored.indices, soon + 16)
            prefetch(stored.indices, soon + 32)
            if stored.data.size:
                prefetch(stored.data, soon)
        row = vertex(rows, i)
        for p in range(peek(indptr, row), peek(indptr, row + 1)):
            column = vertex(stored.indices, p)
            place = (column >> 6) * 2
            word, bit = peek(ranks, place), np.uint64(column & 63)
            rank = popcount(word & ((np.uint64(1) << bit) - np.uint64(1)))
            # Branch-free: every entry is written; one that is not kept is overwritten by the next.
            kept.indices[np.uint64(k)] = np.int64(peek(ranks, place + 1)) + rank
            if stored.data.size:
                kept.data[np.uint64(k)] = peek(stored.data, p)
            k += np.int64((word >> bit) & np.uint64(1))
        ends[i + 1] = k - first


@part(counts_references=False)
def _find(rows, indptr, indices, words, first, ends, place, begin, end):
    """Positions of kept entries in the matrix."""
    k = first
    for i in range(begin, end):
        if i + PREFETCH_ROWS < end:
            soon = peek(indptr, vertex(rows, i + PREFETCH_ROWS))
            prefetch(indices, soon)
            prefetch(indices, soon + 16)
            prefetch(indices, soon + 32)
        row = vertex(rows, i)
        for p in range(peek(indptr, row), peek(indptr, row + 1)):
            place[np.uint64(k)] = p
            column = vertex(indices, p)
            k += np.int64((peek(words, column >> 6) >> np.uint64(column & 63)) & np.uint64(1))
        ends[i + 1] = k - first


@part(counts_references=False)
def _number(stored, ranks, kept, first, last):
    for at in range(first, last):
        if stored.data.size and at + PREFETCH_ENTRIES < last:
            prefetch(stored.data, peek(kept.place, at + PREFETCH_ENTRIES))
        p = peek(kept.place, at)
        column = vertex(stored.indices, p)
        place, below = (column >> 6) * 2, (np.uint64(1) << np.uint64(column & 63)) - np.uint64(1)
        kept.indices[np.uint64(at)] = np.int64(peek(ranks, place + 1)) + popcount(peek(ranks, place) & below)
        if stored.data.size:
            kept.data[np.uint64(at)] = peek(stored.data, p)


@njit(cache=True, nogil=True, counts_references=False)
def _keep(rows, indptr, stored, words, ranks, offsets, ends, kept):
    _keep_rows(rows, indptr, stored, words, ranks, offsets, ends, kept, 0, rows.size)


@part(counts_references=False)
def _keep_task(task, rows, indptr, stored, words, ranks, offsets, ends, kept, bounds):
    _keep_rows(rows, indptr, stored, words, ranks, offsets, ends, kept, bounds[task], bounds[task + 1])


@njit(cache=True, nogil=True, counts_references=False)
def _keep_tasks(rows, indptr, stored, words, ranks, offsets, ends, kept, bounds):
    in_parallel(bounds.size - 1, _keep_task, (rows, indptr, stored, words, ranks, offsets, ends, kept, bounds))


@part(counts_references=False)
def _gather_task(task, bounds, offsets, starts, indptr, kept, out):
    first, last = bounds[task], bounds[task + 1]
    target, source = np.uintp(starts[task]), np.uintp(offsets[first])
    length = np.uintp(starts[task + 1]) - target
    for i in range(first, last):
        indptr[np.uintp(i + 1)] += starts[task]
    copy_items(out.indices, target, kept.indices, source, length)
    if out.data.size:
        copy_items(out.data, target, kept.data, source, length)


@njit(cache=True, nogil=True, counts_references=False)
def _gather(bounds, offsets, starts, indptr, kept, out):
    """Concatenate the entries kept by the tasks, and complete the row ends."""
    in_parallel(bounds.size - 1, _gather_task, (bounds, offsets, starts, indptr, kept, out))
