"""What vertices are called: results that list vertices say their names where the graph has names."""

from __future__ import annotations

from typing import Any

from hpgraph.containers.graph import Graph
from hpgraph.core.device import to_device


def called(graph: Graph, vertices: Any) -> Any:
    """Vertices as their graph calls them.

    Parameters
    ----------
    graph : Graph
    vertices : integer array
        Indices.

    Returns
    -------
    array of the same shape
        Names, in NumPy; or the indices themselves, where they lie, if the graph has no names.

    Examples
    --------
    >>> import numpy as np, hpgraph as hpg
    >>> called(hpg.Graph.from_edges([0], [1], names=["ann", "bob"]), np.array([1])).tolist()
    ['bob']
    """
    return vertices if graph.names is None else graph.names[to_device(vertices, "cpu")]
