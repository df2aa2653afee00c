"""Checks of rows as SciPy stores them, in one pass each or in the course of a search."""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.formats.checks import as_ids
from hpgraph.kernels.runtime.cpu.kernel import njit, peek, put


def within(rows: CSR, count: int) -> int:
    """What a search returned; an IndexError where that is negative, as it met a column beyond the shape."""
    if count < 0:
        as_ids(rows.indices, "indices", rows.shape[1], "column")
    return count


def narrowed(ids: Any) -> Any:
    """Contiguous int64 ids as int32; an array that is empty although they are not where one does not fit."""
    narrow = np.empty(len(ids), np.int32)
    return narrow if _narrow(ids, narrow) else narrow[:0]


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
