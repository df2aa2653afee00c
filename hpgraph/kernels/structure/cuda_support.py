"""Triangles of each edge on CUDA, up to a cap: the choice among the kernels of ``support.cuh``, and their launches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.core import reductions
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.kernels.structure.cuda_triangles import LONG, MAX_BITS, PIECE, THREADS, part_of, plan
from hpgraph.semiring.c_types import c_type

SOURCE = "support.cuh"
BY_RANK, BY_ID, LISTED = range(3)
UPWARDS = Layout(
    "Upwards<{Index}, hpgraph::BY_RANK>", indptr="*", indices="*", order="*", rank="*", edges="*", row="*",
    row_start="*", lower="*",
)  # fmt: skip
SUPPORT = Layout("Support", count="*", enough="*", cap="unsigned")


@dataclass(frozen=True)
class Rows:
    """Edges by their upper ends: row r of `indptr` and `lower` holds the neighbours below r, ascending.

    Attributes
    ----------
    indptr : int64 array of shape (n + 1,)
        Where rows begin.
    lower : array of vertices
        In the rows of a graph itself, also the vertex and the neighbours above it.
    order : array of shape (n,) or None
        The graph's vertex of each number; None where that is the number itself.
    """

    indptr: Any
    lower: Any
    order: Any


@dataclass(frozen=True)
class Edges:
    """Rows that hold only the neighbours below, and the same edges by their lower ends.

    Attributes
    ----------
    rows : Rows
        An edge is identified by its position in them.
    row : array of shape (m,)
        The upper end of each edge.
    upper_indptr : int64 array of shape (n + 1,)
        Where the list of each lower end begins.
    upper : int64 array of shape (m,)
        Edges, in any order within a list.
    """

    rows: Rows
    row: Any
    upper_indptr: Any
    upper: Any

    def __len__(self) -> int:
        return len(self.row)


def kernel_names(index: str, above: int, lanes: int) -> tuple[str, ...]:
    """Name expressions of the kernels that count."""
    return (
        f"hpgraph::support_short<{index}, {above}, {lanes}>",
        f"hpgraph::support_long<{index}, {above}, {lanes}>",
        f"hpgraph::list_tasks<{index}, {'true' if above == BY_RANK else 'false'}>",
        f"hpgraph::support_few<{index}>",
    )


def checks(ids: np.dtype) -> str:
    """What follows the source, where it is compiled here and in a test."""
    return f"{UPWARDS.of(Index=ids).checks}\n{SUPPORT.of().checks}"


def support_of_graph(graph: CSR, cap: int) -> tuple[Rows, Any]:
    """Support of each edge of a graph, its number of triangles; from `cap` on, any number from `cap` on.

    ``graph``: symmetric, rows sorted and free of duplicates, on CUDA, with at least one arc; loops are passed over.
    Returns ``rows`` (Rows): in degree order if that pays, else the graph's.
    """
    import cupy

    n, chosen = graph.shape[0], plan(graph)
    by_degree = chosen.by_degree
    if by_degree is not None:
        rows = Rows(by_degree.indptr, by_degree.indices, by_degree.order)
        given = graph.indptr, graph.indices, by_degree.order, by_degree.rank, None, None
        return rows, _support(BY_RANK, given, rows, chosen.longest, chosen.lanes, cap)
    rows = Rows(graph.indptr, graph.indices, None)
    if not chosen.few:
        given = graph.indptr, graph.indices, None, None, None, None
        return rows, _support(BY_ID, given, rows, chosen.longest, chosen.lanes, cap)
    support = cupy.zeros(graph.nnz, np.uint32)
    *_, few = _functions(graph.indices.dtype, BY_ID, chosen.lanes)
    few((-(-n // THREADS),), (THREADS,), (graph.indptr, graph.indices, np.int64(n), support))
    return rows, support


def support_of_edges(edges: Edges, cap: int) -> Any:
    """`support_of_graph` for edges that are listed by both ends; waits for the stream."""
    import cupy

    rows = edges.rows
    # As by degree order in a graph: most wedges lie in rows about as long as the mean nonempty row.
    filled = reductions.count(rows.indptr[1:] > rows.indptr[:-1])
    longest = int(cupy.diff(edges.upper_indptr).max())
    mean = len(edges) / filled
    lanes = 32 if mean >= 32 else 16 if mean >= 8 else 8
    given = edges.upper_indptr, None, None, None, edges.upper, edges.row
    return _support(LISTED, given, rows, longest, lanes, cap)


def _functions(ids: np.dtype, above: int, lanes: int) -> list[Any]:
    names = kernel_names(c_type(ids), above, lanes)
    module = load(SOURCE, names=names, title="triangles of edges", checks=checks(ids))
    return [module.function(name) for name in names]


def _support(above: int, given: tuple[Any, ...], rows: Rows, longest: int, lanes: int, cap: int) -> Any:
    import cupy

    indptr, indices, order = given[:3]
    n, places, ids = len(rows.indptr) - 1, len(rows.lower), rows.lower.dtype
    short, long_, list_tasks, _ = _functions(ids, above, lanes)
    support, enough = cupy.zeros(places, np.uint32), cupy.zeros(-(-places // 32), np.uint32)
    up = UPWARDS.of(Index=ids)(*given, rows.indptr, rows.lower)
    wanted = SUPPORT.of()(support, enough, np.uint32(cap))
    # Next short vertex, number of tasks, next task.
    counters = cupy.zeros(3, np.uint64)
    next_vertex, tasks, next_task = (counters[i : i + 1] for i in range(3))
    processors = multiprocessors()
    if longest > LONG:
        listed = len(edges) if (edges := given[4]) is not None else len(indices)
        most = listed // LONG + listed // PIECE + 1
        task_vertex, task_begin = cupy.empty(most, ids), cupy.empty(most, np.int64)
        numbers = rows.lower if order is None else order  # not read where there is no order
        listing = np.int64(n), part_of(0, 1), task_vertex, task_begin, tasks
        arguments: tuple[Any, ...] = indptr, numbers, rows.indptr, *listing
        list_tasks((-(-n // THREADS),), (THREADS,), arguments)
        bits = max(1024, min(MAX_BITS, 1 << (n - 1).bit_length()))
        arguments = up, task_vertex, task_begin, tasks, np.uint32(bits), next_task, wanted
        long_((processors * (2048 // THREADS),), (THREADS,), arguments, shared_mem=bits // 4)
    blocks = processors * (2048 // THREADS)
    share = max(1, min(32, n // (blocks * THREADS // 32)))
    short((blocks,), (THREADS,), (up, np.int64(n), np.int32(share), next_vertex, wanted))
    return support
