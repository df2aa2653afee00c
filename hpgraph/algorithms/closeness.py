"""Degree, closeness and harmonic centrality.

All distances of a vertex are reduced to a few numbers while they are found: a search returns the number of vertices it
reached and the sum of their levels, so no array of vertices × sources is ever kept.
"""

from typing import Any

import numpy as np

from hpgraph.algorithms.distance_blocks import distance_sums
from hpgraph.algorithms.distances import with_lengths
from hpgraph.containers.graph import Graph, as_graph, by_vertex, naming_arguments
from hpgraph.core.device import Array, array_module


@naming_arguments
def degree_centrality(G: Graph | Any) -> Array:
    """The degree of each vertex, divided by n − 1.

    In a directed graph both the arcs that leave a vertex and those that reach it count.

    Returns
    -------
    float64 array of length n
        By index, on the graph's device. Loops, or arcs in both directions, may raise it above 1; 1 for the vertex of a
        graph of one vertex, as in NetworkX.

    References
    ----------
    L. C. Freeman, "Centrality in social networks: conceptual clarification", Social Networks 1 (1979).

    Examples
    --------
    >>> hpg.degree_centrality(hpg.Graph.from_edges([0, 0, 0], [1, 2, 3], directed=False)).round(2).tolist()
    [1.0, 0.33, 0.33, 0.33]
    """
    graph = as_graph(G)
    return _share(graph, graph.degree)


@naming_arguments
def in_degree_centrality(G: Graph | Any) -> Array:
    """The number of arcs that reach each vertex, divided by n − 1.

    The result is that of `degree_centrality`; NetworkX refuses undirected graphs.

    Examples
    --------
    >>> hpg.in_degree_centrality(hpg.Graph.from_edges([0, 1], [2, 2])).tolist()
    [0.0, 0.0, 1.0]
    """
    graph = as_graph(G)
    return _share(graph, graph.in_degree)


@naming_arguments
def out_degree_centrality(G: Graph | Any) -> Array:
    """The number of arcs that leave each vertex, divided by n − 1.

    The result is that of `degree_centrality`; NetworkX refuses undirected graphs.

    Examples
    --------
    >>> hpg.out_degree_centrality(hpg.Graph.from_edges([0, 1], [2, 2])).tolist()
    [0.5, 0.5, 0.0]
    """
    graph = as_graph(G)
    return _share(graph, graph.out_degree)


def _share(graph: Graph, degree: Any) -> Any:
    n = graph.n_vertices
    return by_vertex(degree / (n - 1) if n > 1 else array_module(graph.device).ones(n, np.float64), graph)


@naming_arguments
def closeness_centrality(
    G: Graph | Any, sources: Any = None, *, wf_improved: bool = True, weight: Any = None, seed: Any = None
) -> Array:
    """Closeness centrality: 1 over the mean distance of the vertices that reach each vertex.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one distances are towards the vertex; ``G.reverse()`` reverses every arc.
    sources : None, int, or sequence of vertices, names or hpgraph.id
        Vertices to compute it for: None for all; a number for that many distinct random ones. Each value is exact,
        from all vertices that reach it.
    wf_improved : bool
        Whether to scale by the share of the other vertices that reach it, which lowers the values of small components
        (S. Wasserman, K. Faust, p. 201).
    weight : None, bool or str
        Length of an arc: 1 for None, its weight for True. A string names the attribute of a NetworkX graph, and
        "weight" means True otherwise.
    seed : int or numpy.random.Generator, optional
        Random seed of the draw.

    Returns
    -------
    float64 array of shape (n,), or (k,) where `sources` is given
        On the graph's device, by vertex, or in the order of `sources`; random ones are in ascending order:
        ``hpgraph.algorithms.sources.sources_of(G, k, seed)`` lists them. 0 for a vertex that no other reaches.

    Notes
    -----
    NetworkX's definition: with r the number of vertices that reach v, v included, and s the sum of their distances,
    (r − 1) / s, times (r − 1) / (n − 1) for `wf_improved`. Beside the graph it takes a few bits a vertex and source.

    References
    ----------
    L. C. Freeman, "Centrality in social networks: conceptual clarification", Social Networks 1 (1979). Searches side
    by side: M. Then et al., "The more the merrier", VLDB'14; H. Liu, H. H. Huang, Y. Hu, "iBFS", SIGMOD'16.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False, names=["a", "b", "c", "d"])
    >>> hpg.closeness_centrality(G).round(3).tolist()
    [0.5, 0.75, 0.75, 0.5]
    >>> hpg.closeness_centrality(G, ["d", "c"]).tolist()
    [0.5, 0.75]
    """
    graph, weighted = with_lengths(G, weight)
    sums = distance_sums(graph, sources, incoming=True, weighted=weighted, seed=seed)
    xp = array_module(graph.device)
    others = sums.reached - 1.0
    near = sums.total > 0
    closeness = xp.where(near, others, 0.0) / xp.where(near, sums.total, 1.0)
    if wf_improved and graph.n_vertices > 1:
        closeness *= others / (graph.n_vertices - 1)
    return by_vertex(closeness, graph) if sources is None else closeness


@naming_arguments
def harmonic_centrality(G: Graph | Any, sources: Any = None, *, weight: Any = None, seed: Any = None) -> Array:
    """The sum of 1 / distance over all vertices that reach each vertex.

    Parameters are those of `closeness_centrality`; vertices at distance 0 are left out.

    Returns
    -------
    float64 array of shape (n,), or (k,) where `sources` is given
        As `closeness_centrality` does. Not divided by n − 1, as in NetworkX.

    Notes
    -----
    Unreachable vertices contribute 0.

    References
    ----------
    P. Boldi, S. Vigna, "Axioms for centrality", Internet Mathematics 10 (2014).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> hpg.harmonic_centrality(G, [1, 3]).round(3).tolist()
    [2.5, 1.833]
    """
    graph, weighted = with_lengths(G, weight)
    centrality = distance_sums(graph, sources, incoming=True, weighted=weighted, seed=seed).inverse
    return by_vertex(centrality, graph) if sources is None else centrality
