"""A step of several PageRanks at once, on the GPU: instantiations of `ranks.cuh`, and its launches."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.kernels.runtime.cuda.kernel_set import Kernels, KernelSet, multiprocessors, struct
from hpgraph.kernels.runtime.cuda.row_bins import bins
from hpgraph.kernels.sweep import RankArrays, Ranks, Sent

# Ranks per product: a row of them in double precision is four cache lines.
MAX_RANKED = 64
_KINDS = "{Held}, {Real}, {Sent}, {Index}, {Weight}"
KERNELS = KernelSet(
    "ranks.cuh", "many PageRanks",
    {
        f"<{_KINDS}>": "rank_pieces", f"<{{Ahead}}, {_KINDS}>": "rank_rows", "": "add_blocks",
        "<{Real}, {Sent}>": "begin_changes",
    },
)  # fmt: skip
# As in ranks.cuh: blocks of a multiprocessor.
_BLOCKS = 4
# Mean degree up to which the inputs of an update are prefetched.
FEW_ARCS = 8
# Mean degree from which on changes in single precision are fewer bytes: an arc takes 4 instead of 8 a rank, a vertex 28
# (ranks and carried rounding, read and written, and what is sent) instead of 16.
MIN_DEGREE_FOR_CHANGES = 3


def columns_held(k: int) -> int:
    """Columns of the arrays: a power of two from 8 to 64."""
    return max(8, 1 << (k - 1).bit_length())


def _kernels(arrays: RankArrays, shares: Any, sent: Any) -> Kernels:
    """The kernels for some arrays and types."""
    rows = arrays.rows
    weight = "hpgraph::Unweighted" if rows.data is None else rows.data.dtype
    return KERNELS.of(
        Ahead=rows.nnz <= FEW_ARCS * rows.shape[0], Held=shares.shape[1], Real=shares.dtype, Sent=sent.dtype,
        Index=rows.indices.dtype, Weight=weight,
    )  # fmt: skip


def _step(
    arrays: RankArrays, jumps: np.ndarray, sent: Any, following: Any, shares: Any, carried: Any, first: bool, tol: float
) -> np.ndarray:
    """One step; see `Ranks.step`. Waits for the GPU."""
    rows, held, kernels = arrays.rows, shares.shape[1], _kernels(arrays, shares, sent)
    binned, blocks = bins(rows), _BLOCKS * multiprocessors()
    part = cupy.empty((binned.pieces, held), shares.dtype)
    sums, totals = cupy.empty((blocks, 3, held), np.float64), cupy.empty((3, held), np.float64)
    step = struct(
        rows.indptr, rows.indices, rows.data, arrays.leaving, arrays.teleport, arrays.teleport_rows,
        cupy.asarray(jumps, np.float64), sent, following, shares, carried, part, sums, binned.slots,
        binned.piece_slot, binned.piece_order, binned.long_slots, binned.first_piece, len(binned.slots),
        binned.pieces, binned.long_rows, np.float64(arrays.damping), np.float64(tol), np.int64(first),
    )  # fmt: skip
    kernels.each("rank_pieces", 32 * binned.pieces, step)
    kernels.launch("rank_rows", blocks, step)
    kernels.functions["add_blocks"]((3 * held,), (32,), (sums, np.int32(blocks), np.int32(3 * held), totals))
    return totals.get()


def rank_step(arrays: RankArrays, shares: Any, following: Any, dangling: Any, tol: float) -> np.ndarray:
    """One step of ranks that are sent as they are, from `shares` into `following`; as `Ranks.step`."""
    jumps = arrays.jump + arrays.spread * np.asarray(dangling)
    return _step(arrays, jumps, shares, following, shares, None, True, tol)


class Changes(Ranks):
    """Ranks in double precision that send changes in single precision: half of the bytes of an arc.

    The sum of the sent values lacks only the rounding of the last change: see `ranks.cuh`.

    ``shares`` (float64 array of shape (n, k), C order): written to.
    """

    def __init__(self, arrays: RankArrays, shares: Any) -> None:
        self.shares, self._jumps, self._first = shares, np.zeros(shares.shape[1]), True
        self._sent, self._carried = cupy.empty((2, *shares.shape), np.float32)
        self._following = cupy.empty_like(self._sent)
        given = shares, np.int64(shares.size), self._sent, self._carried
        _kernels(arrays, shares, self._sent).launch("begin_changes", _BLOCKS * multiprocessors(), *given)

    def step(self, arrays: RankArrays, dangling: np.ndarray, tol: float) -> np.ndarray:
        """See `Ranks`."""
        jumps = arrays.jump + arrays.spread * np.asarray(dangling)
        sums = _step(
            arrays, jumps - self._jumps, self._sent, self._following, self.shares, self._carried, self._first, tol
        )
        self._sent, self._following = self._following, self._sent
        self._jumps, self._first = jumps, False
        return sums

    def keep(self, closed: Callable[[Any], Any], stay: np.ndarray) -> None:
        """See `Ranks`."""
        self.shares, self._sent, self._carried = closed(self.shares), closed(self._sent), closed(self._carried)
        self._following = self._sent.copy()
        self._jumps = np.concatenate([self._jumps[stay], np.zeros(self.shares.shape[1] - len(stay))])


def ranks(arrays: RankArrays, shares: Any) -> Ranks:
    """Several ranks; see `hpgraph.kernels.sweep`."""
    rows = arrays.rows
    if shares.dtype == np.float64 and rows.nnz > MIN_DEGREE_FOR_CHANGES * rows.shape[0]:
        return Changes(arrays, shares)
    return Sent(rank_step, shares)
