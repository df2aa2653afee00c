"""What vertices are called: results that list vertices say their names where the graph has names."""

from __future__ import annotations

from typing import Any

from hpgraph.containers.graph import Graph
from hpgraph.core.device import to_device


def vertex_names(graph: Graph, vertices: Any) -> Any:
    """Vertices as their graph calls them."""
    return vertices if graph.names is None else graph.names[to_device(vertices, "cpu")]
