"""Core numbers of a graph in pages or in shards: peel it in place until the remainder fits one memory.

A removed vertex sends one message to its neighbours, so every arc is read at most once; and the densest part, which
takes the most rounds, is small. A vertex of the k-core has the same core number in the k-core as in the graph. In pages
this is semi-external core decomposition: vertex data stay in memory and arcs are streamed (D. Wen et al., "I/O
efficient core graph decomposition at web scale", ICDE'16). Shards exchange the removed vertices; the shard that holds a
vertex's row updates its degree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.algorithms.both_ways import both_ways
from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module, to_device
from hpgraph.engine.definition import Parameter, Property
from hpgraph.engine.program import VertexProgram
from hpgraph.engine.run import run
from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.backend import kernels

# Bytes an arc: its id in a window, in the concatenation, and renumbered.
_ARC = 12
# The same in both directions: transposed, and concatenated with its row.
_BOTH = 40
# Larger than any degree.
_NOBODY = int(np.iinfo(np.int64).max)


class _Lose(VertexProgram):
    """One round of a directed graph: decrement the degrees of the removed vertices' out-neighbours."""

    weighted = False
    reduce = "plus"
    max_iteration = 1
    left = Property("int64")

    def gather(source, weight, target):
        return 1

    def update(vertex, message):
        return vertex.left - message


class _LoseBack(_Lose):
    """The same for their in-neighbours."""

    edges = "out"


class Peel(VertexProgram):
    """Remove vertices of degree <= k, and decrement the degrees of their neighbours."""

    weighted = False
    reduce = "plus"
    left = Property("int64")
    core = Property("int64")
    k = Parameter("int64")

    def gather(source, weight, target):  # noqa: D102
        return 1

    def cond(vertex):  # noqa: D102
        return vertex.core < 0  # type: ignore[operator]

    def update(vertex, message, world):  # noqa: D102
        left = vertex.left - message
        return left, (world.k if left <= world.k else -1)

    def sends(before, vertex):  # noqa: D102
        return vertex.core >= 0


def core_numbers(graph: Any) -> Any:
    """The core number of each vertex, in the type of ids."""
    xp, ids = array_module(graph.device), graph.id_dtype
    loops = graph.loops()
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


def _between(graph: Any, there: Any) -> tuple[CSR, Any]:
    """The subgraph induced by the remaining vertices, in memory, and their ids."""
    chosen = Bitmask.from_bool(there)
    return kernels(graph.device).induced(graph.arcs_among(chosen, weighted=False), chosen)


def _peel(graph: Graph, going: Any, left: Any, core: Any, k: int) -> tuple[Any, Any]:
    """Peel until every remaining vertex has degree > k."""
    found = run(Peel, graph, active=going, left=left, core=core, k=k)
    return found.left, found.core


def _peel_both_ways(graph: Graph, going: Any, left: Any, core: Any, k: int) -> tuple[Any, Any]:
    """`_peel` of a directed graph: each round follows arcs in both directions."""
    while bool(going.any()):
        for way in (_Lose, _LoseBack):
            left = run(way, graph, active=going, left=left).left
        going = (core < 0) & (left <= k)
        core[going] = k
    return left, core
