"""Trusses: the parts of a graph in which every edge is in many triangles.

J. Cohen, "Trusses: cohesive subgraphs for social network analysis", NSA (2008). Edges are peeled, those in few
triangles first.
"""

from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, as_graph
from hpgraph.core.arrays import Array
from hpgraph.core.device import array_module
from hpgraph.core.number import whole
from hpgraph.core.suggestions import naming_arguments
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels

# Of fewer arcs a vertex in the mean the GPU counts triangles sooner than it finds the vertices of few neighbours.
_MANY_ARCS = 8


@naming_arguments
def truss_number(G: Graph | Any) -> Array:
    """The largest k for which each edge lies in the k-truss.

    Arcs count in both directions, and weights play no part.

    Returns
    -------
    int64 array of shape (n_edges,)
        On the graph's device, in the order of ``G.edges(both_ways=True)``: both directions of an edge have the same
        number. 2 for an edge in no triangle, 0 for a loop, which is in no truss.

    Notes
    -----
    Beside the graph and its degree order it takes some 42 bytes an edge on the CPU, 57 on the GPU. Every triangle is
    enumerated twice: in the initial count, and when its first edge is removed. The time is bounded by the sum, over
    all edges, of the lesser degree of their ends.

    References
    ----------
    J. Wang, J. Cheng, "Truss decomposition in massive networks", VLDB'12.

    Examples
    --------
    A triangle, and a vertex that hangs on it.

    >>> import hpgraph as hpg
    >>> hpg.truss_number(([0, 1, 2, 2], [1, 2, 0, 3])).tolist()
    [3, 3, 3, 2]
    """
    graph = as_graph(G)
    plain = graph.undirected
    number = kernels(graph.device).truss_numbers(plain.out_csr)
    if plain is graph:
        return number
    arcs = graph.out_csr
    return number[kernels(graph.device).positions_of(plain.out_csr, arcs.expand_rows().astype(np.int64), _wide(arcs))]


@naming_arguments
def k_truss(G: Graph | Any, k: int) -> Graph:
    """The k-truss: the largest part of the graph in which every edge is in at least k - 2 triangles.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, and loops are left out; NetworkX refuses graphs that have either.
    k : int
        Which.

    Returns
    -------
    Graph
        Undirected: the edges of that truss and the vertices at their ends, as `Graph.edge_subgraph`; without vertices
        if there is none.

    Notes
    -----
    Every k-truss is part of the (k - 1)-core, which takes little time and is looked through alone; on the GPU in graphs
    of many arcs.

    References
    ----------
    J. Cohen, "Trusses: cohesive subgraphs for social network analysis", NSA (2008).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.k_truss(([0, 1, 2, 2], [1, 2, 0, 3]), 3)
    Graph: 3 vertices, 6 arcs, undirected, no weights, cpu
    """
    k = max(whole(k, "k"), 2)
    graph = as_graph(G).undirected
    backend, xp = kernels(graph.device), array_module(graph.device)
    if graph.device == "cpu" or graph.out_csr.nnz >= _MANY_ARCS * graph.n_vertices:
        # Remove vertices of degree < k - 1 repeatedly. Loops count here, so some more vertices may stay.
        inside = backend.generations(graph.out_csr, xp.maximum(graph.out_degree - (k - 2), 0)) < 0
        if int(inside.sum()) < graph.n_vertices:
            graph = graph.subgraph(inside)
    arcs = graph.out_csr
    flags = backend.truss(arcs, k) if k > 2 else arcs.indices != arcs.expand_rows()
    return graph.edge_subgraph(flags) if bool(flags.any()) else graph.subgraph([])


def _wide(arcs: CSR) -> Any:
    return arcs.indices.astype(np.int64, copy=False)
