"""The arcs of one run, from a graph; a placement of a layer above registers its own: ``arcs_of.register(Kind)``."""

from functools import singledispatch

from hpgraph.containers.divided_graph import DividedGraph
from hpgraph.containers.divided_streamed_graph import DividedStreamedGraph
from hpgraph.containers.graph import Graph
from hpgraph.containers.streamed_graph import StreamedGraph
from hpgraph.core.placements import not_served
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.placement import Arcs
from hpgraph.placement.in_memory import InMemory, NumberedInMemory
from hpgraph.placement.in_pages import InPages, NumberedInPages, PagesOnDevices
from hpgraph.placement.on_devices import InShards


@singledispatch
def arcs_of(graph: Graph, edges: str, weighted: bool, code: ProgramCode) -> Arcs:
    """The arcs of the messages of a program, wherever they lie; `edges` is as in `VertexProgram`."""
    return InMemory(graph, edges, weighted, code.message.itemsize, code)


@arcs_of.register
def _(graph: DividedGraph, edges: str, weighted: bool, code: ProgramCode) -> Arcs:
    return InShards(graph, edges, weighted, code)


@arcs_of.register
def _(graph: StreamedGraph, edges: str, weighted: bool, code: ProgramCode) -> Arcs:
    _refuse_tuples(code)
    return InPages(graph, edges, weighted, not code.reduce.idempotent)


@arcs_of.register
def _(graph: DividedStreamedGraph, edges: str, weighted: bool, code: ProgramCode) -> Arcs:
    _refuse_tuples(code)
    return PagesOnDevices(graph, edges, weighted, not code.reduce.idempotent, code)


def _refuse_tuples(code: ProgramCode) -> None:
    if code.is_shaped:
        raise not_served("in pages", f"{code.name} has tuples at vertices or as messages")


def numbered_arcs_of(graph: Graph) -> NumberedInMemory | NumberedInPages:
    """The arcs of a graph by number."""
    return NumberedInPages(graph) if isinstance(graph, StreamedGraph) else NumberedInMemory(graph)
