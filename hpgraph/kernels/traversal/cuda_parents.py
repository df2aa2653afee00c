"""Parents of many breadth-first searches on CUDA, from their levels: launches of ``source_parents.cuh``."""

from typing import Any

import numpy as np

from hpgraph.core.device import cupy, sources_within
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, multiprocessors
from hpgraph.kernels.runtime.cuda.row_bins import bins

# As in the CUDA source: vertices of its tiles, and bytes of codes a vertex; the most searches at once.
GATHERED, TILE, BYTES, SEARCHES = 64, 32, 128, 128
KERNELS = KernelSet(
    "source_parents.cuh", "parents of many searches",
    {"<{Level}, {Bits}, {Words}>": "gather_levels", "<{Bits}, {Words}, {Index}>": "find_parents find_in_pieces"},
)  # fmt: skip


def _words(sources: int, bits: int) -> int:
    """Words of codes a vertex: a power of two."""
    return 1 << (-(-sources * bits // 32) - 1).bit_length()


def _together(rows: CSR, k: int, level: Any, symmetric: bool) -> tuple[int, int]:
    """Bits of a code, and how many of k searches share a launch; ``level``: dtype of levels."""
    bits, n = 2 if symmetric else 8 * level.itemsize, rows.shape[0]
    return bits, sources_within(min(k, SEARCHES, 8 * BYTES // bits), lambda count: 4 * n * _words(count, bits), "cuda")


def _kernels(rows: CSR, level: Any, bits: int, sources: int) -> Any:
    return KERNELS.of(Level=level, Bits=str(bits), Words=str(_words(sources, bits)), Index=rows.indices.dtype)


def begin_parents(rows: CSR, k: int, level: Any, symmetric: bool) -> None:
    """See `hpgraph.kernels.traversal.JointTraversal`."""
    _kernels(rows, level, *_together(rows, k, level, symmetric))


def parents_of_levels(rows: CSR, level: Any, sources: Any, symmetric: bool) -> Any:
    """See `hpgraph.kernels.traversal.JointTraversal`."""
    (k, n), ids = level.shape, rows.indices.dtype
    parents, (bits, most) = cupy.empty((k, n), ids), _together(rows, k, level.dtype, symmetric)
    starts, binned = cupy.asarray(sources, ids), bins(rows)
    for first in range(0, k, most):
        batch = level[first : first + most]
        width = _words(len(batch), bits)
        words, count, blocks = cupy.empty(n * width, np.uint32), np.int32(len(batch)), 16 * multiprocessors()
        kernels = _kernels(rows, level.dtype, bits, len(batch))
        kernels.launch("gather_levels", min(blocks, -(-n // GATHERED)), batch, np.int64(n), count, words)
        arcs, found = (rows.indptr, rows.indices, np.int64(n), words), parents[first:]
        kernels.launch("find_parents", min(blocks, -(-n // TILE)), *arcs, starts[first:], count, found)
        pieces = np.int64(binned.pieces), binned.piece_slot, binned.piece_order
        kernels.each("find_in_pieces", binned.pieces * 32, *arcs, found, *pieces)
    return parents
