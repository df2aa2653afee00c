"""The arcs of one run, from a graph; a placement of a layer above registers its own: ``arcs_of.register(Kind)``."""

from functools import singledispatch
from typing import Any

from hpgraph.containers.divided_graph import DividedGraph
from hpgraph.containers.divided_streamed_graph import DividedStreamedGraph
from hpgraph.containers.graph import Graph
from hpgraph.containers.streamed_graph import StreamedGraph
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.placement import Arcs
from hpgraph.placement.in_memory import InMemory, NumberedInMemory
from hpgraph.placement.in_pages import InPages, NumberedInPages, PagesOnDevices
from hpgraph.placement.on_devices import InShards


@singledispatch
def arcs_of(graph: Any, edges: str, weighted: bool, code: ProgramCode) -> Arcs:
    """The arcs of the messages of a program, wherever they lie; `edges` is as in `VertexProgram`."""
    raise TypeError(f"no placement is registered for {type(graph).__name__}")


for _kind, _placement in (
    (Graph, InMemory), (DividedGraph, InShards), (StreamedGraph, InPages), (DividedStreamedGraph, PagesOnDevices),
):  # fmt: skip
    arcs_of.register(_kind, _placement)  # type: ignore[arg-type]


def numbered_arcs_of(graph: Graph) -> NumberedInMemory | NumberedInPages:
    """The arcs of a graph by number."""
    return NumberedInPages(graph) if isinstance(graph, StreamedGraph) else NumberedInMemory(graph)
