"""Triangles on CUDA: choice among the kernels of ``triangles.cuh``, and launches over the middle vertices.

Bound: each wedge costs one coalesced read of four bytes and one probe of a bit in shared memory.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, cupy, prefix_sum
from hpgraph.formats import CSR, occurrences
from hpgraph.formats.storage import attached
from hpgraph.kernels.runtime.cuda.kernel_set import Kernels, KernelSet
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.structs import Layout, struct
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.structure.cuda_degree_order import degree_sums, order_by_degree
from hpgraph.kernels.structure.orientation import DegreeOrder, worth_ordering

THREADS = 256
# As in the CUDA source.
LONG, PIECE = 256, 1024
BY_RANK, BY_ID = range(2)
TOTAL, OF_VERTICES, OF_EDGES = range(3)
UPWARDS = Layout(
    "Upwards<{Index}, {Place}, hpgraph::BY_RANK>", row_start="*", lower="*", entries="i64", span_start="*", spans="*",
    upper="*",
)  # fmt: skip
TASKS = Layout("Tasks<{Index}>", vertex="*", begin="*", count="*")
SPANS = KernelSet("middles.cuh", "wedges", {"<{Index}, {Place}>": "own_spans list_spans"})
KERNELS = KernelSet(
    "triangles.cuh", "triangles",
    {"<{line}, {Index}, {Place}, {above}, {tally}, {filtered}>": "count_short count_long",
     "<{Index}, {Place}, {above}>": "list_tasks", "<{Index}, {tally}>": "count_few mark_hubs count_hubs"},
    layouts=(UPWARDS, TASKS),
)  # fmt: skip
# Degree up to which one thread walks a vertex's rows.
WALK_DEGREE = 16
# Bits of a block's filter: 16 KiB, so that every resident block of an SM has its own.
MAX_BITS = 1 << 17
# Hubs whose bits, 32 MiB, leave room in the second-level cache; one of how many of their pairs is an edge at least: of
# two rows the bits are then no more words than the shorter one has entries.
MAX_HUBS, SPARSEST = 1 << 14, 16
# How to count triangles: by which order (None: by id), whether all degrees are few, the longest row, bytes of a row
# that a lane looks up at once, hubs, spans.
Plan = namedtuple("Plan", "by_degree few longest line hubs spans")
# Start of each vertex's spans (None: by id, the rows' own), and the first and last place of each span in the rows.
Spans = namedtuple("Spans", "start places")


def plan(graph: CSR) -> Plan:
    """The plan for a symmetric graph with canonical rows, made once; waits for the stream then."""
    return _plan(graph, techniques.degree_order, techniques.triangle_filters)


@attached
def _plan(graph: CSR, ordered: bool, filtered: bool) -> Plan:
    used, squares, longest = degree_sums(graph)
    ordered = ordered and worth_ordering(used, graph.nnz, squares)
    by_degree, few = order_by_degree(graph, longest) if ordered else None, longest <= WALK_DEGREE
    # Entries of a span: by ids a third of a row; by degree order about the mean number of lower neighbours, because
    # most wedges lie in rows much longer than the average. Of short ones a lane would find little in a whole sector.
    span = graph.nnz / (2 * used) if used else 0
    if by_degree is None:
        span *= 2 / 3
    line = 32 if span * graph.indices.itemsize >= 64 else 16
    hubs = _hubs(by_degree.indptr) if filtered and by_degree is not None else 0
    return Plan(by_degree, few, longest, line, hubs, None if few else _spans(graph, by_degree, hubs))


def _spans(graph: CSR, by_degree: DegreeOrder | None, hubs: int) -> Spans:
    """The spans, parts of rows but those of hubs, that each vertex reads; see middles.cuh."""
    n = graph.shape[0]
    row_start, lower, _ = below(graph, by_degree)
    place = _place(lower)
    kernels = SPANS.of(Index=lower.dtype, Place=place)
    others = lower[int(row_start[hubs]) if hubs else 0 :]
    check_memory(2 * place.itemsize * (n if by_degree is None else len(others)), "the wedges of a graph", "cuda")
    if by_degree is None:
        places = cupy.empty((n, 2), place)
        kernels.each("own_spans", n, row_start, lower, np.int64(n), places)
        return Spans(None, places)
    start, places = prefix_sum(occurrences(others, n)), cupy.empty((len(others), 2), place)
    rows = row_start, lower, np.int64(hubs), np.int64(n)
    kernels.each("list_spans", 32 * (n - hubs), *rows, start[:-1].copy(), places)
    return Spans(start, places)


def _place(lower: Any) -> np.dtype[Any]:
    """The type of places in rows, which are rounded up to whole sectors."""
    return np.dtype(np.int32 if len(lower) < 2**31 - 64 else np.int64)


def _hubs(row_start: Any) -> int:
    """Number of hubs: first vertices so densely joined that their rows are shorter as bits."""
    hubs = MAX_HUBS
    while hubs >= 1024 and (hubs >= len(row_start) or 2 * SPARSEST * int(row_start[hubs]) < hubs * hubs):
        hubs //= 2
    return hubs if hubs >= 1024 else 0


def below(graph: CSR, by_degree: DegreeOrder | None) -> tuple[Any, Any, Any]:
    """Row starts, neighbours, those below a vertex first, and the vertex of each row; None by id."""
    if by_degree is None:
        return graph.indptr, graph.indices, None
    return by_degree.indptr, by_degree.indices, by_degree.order


def _count_middles(kernels: Kernels, graph: CSR, chosen: Plan, first: int, of: Any, tallied: int, *sums: Any) -> None:
    """Launch the kernels of short rows, of long rows, and the one that lists these, for the vertices from one on."""
    n, ids, (row_start, lower, _) = graph.shape[0], graph.indices.dtype, below(graph, chosen.by_degree)
    upper = None
    if tallied == OF_VERTICES and chosen.by_degree is not None:
        upper = CSR((n, n), row_start, lower, validate=False, copy=False).expand_rows().astype(ids, copy=False)
    fields = row_start, lower, len(lower), chosen.spans.start, chosen.spans.places, upper
    up = UPWARDS.of(Index=ids, Place=_place(lower))(*fields)
    # Next short vertex, number of tasks, next task.
    next_vertex, tasks, next_task = (row for row in cupy.zeros((3, 1), np.uint64))
    blocks, vertices = multiprocessors() * (2048 // THREADS), (np.int64(first), np.int64(n))
    if chosen.longest > LONG:
        # Long tasks first, so that small ones are left at the end.
        most = graph.nnz // LONG + graph.nnz // PIECE + 1
        task_vertex, task_begin = cupy.empty(most, ids), cupy.empty(most, np.int64)
        listing = TASKS.of(Index=ids)(task_vertex, task_begin, tasks)
        kernels.each("list_tasks", n, up, *vertices, of, listing)
        bits = max(1024, min(MAX_BITS, 1 << (n - 1).bit_length()))
        # Ranks are half a filter more: the members before each word.
        room = bits // 8 + (tallied != TOTAL) * bits // 16
        kernels.launch("count_long", blocks, up, listing, np.uint32(bits), next_task, *sums, shared_mem=room)
    kernels.launch("count_short", blocks, up, *vertices, _share(n), of, next_vertex, *sums)


def _share(n: int, most: int = 32) -> np.int32:
    """Vertices that a warp takes at a time, at least eight times: vertices of much work are adjacent."""
    return np.int32(max(1, min(most, n // (8 * multiprocessors() * 2048 // 32))))


def _count(graph: CSR, chosen: Plan, of: int, tally: Any = None, part: int = 0, parts: int = 1) -> Any:
    """Launch; the first element of the uint64 array returned is the total.

    ``of``: what is counted; ``tally``: n zeros of uint64 for vertices; zeros of uint32 for edges, one for each place in
    the rows.
    """
    n, ids, by_degree = np.int64(graph.shape[0]), graph.indices.dtype, chosen.by_degree
    types = {"Index": ids, "Place": _place(below(graph, by_degree)[1]), "above": BY_RANK if by_degree else BY_ID,
             "tally": of, "filtered": techniques.triangle_filters, "line": chosen.line}  # fmt: skip
    kernels, piece = KERNELS.of(**types), struct(np.int32(part), np.int32(parts))
    # Total, next vertex of the hubs'.
    counters = cupy.zeros(2, np.uint64)
    sums = counters, counters if tally is None else tally
    if chosen.few:
        kernels.launch("count_few", -(-int(n) // (THREADS * parts)), graph.indptr, graph.indices, n, piece, *sums)
        return counters
    hubs = chosen.hubs
    if hubs:
        rows, bits = (by_degree.indptr, by_degree.indices), cupy.zeros(hubs * hubs // 32, np.uint32)
        kernels.each("mark_hubs", 32 * hubs, *rows, np.int64(hubs), bits)
        blocks, room = multiprocessors() * (2048 // THREADS), THREADS // 32 * hubs // 8
        vertices = hubs if of == OF_EDGES else int(n)
        arguments = *rows, np.int64(vertices), bits, np.int64(hubs), _share(vertices, 4), piece, counters[1:], *sums
        kernels.launch("count_hubs", blocks, *arguments, shared_mem=room)
    _count_middles(kernels, graph, chosen, 0 if of == OF_EDGES else hubs, piece, of, *sums)
    return counters


def count(graph: CSR, part: int = 0, parts: int = 1) -> int:
    """Number of triangles; waits for the stream."""
    if not graph.nnz:
        return 0
    return int(_count(graph, plan(graph), TOTAL, None, part, parts)[0])


def per_vertex(graph: CSR, part: int = 0, parts: int = 1) -> Any:
    """Number of triangles at each vertex, int64."""
    tally = cupy.zeros(graph.shape[0], np.uint64)
    if graph.nnz:
        chosen = plan(graph)
        _count(graph, chosen, OF_VERTICES, tally, part, parts)
        if chosen.by_degree is not None:
            tally = tally[chosen.by_degree.rank]
    return tally.view(np.int64)


def per_edge(graph: CSR, chosen: Plan) -> Any:
    """Triangles of each edge, uint32, by its place in its upper end's row: in degree order, unless degrees are few."""
    _, lower, _ = below(graph, None if chosen.few else chosen.by_degree)
    support = cupy.zeros(len(lower), np.uint32)
    _count(graph, chosen, OF_EDGES, support)
    return support
