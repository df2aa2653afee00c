"""Maximal independent sets: vertices of which no two are neighbours, and to which none can be added."""

from __future__ import annotations

from typing import Any

from hpgraph.algorithms.random_order import random_order
from hpgraph.algorithms.vertex_names import vertex_names
from hpgraph.containers.graph import Graph, as_graph
from hpgraph.core.arrays import Array
from hpgraph.core.device import array_module, to_device
from hpgraph.core.suggestions import naming_arguments
from hpgraph.kernels.backend import kernels


@naming_arguments
def maximal_independent_set(G: Graph | Any, nodes: Any = None, seed: int = 0) -> Array:
    """Vertices of which no two are neighbours, as many as fit: every other vertex has a neighbour among them.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, and loops are passed over; NetworkX refuses directed graphs.
    nodes : array or sequence of vertices, names or hpgraph.id, optional
        Vertices that must be in the set.
    seed : int
        Another seed, another set; the same seed gives the same set, on every device.

    Returns
    -------
    array of shape (k,)
        Names where the graph has names, else indices, on the graph's device; in ascending order of index.

    Raises
    ------
    ValueError
        If two of the vertices that must be in it are neighbours.
    TypeError, IndexError
        If they are no vertices of the graph, or the seed is no whole number.

    Notes
    -----
    It is the set that results when vertices are taken one after the other in random order, each that has no neighbour
    among those taken; on the GPU a vertex waits for those before it only. Maximal, not largest. Beside the graph it
    takes some 20 bytes a vertex, on the GPU also 2 an arc at the end and 10 while it begins.

    References
    ----------
    M. Luby, "A simple parallel algorithm for the maximal independent set problem", STOC'85. G. E. Blelloch,
    J. T. Fineman, J. Shun, "Greedy sequential maximal independent set and matching are parallel on average", SPAA'12.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> path = [0, 1, 2, 3], [1, 2, 3, 4]
    >>> hpg.maximal_independent_set(path, [1]).tolist()
    [1, 3]
    """
    graph = as_graph(G).undirected
    xp, given = array_module(graph.device), None
    rank = None
    if nodes is not None:
        given = to_device(graph.indices_of(nodes, "nodes"), graph.device)
        rank = xp.ones(graph.n_vertices, dtype=bool)
        rank[given] = False
    taken = kernels(graph.device).independent_set(graph.out_csr, random_order(graph, seed, rank=rank))
    if given is not None and not bool(taken[given].all()):
        raise ValueError("nodes must be independent: some of them are neighbours")
    return vertex_names(graph, xp.flatnonzero(taken))
