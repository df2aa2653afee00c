"""A step of several PageRanks at once, on the CPU: a product with a dense matrix, then an update row by row."""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, prange, team
from hpgraph.kernels.spmv.cpu_spmm import pull_dense
from hpgraph.kernels.sweep import RankArrays, Sent
from hpgraph.semiring import get_semiring

# Ranks per product: an entry costs hardly more for 32 of them than for 16.
MAX_RANKED = 32
# Rows of a block. Sums are added by block, so that results do not depend on the number of threads.
BLOCK = 4096


def columns_held(k: int) -> int:
    """Columns of the arrays: one per rank."""
    return k


# Inputs of an update beside messages and shares.
Update = namedtuple("Update", "leaving teleport_rows teleport jumps damping tol")


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def _update(what, shares, following, sums):
    """Turn the messages in `following` into shares; `sums` has a row per block."""
    n, k = shares.shape
    for b in prange(sums.shape[0]):
        for v in range(b * BLOCK, min(b * BLOCK + BLOCK, n)):
            leaving, row = what.leaving[v], what.teleport_rows[v]
            for c in range(k):
                rank = what.damping * following[v, c]
                if row >= 0:
                    rank += what.jumps[c] * what.teleport[row, c]
                share = rank / leaving
                change = abs((share - shares[v, c]) * leaving)
                following[v, c] = share
                sums[b, 0, c] += change
                sums[b, 1, c] -= share if leaving < 0 else 0
                sums[b, 2, c] += change > what.tol


def ranks(arrays: RankArrays, shares: np.ndarray) -> Sent:
    """Several ranks; see `hpgraph.kernels.sweep`."""
    return Sent(rank_step, shares)


def rank_step(arrays: RankArrays, shares: np.ndarray, following: np.ndarray, dangling: Any, tol: float) -> np.ndarray:
    """One step of every rank, from `shares` into `following`; see `hpgraph.kernels.sweep`."""
    dtype = shares.dtype
    semiring = get_semiring("plus_second" if arrays.rows.data is None else "plus_times")
    weights = np.dtype(np.bool_) if arrays.rows.data is None else arrays.rows.data.dtype
    gather = semiring.gather(weights, dtype, dtype)
    with team():
        pull_dense(arrays.rows, gather, semiring.add, (shares,), following)
        jumps = (arrays.jump + arrays.spread * np.asarray(dangling)).astype(dtype)
        sums = np.zeros((-(-max(len(shares), 1) // BLOCK), 3, shares.shape[1]))
        damping = dtype.type(arrays.damping)
        what = Update(arrays.leaving, arrays.teleport_rows, arrays.teleport, jumps, damping, float(tol))
        _update(what, shares, following, sums)
    return sums.sum(axis=0)
