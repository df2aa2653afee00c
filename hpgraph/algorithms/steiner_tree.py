"""Steiner trees: edges of little total weight that join given vertices."""

from typing import Any

import numpy as np

from hpgraph.algorithms.distances import (
    Distances,
    Hops,
    bucket_width,
    facts_of,
    in_double_precision,
    refuse_overflow,
    roots_of,
    with_lengths,
)
from hpgraph.algorithms.spanning_forest import SpanningForest, minimum_spanning_forest
from hpgraph.containers.graph import Graph, id, naming_arguments
from hpgraph.core.device import array_module, to_device
from hpgraph.core.errors import NoPathError
from hpgraph.engine.run import run
from hpgraph.kernels.backend import kernels


@naming_arguments
def steiner_tree(G: Graph | Any, terminal_nodes: Any, weight: Any = True) -> SpanningForest:
    """An approximate Steiner tree: a tree that connects given vertices, of less than twice the minimum weight.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, with the lighter of two weights; no weight is negative.
    terminal_nodes : sequence of vertices, names or hpgraph.id
        The vertices to connect.
    weight : None, bool or str
        Length of an edge: by default its weight, 1 with None; as for `hpgraph.pagerank`.

    Returns
    -------
    SpanningForest
        The edges of the tree, whose leaves are terminals; `total` is its weight. Vertices outside are trees of one
        vertex.

    Raises
    ------
    NoPathError
        If no path joins two of the vertices.
    ValueError
        If a weight is negative or NaN, or no vertex is given.

    Notes
    -----
    K. Mehlhorn's algorithm: one search from all terminals finds the nearest terminal of each vertex; a minimum spanning
    tree of the shortest paths between neighbouring regions is the result. Its weight is at most 2 - 2/k times the
    minimum, for k terminals. Runs on the graph's device.

    References
    ----------
    K. Mehlhorn, "A faster approximation algorithm for the Steiner problem in graphs", Information Processing Letters 27
    (1988).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2, 0, 3, 3], [1, 2, 3, 4, 4, 0], [2, 2, 2, 1, 1, 5], directed=False)
    >>> hpg.steiner_tree(G, [0, 2, 3]).graph
    Graph: 5 vertices, 6 arcs, undirected, int64 weights, cpu
    """
    graph, weighted = with_lengths(G, weight)
    graph = graph.undirected
    if not weighted and graph.weighted:
        graph = graph._weighted_by(None)
    xp, n = array_module(graph.device), graph.n_vertices
    terminals = xp.unique(to_device(graph.indices_of(terminal_nodes, "terminal_nodes"), graph.device))
    if not len(terminals):
        raise ValueError("terminal_nodes must hold a vertex")
    wide = in_double_precision(graph)
    distance, parent = _nearest_terminals(wide, terminals)
    refuse_overflow(wide, distance)
    origin = roots_of(parent)
    arcs = wide.out_csr
    source, target = arcs.expand_rows(), arcs.indices
    # Each edge between two regions once, as a path between their terminals.
    between = xp.flatnonzero((source < target) & (origin[source] != origin[target]) & (origin[source] >= 0))
    source, target = source[between], target[between]
    length = distance[source] + distance[target] + (1 if arcs.data is None else arcs.data[between])
    joined = length < np.inf
    source, target, length = source[joined], target[joined], length[joined]
    pair = [xp.searchsorted(terminals, origin[end]) for end in (source, target)]
    low, high = xp.minimum(*pair), xp.maximum(*pair)
    order = xp.lexsort(xp.stack([length, high, low]))
    first = xp.ones(len(order), np.bool_)
    first[1:] = (xp.diff(low[order]) != 0) | (xp.diff(high[order]) != 0)
    shortest = order[first]
    ways = Graph.from_edges(low[shortest], high[shortest], length[shortest], len(terminals), directed=False)
    tree = minimum_spanning_forest(ways)
    if len(tree.source) < len(terminals) - 1:
        raise NoPathError("terminal_nodes: no path joins two of the vertices")
    # Looked up by terminals, by which `shortest` is sorted.
    chosen = shortest[xp.searchsorted(low[shortest] * len(terminals) + high[shortest],
                                      tree.source.astype(np.int64) * len(terminals) + tree.target)]  # fmt: skip
    on_way = _path_vertices(parent, xp.concatenate([source[chosen], target[chosen]]))
    above = parent[on_way]
    one = xp.concatenate([xp.minimum(on_way, above), source[chosen]]).astype(graph.id_dtype)
    other = xp.concatenate([xp.maximum(on_way, above), target[chosen]]).astype(graph.id_dtype)
    order = xp.lexsort(xp.stack([other, one]))
    one, other = one[order], other[order]
    arcs = graph.out_csr
    weight_of_edge = None if arcs.data is None else arcs.data[kernels(graph.device).positions_of(arcs, one, other)]
    return SpanningForest(one, other, weight_of_edge, n, graph.names)


def _nearest_terminals(graph: Graph, terminals: Any) -> tuple[Any, Any]:
    """The distance of each vertex from the nearest terminal, and the vertex before it on the way; -1 for none."""
    xp, n = array_module(graph.device), graph.n_vertices
    result = run(Distances, graph, active=id(terminals), delta=bucket_width(graph, facts_of(graph)))
    parent, hops = xp.full(n, -1, graph.id_dtype), xp.full(n, -1, np.int32)
    parent[terminals], hops[terminals] = terminals, 0
    return result.distance, run(
        Hops, graph, active=id(terminals), parent=parent, hops=hops, distance=result.distance
    ).parent


def _path_vertices(parent: Any, vertices: Any) -> Any:
    """The vertices on the paths from some vertices to their roots, without the roots."""
    xp = array_module(parent)
    visited = xp.zeros(len(parent), np.bool_)
    while len(vertices := vertices[(parent[vertices] != vertices) & ~visited[vertices]]):
        visited[vertices] = True
        vertices = parent[vertices]
    return xp.flatnonzero(visited)
