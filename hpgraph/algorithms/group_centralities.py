"""Centralities of groups: how many vertices a group is joined to, how near it is, how many shortest paths meet it.

M. G. Everett, S. P. Borgatti, "The centrality of groups and classes", J. Mathematical Sociology 23 (1999).
"""

from typing import Any

import numpy as np

from hpgraph.algorithms.distances import Distances, refuse_overflow, with_lengths
from hpgraph.containers.graph import Graph, as_graph, as_simple, id, naming_arguments
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import anywhere, array_module, count, to_device
from hpgraph.engine.run import run
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels

# Elements of a block of path counts, from some sources to all vertices.
_HELD = 1 << 22


def _members(graph: Graph, group: Any, name: str = "S") -> Any:
    """Mask of the group's vertices, on the graph's device."""
    inside = array_module(graph.device).zeros(graph.n_vertices, np.bool_)
    inside[to_device(graph.indices_of(group, name), graph.device)] = True
    return inside


def _joined(graph: Graph, arcs: CSR, group: Any) -> float:
    """The share of the other vertices that arcs from the group, in rows of `arcs`, lead to."""
    inside = _members(graph, group)
    xp, members = array_module(graph.device), array_module(graph.device).flatnonzero(inside)
    beside = xp.zeros(graph.n_vertices, np.bool_)
    beside[kernels(graph.device).rows_of(arcs.pattern, members, 0, graph.n_vertices).indices] = True
    others = graph.n_vertices - len(members)
    return count(beside & ~inside) / others if others else 0.0


@naming_arguments
def group_degree_centrality(G: Graph | Any, S: Any) -> float:
    """The share of the vertices outside a group that have a neighbour in it.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; in a directed one, targets of arcs from the group count.
    S : sequence of vertices, names or hpgraph.id
        The group.

    Returns
    -------
    float
        0 if no vertex is outside.

    Notes
    -----
    On the GPU a call takes about a millisecond, for its launches; on the CPU small groups take less.

    References
    ----------
    M. G. Everett, S. P. Borgatti, "The centrality of groups and classes", J. Mathematical Sociology 23 (1999).

    Examples
    --------
    >>> hpg.group_degree_centrality(hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False), [0, 1])
    0.5
    """
    graph = as_graph(G)
    return _joined(graph, graph.out_csr, S)


@naming_arguments
def group_in_degree_centrality(G: Graph | Any, S: Any) -> float:
    """The share of the vertices outside a group that have an arc to it.

    Parameters and result are those of `group_degree_centrality`; NetworkX refuses undirected graphs.

    Examples
    --------
    >>> hpg.group_in_degree_centrality(([0, 1, 3], [1, 2, 1]), [1])
    0.6666666666666666
    """
    graph = as_graph(G)
    return _joined(graph, graph.in_csr, S)


@naming_arguments
def group_out_degree_centrality(G: Graph | Any, S: Any) -> float:
    """`group_degree_centrality` of a directed graph, by NetworkX's name; NetworkX refuses undirected graphs.

    Examples
    --------
    >>> hpg.group_out_degree_centrality(([0, 1, 3], [1, 2, 1]), [1])
    0.3333333333333333
    """
    return group_degree_centrality(G, S)


@naming_arguments
def group_closeness_centrality(G: Graph | Any, S: Any, weight: Any = None) -> float:
    """The number of vertices outside a group over the sum of their distances to its nearest member.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; in a directed one, paths to the group count.
    S : sequence of vertices, names or hpgraph.id
        The group.
    weight : None, bool or str
        Whether lengths of arcs are their weights, which are not negative; as for `hpgraph.pagerank`.

    Returns
    -------
    float
        Vertices without a path to the group contribute 0 to the sum, as in NetworkX; 0 if there is no path.

    Notes
    -----
    One search from the whole group; on the GPU, launches dominate in graphs of up to 10⁶ arcs.

    References
    ----------
    M. G. Everett, S. P. Borgatti, "The centrality of groups and classes", J. Mathematical Sociology 23 (1999).

    Examples
    --------
    >>> hpg.group_closeness_centrality(hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False), [1, 3])
    1.0
    """
    graph, weighted = with_lengths(G, weight)
    arcs = graph.out_csr
    arcs = graph.in_csr if graph.directed else arcs
    inside = _members(graph, S)
    distance_graph = Graph._from_csr(arcs if weighted else arcs.pattern, graph.directed, None)
    distance = run(Distances, distance_graph, active=id(array_module(graph.device).flatnonzero(inside))).distance
    # Distances are to the group: by in-arcs, the rows here.
    refuse_overflow(distance_graph, distance)
    total = float(distance[distance < np.inf].sum())
    if not total < np.inf:
        raise ValueError("weight: distances add up to more than float64 holds: divide the weights by their largest")
    return (graph.n_vertices - count(inside)) / total if total else 0.0


@naming_arguments
def group_betweenness_centrality(G: Graph | Any, C: Any, normalized: bool = True) -> float:
    """The sum, over pairs of vertices outside a group, of the share of their shortest paths that meet it.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Weights are ignored.
    C : sequence of vertices, names or hpgraph.id
        The group.
    normalized : bool
        Whether to divide by the number of ordered pairs of vertices outside; else pairs of an undirected graph count
        once.

    Returns
    -------
    float
        0 if fewer than two vertices are outside.

    Notes
    -----
    From each vertex outside, shortest paths are counted, and those that avoid the group, level by level: two products
    of the adjacency matrix for each level and block of vertices.

    References
    ----------
    R. Puzis, Y. Elovici, S. Dolev, "Fast algorithm for successive computation of group betweenness centrality",
    Physical Review E 76 (2007).

    Examples
    --------
    >>> hpg.group_betweenness_centrality(hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False), [1])
    0.6666666666666666
    """
    graph = as_simple(G)
    arcs, xp = graph.out_csr, array_module(graph.device)
    matrix = matrix_of_csr((graph.in_csr if graph.directed else arcs).pattern)
    inside = _members(graph, C, "C")
    outside = xp.flatnonzero(~inside)
    block, total = max(1, _HELD // max(graph.n_vertices, 1)), 0.0
    for begin in range(0, len(outside), block):
        total += _sum_over_sources(xp, matrix, outside[begin : begin + block], inside)
    others = len(outside)
    if normalized:
        return total / (others * (others - 1)) if others > 1 else 0.0
    return total if graph.directed else total / 2


def _sum_over_sources(xp: Any, matrix: Any, sources: Any, inside: Any) -> float:
    """The sum of `group_betweenness_centrality` over the pairs of some sources with all targets outside."""
    n, k = len(inside), len(sources)
    paths, seen = xp.zeros((n, k)), xp.zeros((n, k), np.bool_)
    paths[sources, xp.arange(k)] = 1
    avoiding, total = paths.copy(), 0.0
    seen |= paths > 0
    while True:
        # Numbers of shortest paths to the vertices of this level.
        paths, avoiding = matrix @ paths, matrix @ avoiding
        paths[seen] = avoiding[seen] = 0
        avoiding[inside] = 0
        new = paths > 0
        if not anywhere(new):
            return total
        seen |= new
        new &= ~inside[:, None]
        total += float((1 - avoiding[new] / paths[new]).sum())
