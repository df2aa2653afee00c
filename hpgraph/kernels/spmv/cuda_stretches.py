"""Whole products over CSR by stretches of entries: launches, and the row ends. See row_stretches.cuh."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.device import count, cupy
from hpgraph.formats import CSR, attached
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, struct
from hpgraph.kernels.runtime.cuda.row_bins import BLOCK
from hpgraph.kernels.runtime.cuda.specialization import Specialization

# As in stretches.cuh and row_stretches.cuh.
STRETCH, CLEARED = 1024, 8
KERNELS = ("fold_rows", "join_rows")
ENDS = KernelSet("row_stretches.cuh", "row ends", {"": "mark_ends count_ends"})
# Alignment of the widest loads.
_ALIGNMENT = 16


class RowEnds(NamedTuple):
    """The ends of a matrix's rows: a bit an entry, 4 bytes a stretch, and if rows are empty 4 bytes a row."""

    arguments: Any  # ``struct RowEnds`` of row_stretches.cuh
    stretches: int  # of entries
    empty: int  # rows without entries
    arrays: tuple[Any, ...]  # kept alive for `arguments`


@attached
def row_ends(csr: CSR) -> RowEnds:
    """The row ends of a matrix, computed once on the device; waits for it."""
    filled = csr.indptr[1:] > csr.indptr[:-1]
    n_filled, rows, empty = count(filled), None, None
    if n_filled < csr.shape[0]:
        rows, empty = (cupy.flatnonzero(which).astype(np.uint32) for which in (filled, ~filled))
    del filled
    stretches = -(-csr.nnz // STRETCH)
    ends, first = cupy.zeros(-(-csr.nnz // 32), np.uint32), cupy.empty(stretches + 1, np.uint32)
    kernels, stored = ENDS.of(), (csr.indptr, rows, np.int64(n_filled))
    kernels.each("mark_ends", n_filled, *stored, ends)
    kernels.each("count_ends", stretches + 1, *stored, np.int64(stretches), first)
    without = csr.shape[0] - n_filled
    arguments = struct(ends, first, rows, empty, stretches, without)
    arrays = tuple(array for array in (ends, first, rows, empty) if array is not None)
    return RowEnds(arguments, stretches, without, arrays)


def can_stretch(csr: CSR) -> bool:
    """Whether a matrix's arrays are aligned for loads of eight elements, and its rows can be numbered."""
    arrays = (csr.indices,) if csr.data is None else (csr.indices, csr.data)
    # Eight values of one byte are loaded at once, too.
    aligned = all(array.data.ptr % _ALIGNMENT == 0 for array in arrays)
    return aligned and csr.nnz > 0 and csr.shape[0] < 1 << 32


def by_stretches(csr: CSR, special: Specialization) -> Callable[[tuple[Any, ...], Any], None]:
    """A whole product as two launches, of a gather that does not read the target and messages of 4 or 8 bytes."""
    module, ends = special.load("row_stretches.cuh", *KERNELS), row_ends(csr)
    fold, join = (module.function(f"hpgraph::{name}<Product>") for name in KERNELS)
    entries, nnz, stretches, where = struct(csr.indices, csr.data), np.int64(csr.nnz), ends.stretches, ends.arguments
    folding = (-(-stretches // (BLOCK // 32)),)
    joining = (-(-stretches // BLOCK) + -(-ends.empty // (BLOCK * CLEARED)),)
    alone = stretches == 1 and not ends.empty

    def multiply(state: tuple[Any, ...], out: Any) -> None:
        open_ = cupy.empty(stretches, out.dtype)
        fold(folding, (BLOCK,), (special.gather.arguments(state), entries, nnz, where, out, open_))
        if not alone:
            join(joining, (BLOCK,), (where, open_, out))

    return multiply
