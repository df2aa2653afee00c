"""Core and periphery: a division of the vertices into a dense part and a sparse one, and how dense the rich are."""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.containers.graph import Graph, as_simple, by_vertex, naming_arguments, undirected_only
from hpgraph.core.device import Array, array_module, count


class CorePeriphery(NamedTuple):
    """Result of `hpgraph.core_periphery`: a mask of the core, and the number of pairs that do not fit."""

    core: Array
    errors: int


@naming_arguments
def core_periphery(G: Graph | Any) -> CorePeriphery:
    """The division into a core, ideally a clique, and a periphery, ideally an independent set.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        An undirected graph; loops and weights play no part.

    Returns
    -------
    CorePeriphery
        ``core``: bool array of shape (n,) by index, on the graph's device; ``errors``: pairs of the core without an
        edge and edges in the periphery, fewer than in any other division. Of vertices of one degree those of the
        smallest index are in the core first, and of several such divisions it has the smallest core.

    Notes
    -----
    Edges between core and periphery count neither way. A vertex belongs to the core if it has more neighbours than the
    core vertices of higher degree number, so that a sort by degree finds the best division.

    References
    ----------
    S. P. Borgatti, M. G. Everett, "Models of core/periphery structures", Social Networks 21 (2000). S. Z. W. Lip, "A
    fast algorithm for the discrete core/periphery bipartitioning problem", arXiv:1102.5511 (2011).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 0, 1, 2], [1, 2, 2, 3, 4, 5], directed=False)
    >>> hpg.core_periphery(G)
    CorePeriphery(core=array([ True,  True,  True, False, False, False]), errors=0)
    """
    graph, arcs = undirected_only(G, "min")
    xp, n = array_module(graph.device), graph.n_vertices
    degree = arcs.without_diagonal().degrees
    order = xp.argsort(-degree, kind="stable")
    falling = degree[order]
    k = count(falling > xp.arange(n))
    core = xp.zeros(n, np.bool_)
    core[order[:k]] = True
    errors = k * (k - 1) // 2 + int(degree.sum()) // 2 - int(falling[:k].sum())
    return CorePeriphery(by_vertex(core, graph), errors)


@naming_arguments
def rich_club_coefficient(G: Graph | Any) -> Array:
    """Rich-club coefficients: for each k, the share of the pairs of vertices of degree above k that are joined.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, and loops are ignored.

    Returns
    -------
    float64 array of shape (K,)
        On the graph's device. Element k is of the vertices with more than k neighbours, as long as there are two: the
        values of NetworkX's function with ``normalized=False``.

    References
    ----------
    J. J. McAuley, L. da Fontoura Costa, T. S. Caetano, "The rich-club phenomenon across complex network hierarchies",
    Applied Physics Letters 91 (2007).

    Examples
    --------
    >>> hpg.rich_club_coefficient(([0, 1, 2, 2], [1, 2, 0, 3])).round(3).tolist()
    [0.667, 1.0]
    """
    graph = as_simple(G).undirected
    arcs, xp = graph.out_csr.without_diagonal(), array_module(graph.device)
    degree = arcs.degrees
    richer = graph.n_vertices - xp.cumsum(xp.bincount(degree, minlength=1))
    lesser = xp.minimum(degree[arcs.expand_rows()], degree[arcs.indices])
    # Both arcs of an edge count, and the pairs of vertices are ordered ones.
    joined = arcs.nnz - xp.cumsum(xp.bincount(lesser, minlength=len(richer)))
    many = richer > 1
    return joined[many] / (richer * (richer - 1))[many]
