"""Core numbers of a graph in pages or in shards: peel it where it lies until what is left fits one memory.

Who goes tells its neighbours, once, so that every arc is wanted at most once; and the densest part, which takes the
most rounds, is small. A vertex that is left when all of fewer than k edges have gone has the same core number in what
is left. In pages that is semi-external core decomposition: numbers belong to vertices and arcs come past (D. Wen et
al., "I/O efficient core graph decomposition at web scale", ICDE'16). Shards tell each other who has gone; whom it
leaves behind is worked out by whoever has its row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.algorithms.both_ways import both_ways
from hpgraph.containers.divided_graph import DividedGraph
from hpgraph.containers.graph import Graph
from hpgraph.containers.row_blocks import arcs_that
from hpgraph.containers.streamed_graph import StreamedGraph
from hpgraph.core.device import array_module, to_device
from hpgraph.engine.definition import Parameter, Property
from hpgraph.engine.program import VertexProgram
from hpgraph.engine.run import run
from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.spmv.origin import without_values

# Bytes of an arc that is brought: its id in a window, put together with others, and numbered anew.
_ARC = 12
# The same where arcs are wanted from both ends: turned round, and put together with a row for each.
_BOTH = 40
# More edges than a vertex can have.
_NOBODY = int(np.iinfo(np.int64).max)


class _Lose(VertexProgram):
    """One round of a directed graph: who has gone tells those to whom its arcs lead."""

    weighted = False
    reduce = "plus"
    max_iteration = 1
    left = Property("int64")

    def gather(source, weight, target):
        return 1

    def update(vertex, message):
        return vertex.left - message


class _LoseBack(_Lose):
    """The same for those whose arcs reach it."""

    edges = "out"


class _Loops(VertexProgram):
    """Arcs of each vertex that lead nowhere else."""

    weighted = False
    reduce = "plus"
    activity = "all"
    max_iteration = 1
    loops = Property("int64")

    def gather(source, weight, target):
        return source.id == target.id  # type: ignore[attr-defined]

    def update(vertex, message):
        return message


class _Peel(VertexProgram):
    """Who has no more than k edges left goes, and whoever it leaves behind has one less."""

    weighted = False
    reduce = "plus"
    left = Property("int64")
    core = Property("int64")
    k = Parameter("int64")

    def gather(source, weight, target):
        return 1

    def cond(vertex):
        return vertex.core < 0  # type: ignore[operator]

    def update(vertex, message, world):
        left = vertex.left - message
        return left, (world.k if left <= world.k else -1)

    def sends(before, vertex):
        return vertex.core >= 0


def core_numbers(graph: StreamedGraph | DividedGraph) -> Any:
    """The core number of each vertex.

    Returns array of the type of ids, shape (n,).
    """
    xp, ids = array_module(graph.device), graph.id_dtype
    loops = graph.loops() if isinstance(graph, DividedGraph) else run(_Loops, graph, loops=0).loops
    left = graph.out_degree - loops
    if graph.directed:
        left = left + graph.in_degree - loops
    core, k = xp.full(graph.n_vertices, -1, np.int64), 0
    if not graph.n_vertices:
        return core.astype(ids)
    with graph.lending() as room:
        while True:
            there = core < 0
            least = xp.where(there, left, _NOBODY).min()
            few, arcs_left = to_device(xp.stack([least, (left * there).sum()]), "cpu").tolist()
            if few == _NOBODY:
                break
            k = max(k, few)
            if arcs_left * (_BOTH if graph.directed else _ARC) <= room:
                part, vertices = _between(graph, there)
                both = both_ways(Graph(part, directed=graph.directed, copy=False))
                core[vertices] = kernels(graph.device).peel(both)[0]
                break
            going = there & (left <= k)
            core[going] = k
            left, core = (_peel_both_ways if graph.directed else _peel)(graph, going, left, core, k)
    return core.astype(ids)


def _between(graph: StreamedGraph | DividedGraph, there: Any) -> tuple[CSR, Any]:
    """The arcs between the vertices that are there, numbered anew, in memory; and which those are."""
    chosen = Bitmask.from_bool(there)
    if isinstance(graph, DividedGraph):
        return kernels(graph.device).induced(without_values(graph.arcs_among(chosen)), chosen)
    return kernels(graph.device).induced(arcs_that(graph, chosen, lambda source, target: there[target]), chosen)


def _peel(graph: Graph, going: Any, left: Any, core: Any, k: int) -> tuple[Any, Any]:
    """Until everyone who is there has more than k edges."""
    found = run(_Peel, graph, active=going, left=left, core=core, k=k)
    return found.left, found.core


def _peel_both_ways(graph: Graph, going: Any, left: Any, core: Any, k: int) -> tuple[Any, Any]:
    """The same of a directed graph: each round goes along arcs and against them."""
    while bool(going.any()):
        for way in (_Lose, _LoseBack):
            left = run(way, graph, active=going, left=left).left
        going = (core < 0) & (left <= k)
        core[going] = k
    return left, core
