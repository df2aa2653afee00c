"""Checks of rows as SciPy stores them, in one pass each or in the course of a search, which may be a short one."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.formats.checks import as_ids, as_offsets
from hpgraph.kernels.runtime.cpu.kernel import interruptible, njit, part, peek, put

# Steps of a search that are over within milliseconds, for which Ctrl-C waits: to set a handler takes microseconds.
_MAX_SHORT = 1 << 18


def within(rows: CSR, count: int) -> int:
    """The result of a search; an error if it is negative, as the search met a row or column beyond the shape."""
    if count < 0:
        as_offsets(rows.indptr, "indptr", rows.shape[0], rows.nnz)
        as_ids(rows.indices, "indices", rows.shape[1], "column")
    return count


def interruptible_beyond(steps: int) -> AbstractContextManager[None]:
    """`interruptible`, unless a search is short."""
    return nullcontext() if steps < _MAX_SHORT else interruptible()


def narrowed(ids: Any) -> Any:
    """Contiguous int64 ids as int32; an array that is empty although they are not where one does not fit."""
    narrow = np.empty(len(ids), np.int32)
    return narrow if _narrow(ids, narrow) else narrow[:0]


@part(counts_references=False, forceinline=True)
def is_row(at, end, total):
    """Whether offsets are those of a row: what SciPy holds need not be."""
    return 0 <= at <= end <= total


@part(counts_references=False, forceinline=True)
def is_column(v, n):
    """Whether an id is that of a column: an unsigned comparison, as ids of 64 bits may be negative."""
    return np.uint64(v) < np.uint64(n)


@njit(cache=True, counts_references=False)
def rises(indptr, total):
    """Whether offsets run from 0 to the number of entries and never fall."""
    falls = False
    for row in range(1, indptr.size):
        falls |= peek(indptr, row) < peek(indptr, row - 1)
    return not falls and peek(indptr, 0) == 0 and peek(indptr, indptr.size - 1) == total


@njit(cache=True, counts_references=False)
def _narrow(ids, narrow):
    beyond = np.int64(0)
    for at in range(ids.size):
        number = np.int64(peek(ids, at))
        beyond |= number
        put(narrow, at, np.int32(number))
    return beyond >> 31 == 0
