"""Matchings, edges without common ends: of most edges in bipartite graphs, and of most weight in any."""

from typing import Any

import numpy as np

from hpgraph.algorithms.bipartite import sides
from hpgraph.containers.graph import Graph, as_simple, by_vertex, naming_arguments, undirected_only
from hpgraph.core.device import Array, array_module, to_device
from hpgraph.formats import CSR
from hpgraph.kernels.backend import matchings


@naming_arguments
def maximum_bipartite_matching(G: Graph | Any) -> Array:
    """A maximum matching of a bipartite graph, as a mate for each vertex.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        A bipartite graph. Arcs count in both directions.

    Returns
    -------
    integer array of shape (n,)
        The index of each vertex's mate, on the graph's device; -1 for a vertex that has none.

    Raises
    ------
    ValueError
        If the graph is not bipartite.

    Notes
    -----
    On the CPU one thread searches, in O(m √n) time. A graph on the GPU is copied to the CPU if paths are so long that
    this is faster; on the GPU the pairs, not their number, may differ between runs.
    `hpgraph.csgraph.maximum_bipartite_matching` is for matrices of rows and columns.

    References
    ----------
    A. Azad, A. Buluç, A. Pothen, "Computing maximum cardinality matchings in parallel on bipartite graphs via
    tree-grafting", TPDS 28(1) (2017). R. M. Karp, M. Sipser, "Maximum matchings in sparse random graphs", FOCS'81. J.
    E. Hopcroft, R. M. Karp, "An n^(5/2) algorithm for maximum matchings in bipartite graphs", SIAM J. Computing 2
    (1973). M. Deveci, K. Kaya, B. Uçar, Ü. V. Çatalyürek, "GPU accelerated maximum cardinality matching algorithms for
    bipartite graphs", Euro-Par'13.

    Examples
    --------
    >>> hpg.maximum_bipartite_matching(([0, 1, 2], [1, 2, 3])).tolist()
    [1, 0, 3, 2]
    """
    graph = as_simple(G).undirected
    side, xp = sides(graph), array_module(graph.device)
    if side is None:
        raise ValueError("G is not bipartite: it has a cycle of an odd number of edges")
    rows, columns = (xp.flatnonzero(side == which) for which in (0, 1))
    column_of, row_of = matchings(graph.device).largest(graph.out_csr, lambda own: own, rows, columns)
    return by_vertex(xp.maximum(column_of, row_of), graph)


@naming_arguments
def max_weight_matching(G: Graph | Any, maxcardinality: bool = False, *, exact: bool = True) -> Array:
    """A matching of maximum weight, as a mate for each vertex.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        An undirected graph. Without weights an edge weighs 1. Loops are ignored.
    maxcardinality : bool
        Whether the matching must have the maximum number of edges, and maximum weight among those.
    exact : bool
        False computes at least half of the maximum weight, in little more time than reading the edges takes; with
        `maxcardinality` the matching then is maximal: no edge can be added.

    Returns
    -------
    integer array of shape (n,)
        The index of each vertex's mate, on the graph's device; -1 for a vertex that has none. NetworkX gives a set of
        edges.

    Raises
    ------
    ValueError
        If the graph is directed, or a weight is not finite.

    Notes
    -----
    Runs on one thread of the CPU, to which a graph on the GPU is copied, in double precision: exact for integers of up
    to 51 bits. Bipartite graphs are an assignment problem, whose weights `maxcardinality` multiplies by the number of
    vertices. In others blossoms are shrunk, in at most O(n m log n) steps and usually far fewer. Without `exact`,
    locally heaviest edges are matched, which needs no sorting.

    References
    ----------
    J. Edmonds, "Maximum matching and a polyhedron with 0,1-vertices", Journal of Research of the NBS 69B (1965). Z.
    Galil, S. Micali, H. Gabow, "An O(EV log V) algorithm for finding a maximal weighted matching in general graphs",
    SIAM J. Computing 15(1) (1986). R. Jonker, A. Volgenant, "A shortest augmenting path algorithm for dense and sparse
    linear assignment problems", Computing 38 (1987). F. Manne, M. Halappanavar, "New effective multithreaded matching
    algorithms", IPDPS'14.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], [5, 11, 5], directed=False)
    >>> hpg.max_weight_matching(G).tolist(), hpg.max_weight_matching(G, maxcardinality=True).tolist()
    ([-1, 2, 1, -1], [1, 0, 3, 2])
    """
    graph, arcs = undirected_only(G, "max")
    arcs = arcs.to("cpu")
    if arcs.data is not None and not np.isfinite(arcs.data).all():
        raise ValueError("the weights of G must be finite for a matching")
    if not exact:
        # Imported here, since it imports Numba.
        from hpgraph.kernels.structure.cpu_greedy import suitors

        mate = suitors(arcs, -np.inf if maxcardinality else 0.0)
        return by_vertex(to_device(mate, graph.device), graph)
    weight = np.ones(arcs.nnz) if arcs.data is None else arcs.data.astype(np.float64)
    if (side := sides(graph)) is not None:
        mate = _assigned(arcs, weight, to_device(side, "cpu"), maxcardinality)
    else:
        # Imported here, since it imports Numba.
        from hpgraph.kernels.matching.cpu_heaviest import heaviest

        # With equal weights, a maximum cardinality matching has maximum weight.
        pairs = maxcardinality and arcs.data is not None
        mate = heaviest(arcs, 1 + 1j * weight if pairs else weight)
    return by_vertex(to_device(mate.astype(arcs.indices.dtype), graph.device), graph)


def _assigned(arcs: CSR, weight: Any, side: Any, most_edges: bool) -> Any:
    """The mates in a bipartite graph: a vertex of the first side without one is assigned to itself."""
    from hpgraph.kernels.matching.cpu_lightest import lightest

    n, rows = len(side), arcs.expand_rows()
    kept = (side[rows] == 0) & (most_edges | (weight > 0))
    u, v, weight = rows[kept].astype(np.int64), arcs.indices[kept].astype(np.int64), weight[kept]
    if most_edges and len(weight):
        # A bonus an edge, large enough that one more edge outweighs any loss of weight.
        weight = weight - weight.min() * (n + 1) + weight.max() * n + 1
    alone = np.arange(n)
    rows, columns = np.concatenate([u, alone]), np.concatenate([v, alone + n])
    column = lightest(CSR.from_coo(rows, columns, np.concatenate([-weight, np.zeros(n)]), (n, 2 * n)))
    mate, matched = np.full(n, -1), np.flatnonzero(column < n)
    mate[matched], mate[column[matched]] = column[matched], matched
    return mate
