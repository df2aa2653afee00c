"""The graph and the vertex that a command line names."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import hpgraph as hpg

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph

_NUMBER = re.compile(r"[+-]?[0-9]{1,20}")


def load(arguments: Any, device: str) -> Graph:
    """Read the graph, say how large it is, and take it to the device."""
    from hpgraph.io.memory import Budget

    if arguments.memory is not None:
        Budget.of(arguments.memory, "--memory")  # of the bundled graph it is not asked
    start = time.perf_counter()
    if arguments.file == "debian":
        graph = hpg.datasets.debian(weighted=arguments.weighted)
        if arguments.directed is False:
            graph = graph.undirected
    else:
        graph = hpg.read(
            arguments.file,
            directed=arguments.directed,
            delimiter=arguments.delimiter,
            memory=arguments.memory,
            duplicates=arguments.duplicates,
        )
    if arguments.reverse:
        graph = graph.reverse()
    seconds = time.perf_counter() - start
    kind = "directed" if graph.directed else "undirected"
    print(f"{arguments.file}: {graph.n_vertices:,} vertices, {graph.n_edges:,} arcs, {kind}; read in {seconds:.3g} s")
    return graph if device == "cpu" else graph.to(device)


def source_of(graph: Graph, arguments: Any) -> int:
    """The index of the vertex to start from: of a name where the graph has names, which may be numbers."""
    from hpgraph.containers.vertices import id

    if arguments.source_id is not None:
        return graph.index_of(id(arguments.source_id), "--source-id")
    try:
        return vertex_of(graph, arguments.source, "--source")
    except ValueError as error:
        if graph.names is None or not _NUMBER.fullmatch(arguments.source):
            raise
        raise ValueError(f"{error}; here --source-id {int(arguments.source)} says an index") from None


def vertex_of(graph: Graph, text: str, argument: str) -> int:
    """The index of the vertex that a text calls: by its name where the graph has names, which may be numbers."""
    number = int(text) if _NUMBER.fullmatch(text) else None
    if graph.names is None:
        if number is None:
            raise ValueError(f"{argument} {text}: the vertices of this graph have no names, give a number")
        return graph.index_of(number, argument)
    return graph.index_of(text if number is None or graph.names.dtype.kind in "UT" else number, argument)
