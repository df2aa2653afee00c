"""Triangles of each edge on CUDA, up to a cap: the choice among the kernels of ``support.cuh``, and their launches."""

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.core import reductions
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.kernels.structure import cuda_triangles as triangles

SUPPORT = Layout("Support", count="*", enough="*", cap="unsigned")
KERNELS = KernelSet(
    "support.cuh", "triangles of edges",
    {"<{Index}, {above}, {lanes}>": "support_short support_long", triangles.LISTING: "list_tasks"},
    layouts=(triangles.UPWARDS, triangles.TASKS, SUPPORT),
)  # fmt: skip
# Edges by their upper ends: rows of the neighbours below, ascending; a graph's own rows hold the others, too.
# ``order``: the graph's vertex of each number, or None.
Rows = namedtuple("Rows", "indptr lower order")


@dataclass(frozen=True)
class Edges:
    """Rows that hold only the neighbours below, and the same edges, by their positions there, by their lower ends."""

    rows: Rows
    row: Any
    upper_indptr: Any
    upper: Any

    def __len__(self) -> int:
        return len(self.row)


def support_of_graph(graph: CSR, cap: int | None) -> tuple[Rows, Any]:
    """Rows, in degree order if that pays, and the triangles of each edge; from `cap` on, any number from `cap` on."""
    chosen = triangles.plan(graph)
    by_degree = None if chosen.few else chosen.by_degree
    up = triangles.Upwards.of(graph, by_degree)
    rows = Rows(up.row_start, up.lower, up.order)
    if chosen.few or cap is None:
        return rows, triangles.per_edge(graph, chosen)
    above = triangles.BY_ID if by_degree is None else triangles.BY_RANK
    return rows, _support(above, up, chosen.longest, chosen.lanes, cap)


def support_of_edges(edges: Edges, cap: int) -> Any:
    """`support_of_graph` for edges that are listed by both ends; waits for the stream."""
    import cupy

    rows = edges.rows
    # As by degree order in a graph: most wedges lie in rows about as long as the mean nonempty row.
    filled = reductions.count(rows.indptr[1:] > rows.indptr[:-1])
    longest = int(cupy.diff(edges.upper_indptr).max())
    mean = len(edges) / filled
    lanes = 32 if mean >= 32 else 16 if mean >= 8 else 8
    up = triangles.Upwards(edges.upper_indptr, None, None, None, edges.upper, edges.row, rows.indptr, rows.lower)
    return _support(triangles.LISTED, up, longest, lanes, cap)


def _support(above: int, up: triangles.Upwards, longest: int, lanes: int, cap: int) -> Any:
    import cupy

    places, ids = len(up.lower), up.lower.dtype
    names = "support_short", "support_long", "list_tasks"
    found = KERNELS.of(Index=ids, above=above, lanes=lanes).functions
    kernels = [found[name] for name in names]
    support, enough = cupy.zeros(places, np.uint32), cupy.zeros(-(-places // 32), np.uint32)
    wanted = SUPPORT.of()(support, enough, np.uint32(cap))
    triangles.launch(kernels, up, longest, (0, 1), 2, cupy.zeros(3, np.uint64), (wanted,))
    return support
