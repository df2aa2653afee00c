"""The arcs of any graph as the loops take them: in memory, in pages, in shards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hpgraph.containers.divided_graph import DividedGraph
from hpgraph.containers.divided_streamed_graph import DividedStreamedGraph
from hpgraph.containers.streamed_graph import StreamedGraph
from hpgraph.engine.arcs import Arcs
from hpgraph.engine.divided_arcs import DividedArcs
from hpgraph.engine.divided_pages import DividedPages
from hpgraph.engine.paged_arcs import PagedArcs

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph
    from hpgraph.engine.declarations import Declarations
    from hpgraph.kernels.runtime.program import ProgramCode


def arcs_of(graph: Graph, declared: Declarations, code: ProgramCode) -> Arcs | PagedArcs | DividedArcs | DividedPages:
    """The arcs of a graph for a program, wherever they lie.

    Parameters
    ----------
    graph : Graph
    declared : Declarations
    code : ProgramCode

    Returns
    -------
    Arcs, PagedArcs, DividedArcs or DividedPages
    """
    if isinstance(graph, DividedStreamedGraph):
        return DividedPages(graph, declared.edges, declared.weighted, not code.reduce.idempotent)
    if isinstance(graph, StreamedGraph):
        return PagedArcs(graph, declared.edges, declared.weighted, not code.reduce.idempotent)
    if isinstance(graph, DividedGraph):
        return DividedArcs(graph, declared.edges, declared.weighted, code)
    return Arcs(graph, declared.edges, declared.weighted, code.message.itemsize)
