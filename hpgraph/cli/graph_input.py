"""The graph and the vertex that a command line names."""

import re
import time
from typing import Any

import hpgraph as hpg
from hpgraph.containers.graph import Graph, id
from hpgraph.io.memory import Budget

_NUMBER = re.compile(r"[+-]?[0-9]{1,20}")


def load(arguments: Any) -> Graph:
    """Read the graph, print its size, and move it to the device."""
    if arguments.memory is not None:
        Budget.of(arguments.memory, "--memory")  # the bundled graph takes no budget
    start = time.perf_counter()
    if arguments.file == "debian":
        graph = hpg.datasets.debian(weighted=arguments.weighted)
        if arguments.directed is False:
            graph = graph.undirected
    else:
        options = {name: getattr(arguments, name) for name in ("directed", "delimiter", "memory", "duplicates")}
        graph = hpg.read(arguments.file, **options)
    if arguments.reverse:
        graph = graph.reverse()
    seconds = time.perf_counter() - start
    kind = "directed" if graph.directed else "undirected"
    print(f"{arguments.file}: {graph.n_vertices:,} vertices, {graph.n_edges:,} arcs, {kind}; read in {seconds:.3g} s")
    return graph.to(arguments.device)


def source_of(graph: Graph, arguments: Any) -> int:
    """The index of the vertex to start from: of a name where the graph has names, which may be numbers."""
    if arguments.source_id is not None:
        return graph.index_of(id(arguments.source_id), "--source-id")
    try:
        return vertex_of(graph, arguments.source, "--source")
    except ValueError as error:
        if graph.names is None or not _NUMBER.fullmatch(arguments.source):
            raise
        raise ValueError(f"{error}; here --source-id {int(arguments.source)} gives an index") from None


def vertex_of(graph: Graph, text: str, argument: str) -> int:
    """The index of the vertex that a text calls: by its name where the graph has names, which may be numbers."""
    number = int(text) if _NUMBER.fullmatch(text) else None
    if graph.names is None:
        if number is None:
            raise ValueError(f"{argument} {text}: the vertices of this graph have no names, give a number")
        return graph.index_of(number, argument)
    return graph.index_of(text if number is None or graph.names.dtype.kind in "UT" else number, argument)
