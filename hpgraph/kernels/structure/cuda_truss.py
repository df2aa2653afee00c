"""Trusses on CUDA: triangles of each edge are counted once, and edges peeled level by level (truss.cuh).

Rows are built again whenever half of the edges are gone, so that they hold few that are.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, count, cupy, prefix_sum
from hpgraph.formats import CSR, occurrences
from hpgraph.formats.convert_cuda import by_digits
from hpgraph.kernels.entries.cuda_marks import keep_entries
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.kernels.structure import cuda_triangles as triangles

# As in the CUDA source: the threads of a block of the kernel that peels; the flag of removed edges.
LEVEL_THREADS, ENDED = 512, 1 << 31
ROWS = Layout(
    "Rows<{Index}>", **dict.fromkeys(("upper", "lower", "below", "above", "start", "neighbour", "edge", "table"), "*"),
    words="unsigned",
)  # fmt: skip
LEVELS = Layout("Levels", word="*", going="*", following="*", counters="*", arrived="*")
TO_ARCS = Layout("ToArcs<{Index}, long long>", indptr="*", indices="*", order="*", values="*")
_LAYOUTS = ROWS, LEVELS, TO_ARCS
KERNELS = KernelSet(
    "truss.cuh", "trusses",
    {"<{Index}>": "fill_tables number_loops size_tables", "<{Index}, bool>": "flag_arcs=write_arcs",
     "<{Index}, long long>": "number_arcs=write_arcs"}, layouts=_LAYOUTS,
)  # fmt: skip
# Launched cooperatively.
PEEL = KernelSet(
    "truss.cuh", "trusses", {"<{Index}>": "peel_levels"},
    layouts=_LAYOUTS, threads=LEVEL_THREADS, cooperative=True,
)  # fmt: skip
# Edges by their upper ends: rows of the neighbours below, ascending; a graph's own rows hold the others, too.
# ``order``: the graph's vertex of each number, or None.
Rows = namedtuple("Rows", "indptr lower order")


def truss(arcs: CSR, k: int) -> Any:
    """`hpgraph.kernels.structure.cpu_truss.truss` on the GPU."""
    inside = cupy.zeros(arcs.nnz, np.bool_)
    if arcs.nnz == 0:
        return inside
    rows, support = _support(arcs)
    enough = support >= k - 2
    left = count(enough)
    if 2 * left <= arcs.nnz // 2:
        # Recounting the triangles of the remaining edges is less work than finding the removed ones.
        if left:
            rows = _kept(rows, cupy.flatnonzero(enough))
            _write(arcs, rows, _uppers(rows), cupy.zeros(left, np.uint32), "flag_arcs", True, inside)
            inside[cupy.flatnonzero(inside)] = truss(keep_entries(arcs, inside), k)
        return inside
    if rows.order is None:
        places = cupy.flatnonzero(rows.lower < arcs.expand_rows())
        rows, support = _kept(rows, places), support[places]
    _peel(rows, support, k - 2, k - 2)
    gone = support >= ENDED
    few = 2 * count(gone) <= len(gone)
    if few:
        inside.fill(True)
        if 2 * len(gone) < arcs.nnz:
            inside &= arcs.indices != arcs.expand_rows()
    _write(arcs, rows, _uppers(rows), support, "flag_arcs", not few, inside)
    return inside


def truss_numbers(arcs: CSR) -> Any:
    """`hpgraph.kernels.structure.cpu_truss.truss_numbers` on the GPU."""
    number = cupy.full(arcs.nnz, 2, np.int64)
    if arcs.nnz == 0:
        return number
    kernels, n = KERNELS.of(Index=arcs.indices.dtype), arcs.shape[0]
    kernels.each("number_loops", n, arcs.indptr, arcs.indices, np.int64(n), number)
    rows, word = _support(arcs)
    # Edges in no triangle are done.
    level, stays = 2, word > 0
    while len(places := cupy.flatnonzero(stays)):
        rows, word = _kept(rows, places), word[places]
        del places, stays
        level = _peel(rows, word, level, ENDED - 1)
        _write(arcs, rows, _uppers(rows), word, "number_arcs", False, number)
        stays = word < ENDED
    return number


def _support(graph: CSR) -> tuple[Rows, Any]:
    """Rows, in degree order if that pays, and the triangles of each edge."""
    chosen = triangles.plan(graph)
    rows = Rows(*triangles.below(graph, None if chosen.few else chosen.by_degree))
    return rows, triangles.per_edge(graph, chosen)


def _kept(rows: Rows, places: Any) -> Rows:
    """The edges at given positions, which ascend, between the vertices that have any."""
    n, m = len(rows.indptr) - 1, len(places)
    indptr, lower = cupy.searchsorted(places, rows.indptr).astype(np.int64, copy=False), rows.lower[places]
    used = cupy.flatnonzero(cupy.diff(indptr) + occurrences(lower, n))
    if len(used) == n:
        return Rows(indptr, lower, rows.order)
    number = cupy.empty(n, lower.dtype)
    number[used] = cupy.arange(len(used), dtype=lower.dtype)
    starts = cupy.full(len(used) + 1, m, np.int64)
    starts[:-1] = indptr[used]
    return Rows(starts, number[lower], used.astype(lower.dtype) if rows.order is None else rows.order[used])


def _uppers(rows: Rows) -> Any:
    """The upper end of each edge."""
    n = len(rows.indptr) - 1
    csr = CSR((n, n), rows.indptr, rows.lower, validate=False, copy=False)
    return csr.expand_rows().astype(rows.lower.dtype, copy=False)


def _peel(rows: Rows, word: Any, level: int, last: int) -> int:
    """Remove edges, from a level on up to another, or half of all; the next level.

    ``word`` (uint32 array): support of each edge; ENDED is set where it is removed.
    """
    n, m, ids = len(rows.indptr) - 1, len(rows.lower), rows.lower.dtype
    if m == 0:
        return level
    check_memory(m * (24 + 6 * ids.itemsize), "the edges of a graph by both of their ends", "cuda")
    above, *lists = by_digits(rows.lower, rows.indptr, cupy.arange(m, dtype=np.uint32), n)
    kernels, size = KERNELS.of(Index=ids), cupy.empty(n, np.int64)
    kernels.each("size_tables", n, rows.indptr, rows.lower, above, lists[0], np.int64(n), size)
    start, words = prefix_sum(size), np.uint32(-(-n // 32))
    length = int(start[n])
    check_memory(8 * length, "the neighbours of each vertex of a graph", "cuda")
    edges, upper, table = np.int64(m), _uppers(rows), cupy.full(length, np.iinfo(np.uint64).max, np.uint64)
    linked = ROWS.of(Index=ids)(upper, rows.lower, rows.indptr, above, start, *lists, table, words)
    kernels.each("fill_tables", m, linked, edges)
    going, following = cupy.empty((2, m), np.uint32)
    # Three lengths, three least supports, three numbers of edges taken, the level at the end, and a barrier's counter.
    counters = cupy.zeros(11, np.uint64)
    counters[3:6] = np.iinfo(np.uint32).max
    levels = LEVELS.of()(word, going, following, counters, counters[10:])
    peels = PEEL.of(Index=ids)
    blocks = peels.functions["peel_levels"].resident(LEVEL_THREADS)
    peels.launch("peel_levels", blocks, linked, levels, edges, np.uint32(level), np.uint32(last))
    return int(counters[9])


def _write(arcs: CSR, rows: Rows, upper: Any, word: Any, kernel: str, left: bool, values: Any) -> None:
    """Write to both arcs of the edges that are left, or of those that are not: which of the two, or their numbers."""
    ids, m = rows.lower.dtype, len(rows.lower)
    to_arcs = TO_ARCS.of(Index=ids)(arcs.indptr, arcs.indices, rows.order, values)
    KERNELS.of(Index=ids).each(kernel, m, upper, rows.lower, word, np.int64(m), np.bool_(left), to_arcs)
