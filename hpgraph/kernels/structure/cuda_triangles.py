"""Triangles on CUDA: choice among the kernels of ``triangles.cuh``, and their launches.

Bound: each wedge costs one coalesced read of four bytes and one probe of a bit in shared memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.structure.cuda_degree_order import degree_sums, order_by_degree
from hpgraph.kernels.structure.orientation import DegreeOrder, worth_ordering
from hpgraph.semiring.c_types import c_type

SOURCE = "triangles.cuh"
THREADS = 256
# As in the source.
LONG, PIECE = 256, 1024
# Degree up to which one thread walks a vertex's rows.
WALK_DEGREE = 16
# Bits of a block's filter: 16 KiB, so that every resident block of an SM has its own.
MAX_BITS = 1 << 17


@dataclass(frozen=True)
class Plan:
    """How the triangles of one graph are counted.

    Attributes
    ----------
    by_degree : DegreeOrder or None
        The order that "below" refers to; None is the order of ids.
    few : bool
        Whether no vertex has more than a few neighbours.
    longest : int
        The largest degree.
    lanes : int
        Lanes that read one row together.
    """

    by_degree: DegreeOrder | None
    few: bool
    longest: int
    lanes: int


def plan(graph: CSR) -> Plan:
    """The plan for counting the triangles of a graph, made once; waits for the stream then.

    ``graph``: symmetric, rows sorted and free of duplicates, on CUDA; self-loops are passed over.
    """
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


def kernel_names(index: str, by_degree: bool, tally: bool, lanes: int, filtered: bool = True) -> tuple[str, ...]:
    """Name expressions of the kernels that one plan launches.

    ``by_degree``: whether there is a degree order.
    """
    ordered, tallied, filters = ("true" if flag else "false" for flag in (by_degree, tally, filtered))
    return (
        f"hpgraph::count_short<{index}, {ordered}, {tallied}, {lanes}, {filters}>",
        f"hpgraph::count_long<{index}, {ordered}, {tallied}, {lanes}, {filters}>",
        f"hpgraph::list_tasks<{index}, {ordered}>",
        f"hpgraph::count_few<{index}, {tallied}>",
    )


@cache
def part_of(part: int, parts: int) -> np.ndarray:
    """A struct ``OfParts``: the part of the work to do."""
    return struct(np.int32(part), np.int32(parts))


def _count(graph: CSR, chosen: Plan, tally: Any, part: int = 0, parts: int = 1) -> Any:
    """Launch; the first element of the uint64 array returned is the total. `tally`: None, or n zeros of uint64."""
    import cupy

    n, index = graph.shape[0], c_type(graph.indices.dtype)
    by_degree = chosen.by_degree
    names = kernel_names(index, by_degree is not None, tally is not None, chosen.lanes, techniques.triangle_filters)
    module = load(SOURCE, names=names, title="triangles")
    short, long_, list_tasks, few = (module.function(name) for name in names)
    # Total, next short vertex, number of tasks, next task.
    counters, of = cupy.zeros(4, np.uint64), part_of(part, parts)
    if chosen.few:
        tallies = counters if tally is None else tally
        arguments: tuple[Any, ...] = graph.indptr, graph.indices, np.int64(n), of, counters, tallies
        few((-(-n // (THREADS * parts)),), (THREADS,), arguments)
        return counters
    total, next_vertex, tasks, next_task = (counters[i : i + 1] for i in range(4))
    tallies = total if tally is None else tally
    if by_degree is None:
        order = rank = graph.indices  # not read
        row_start, lower = graph.indptr, graph.indices
    else:
        order, rank, row_start, lower = by_degree.order, by_degree.rank, by_degree.indptr, by_degree.indices
    rows = (graph.indptr, graph.indices, order, rank, row_start, lower)
    processors = multiprocessors()
    blocks = processors * (2048 // THREADS)
    if chosen.longest > LONG:
        # Long tasks first, so that small ones are left at the end.
        most = graph.nnz // LONG + graph.nnz // PIECE + 1
        task_vertex, task_begin = cupy.empty(most, graph.indices.dtype), cupy.empty(most, np.int64)
        arguments = (graph.indptr, order, row_start, np.int64(n), of, task_vertex, task_begin, tasks)
        list_tasks((-(-n // THREADS),), (THREADS,), arguments)
        bits = max(1024, min(MAX_BITS, 1 << (n - 1).bit_length()))
        arguments = (*rows, task_vertex, task_begin, tasks, np.uint32(bits), next_task, total, tallies)
        long_((blocks,), (THREADS,), arguments, shared_mem=bits // 8)
    share = max(1, min(32, n // (parts * blocks * THREADS // 32)))
    short((blocks,), (THREADS,), (*rows, np.int64(n), np.int32(share), of, next_vertex, total, tallies))
    return total


def count(graph: CSR, part: int = 0, parts: int = 1) -> int:
    """Number of triangles; waits for the stream.

    ``graph``: symmetric, rows sorted and free of duplicates, on CUDA; self-loops are passed over, values are not read.
    """
    if not graph.nnz:
        return 0
    return int(_count(graph, plan(graph), None, part, parts)[0])


def per_vertex(graph: CSR, part: int = 0, parts: int = 1) -> Any:
    """Number of triangles at each vertex.

    Returns int64 cupy array of shape (n,).
    """
    import cupy

    tally = cupy.zeros(graph.shape[0], np.uint64)
    if graph.nnz:
        chosen = plan(graph)
        _count(graph, chosen, tally, part, parts)
        if chosen.by_degree is not None:
            tally = tally[chosen.by_degree.rank]
    return tally.view(np.int64)
