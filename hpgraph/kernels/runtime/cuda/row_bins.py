"""Load balancing of a product on the GPU: rows binned by length, each bin with its own number of lanes a row.

Binning after A. Ashari et al., "Fast sparse matrix-vector multiplication on GPUs for graph applications", SC'14. The
bins are found on the device, once for each matrix.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR, RowFormat, attached
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, struct

# Entries of a piece of a long row, threads of a block: as in spmv.cuh.
PIECE = 1024
BLOCK = 256
# The bins: how many lanes share a row, and the most entries that it may have.
LANES = ((32, PIECE), (16, 128), (8, 32), (4, 16), (1, 4))
# Rows that a warp bins, as in row_bins.cuh; the bins' numbers, counted from 1, with that of long rows; and the kernels.
BINNED = 1024
KINDS = range(1, len(LANES) + 2)
KERNELS = KernelSet(
    "row_bins.cuh", "rows by their length",
    {"<false>": "count_rows=bin_rows", "<true>": "list_rows=bin_rows", "": "add_up count_pieces list_pieces"},
)  # fmt: skip


@dataclass(frozen=True)
class Bins:
    """Stored rows of a matrix, binned.

    ``arguments`` (numpy void): ``struct Bins`` of spmv.cuh; ``blocks`` (int): blocks for all bins; ``rows, pieces,
    long_rows`` (int): their numbers; long rows are those cut in pieces; ``slots, piece_slot, piece_order, long_slots``
    (uint32 CuPy array): `slots` are the rows that are not long; ``first_piece`` (int64 CuPy array, shape (long_rows +
    1,)).
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
    """`struct` of 64-bit words. Returns numpy array of shape ()."""
    return struct(*(np.uint64(value) for value in values))


def address(array: Any) -> int:
    """Address of a CuPy array; 0 for None."""
    return 0 if array is None else int(array.data.ptr)


def make_bins(indptr: Any) -> Bins:
    """Bin the rows that `indptr` delimits.

    Waits for the device: the sizes of the bins must reach the host. Takes 4 bytes a row and 8 for every 1024 entries.

    ``indptr`` (int64 CuPy array, shape (rows + 1,)).
    """
    rows = len(indptr) - 1
    ends = struct(*(most for _, most in LANES))
    kernels, grid = KERNELS.of(), max(1, -(-rows // (BINNED * BLOCK // 32)))
    warps = grid * BLOCK // 32
    through, slots = cupy.empty(len(KINDS) * warps, np.int64), cupy.empty(rows, np.uint32)
    kernels.launch("count_rows", grid, indptr, np.int64(rows), ends, through, None)
    kernels.launch("add_up", 1, through, np.int64(len(through)))
    kernels.launch("list_rows", grid, indptr, np.int64(rows), ends, through, slots)
    *found, n_long = np.diff(through[warps - 1 :: warps].get(), prepend=0).tolist()
    slots, long_slots = slots[: rows - n_long], slots[rows - n_long :]
    first_piece = cupy.zeros(n_long + 1, np.int64)
    n_pieces = 0
    if n_long:
        kernels.each("count_pieces", n_long, indptr, long_slots, np.int64(n_long), first_piece)
        kernels.launch("add_up", 1, first_piece, np.int64(n_long + 1))
        n_pieces = int(first_piece[-1])
    piece_slot, piece_order = cupy.empty(n_pieces, np.uint32), cupy.empty(n_pieces, np.uint32)
    kernels.each("list_pieces", 32 * n_long, long_slots, np.int64(n_long), first_piece, piece_slot, piece_order)
    blocks = [-(-n_pieces // (BLOCK // 32))]
    for (lanes, _), count in zip(LANES, found, strict=True):
        blocks.append(blocks[-1] + -(-count // (BLOCK // lanes)))
    layout = struct(slots, piece_slot, piece_order, n_pieces, *found, *blocks[: len(LANES)])
    return Bins(layout, blocks[-1], rows, n_pieces, n_long, slots, piece_slot, piece_order, long_slots, first_piece)


def bins(rows: RowFormat) -> Bins:
    """The bins of a matrix's rows, or of those beyond its slab; cached for all matrices of a CSR's pattern."""
    return _bins(rows.pattern if isinstance(rows, CSR) else rows)


@attached
def _bins(rows: RowFormat) -> Bins:
    assert rows.tail is not None
    return make_bins(rows.tail.indptr)
