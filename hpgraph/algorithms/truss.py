"""Trusses: the parts of a graph in which every edge is in many triangles.

J. Cohen, "Trusses: cohesive subgraphs for social network analysis", NSA (2008). On the CPU edges are peeled, those in
few triangles first; on the GPU the triangles of all edges that are left are counted anew by a product, A ⊕.⊗ A over
plus_pair at the places of A, as long as some have too few (T. A. Davis, "Graph algorithms via SuiteSparse:GraphBLAS:
triangle counting and k-truss", HPEC'18).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.algebra.mxm import mxm
from hpgraph.algebra.select import select
from hpgraph.containers.graph import Graph, as_graph
from hpgraph.core.device import array_module
from hpgraph.core.number import whole
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels
from hpgraph.scipy_api.matrix import Matrix

# Larger than any truss number.
_NO_LIMIT = 1 << 62


def truss_number(G: Graph | Any) -> Any:
    """The largest k for which each edge lies in the k-truss.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, and weights play no part.

    Returns
    -------
    int64 array of shape (n_edges,)
        On the graph's device, in the order of ``G.edges(both_ways=True)``: both directions of an edge have the same
        number. 2 for an edge in no triangle, 0 for a loop, which is in no truss.

    Raises
    ------
    DeviceMemoryError
        When the work space will not fit.

    See Also
    --------
    k_truss : the part of the graph that such a number names.

    Notes
    -----
    On the CPU it takes, beside the graph and its degree order, some 42 bytes an edge. On the GPU every k takes some
    products, each a count of all triangles: for graphs of many trusses `k_truss` of one k is far quicker.

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
    number = _numbers(plain.out_csr, _NO_LIMIT)
    if plain is graph:
        return number
    arcs = graph.out_csr
    return number[kernels(graph.device).positions_of(plain.out_csr, arcs.expand_rows().astype(np.int64), _wide(arcs))]


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

    Raises
    ------
    TypeError
        If `k` is no whole number.
    DeviceMemoryError
        When the work space will not fit.

    Notes
    -----
    Every k-truss is part of the (k - 1)-core, which takes little time and is looked through alone.

    References
    ----------
    J. Cohen, "Trusses: cohesive subgraphs for social network analysis", NSA (2008).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.k_truss(([0, 1, 2, 2], [1, 2, 0, 3]), 3)
    Graph: 3 vertices, 6 arcs, undirected, no weights, cpu
    """
    k = whole(k, "k")
    graph = as_graph(G).undirected
    inside = kernels(graph.device).peel(graph.out_csr)[0] >= k - 1
    if not bool(inside.all()):
        graph = graph.subgraph(inside)
    return graph.edge_subgraph(_numbers(graph.out_csr, max(k, 3)) >= max(k, 2))


def _numbers(arcs: CSR, limit: int) -> Any:
    """The truss number of each arc of a symmetric matrix; those from the limit on are not told apart."""
    if arcs.device == "cuda":
        return by_products(arcs, limit)
    # Loaded here, as it brings Numba.
    from hpgraph.kernels.structure.cpu_truss import truss_numbers

    return truss_numbers(arcs, limit)


def by_products(arcs: CSR, limit: int) -> Any:
    """Truss numbers by counting triangles anew, on either device.

    Parameters
    ----------
    arcs : CSR
        Symmetric, rows ascending, no arc twice.
    limit : int
        At least 3. Arcs of the truss of that number all get it.

    Returns
    -------
    int64 array of shape (nnz,)
        0 for loops.

    Examples
    --------
    >>> by_products(CSR((3, 3), [0, 2, 4, 6], [1, 2, 0, 2, 0, 1]), 9).tolist()
    [3, 3, 3, 3, 3, 3]
    """
    xp = array_module(arcs.device)
    number = xp.zeros(arcs.nnz, np.int64)
    left, k = select(Matrix(arcs.with_data(None, copy=False), copy=False), "offdiag").csr, 2
    while left.nnz:
        # These are the k-truss.
        at = kernels(arcs.device).positions_of(arcs, left.expand_rows().astype(np.int64), _wide(left))
        number[at] = k
        if k >= limit:
            break
        k += 1
        while True:
            plain = Matrix(left.with_data(None, copy=False), copy=False)
            triangles = mxm(plain, plain, "plus_pair", mask=plain.structure)
            kept = select(triangles, "valuege", k - 2).csr
            if kept.nnz == left.nnz:
                # Nothing falls away before the least number of triangles there is.
                k = min(limit, int(kept.data.min()) + 2) if kept.nnz else k
                break
            left = kept
    return number


def _wide(arcs: CSR) -> Any:
    return arcs.indices.astype(np.int64, copy=False)
