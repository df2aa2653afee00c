"""The part of a graph that some of its vertices span: ``A(I, I)``, GraphBLAS's extract."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.algebra.take import take
from hpgraph.containers.graph import Graph
from hpgraph.containers.names import Names
from hpgraph.core.device import to_device


def induced_subgraph(graph: Graph, vertices: Any) -> Graph:
    """The vertices given and all arcs among them.

    Parameters
    ----------
    graph : Graph
        The graph.
    vertices : integer array of shape (k,)
        Indices, ascending, each once, on the graph's device.

    Returns
    -------
    Graph
        On the same device, with the names of its vertices; in a graph without names the indices become names, so that
        a vertex goes by what it went by before.

    Examples
    --------
    >>> import numpy as np, hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 1], n_vertices=5)
    >>> H = induced_subgraph(G, np.array([1, 2, 3]))
    >>> H, hpg.bfs(H, 1).level.tolist()
    (Graph: 3 vertices, 3 arcs, directed, no weights, cpu, named 1, 2, 3, [0, 1, 2])
    """
    arcs = take(graph.out_csr, vertices, vertices)
    kept = to_device(vertices, "cpu")
    names = kept if graph.names is None else graph.names[kept]
    first = np.arange(kept.size)
    named = None if graph.names is None and np.array_equal(kept, first) else Names(names)
    return object.__new__(Graph)._set(arcs, graph._layouts.get("directed"), named)
