"""Matchings of most arcs between rows and columns on the GPU; ``matching.cuh`` describes them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, cupy, to_device
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, Layout, multiprocessors
from hpgraph.kernels.runtime.cuda.persistent import (
    FRONTIER,
    LIMITS,
    SHARED,
    THREADS,
    Space,
    heavy_pieces,
    local_limits,
    techniques_type,
)  # fmt: skip
from hpgraph.kernels.runtime.techniques import techniques

SPACE = Layout(
    "MatchingSpace<{Index}>", header="*", column_of="*", row_of="*", root="*", before="*", end="*", queue=FRONTIER,
    following=FRONTIER,
)  # fmt: skip
KERNELS = KernelSet(
    "matching.cuh", "matchings", {"<{Index}, {techniques}>": "match"}, layouts=(*SHARED, SPACE),
    prologue=f"#define HPGRAPH_THREADS {THREADS}\n", threads=THREADS, cooperative=True,
)  # fmt: skip
# Arcs that one thread of the CPU looks at, along a path 8 ns each, in the time of a level of few arcs: 2 us on an H200.
# Minimum limit of levels.
ARCS_OF_A_LEVEL, MIN_LEVELS = 256, 1000


def largest(arcs: CSR, transpose: Callable[[CSR], CSR], rows: Any, columns: Any) -> tuple[Any, Any]:
    """`hpgraph.kernels.matching.Matching.largest` on the GPU; waits for it.

    If trees have too many levels, a thread of the CPU is faster: the graph is copied to the host.
    """
    column_of, row_of, levels = _match(arcs, rows)
    if int(levels[0]) >= 0:
        return column_of, row_of
    # Imported here, since it imports Numba.
    from hpgraph.kernels.matching import cpu

    found = cpu.largest(arcs.to("cpu"), transpose, *(to_device(side, "cpu") for side in (rows, columns)))
    return to_device(found[0], "cuda"), to_device(found[1], "cuda")


def _match(arcs: CSR, rows: Any) -> tuple[Any, Any, Any]:
    """The mates of rows and columns, and the number of levels: -1 if the matching is not a largest one."""
    (m, n), ids = arcs.shape, arcs.indices.dtype
    column_of, row_of, levels = cupy.full(m, -1, ids), cupy.full(n, -1, ids), cupy.zeros(1, np.int64)
    if arcs.nnz == 0:
        return column_of, row_of, levels
    pieces, each = heavy_pieces(arcs) * 2 * ids.itemsize, max(m, n) * ids.itemsize
    sizes = each, each, each, each, pieces, each, pieces
    check_memory(sum(sizes), "a matching", "cuda")
    space = Space(*sizes)
    limits = LIMITS.of()(*local_limits(techniques.local_block), np.int64(-1), np.int32(0), None)
    KERNELS.of(Index=ids, techniques=techniques_type()).launch(
        "match", multiprocessors(), rows.astype(ids, copy=False), np.int64(len(rows)), np.int64(n), arcs.indptr,
        arcs.indices, SPACE.of(Index=ids)(space.header, column_of, row_of, *space.addresses), limits,
        np.int64(MIN_LEVELS + arcs.nnz // ARCS_OF_A_LEVEL), levels,
    )  # fmt: skip
    return column_of, row_of, levels
