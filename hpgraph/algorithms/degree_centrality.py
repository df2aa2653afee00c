"""Degree centrality: the share of the other vertices that a vertex is joined to."""

from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, as_graph
from hpgraph.containers.vertex_array import by_vertex
from hpgraph.core.arrays import Array
from hpgraph.core.device import array_module
from hpgraph.core.suggestions import naming_arguments


@naming_arguments
def degree_centrality(G: Graph | Any) -> Array:
    """The degree of each vertex, divided by n − 1.

    Errors are those of `hpgraph.as_graph`.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one both the arcs that leave a vertex and those that reach it count.

    Returns
    -------
    float64 array of length n
        By index, on the graph's device. Above 1 where loops, or arcs both ways, make it so; 1 for a vertex alone in
        its graph, as in NetworkX.

    References
    ----------
    L. C. Freeman, "Centrality in social networks: conceptual clarification", Social Networks 1 (1979).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.degree_centrality(hpg.Graph.from_edges([0, 0, 0], [1, 2, 3], directed=False)).round(2).tolist()
    [1.0, 0.33, 0.33, 0.33]
    """
    graph = as_graph(G)
    return _share(graph, graph.degree)


@naming_arguments
def in_degree_centrality(G: Graph | Any) -> Array:
    """The number of arcs that reach each vertex, divided by n − 1.

    Result and errors are those of `degree_centrality`; NetworkX refuses undirected graphs.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.in_degree_centrality(hpg.Graph.from_edges([0, 1], [2, 2])).tolist()
    [0.0, 0.0, 1.0]
    """
    graph = as_graph(G)
    return _share(graph, graph.in_degree)


@naming_arguments
def out_degree_centrality(G: Graph | Any) -> Array:
    """The number of arcs that leave each vertex, divided by n − 1.

    Result and errors are those of `degree_centrality`; NetworkX refuses undirected graphs.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.out_degree_centrality(hpg.Graph.from_edges([0, 1], [2, 2])).tolist()
    [0.5, 0.5, 0.0]
    """
    graph = as_graph(G)
    return _share(graph, graph.out_degree)


def _share(graph: Graph, degree: Any) -> Any:
    n = graph.n_vertices
    return by_vertex(degree / (n - 1) if n > 1 else array_module(graph.device).ones(n, np.float64), graph)
