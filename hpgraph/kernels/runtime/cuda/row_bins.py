"""Load balancing of a product on the GPU: rows binned by length, each bin with its own number of lanes a row.

Binning after A. Ashari et al., "Fast sparse matrix-vector multiplication on GPUs for graph applications", SC'14. The
bins are found on the device, once for each matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.formats import CSR, HYB
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.kernels.runtime.techniques import techniques

# Entries of a piece of a long row, threads of a block: as in spmv.cuh.
PIECE = 1024
BLOCK = 256
# The bins: how many lanes share a row, and the most entries that it may have.
LANES = ((32, PIECE), (16, 128), (8, 32), (4, 16), (1, 4))
_UNBOUNDED = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Bins:
    """Stored rows of a matrix, binned.

    Attributes
    ----------
    arguments : numpy void
        ``struct Bins`` of spmv.cuh.
    blocks : int
        Blocks that do all bins.
    rows, pieces, long_rows : int
        How many there are; long rows are those cut in pieces.
    slots, piece_slot, piece_order, long_slots : uint32 CuPy array
    first_piece : int64 CuPy array, shape (long_rows + 1,)
    """

    arguments: Any
    blocks: int
    rows: int
    pieces: int
    long_rows: int
    slots: Any
    piece_slot: Any
    piece_order: Any
    long_slots: Any
    first_piece: Any


def words(*values: int) -> Any:
    """`struct` of 64-bit words.

    Parameters
    ----------
    *values : int
        Addresses, or integers.

    Returns
    -------
    numpy array of shape ()
    """
    return struct(*(np.uint64(value) for value in values))


def address(array: Any) -> int:
    """Where a CuPy array lies; 0 for None.

    Parameters
    ----------
    array : cupy.ndarray or None

    Returns
    -------
    int
    """
    return 0 if array is None else int(array.data.ptr)


def make_bins(indptr: Any, split: bool = True) -> Bins:
    """Bin the rows that `indptr` delimits.

    Parameters
    ----------
    indptr : int64 CuPy array, shape (rows + 1,)
    split : bool, default True
        Whether long rows are cut in pieces; else a warp takes each.

    Returns
    -------
    Bins

    Notes
    -----
    Waits for the device: the sizes of the bins must reach the host. Takes 4 bytes a row and 8 for every 1024 entries.
    """
    import cupy

    lengths = indptr[1:] - indptr[:-1]
    longest = PIECE if split else _UNBOUNDED
    highs = [longest, *(high for _, high in LANES[1:])]
    lows = [*highs[1:], -1]
    bins = [cupy.flatnonzero((lengths > low) & (lengths <= high)) for high, low in zip(highs, lows, strict=True)]
    slots = cupy.concatenate(bins).astype(np.uint32)
    long_slots = cupy.flatnonzero(lengths > longest)
    pieces = -(-lengths[long_slots] // PIECE)
    first_piece = cupy.zeros(len(long_slots) + 1, np.int64)
    if len(long_slots):
        first_piece[1:] = cupy.cumsum(pieces)
    n_pieces = int(first_piece[-1])
    # Piece p belongs to the long row whose pieces begin last at or before it.
    owner = cupy.searchsorted(first_piece, cupy.arange(n_pieces), side="right") - 1
    piece_slot = long_slots[owner].astype(np.uint32)
    piece_order = (cupy.arange(n_pieces) - first_piece[owner]).astype(np.uint32)
    counts = [len(found) for found in bins]
    ends = [-(-n_pieces // (BLOCK // 32))]
    for (lanes, _), count in zip(LANES, counts, strict=True):
        ends.append(ends[-1] + -(-count // (BLOCK // lanes)))
    arguments = struct(slots, piece_slot, piece_order, n_pieces, *counts, *ends[: len(LANES)])
    long_slots = long_slots.astype(np.uint32)
    return Bins(
        arguments, ends[-1], len(lengths), n_pieces, len(long_slots), slots, piece_slot, piece_order, long_slots,
        first_piece,
    )  # fmt: skip


def bins(rows: CSR | HYB) -> Bins:
    """The bins of a matrix's rows, or of the tail of a HYB, worked out once.

    Parameters
    ----------
    rows : CSR or HYB
        On the GPU.

    Returns
    -------
    Bins
    """
    found, split = _found(rows), techniques.row_splitting
    if split not in found:
        found[split] = make_bins(rows.indptr if isinstance(rows, CSR) else rows.tail_indptr, split)
    return found[split]


@attached
def _found(rows: CSR | HYB) -> dict[bool, Bins]:
    return {}
