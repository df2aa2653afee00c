"""How the rows of a matrix are shared out among threads: by arcs, never by rows alone.

Rows go in blocks of about equal numbers of arcs; a row longer than a block is cut in pieces. The schedule depends on
the matrix alone, so that sums come out the same, bit for bit, on any number of threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hpgraph.formats import CSR, HYB
from hpgraph.kernels.attached import attached

# Arcs and rows that one task takes: some 20 microseconds of work.
TASK = 16384
# Rows share the word of a bitmask by 64, and each word has one writer.
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


def make_schedule(lengths: Any, starts: Any, rows: Any, extra: Any, n_rows: int, task: int = TASK) -> Schedule:
    """Share out rows.

    Parameters
    ----------
    lengths, starts : int64 array, shape (m,)
        Length and first entry of each stored row.
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
    is_long = lengths > task
    short = np.where(is_long, 0, lengths)
    # Work up to the end of each group of 64 rows.
    group = (np.arange(len(lengths)) if rows is None else rows) // WORD
    n_groups = -(-n_rows // WORD)
    work = np.bincount(group, weights=short, minlength=n_groups).astype(np.int64) + WORD * (1 + extra)
    ends = np.cumsum(work)
    total = int(ends[-1]) if n_groups else 0
    cuts = np.searchsorted(ends, np.arange(task, total, task))
    bounds = np.unique(np.concatenate(([0], np.minimum(WORD * (cuts + 1), n_rows), [n_rows]))).astype(np.int64)
    slots = np.flatnonzero(is_long)
    pieces = -(-lengths[slots] // task)
    long_pieces = np.concatenate(([0], np.cumsum(pieces))).astype(np.int64)
    order = np.arange(long_pieces[-1]) - np.repeat(long_pieces[:-1], pieces)
    piece_slot = np.repeat(slots, pieces)
    begin = starts[piece_slot] + order * task
    end = np.minimum(begin + task, starts[piece_slot] + lengths[piece_slot])
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
        return make_schedule(np.diff(rows.indptr), rows.indptr[:-1], None, 0, rows.shape[0])
    lengths = np.diff(rows.tail_indptr)
    return make_schedule(lengths, rows.tail_indptr[:-1], rows.tail_rows, len(rows.ell.indices), rows.shape[0])
