"""Products over SELL on the GPU: launches, and the pieces of wide slices. See sell.cuh."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.device import cupy, prefix_sum
from hpgraph.formats import SELL, attached
from hpgraph.kernels.runtime.cuda.row_bins import BLOCK
from hpgraph.kernels.runtime.cuda.specialization import Specialization, launch
from hpgraph.kernels.runtime.cuda.structs import struct

# As in sell.cuh.
PIECE_WIDTH = 64
KERNELS = ("pull_slices", "join_slices")


class Pieces(NamedTuple):
    """The division of slices into pieces."""

    arguments: Any  # ``struct Slices`` of sell.cuh
    pieces: int
    wide: int  # slices with several pieces
    arrays: tuple[Any, ...]  # kept alive for `arguments`; the last lists the slices with several pieces


@attached
def pieces_of(rows: SELL) -> Pieces:
    """The pieces of a matrix, computed once on the device; waits for it."""
    width = (rows.slices[1:] - rows.slices[:-1]) // 32
    # A slice without entries has a piece too: its rows are written.
    each = cupy.maximum(-(-width // PIECE_WIDTH), 1)
    first = prefix_sum(each)
    pieces = int(first[-1])
    owner = (cupy.searchsorted(first, cupy.arange(pieces), side="right") - 1).astype(np.uint32)
    wide = cupy.flatnonzero(each > 1).astype(np.uint32)
    arguments = struct(rows.slices, first, owner, len(each), rows.shape[0], pieces)
    return Pieces(arguments, pieces, len(wide), (first, owner, wide))


def by_slices(rows: SELL, special: Specialization, sets: Any) -> Callable[[tuple[Any, ...], Any], None]:
    """A product as a callable: one launch, or two if a slice is wide. Holds addresses of the matrix only."""
    module, cut, order = special.load("sell.cuh", *KERNELS), pieces_of(rows), np.uint64(rows.order.data.ptr)
    slots, warps = struct(rows.indices, rows.data), BLOCK // 32
    blocks, joining, kept = -(-cut.pieces // warps), -(-cut.wide // warps), cut.pieces * 32 if cut.wide else 0

    def multiply(state: tuple[Any, ...], out: Any) -> None:
        part, found = cupy.empty((kept, *out.shape[1:]), out.dtype), cupy.empty(kept, np.bool_)
        where = order, cut.arguments, sets, out, part, found
        launch(module, "pull_slices", blocks, special.gather.arguments(state), slots, *where)
        launch(module, "join_slices", joining, cut.arrays[2], np.int64(cut.wide), *where)

    return multiply
