"""Truss numbers on CUDA: triangles of each edge are counted once, and edges peeled level by level (truss_numbers.cuh).

Rows are built again whenever half of the edges are gone, so that they hold few that are.
"""

from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.core.reductions import prefix_sum
from hpgraph.formats import CSR, occurrences
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.kernels.structure.cuda_support import Rows, support_of_graph
from hpgraph.kernels.structure.cuda_truss import kept, uppers

# As in the source: blocks of the peeling kernel that a multiprocessor holds at once; the flag of removed edges.
BLOCKS, ENDED = 8, 1 << 31
ROWS = Layout("EdgeRows<{Index}>", upper="*", lower="*", indptr="*", neighbour="*", edge="*", table="*")
LEVELS = Layout("Levels", word="*", going="*", following="*", counters="*", arrived="*")
TO_ARCS = Layout("ToArcs<{Index}, long long>", indptr="*", indices="*", order="*", values="*")
_LAYOUTS = ROWS, LEVELS, TO_ARCS
KERNELS = KernelSet(
    "truss_numbers.cuh", "truss numbers", {"<{Index}>": "list_rows number_arcs number_loops"}, layouts=_LAYOUTS
)
# Launched cooperatively.
PEEL = KernelSet("truss_numbers.cuh", "truss numbers", {"<{Index}>": "peel_levels"}, layouts=_LAYOUTS, cooperative=True)


def truss_numbers(arcs: CSR) -> Any:
    """`hpgraph.kernels.structure.cpu_truss.truss_numbers` on the GPU."""
    import cupy

    number = cupy.full(arcs.nnz, 2, np.int64)
    if arcs.nnz == 0:
        return number
    kernels, n = KERNELS.of(Index=arcs.indices.dtype), arcs.shape[0]
    kernels.each("number_loops", n, arcs.indptr, arcs.indices, np.int64(n), number)
    rows, word = support_of_graph(arcs, None)
    # Edges in no triangle are done.
    level, stays = 2, word > 0
    while len(places := cupy.flatnonzero(stays)):
        rows, word = kept(rows, places), word[places]
        del places, stays
        level = _peel(arcs, rows, word, level, number)
        stays = word < ENDED
    return number


def _peel(arcs: CSR, rows: Rows, word: Any, level: int, number: Any) -> int:
    """Remove half of the edges, from a level on, and write their numbers to both of their arcs; the next level.

    ``word`` (uint32 array): support of each edge; ENDED is set where it is removed.
    """
    import cupy

    n, m, ids = len(rows.indptr) - 1, len(rows.lower), rows.lower.dtype
    check_memory(m * (48 + 4 * ids.itemsize) + 24 * n, "the edges of a graph by both of their ends", "cuda")
    kernels, size = KERNELS.of(Index=ids), np.int64(m)
    below = cupy.diff(rows.indptr)
    indptr = prefix_sum(below + occurrences(rows.lower, n))
    upper, neighbour, edge = uppers(rows), cupy.empty(2 * m, ids), cupy.empty(2 * m, np.uint32)
    table = cupy.full(4 * m, np.iinfo(np.uint64).max, np.uint64)
    linked = ROWS.of(Index=ids)(upper, rows.lower, indptr, neighbour, edge, table)
    kernels.each("list_rows", m, rows.indptr, linked, size, indptr[:-1] + below)
    going, following = cupy.empty(m, np.uint32), cupy.empty(m, np.uint32)
    # Three lengths, three least supports, level and removed edges at the end, and a barrier's counter.
    counters = cupy.zeros(9, np.uint64)
    counters[3:6] = np.iinfo(np.uint32).max
    levels = LEVELS.of()(word, going, following, counters, counters[8:])
    PEEL.of(Index=ids).launch("peel_levels", BLOCKS * multiprocessors(), linked, levels, size, np.uint32(level))
    to_arcs = TO_ARCS.of(Index=ids)(arcs.indptr, arcs.indices, rows.order, number)
    kernels.each("number_arcs", m, linked, word, size, to_arcs)
    return int(counters[6])
