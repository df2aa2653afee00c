"""A step of PageRank in several lanes, on the GPU: what `rank_lanes.cuh` is compiled for, and its launches."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from hpgraph.kernels.lanes.ranks import RankArrays
from hpgraph.kernels.runtime.cuda.compile import Module, load
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.row_bins import bins
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.semiring.c_types import c_type

# Lanes that go together: a row of them in double precision is four lines of the cache.
MOST_RANKED = 64
SOURCE = "rank_lanes.cuh"
# Threads of a block, and blocks of a multiprocessor.
_THREADS, _BLOCKS = 256, 4
# Arcs a vertex in the mean up to which what an update reads is fetched ahead.
FEW_ARCS = 8


def lanes_held(k: int) -> int:
    """Lanes that arrays have room for: a power of two from 8 to 64.

    Parameters
    ----------
    k : int

    Returns
    -------
    int

    Examples
    --------
    >>> lanes_held(3), lanes_held(33)
    (8, 64)
    """
    return max(8, 1 << (k - 1).bit_length())


def kernel_names(ahead: bool, held: int, real: str, index: str, weight: str) -> tuple[str, str, str]:
    """The kernels of a step, for so many lanes, and C++ types of ranks, ids and weights.

    Parameters
    ----------
    ahead : bool
        Whether rows are so short that what an update reads is fetched ahead.
    held : int
    real, index, weight : str

    Returns
    -------
    tuple of str
    """
    kinds = f"{held}, {real}, {index}, {weight}"
    rows = f"hpgraph::rank_rows<{str(ahead).lower()}, {kinds}>"
    return f"hpgraph::rank_pieces<{kinds}>", rows, "hpgraph::add_blocks"


@lru_cache(maxsize=64)
def _module(names: tuple[str, str, str], device: int) -> Module:
    return load(SOURCE, names=names, title="PageRank in lanes")


def rank_step(arrays: RankArrays, shares: Any, following: Any, dangling: Any, tol: float) -> np.ndarray:
    """One step in every lane; see `hpgraph.kernels.lanes.ranks`. Waits for the GPU.

    Parameters
    ----------
    arrays : RankArrays
    shares, following : arrays of shape (n, k), C order
        From where, and to where; k is `lanes_held` of something.
    dangling : float64 array of length k
    tol : float

    Returns
    -------
    float64 array of shape (3, k)
        In NumPy.
    """
    import cupy

    rows = arrays.rows
    held, ids = shares.shape[1], rows.indices.dtype
    weight = "hpgraph::Unweighted" if rows.data is None else c_type(rows.data.dtype)
    ahead = rows.nnz <= FEW_ARCS * rows.shape[0]
    names = kernel_names(ahead, held, c_type(shares.dtype), "int" if ids == np.int32 else "long long", weight)
    module = _module(names, cupy.cuda.runtime.getDevice())
    pieces, each, add = (module.function(name) for name in names)
    binned, blocks = bins(rows), _BLOCKS * multiprocessors()
    part = cupy.empty((binned.pieces, held), shares.dtype)
    sums, totals = cupy.empty((blocks, 3, held), np.float64), cupy.empty((3, held), np.float64)
    step = struct(
        rows.indptr, rows.indices, rows.data, arrays.leaving, arrays.teleport, shares, arrays.seats,
        cupy.asarray(dangling, np.float64), following, part, sums, binned.slots, binned.piece_slot, binned.piece_order,
        binned.long_slots, binned.first_piece, len(binned.slots), binned.pieces, binned.long_rows,
        np.float64(arrays.damping), np.float64(arrays.jump), np.float64(arrays.spread), np.float64(tol),
    )  # fmt: skip
    if binned.pieces:
        pieces((-(-binned.pieces * held // 2 // _THREADS),), (_THREADS,), (step,))
    each((blocks,), (_THREADS,), (step,))
    add((3 * held,), (32,), (sums, np.int32(blocks), np.int32(3 * held), totals))
    return totals.get()
