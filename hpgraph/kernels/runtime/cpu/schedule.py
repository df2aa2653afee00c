"""Load balancing of a matrix's rows over threads: by arcs, never by rows alone.

Rows go in blocks of about equal numbers of arcs; a row longer than a block is cut in pieces. The schedule depends on
the matrix alone, so that sums come out the same, bit for bit, on any number of threads.
"""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.device import prefix_sum
from hpgraph.formats import CSR, attached

# Arcs plus rows of one task: some 20 microseconds of work.
TASK_ARCS = 16384
# A block's bounds are multiples of 64 rows: then no two threads write the same word of a bitmask.
WORD = 64


class Schedule(NamedTuple):
    """Tasks of one matrix.

    ``bounds`` (int64 array, shape (blocks + 1,)): block b holds the rows bounds[b]..bounds[b + 1]; bounds are multiples
    of 64, but for the last; ``longest`` (int): rows with more entries than this are left out of the blocks' work and
    cut in pieces; ``long_rows`` (int64 array): those rows, ascending; ``long_pieces`` (int64 array, shape (long rows +
    1,)): long row i has the pieces long_pieces[i]..long_pieces[i + 1]; ``piece_row, piece_begin, piece_end`` (int64
    array): row and entries of each piece.
    """

    bounds: Any
    longest: int
    long_rows: Any
    long_pieces: Any
    piece_row: Any
    piece_begin: Any
    piece_end: Any


def schedule(rows: CSR) -> Schedule:
    """The schedule of a matrix; cached for all matrices of its pattern."""
    return _schedule(rows.pattern)


@attached
def _schedule(csr: CSR) -> Schedule:
    indptr, n, task = csr.indptr, csr.shape[0], TASK_ARCS
    # Computed for groups of 64 rows, so that it takes little memory.
    starts = np.minimum(WORD * np.arange(-(-n // WORD) + 1), n)
    work = np.diff(indptr[starts])
    rows, lengths = _longer_than(task, indptr, starts, work)
    np.subtract.at(work, rows // WORD, lengths)
    ends = np.cumsum(work + WORD)
    total = int(ends[-1]) if n else 0
    cuts = np.searchsorted(ends, np.arange(task, total, task))
    bounds = np.unique(np.concatenate(([0], np.minimum(WORD * (cuts + 1), n), [n]))).astype(np.int64)
    pieces = -(-lengths // task)
    long_pieces = prefix_sum(pieces)
    order = np.arange(long_pieces[-1]) - np.repeat(long_pieces[:-1], pieces)
    piece_row = np.repeat(rows, pieces)
    begin = indptr[piece_row] + order * task
    end = np.minimum(begin + task, indptr[piece_row + 1])
    return Schedule(
        bounds if n else np.zeros(1, np.int64), task, rows.astype(np.int64), long_pieces, piece_row.astype(np.int64),
        begin.astype(np.int64), end.astype(np.int64),
    )  # fmt: skip


def _longer_than(task: int, indptr: Any, starts: Any, work: Any) -> tuple[Any, Any]:
    """Rows with more entries than `task`, and their lengths; only groups with more entries in total are searched."""
    crowded = np.flatnonzero(work > task)
    rows = (starts[crowded, None] + np.arange(WORD)).ravel()
    rows = rows[rows < np.repeat(starts[crowded + 1], WORD)]
    lengths = indptr[rows + 1] - indptr[rows]
    is_long = lengths > task
    return rows[is_long], lengths[is_long]
