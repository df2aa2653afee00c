"""Parents of many breadth-first searches on CUDA, from their levels: launches of ``source_parents.cuh``."""

from typing import Any

import numpy as np

from hpgraph.core.device import cupy, sources_within
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, multiprocessors
from hpgraph.kernels.runtime.cuda.row_bins import bins

# As in the source: vertices of its tiles, and bytes of levels a vertex.
GATHERED, TILE, BYTES = 64, 32, 128
KERNELS = KernelSet(
    "source_parents.cuh", "parents of many searches",
    {"<{Level}, {Words}>": "gather_levels", "<{Level}, {Words}, {Index}>": "find_parents find_in_pieces"},
)  # fmt: skip


def _words(sources: int, itemsize: int) -> int:
    """Words of levels a vertex: a power of two."""
    return 1 << max(0, (sources * itemsize - 1).bit_length() - 2)


def parents_of_levels(rows: CSR, level: Any, sources: Any) -> Any:
    """See `hpgraph.kernels.traversal.JointTraversal`."""
    (k, n), ids = level.shape, rows.indices.dtype
    parents, size = cupy.empty((k, n), ids), level.itemsize
    most = sources_within(min(k, BYTES // size), lambda some: 4 * n * _words(some, size), "cuda")
    starts, binned = cupy.asarray(sources, ids), bins(rows)
    for first in range(0, k, most):
        some = level[first : first + most]
        width = _words(len(some), size)
        words, count, blocks = cupy.empty(n * width, np.uint32), np.int32(len(some)), 16 * multiprocessors()
        kernels = KERNELS.of(Level=level.dtype, Words=width, Index=ids)
        kernels.launch("gather_levels", min(blocks, -(-n // GATHERED)), some, np.int64(n), count, words)
        given = rows.indptr, rows.indices, np.int64(n), words, starts[first:], count, parents[first:]
        kernels.launch("find_parents", min(blocks, -(-n // TILE)), *given)
        pieces = np.int64(binned.pieces), binned.piece_slot, binned.piece_order
        kernels.each("find_in_pieces", binned.pieces * 32, *given, *pieces)
    return parents
