"""Core and periphery: a division of the vertices into a dense part and a sparse one."""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.containers.graph import Graph, by_vertex, naming_arguments, undirected_only
from hpgraph.core.device import Array, array_module, count


class CorePeriphery(NamedTuple):
    """Result of `hpgraph.core_periphery`: a mask of the core, and the number of pairs that do not fit."""

    core: Array
    errors: int


@naming_arguments
def core_periphery(G: Graph | Any) -> CorePeriphery:
    """The division into a core, whose vertices should all be joined, and a periphery, of which no two should be.

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
