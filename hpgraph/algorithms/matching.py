"""Matchings, edges without common ends: of most edges in bipartite graphs, and of most weight."""

from typing import Any

import numpy as np

from hpgraph.algorithms.bipartite import sides
from hpgraph.containers.graph import Graph, as_simple, undirected_only
from hpgraph.containers.vertex_array import by_vertex
from hpgraph.core.arrays import Array
from hpgraph.core.device import to_device
from hpgraph.core.errors import optional
from hpgraph.core.suggestions import naming_arguments
from hpgraph.formats import CSR


@naming_arguments
def maximum_bipartite_matching(G: Graph | Any) -> Array:
    """A matching of most edges in a bipartite graph, as a mate for each vertex.

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
    Runs on one thread of the CPU; a graph on the GPU is copied to it. In the worst case time is that of m times the
    root of n. `hpgraph.csgraph.maximum_bipartite_matching` is for matrices of rows and columns.

    References
    ----------
    A. Azad, A. Buluç, A. Pothen, "Computing maximum cardinality matchings in parallel on bipartite graphs via
    tree-grafting", TPDS 28(1) (2017). R. M. Karp, M. Sipser, "Maximum matchings in sparse random graphs", FOCS'81. J.
    E. Hopcroft, R. M. Karp, "An n^(5/2) algorithm for maximum matchings in bipartite graphs", SIAM J. Computing 2
    (1973).

    Examples
    --------
    >>> hpg.maximum_bipartite_matching(([0, 1, 2], [1, 2, 3])).tolist()
    [1, 0, 3, 2]
    """
    # Imported here, since it imports Numba.
    from hpgraph.kernels.matching.cpu import largest

    graph = as_simple(G).undirected
    arcs = graph.out_csr.to("cpu")
    side = sides(graph)
    if side is None:
        raise ValueError("G is not bipartite: it has a cycle of an odd number of edges")
    rows, columns = (np.flatnonzero(to_device(side, "cpu") == which) for which in (0, 1))
    column_of, row_of = largest(arcs, arcs, rows, columns)
    return by_vertex(to_device(np.maximum(column_of, row_of), graph.device), graph)


@naming_arguments
def max_weight_matching(G: Graph | Any, maxcardinality: bool = False, *, exact: bool = True) -> Array:
    """A matching of most weight, as a mate for each vertex.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        An undirected graph. Without weights an edge weighs 1. Loops are passed over.
    maxcardinality : bool
        Whether the matching must have as many edges as any, and most weight among those.
    exact : bool
        False gives at least half of the largest weight, in little more time than reading the edges takes; with
        `maxcardinality` then a maximal matching, to which no edge can be added.

    Returns
    -------
    integer array of shape (n,)
        The index of each vertex's mate, on the graph's device; -1 for a vertex that has none. NetworkX gives a set of
        edges.

    Raises
    ------
    ValueError
        If the graph is directed, or a weight is not finite.
    MissingExtraError
        If the graph is not bipartite, `exact` is asked for, and NetworkX is not installed.

    Notes
    -----
    Runs on one thread of the CPU, to which a graph on the GPU is copied. Bipartite graphs are an assignment problem, of
    any size, in double precision. Others are left to NetworkX's search for blossoms in Python, whose time is that of
    n³: for some thousands of vertices. Without `exact` edges are taken by falling weight where both ends are free, each
    of them the heaviest of those left at its ends; nothing is sorted for it.

    References
    ----------
    J. Edmonds, "Paths, trees, and flowers", Canadian Journal of Mathematics 17 (1965). R. Jonker, A. Volgenant, "A
    shortest augmenting path algorithm for dense and sparse linear assignment problems", Computing 38 (1987). F.
    Manne, M. Halappanavar, "New effective multithreaded matching algorithms", IPDPS'14.

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
        # Loaded here, as it brings Numba.
        from hpgraph.kernels.structure.cpu_greedy import suitors

        mate = suitors(arcs, -np.inf if maxcardinality else 0.0)
        return by_vertex(to_device(mate, graph.device), graph)
    source = arcs.expand_rows()
    kept = source < arcs.indices
    weight = np.ones(int(kept.sum())) if arcs.data is None else arcs.data[kept].astype(np.float64)
    u, v = source[kept], arcs.indices[kept]
    if not maxcardinality:
        u, v, weight = (part[weight > 0] for part in (u, v, weight))
    if (side := sides(graph)) is not None:
        pairs = _assigned(u, v, weight, to_device(side, "cpu"), maxcardinality)
    else:
        pairs = _by_blossoms(u, v, weight, maxcardinality)
    mate = np.full(graph.n_vertices, -1, arcs.indices.dtype)
    mate[pairs[0]], mate[pairs[1]] = pairs[1], pairs[0]
    return by_vertex(to_device(mate, graph.device), graph)


def _assigned(u: Any, v: Any, weight: Any, side: Any, most_edges: bool) -> tuple[Any, Any]:
    """The matched edges of a bipartite graph: a vertex of the first side without a mate is assigned to itself."""
    from hpgraph.kernels.matching.cpu_lightest import lightest

    n, swapped = len(side), side[u] != 0
    u, v = np.where(swapped, v, u).astype(np.int64), np.where(swapped, u, v).astype(np.int64)
    if most_edges and len(weight):
        # So much that one more edge outweighs all that the others may lose.
        weight = weight - weight.min() * (n + 1) + weight.max() * n + 1
    alone = np.arange(n)
    rows, columns = np.concatenate([u, alone]), np.concatenate([v, alone + n])
    column = lightest(CSR.from_coo(rows, columns, np.concatenate([-weight, np.zeros(n)]), (n, 2 * n)))
    matched = np.flatnonzero(column < n)
    return matched, column[matched]


def _by_blossoms(u: Any, v: Any, weight: Any, most_edges: bool) -> tuple[Any, Any]:
    purpose = "max_weight_matching of a graph that is not bipartite, but for exact=False"
    nx = optional("networkx", "networkx", purpose)
    graph = nx.Graph()
    graph.add_weighted_edges_from(zip(u.tolist(), v.tolist(), weight.tolist(), strict=True))
    pairs = nx.max_weight_matching(graph, maxcardinality=most_edges, backend="networkx")
    first, second = np.array(sorted(pairs), np.int64).reshape(-1, 2).T
    return first, second
