"""Triangles on CUDA: choice among the kernels of ``triangles.cuh``, and launches over the middle vertices.

Bound: each wedge costs one coalesced read of four bytes and one probe of a bit in shared memory.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from hpgraph.formats import CSR
from hpgraph.formats.storage import attached
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.structs import Layout, struct
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.structure.cuda_degree_order import degree_sums, order_by_degree
from hpgraph.kernels.structure.orientation import DegreeOrder, worth_ordering

THREADS = 256
# As in the source.
LONG, PIECE = 256, 1024
BY_RANK, BY_ID, LISTED = range(3)
TOTAL, OF_VERTICES, OF_EDGES = range(3)
UPWARDS = Layout(
    "Upwards<{Index}, hpgraph::BY_RANK>", indptr="*", indices="*", order="*", rank="*", edges="*", row="*",
    row_start="*", lower="*",
)  # fmt: skip
TASKS = Layout("Tasks<{Index}>", vertex="*", begin="*", count="*")
# What the kernel that lists tasks is instantiated with.
LISTING = "<{Index}, {above} == hpgraph::BY_RANK>"
KERNELS = KernelSet(
    "triangles.cuh", "triangles",
    {"<{Index}, {above}, {tally}, {lanes}, {filtered}>": "count_short count_long", LISTING: "list_tasks",
     "<{Index}, {tally}>": "count_few"}, layouts=(UPWARDS, TASKS),
)  # fmt: skip
# Degree up to which one thread walks a vertex's rows.
WALK_DEGREE = 16
# Bits of a block's filter: 16 KiB, so that every resident block of an SM has its own.
MAX_BITS = 1 << 17
# How to count triangles: by which order (None: by id), whether all degrees are few, the longest row, lanes.
Plan = namedtuple("Plan", "by_degree few longest lanes")


def plan(graph: CSR) -> Plan:
    """The plan for a symmetric graph with canonical rows, made once; waits for the stream then."""
    found, ordered = _plans(graph), techniques.degree_order
    if ordered not in found:
        found[ordered] = _plan(graph, ordered)
    return found[ordered]


@attached
def _plans(graph: CSR) -> dict[bool, Plan]:
    return {}


def _plan(graph: CSR, ordered: bool) -> Plan:
    used, squares, longest = degree_sums(graph)
    ordered = ordered and worth_ordering(used, graph.nnz, squares)
    by_degree = order_by_degree(graph, longest) if ordered else None
    # Length of the part of a row that lies below v: by ids a third of the row; by degree order about the mean number of
    # lower neighbours, because most wedges lie in rows much longer than the average.
    row = graph.nnz / (2 * used) if used else 0
    if by_degree is None:
        row *= 2 / 3
    lanes = 32 if row >= 32 else 16 if row >= 8 else 8
    return Plan(by_degree, longest <= WALK_DEGREE, longest, lanes)


class Upwards(NamedTuple):
    """The edges that reach each vertex from above, by rows of the graph or lists of edges; and the neighbours below."""

    indptr: Any
    indices: Any
    order: Any
    rank: Any
    edges: Any
    row: Any
    row_start: Any
    lower: Any

    @classmethod
    def of(cls, graph: CSR, by_degree: DegreeOrder | None) -> Upwards:
        """Those of a graph, in the order of ids if there is no other."""
        rows = graph.indptr, graph.indices
        if by_degree is None:
            return cls(*rows, None, None, None, None, *rows)
        return cls(*rows, by_degree.order, by_degree.rank, None, None, by_degree.indptr, by_degree.indices)


def launch(
    kernels: Any, up: Upwards, longest: int, of: tuple[int, int], filters: float, counters: Any, extra: Any
) -> None:
    """Launch the kernels of short rows, of long rows, and the one that lists these.

    ``longest``: the most edges from above; ``of``: the part of the work, of how many; ``filters``: how many a block has
    room for; ``counters``: three zeros of uint64.
    """
    import cupy

    short, long_, list_tasks = kernels
    part, parts = of
    n, ids, share_of_work = len(up.row_start) - 1, up.lower.dtype, struct(np.int32(part), np.int32(parts))
    next_vertex, tasks, next_task = (counters[i : i + 1] for i in range(3))
    blocks, made = multiprocessors() * (2048 // THREADS), UPWARDS.of(Index=ids)(*up)
    if longest > LONG:
        # Long tasks first, so that small ones are left at the end.
        listed = len(up.indices if up.edges is None else up.edges)
        most = listed // LONG + listed // PIECE + 1
        task_vertex, task_begin = cupy.empty(most, ids), cupy.empty(most, np.int64)
        listing = TASKS.of(Index=ids)(task_vertex, task_begin, tasks)
        arguments = up.indptr, up.order, up.row_start, np.int64(n), share_of_work, listing
        list_tasks((-(-n // THREADS),), (THREADS,), arguments)
        bits = max(1024, min(MAX_BITS, 1 << (n - 1).bit_length()))
        arguments = made, listing, np.uint32(bits), next_task, *extra
        long_((blocks,), (THREADS,), arguments, shared_mem=int(filters * bits) // 8)
    share = max(1, min(32, n // (parts * blocks * THREADS // 32)))
    short((blocks,), (THREADS,), (made, np.int64(n), np.int32(share), share_of_work, next_vertex, *extra))


def _count(graph: CSR, chosen: Plan, of: int, tally: Any = None, part: int = 0, parts: int = 1) -> Any:
    """Launch; the first element of the uint64 array returned is the total.

    ``of``: what is counted; ``tally``: n zeros of uint64 for vertices; zeros of uint32 for edges, one for each place in
    the rows.
    """
    import cupy

    n, ids, by_degree = graph.shape[0], graph.indices.dtype, chosen.by_degree
    types = {"Index": ids, "above": BY_ID if by_degree is None else BY_RANK, "tally": of,
             "lanes": chosen.lanes, "filtered": techniques.triangle_filters}  # fmt: skip
    found = KERNELS.of(**types)
    # Total, next short vertex, number of tasks, next task.
    counters = cupy.zeros(4, np.uint64)
    sums = counters, counters if tally is None else tally
    if chosen.few:
        arguments = graph.indptr, graph.indices, np.int64(n), struct(np.int32(part), np.int32(parts)), *sums
        found.launch("count_few", -(-n // (THREADS * parts)), *arguments)
    else:
        # With a tally half a filter more: the members before each word.
        filters = 1 if of == TOTAL else 1.5
        kernels = [found.functions[name] for name in ("count_short", "count_long", "list_tasks")]
        launch(kernels, Upwards.of(graph, by_degree), chosen.longest, (part, parts), filters, counters[1:], sums)
    return counters


def count(graph: CSR, part: int = 0, parts: int = 1) -> int:
    """Number of triangles; waits for the stream."""
    if not graph.nnz:
        return 0
    return int(_count(graph, plan(graph), TOTAL, None, part, parts)[0])


def per_vertex(graph: CSR, part: int = 0, parts: int = 1) -> Any:
    """Number of triangles at each vertex, int64."""
    import cupy

    tally = cupy.zeros(graph.shape[0], np.uint64)
    if graph.nnz:
        chosen = plan(graph)
        _count(graph, chosen, OF_VERTICES, tally, part, parts)
        if chosen.by_degree is not None:
            tally = tally[chosen.by_degree.rank]
    return tally.view(np.int64)


def per_edge(graph: CSR, chosen: Plan) -> Any:
    """Triangles of each edge, uint32, by its place in its upper end's row: in degree order, unless degrees are few."""
    import cupy

    lower = graph.indices if chosen.few or chosen.by_degree is None else chosen.by_degree.indices
    support = cupy.zeros(len(lower), np.uint32)
    _count(graph, chosen, OF_EDGES, support)
    return support
