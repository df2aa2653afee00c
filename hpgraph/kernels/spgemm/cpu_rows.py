"""Gustavson's row-wise products on the CPU: load balancing of the rows over threads, and work space."""

from functools import lru_cache
from typing import Any

import numpy as np
from numba import prange

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.functions_tuple import functions_tuple
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, team
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.spmv.cpu_fold import at, vertex

# Pairs of entries in one task, some 100 microseconds of work, and the cost of a row besides its pairs, in pairs.
TASK_PAIRS = 65536
ROW = 16


# A semiring's functions, with `terminal` or None, and the identity of its monoid.
Functions = functions_tuple(__name__, "Functions", "product reduce terminal zero")


@lru_cache(maxsize=256)
def functions_of(product: Any, reduce: Any, ends: bool = False) -> Any:
    """The functions of a product and a monoid; `ends`: with the monoid's terminal, if it has one."""
    dtype = product.dtype
    terminal = reduce.terminal_test(dtype) if ends and reduce.has_terminal(dtype) else None
    return Functions(product, reduce.reduce_for(dtype), terminal, reduce.identity_for(dtype))


def operands(mask: CSR | None, a: CSR, b: CSR, product: Any) -> tuple[Rows | None, Rows, Rows]:
    """A mask and two factors as kernels take them, with the values that the product reads."""

    def factor(csr: CSR, reads: bool, dtype: np.dtype[Any]) -> Rows:
        return Rows(plain(csr.indptr), plain(csr.indices), plain(csr.data) if reads else None, dtype.type(1))

    places = None if mask is None else Rows(plain(mask.indptr), plain(mask.indices))
    return places, factor(a, product.reads_a, product.a_dtype), factor(b, product.reads_b, product.b_dtype)


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def _pairs(indptr, indices, other, pairs):
    for i in prange(indptr.size - 1):
        total = 0
        for p in range(indptr[i], indptr[i + 1]):
            k = vertex(indices, p)
            total += at(other, k + 1) - at(other, k)
        pairs[i] = total


def pairs_of_rows(a: CSR, b: CSR) -> np.ndarray:
    """Number of pairs of entries in each row of a product, int64."""
    pairs = np.empty(a.shape[0], np.int64)
    if a.nnz + len(pairs) <= TASK_PAIRS // ROW:
        _pairs.alone(a.indptr, a.indices, b.indptr, pairs)
    else:
        with team():
            _pairs(a.indptr, a.indices, b.indptr, pairs)
    return pairs


def share(work: np.ndarray, threads: int) -> np.ndarray:
    """Divide rows into runs of about equal work, several for each thread."""
    ends = work + ROW
    np.cumsum(ends, out=ends)
    total = int(ends[-1]) if len(ends) else 0
    task = max(1, min(TASK_PAIRS, total // (8 * threads)))
    cuts = np.searchsorted(ends, np.arange(task, total, task)) + 1
    return np.unique(np.concatenate(([0], cuts, [len(work)]))).astype(np.int64)


@part
def bits_beside(data, length):
    """An empty bitmap; None if `data` is None."""
    return None if data is None else np.zeros((length + 63) >> 6, np.uint64)
