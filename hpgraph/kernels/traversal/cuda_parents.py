"""Parents of many breadth-first searches on CUDA, from their levels: launches of ``source_parents.cuh``."""

from functools import lru_cache
from typing import Any

import numpy as np

from hpgraph.core.device import sources_within
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.row_bins import bins
from hpgraph.semiring.c_types import c_type

SOURCE = "source_parents.cuh"
# As in the source: threads of a block, vertices of its tiles, and bytes of levels a vertex.
THREADS, GATHERED, TILE, BYTES = 256, 64, 32, 128


def kernel_names(level: np.dtype, words: int, index: str) -> tuple[str, ...]:
    """Name expressions of the kernels for levels of a type, in so many words a vertex."""
    kinds = f"{c_type(level)}, {words}"
    searches = (f"hpgraph::{name}<{kinds}, {index}>" for name in ("find_parents", "find_in_pieces"))
    return f"hpgraph::gather_levels<{kinds}>", *searches


@lru_cache(maxsize=64)
def _kernels(level: np.dtype, words: int, index: str, device: int) -> list[Any]:
    names = kernel_names(level, words, index)
    module = load(SOURCE, names=names, title="parents of many searches")
    return [module.function(name) for name in names]


def _words(sources: int, itemsize: int) -> int:
    """Words of levels a vertex: a power of two."""
    return 1 << max(0, (sources * itemsize - 1).bit_length() - 2)


def parents_of_levels(rows: CSR, level: Any, sources: Any) -> Any:
    """See `hpgraph.kernels.traversal.JointTraversal`."""
    import cupy

    (k, n), ids = level.shape, rows.indices.dtype
    parents, size = cupy.empty((k, n), ids), level.itemsize
    most = sources_within(min(k, BYTES // size), lambda some: 4 * n * _words(some, size), "cuda")
    starts, binned = cupy.asarray(sources, ids), bins(rows)
    for first in range(0, k, most):
        some = level[first : first + most]
        width = _words(len(some), size)
        gather, find, find_in_pieces = _kernels(level.dtype, width, c_type(ids), cupy.cuda.runtime.getDevice())
        words, count = cupy.empty(n * width, np.uint32), np.int32(len(some))
        blocks = 16 * multiprocessors()
        gather((min(blocks, -(-n // GATHERED)),), (THREADS,), (some, np.int64(n), count, words))
        given = rows.indptr, rows.indices, np.int64(n), words, starts[first:], count, parents[first:]
        find((min(blocks, -(-n // TILE)),), (THREADS,), given)
        if binned.pieces:
            pieces = np.int64(binned.pieces), binned.piece_slot, binned.piece_order
            find_in_pieces((-(-binned.pieces * 32 // THREADS),), (THREADS,), (*given, *pieces))
    return parents
