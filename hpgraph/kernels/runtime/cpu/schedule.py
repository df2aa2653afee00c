"""Load balancing of a matrix's rows over threads: by arcs, never by rows alone.

Rows go in blocks of about equal numbers of arcs; a row longer than a block is cut in pieces. The schedule depends on
the matrix alone, so that sums come out the same, bit for bit, on any number of threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hpgraph.formats import CSR, HYB
from hpgraph.kernels.runtime.attached import attached

# Arcs plus rows of one task: some 20 microseconds of work.
TASK_ARCS = 16384
# A block's bounds are multiples of 64 rows: then no two threads write the same word of a bitmask.
WORD = 64


class Schedule(NamedTuple):
    """Tasks of one matrix.

    Attributes
    ----------
    bounds : int64 array, shape (blocks + 1,)
        Block b holds the rows bounds[b]..bounds[b + 1]; bounds are multiples of 64, but for the last.
    longest : int
        Rows with more entries than this (in the tail of a HYB) are left out of the blocks' work and cut in pieces.
    long_rows : int64 array
        Those rows, ascending.
    long_pieces : int64 array, shape (long rows + 1,)
        Long row i has the pieces long_pieces[i]..long_pieces[i + 1].
    piece_row, piece_begin, piece_end : int64 array
        Row and entries of each piece.
    """

    bounds: Any
    longest: int
    long_rows: Any
    long_pieces: Any
    piece_row: Any
    piece_begin: Any
    piece_end: Any


def make_schedule(indptr: Any, rows: Any, extra: int, n_rows: int, task: int = TASK_ARCS) -> Schedule:
    """Share out rows.

    Parameters
    ----------
    indptr : int64 array, shape (m + 1,)
        Where each stored row begins and ends.
    rows : integer array, shape (m,), or None
        Their row numbers, ascending; None when they are 0..m.
    extra : int
        Slots each row has besides, as in an ELL slab.
    n_rows : int
        Rows of the matrix.
    task : int
        Arcs and rows to a task.

    Returns
    -------
    Schedule
    """
    # Computed for groups of 64 rows, so that it takes next to no memory.
    starts = WORD * np.arange(-(-n_rows // WORD) + 1)
    starts = np.minimum(starts, n_rows) if rows is None else np.searchsorted(rows, starts)
    work = np.diff(indptr[starts])
    slots, lengths = _longer_than(task, indptr, starts, work)
    np.subtract.at(work, (slots if rows is None else rows[slots]) // WORD, lengths)
    ends = np.cumsum(work + WORD * (1 + extra))
    total = int(ends[-1]) if n_rows else 0
    cuts = np.searchsorted(ends, np.arange(task, total, task))
    bounds = np.unique(np.concatenate(([0], np.minimum(WORD * (cuts + 1), n_rows), [n_rows]))).astype(np.int64)
    pieces = -(-lengths // task)
    long_pieces = np.concatenate(([0], np.cumsum(pieces))).astype(np.int64)
    order = np.arange(long_pieces[-1]) - np.repeat(long_pieces[:-1], pieces)
    piece_slot = np.repeat(slots, pieces)
    begin = indptr[piece_slot] + order * task
    end = np.minimum(begin + task, indptr[piece_slot + 1])
    row_of = (lambda slot: slot) if rows is None else (lambda slot: rows[slot])
    return Schedule(
        bounds if n_rows else np.zeros(1, np.int64),
        task,
        row_of(slots).astype(np.int64),
        long_pieces,
        row_of(piece_slot).astype(np.int64),
        begin.astype(np.int64),
        end.astype(np.int64),
    )


def _longer_than(task: int, indptr: Any, starts: Any, work: Any) -> tuple[Any, Any]:
    """Stored rows with more entries than `task`, and how many; they lie in groups that have more altogether."""
    crowded = np.flatnonzero(work > task)
    slots = (starts[crowded, None] + np.arange(WORD)).ravel()
    slots = slots[slots < np.repeat(starts[crowded + 1], WORD)]
    lengths = indptr[slots + 1] - indptr[slots]
    is_long = lengths > task
    return slots[is_long], lengths[is_long]


@attached
def schedule(rows: CSR | HYB) -> Schedule:
    """The schedule of a matrix, worked out once.

    Parameters
    ----------
    rows : CSR or HYB

    Returns
    -------
    Schedule
    """
    if isinstance(rows, CSR):
        return make_schedule(rows.indptr, None, 0, rows.shape[0])
    return make_schedule(rows.tail_indptr, rows.tail_rows, len(rows.ell.indices), rows.shape[0])
