"""Maximal matchings: sets of edges without common ends, to which no edge can be added."""

from __future__ import annotations

from typing import Any

from hpgraph.algorithms.random_order import scattered
from hpgraph.containers.graph import Graph, as_graph
from hpgraph.containers.vertex_array import by_vertex
from hpgraph.core.arrays import Array
from hpgraph.core.suggestions import naming_arguments
from hpgraph.kernels.backend import kernels


@naming_arguments
def maximal_matching(G: Graph | Any, seed: int = 0) -> Array:
    """A maximal matching: edges without common ends, as a mate for each vertex.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, and loops are passed over; NetworkX refuses directed graphs.
    seed : int
        Another seed, another matching; the same seed gives the same, on every device.

    Returns
    -------
    integer array of shape (n,)
        The index of each vertex's mate, on the graph's device; -1 for a vertex that has none. NetworkX gives a set of
        edges.

    Notes
    -----
    It is the greedy matching in a random order of the edges. Edges that are first at both of their ends are matched in
    parallel, in some log n rounds. Maximal, not maximum: it has at least half the edges of a maximum matching. Beside
    the graph it takes 12 bytes a vertex while ids fit 32 bits.

    References
    ----------
    J.-H. Hoepman, "Simple distributed weighted matchings", arXiv:cs/0410047. G. E. Blelloch, J. T. Fineman, J. Shun,
    "Greedy sequential maximal independent set and matching are parallel on average", SPAA'12.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.maximal_matching(([0, 2], [1, 3])).tolist()
    [1, 0, 3, 2]
    """
    key = scattered(seed)
    graph = as_graph(G).undirected
    return by_vertex(kernels(graph.device).matching(graph.out_csr, key), graph)
