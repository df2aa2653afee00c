"""Colourings: no two neighbours have the same colour."""

from __future__ import annotations

from typing import Any, Literal

from hpgraph.algorithms.random_order import random_order
from hpgraph.containers.graph import Graph, as_graph
from hpgraph.containers.vertex_array import by_vertex
from hpgraph.core.arrays import Array
from hpgraph.core.suggestions import naming_arguments
from hpgraph.kernels.backend import kernels

_STRATEGIES = "largest_first", "smallest_last", "random_sequential"


@naming_arguments
def greedy_color(
    G: Graph | Any,
    strategy: Literal["largest_first", "smallest_last", "random_sequential"] = "largest_first",
    seed: int = 0,
) -> Array:
    """A colour for each vertex, so that neighbours differ: in some order, each takes the least that is left to it.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, and loops are passed over.
    strategy : {"largest_first", "smallest_last", "random_sequential"}
        The order: by falling degree (Welsh and Powell); against the order in which `degeneracy_ordering` peels, which
        takes at most one colour more than the largest core number (Matula and Beck); or at random. In the first two
        chance decides among equals, where NetworkX goes by the order of its nodes.
    seed : int
        Another seed, another order; the same seed gives the same colours, on every device.

    Returns
    -------
    integer array of shape (n,)
        Colours from 0, on the graph's device, of the type of its ids.

    Notes
    -----
    On the GPU a vertex waits for those neighbours only that come before it in the order. Never more colours than the
    largest degree and one. Beside the graph it takes some 20 bytes a vertex, on the GPU also 2 an arc at the end and 10
    while it begins.

    References
    ----------
    M. T. Jones, P. E. Plassmann, "A parallel graph coloring heuristic", SIAM J. Sci. Comput. 14 (1993). W. Hasenplaugh,
    T. Kaler, T. B. Schardl, C. E. Leiserson, "Ordering heuristics for parallel graph coloring", SPAA'14.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.greedy_color(([0, 0, 0], [1, 2, 3])).tolist()
    [0, 1, 1, 1]
    """
    if strategy not in _STRATEGIES:
        raise ValueError(f"strategy must be one of {', '.join(map(repr, _STRATEGIES))}, not {strategy!r}")
    graph = as_graph(G).undirected
    arcs, backend = graph.out_csr, kernels(graph.device)
    rank = None
    if graph.n_vertices and strategy != "random_sequential":
        height = graph.out_degree if strategy == "largest_first" else backend.peel(arcs)[1]
        rank = height.max() - height
    return by_vertex(backend.greedy_colors(arcs, random_order(graph, seed, rank=rank)), graph)
