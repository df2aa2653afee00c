"""Greedy choices of vertices in a random order: maximal independent sets, maximal matchings, colourings."""

from typing import Any, Literal

from hpgraph.algorithms.random_choice import random_order, scattered
from hpgraph.containers.graph import Graph, as_simple, by_vertex, naming_arguments, one_of, vertex_names
from hpgraph.core.device import Array, array_module, everywhere, to_device
from hpgraph.kernels.backend import kernels


@naming_arguments
def maximal_independent_set(G: Graph | Any, nodes: Any = None, seed: int = 0) -> Array:
    """A maximal independent set: no two of its vertices are neighbours, and every other vertex has a neighbour in it.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, and loops are ignored; NetworkX refuses directed graphs.
    nodes : array or sequence of vertices, names or hpgraph.id, optional
        Vertices that must be in the set.
    seed : int
        Random seed of the set; the same seed gives the same set, on every device.

    Returns
    -------
    array of shape (k,)
        Names if the graph has names, else indices, on the graph's device; in ascending order of index.

    Raises
    ------
    ValueError
        If two of the vertices that must be in it are neighbours.

    Notes
    -----
    The result of the greedy algorithm in a random order; on the GPU a vertex is decided once its earlier neighbours
    are. Maximal, not maximum. Memory beside the graph: about 20 bytes a vertex, on the GPU also 2 bytes an arc, and 10
    during the initialization.

    References
    ----------
    M. Luby, "A simple parallel algorithm for the maximal independent set problem", STOC'85. G. E. Blelloch,
    J. T. Fineman, J. Shun, "Greedy sequential maximal independent set and matching are parallel on average", SPAA'12.

    Examples
    --------
    >>> path = [0, 1, 2, 3], [1, 2, 3, 4]
    >>> hpg.maximal_independent_set(path, [1]).tolist()
    [1, 3]
    """
    graph = as_simple(G).undirected
    xp, required = array_module(graph.device), None
    rank = None
    if nodes is not None:
        required = to_device(graph.indices_of(nodes, "nodes"), graph.device)
        rank = xp.ones(graph.n_vertices, dtype=bool)
        rank[required] = False
    taken = kernels(graph.device).independent_set(graph.out_csr, random_order(graph, seed, rank=rank))
    if required is not None and not everywhere(taken[required]):
        raise ValueError("nodes must be independent: some of them are neighbours")
    return vertex_names(graph, xp.flatnonzero(taken))


@naming_arguments
def maximal_matching(G: Graph | Any, seed: int = 0) -> Array:
    """A maximal matching: edges without common ends, as a mate for each vertex.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, and loops are ignored; NetworkX refuses directed graphs.
    seed : int
        Random seed of the matching; the same seed gives the same, on every device.

    Returns
    -------
    integer array of shape (n,)
        The index of each vertex's mate, on the graph's device; -1 for a vertex that has none. NetworkX gives a set of
        edges.

    Notes
    -----
    The greedy matching in a random order of the edges. Edges that are first at both of their ends are matched in
    parallel, in about log n rounds. Maximal, not maximum: it has at least half the edges of a maximum matching. Memory
    beside the graph: 12 bytes a vertex while ids fit 32 bits.

    References
    ----------
    J.-H. Hoepman, "Simple distributed weighted matchings", arXiv:cs/0410047. G. E. Blelloch, J. T. Fineman, J. Shun,
    "Greedy sequential maximal independent set and matching are parallel on average", SPAA'12.

    Examples
    --------
    >>> hpg.maximal_matching(([0, 2], [1, 3])).tolist()
    [1, 0, 3, 2]
    """
    key = scattered(seed)
    graph = as_simple(G).undirected
    return by_vertex(kernels(graph.device).matching(graph.out_csr, key), graph)


_STRATEGIES = "largest_first", "smallest_last", "random_sequential"


@naming_arguments
def greedy_color(
    G: Graph | Any,
    strategy: Literal["largest_first", "smallest_last", "random_sequential"] = "largest_first",
    seed: int = 0,
) -> Array:
    """A greedy colouring: in some order, each vertex takes the smallest colour that no neighbour has.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, and loops are ignored.
    strategy : {"largest_first", "smallest_last", "random_sequential"}
        The order: by falling degree (Welsh and Powell); against the order in which `degeneracy_ordering` peels, which
        takes at most one colour more than the largest core number (Matula and Beck); or random. In the first two, ties
        are broken at random, in NetworkX by the order of its nodes.
    seed : int
        Random seed of the order; the same seed gives the same colours, on every device.

    Returns
    -------
    integer array of shape (n,)
        Colours from 0, on the graph's device, of the type of its ids.

    Notes
    -----
    On the GPU a vertex is coloured once its earlier neighbours are. At most one colour more than the largest degree.
    Memory beside the graph: about 20 bytes a vertex, on the GPU also 2 bytes an arc, and 10 during the initialization.

    References
    ----------
    M. T. Jones, P. E. Plassmann, "A parallel graph coloring heuristic", SIAM J. Sci. Comput. 14 (1993). W. Hasenplaugh,
    T. Kaler, T. B. Schardl, C. E. Leiserson, "Ordering heuristics for parallel graph coloring", SPAA'14.

    Examples
    --------
    >>> hpg.greedy_color(([0, 0, 0], [1, 2, 3])).tolist()
    [0, 1, 1, 1]
    """
    one_of(strategy, "strategy", _STRATEGIES)
    graph = as_simple(G).undirected
    arcs, backend = graph.out_csr, kernels(graph.device)
    rank = None
    if graph.n_vertices and strategy != "random_sequential":
        height = graph.out_degree if strategy == "largest_first" else backend.peel(arcs)[1]
        rank = height.max() - height
    return by_vertex(backend.greedy_colors(arcs, random_order(graph, seed, rank=rank)), graph)
