"""A step of several PageRanks at once, on the GPU: instantiations of `ranks.cuh`, and its launches."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cuda.compile import Module, load
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.row_bins import bins
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.kernels.sweep.ranks import RankArrays, Ranks, Sent
from hpgraph.semiring.c_types import c_type

# Ranks per product: a row of them in double precision is four cache lines.
MAX_RANKED = 64
SOURCE = "ranks.cuh"
# As in ranks.cuh: threads of a block, and blocks of a multiprocessor.
_THREADS, _BLOCKS = 256, 4
# Mean degree up to which the inputs of an update are prefetched.
FEW_ARCS = 8
# Mean degree from which on changes in single precision are fewer bytes: an arc takes 4 instead of 8 a rank, a vertex 28
# (ranks and carried rounding, read and written, and what is sent) instead of 16.
CHANGES_PAY = 3


def columns_held(k: int) -> int:
    """Columns of the arrays: a power of two from 8 to 64."""
    return max(8, 1 << (k - 1).bit_length())


def kernel_names(ahead: bool, held: int, real: str, sent: str, index: str, weight: str) -> tuple[str, ...]:
    """Kernels of a step for `held` columns and C++ types of ranks, of sent values, ids and weights."""
    kinds = f"{held}, {real}, {sent}, {index}, {weight}"
    rows = f"hpgraph::rank_rows<{str(ahead).lower()}, {kinds}>"
    begin = f"hpgraph::begin_changes<{real}, {sent}>"
    return f"hpgraph::rank_pieces<{kinds}>", rows, "hpgraph::add_blocks", begin


@lru_cache(maxsize=64)
def _module(names: tuple[str, ...], device: int) -> Module:
    return load(SOURCE, names=names, title="many PageRanks")


class _Kernels:
    """The kernels for some arrays and types, and their launches."""

    def __init__(self, arrays: RankArrays, held: int, real: np.dtype, sent: np.dtype) -> None:
        import cupy

        rows = arrays.rows
        weight = "hpgraph::Unweighted" if rows.data is None else c_type(rows.data.dtype)
        index = "int" if rows.indices.dtype == np.int32 else "long long"
        names = kernel_names(rows.nnz <= FEW_ARCS * rows.shape[0], held, c_type(real), c_type(sent), index, weight)
        module = _module(names, cupy.cuda.runtime.getDevice())
        self._pieces, self._rows, self._add, self._begin = (module.function(name) for name in names)
        self._held, self._real, self._bins, self._blocks = held, real, bins(rows), _BLOCKS * multiprocessors()

    def begin(self, shares: Any, sent: Any, carried: Any) -> None:
        self._begin((self._blocks,), (_THREADS,), (shares, np.int64(shares.size), sent, carried))

    def step(
        self, arrays: RankArrays, jumps: np.ndarray, sent: Any, following: Any, shares: Any, carried: Any,
        first: bool, tol: float,
    ) -> np.ndarray:  # fmt: skip
        """One step; see `Ranks.step`. Waits for the GPU."""
        import cupy

        held, binned, rows = self._held, self._bins, arrays.rows
        part = cupy.empty((binned.pieces, held), self._real)
        sums, totals = cupy.empty((self._blocks, 3, held), np.float64), cupy.empty((3, held), np.float64)
        step = struct(
            rows.indptr, rows.indices, rows.data, arrays.leaving, arrays.teleport, arrays.seats,
            cupy.asarray(jumps, np.float64), sent, following, shares, carried, part, sums, binned.slots,
            binned.piece_slot, binned.piece_order, binned.long_slots, binned.first_piece, len(binned.slots),
            binned.pieces, binned.long_rows, np.float64(arrays.damping), np.float64(tol), np.int64(first),
        )  # fmt: skip
        if binned.pieces:
            self._pieces((-(-binned.pieces * held * sent.itemsize // 16 // _THREADS),), (_THREADS,), (step,))
        self._rows((self._blocks,), (_THREADS,), (step,))
        self._add((3 * held,), (32,), (sums, np.int32(self._blocks), np.int32(3 * held), totals))
        return totals.get()


def rank_step(arrays: RankArrays, shares: Any, following: Any, dangling: Any, tol: float) -> np.ndarray:
    """One step of ranks that are sent as they are.

    ``shares, following`` (arrays of shape (n, k), C order; k as from `columns_held`): input and output; ``dangling``
    (float64 array of length k). Returns float64 array of shape (3, k): as `Ranks.step`.
    """
    kernels = _Kernels(arrays, shares.shape[1], shares.dtype, shares.dtype)
    jumps = arrays.jump + arrays.spread * np.asarray(dangling)
    return kernels.step(arrays, jumps, shares, following, shares, None, True, tol)


class Changes(Ranks):
    """Ranks in double precision that send changes in single precision: half of the bytes of an arc.

    The sum of the sent values lacks only the rounding of the last change: see `ranks.cuh`.

    ``shares`` (float64 array of shape (n, k), C order): written to.
    """

    def __init__(self, arrays: RankArrays, shares: Any) -> None:
        import cupy

        self.shares, self._jumps, self._first = shares, np.zeros(shares.shape[1]), True
        self._sent, self._carried = cupy.empty((2, *shares.shape), np.float32)
        self._following = cupy.empty_like(self._sent)
        self._kernels(arrays).begin(shares, self._sent, self._carried)

    def _kernels(self, arrays: RankArrays) -> _Kernels:
        return _Kernels(arrays, self.shares.shape[1], self.shares.dtype, self._sent.dtype)

    def step(self, arrays: RankArrays, dangling: np.ndarray, tol: float) -> np.ndarray:
        """See `Ranks`."""
        jumps = arrays.jump + arrays.spread * np.asarray(dangling)
        sums = self._kernels(arrays).step(
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
    """Several ranks; see `hpgraph.kernels.sweep.ranks`.

    ``shares`` (array of shape (n, k), C order): k as from `columns_held`.
    """
    rows = arrays.rows
    if shares.dtype == np.float64 and rows.nnz > CHANGES_PAY * rows.shape[0]:
        return Changes(arrays, shares)
    return Sent(rank_step, shares)
