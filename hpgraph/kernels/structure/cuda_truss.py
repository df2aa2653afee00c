"""One truss on CUDA: triangles of each edge are counted up to a cap, and edges of low support peeled.

If half of the edges or more are removed at once, the triangles of the rest are counted anew, which halves the work each
time; else removals are propagated along their triangles.
"""

from typing import Any

import numpy as np

from hpgraph.core import reductions
from hpgraph.core.device import check_memory
from hpgraph.formats import CSR, occurrences
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.kernels.structure.cuda_support import Edges, Rows, support_of_edges, support_of_graph

# Blocks of the peeling kernel that a multiprocessor holds at once, by its launch bounds.
BLOCKS = 4
STAYS, GONE = 0, 2
EDGES = Layout("Edges<{Index}>", indptr="*", lower="*", row="*", upper_indptr="*", upper="*")
PEELING = Layout(
    "Peeling", state="*", support="*", going="*", following="*", again="*", tails="*", arrived="*",
)  # fmt: skip
TO_ARCS = Layout("ToArcs<{Index}, bool>", indptr="*", indices="*", order="*", values="*")


_LAYOUTS = EDGES, PEELING, TO_ARCS
KERNELS = KernelSet(
    "truss.cuh", "trusses", {"": "begin_peeling find_going", "<{Index}>": "list_upper flag_arcs"},
    layouts=_LAYOUTS,
)  # fmt: skip
# Launched cooperatively.
PEEL = KernelSet("truss.cuh", "trusses", {"<{Index}>": "peel_edges"}, layouts=_LAYOUTS, cooperative=True)


def truss(arcs: CSR, k: int) -> Any:
    """`hpgraph.kernels.structure.cpu_truss.truss` on the GPU."""
    import cupy

    cap = k - 2
    inside = cupy.zeros(arcs.nnz, np.bool_)
    if arcs.nnz == 0:
        return inside
    rows, support = support_of_graph(arcs, cap)
    edges, count = None, len(rows.lower) if rows.order is not None else arcs.nnz // 2
    while True:
        enough = support >= cap
        left = reductions.count(enough)
        if left == 0:
            return inside
        if 2 * left > count:
            break
        edges = _linked(kept(rows, cupy.flatnonzero(enough)))
        rows, count, support = edges.rows, left, support_of_edges(edges, cap)
    whole = edges is None
    if edges is None:
        edges, support = _whole(arcs, rows, support)
    peeling = _Peeling(edges, support, cap)
    if left < len(edges):
        peeling.run()
    if whole:
        # Fewer edges are gone than stay: flag those.
        inside.fill(True)
        if 2 * len(edges) < arcs.nnz:
            inside &= arcs.indices != arcs.expand_rows()
    peeling.flag(arcs, GONE if whole else STAYS, not whole, inside)
    return inside


def kept(rows: Rows, places: Any) -> Rows:
    """The edges at given positions, which ascend."""
    import cupy

    indptr = cupy.searchsorted(places, rows.indptr).astype(np.int64, copy=False)
    return Rows(indptr, rows.lower[places], rows.order)


def uppers(rows: Rows) -> Any:
    """The upper end of each edge."""
    n = len(rows.indptr) - 1
    csr = CSR((n, n), rows.indptr, rows.lower, validate=False, copy=False)
    return csr.expand_rows().astype(rows.lower.dtype, copy=False)


def _whole(arcs: CSR, rows: Rows, support: Any) -> tuple[Edges, Any]:
    """All edges of a graph's rows, and their support."""
    import cupy

    if rows.order is None:
        places = cupy.flatnonzero(rows.lower < arcs.expand_rows())
        rows, support = kept(rows, places), support[places]
    return _linked(rows), support


def _linked(rows: Rows) -> Edges:
    import cupy

    n, m, ids = len(rows.indptr) - 1, len(rows.lower), rows.lower.dtype
    check_memory(m * (49 + 2 * ids.itemsize) + 16 * n, "the edges of a graph by both of their ends", "cuda")
    row = uppers(rows)
    upper_indptr, upper = cupy.zeros(n + 1, np.int64), cupy.empty(m, np.int64)
    if m:
        cupy.cumsum(occurrences(rows.lower, n), out=upper_indptr[1:])
        cursor = upper_indptr[:-1].copy()
        KERNELS.of(Index=ids).each("list_upper", m, rows.lower, np.int64(m), cursor, upper)
    return Edges(rows, row, upper_indptr, upper)


class _Peeling:
    """The state of each edge, and a lower bound of its support."""

    def __init__(self, edges: Edges, support: Any, cap: int) -> None:
        import cupy

        rows, m = edges.rows, len(edges)
        self._edges, self._cap, self._ids = edges, cap, rows.lower.dtype
        self._kernels, self.state = KERNELS.of(Index=self._ids), cupy.empty(m, np.uint8)
        lists = [cupy.empty(m, np.int64) for _ in range(3)]
        # Three tails and a barrier's counter.
        self._counters = cupy.zeros(4, np.uint64)
        self._held = support, lists
        self._peeling = PEELING.of()(self.state, support, *lists, self._counters, self._counters[3:])
        self._linked = EDGES.of(Index=self._ids)(rows.indptr, rows.lower, edges.row, edges.upper_indptr, edges.upper)
        self._kernels.each("begin_peeling", m, np.int64(m), np.uint32(cap), self._peeling)

    def run(self) -> None:
        """Remove the edges of support below the cap, and those that fall below it."""
        size, cap = len(self._edges), np.uint32(self._cap)
        self._kernels.each("find_going", size, np.int64(size), cap, self._peeling)
        PEEL.of(Index=self._ids).launch("peel_edges", BLOCKS * multiprocessors(), self._linked, self._peeling, cap, cap)

    def flag(self, arcs: CSR, state: int, value: bool, flags: Any) -> None:
        """Write a value to the arcs of all edges in a state."""
        to_arcs = TO_ARCS.of(Index=self._ids)(arcs.indptr, arcs.indices, self._edges.rows.order, flags)
        size = len(self._edges)
        arguments = self._linked, self.state, np.int64(size), np.int32(state), np.bool_(value), to_arcs
        self._kernels.each("flag_arcs", size, *arguments)
