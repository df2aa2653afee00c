"""Minimum cuts: between two vertices, of the whole graph, and between all pairs; and connectivity, which they count."""

from typing import Any

import numpy as np

from hpgraph.algorithms.bfs import bfs
from hpgraph.algorithms.maximum_flow import MAX_FLOW, both_ways, counted, flow_between, maximum_flow, two_ends
from hpgraph.containers.graph import Graph, as_graph, as_simple, id, naming_arguments, undirected_only, vertex_names
from hpgraph.core.device import array_module
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.structure.cpu_maximum_flow import maximum_flow as by_paths
from hpgraph.kernels.structure.cpu_minimum_cut import scan

Cut = tuple[Any, tuple[Any, Any]]
# Whole numbers up to it are exact in float64.
_EXACT = 1 << 53


@naming_arguments
def minimum_cut(G: Graph | Any, source: Any, sink: Any) -> Cut:
    """A minimum cut: arcs of least total capacity whose removal separates a sink from a source.

    Parameters and errors are those of `maximum_flow`, whose value the cut has.

    Returns
    -------
    value : int or float
        The capacity of the arcs from the first to the second part; for floats, the value of the flow.
    (near, far) : (array, array)
        The parts, with the source and the sink: names if the graph has names, else indices, on the graph's device.
        Among several minimum cuts, the one nearest to the sink, as in NetworkX.

    References
    ----------
    L. R. Ford, D. R. Fulkerson, "Maximal flow through a network", Canadian Journal of Mathematics 8 (1956).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 1, 2], [1, 2, 2, 3, 3], [5, 3, 4, 2, 6])
    >>> value, (near, far) = hpg.minimum_cut(G, 0, 3)
    >>> value, near.tolist(), far.tolist()
    (8, [0, 1, 2], [3])
    """
    graph = as_simple(G, "sum")
    s, t = two_ends(graph, source, sink)
    both, capacity = both_ways(graph)
    value, net = flow_between(both, capacity, s, t)
    return value, _parts(graph, ~far_side(both, capacity, net, t))


def _parts(graph: Graph, near: Any) -> tuple[Any, Any]:
    xp = array_module(near)
    return vertex_names(graph, xp.flatnonzero(near)), vertex_names(graph, xp.flatnonzero(~near))


def far_side(both: Graph, capacity: Any, flow: Any, sink: int) -> Any:
    """A mask of the vertices from which arcs that a maximum flow does not fill lead to the sink."""
    arcs, is_residual = both.out_csr, capacity > flow
    # Arcs with residual capacity, reversed.
    turned = arcs.indices[is_residual], arcs.expand_rows()[is_residual]
    residual = Graph.from_edges(*turned, n_vertices=both.n_vertices, directed=True, names=False)
    return bfs(residual, id(sink)).level >= 0


@naming_arguments
def stoer_wagner(G: Graph | Any) -> Cut:
    """A global minimum cut: edges of least total weight whose removal disconnects the graph.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        An undirected graph of at least two vertices. Weights are not negative, and integers add up to less than 2⁵³
        over both directions of the edges; without weights an edge weighs 1. Loops are passed over.

    Returns
    -------
    value : int, or float for weights that are no integers
        0 for a graph of several components.
    (one, other) : (array, array)
        The parts: names if the graph has names, else indices, in NumPy.

    Notes
    -----
    Runs on one thread of the CPU; a graph on the GPU is copied to it. A scan yields a cut and edges that no lighter cut
    contains; these are contracted, so that few scans suffice. Weights are summed in double precision.

    References
    ----------
    M. Stoer, F. Wagner, "A simple min-cut algorithm", JACM 44 (1997). H. Nagamochi, T. Ono, T. Ibaraki, "Implementing
    an efficient minimum capacity cut algorithm", Mathematical Programming 67 (1994).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> value, (one, other) = hpg.stoer_wagner(G)
    >>> value, sorted([one.tolist(), other.tolist()])
    (1, [[0, 1, 2], [3, 4, 5]])
    """
    graph, arcs = undirected_only(G, "sum")
    whole = graph.dtype is None or graph.dtype.kind != "f"
    if whole and graph.dtype is not None and float(arcs.data.sum(dtype=np.float64)) >= _EXACT:
        raise ValueError(
            "weight: the weights add up to more than double precision counts exactly: convert them by "
            ".astype(numpy.float64) for a cut up to rounding"
        )
    value, side = _lightest(arcs.to("cpu"))
    return int(value) if whole else value, _parts(graph, side)


def _lightest(arcs: CSR) -> tuple[float, Any]:
    """The weight of a minimum cut of an undirected graph whose arcs lie on the CPU, and a mask of one side."""
    # Imported here, since it imports Numba.
    arcs = arcs.without_diagonal().astype(np.float64)
    n = arcs.shape[0]
    if n < 2:
        raise ValueError(f"G must have at least two vertices to be cut, not {n}")
    with np.errstate(over="ignore"):
        together = arcs.data.sum()
    if arcs.nnz and not (arcs.data.min() >= 0 and together < np.inf):
        raise ValueError("the weights of G must be finite, and so must their sum, and not negative for a minimum cut")
    count, component = kernels("cpu").components(arcs.pattern, True)
    if count > 1:
        return 0.0, component == 0
    given, label, side, value = arcs, np.arange(n), np.zeros(n, bool), np.inf
    while n > 1 and value > 0:
        degree = np.bincount(arcs.expand_rows(), arcs.data, n)
        min_vertex = int(degree.argmin())
        if degree[min_vertex] < value:
            value, side = float(degree[min_vertex]), label == min_vertex
        lightest, part, root = scan(arcs, value)
        if lightest < value:
            value, side = lightest, part[label]
        # Contracted; weights of edges that become parallel are summed.
        roots, number = np.unique(root, return_inverse=True)
        n, label = len(roots), number[label]
        arcs = CSR.from_coo(number[arcs.expand_rows()], number[arcs.indices], arcs.data, (n, n), duplicates="sum")
        arcs = arcs.without_diagonal()
    # Of its edges alone: differences of sums lose weights far below the others.
    return float(given.data[side[given.expand_rows()] & ~side[given.indices]].sum()), side


@naming_arguments
def gomory_hu_tree(G: Graph | Any) -> Graph:
    """A Gomory–Hu tree: the lightest edge between two vertices gives the value and the sides of a minimum cut.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        An undirected graph. Weights are capacities, as for `maximum_flow`.

    Returns
    -------
    Graph
        On the CPU, with the names of `G`: n - 1 edges, with int64 weights, or float64 if capacities are floats; 0
        between components. Removing an edge divides the tree into two parts, between which the edges of `G` have the
        edge's total weight.

    Notes
    -----
    n - 1 maximum flows on one thread of the CPU; a graph on the GPU is copied to it.

    References
    ----------
    R. E. Gomory, T. C. Hu, "Multi-terminal network flows", SIAM Journal 9 (1961). D. Gusfield, "Very simple methods for
    all pairs network flow analysis", SIAM Journal on Computing 19 (1990).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], [3, 1, 4, 2], directed=False)
    >>> T = hpg.gomory_hu_tree(G)
    >>> [(int(u), int(v), int(w)) for u, v, w in zip(*T.edges())]
    [(0, 1, 4), (1, 2, 5), (2, 3, 2)]
    """
    graph, _ = undirected_only(G, "sum")
    above, value = cut_tree(graph)
    return Graph.from_edges(
        np.arange(1, len(above)), above[1:], value[1:], len(above), directed=False, names=graph.names
    )


def cut_tree(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """The parent of each vertex in a cut tree of which vertex 0 is the root, and the weight of the edge to it."""
    # Imported here, since it imports Numba.
    both, capacity = both_ways(graph.to("cpu"))
    if capacity.dtype.kind != "f" and float(capacity.astype(np.float64).sum()) >= MAX_FLOW:
        raise ValueError(f"G: its edges carry more than {MAX_FLOW} together, which cannot be counted")
    n = graph.n_vertices
    above, value = np.zeros(n, np.int64), np.zeros(n, capacity.dtype)
    vertex = np.arange(n)
    for v in range(1, n):
        t = int(above[v])
        # From the other end, so that among several minimum cuts the one nearest to it is found, as in NetworkX.
        value[v], far = by_paths(both.out_csr, capacity.copy(), t, v)
        above[~far & (above == t) & (vertex != v)] = v
        if not far[above[t]]:
            above[v], above[t] = above[t], v
            value[v], value[t] = value[t], value[v]
    return above, value


@naming_arguments
def edge_connectivity(G: Graph | Any, source: Any = None, sink: Any = None) -> int:
    """Edge connectivity: the least number of arcs whose removal makes one vertex unreachable from another.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; weights and loops are ignored.
    source, sink : vertex, optional
        By name, or by index if the graph has no names. By default the minimum over all pairs.

    Returns
    -------
    int
        0 for a graph that is not connected, or of one vertex.

    Notes
    -----
    Between two vertices it is a maximum flow; for undirected graphs a cut as by `stoer_wagner`, for directed ones n
    maximum flows, from each vertex to the next.

    References
    ----------
    A.-H. Esfahanian, "Connectivity algorithms" (2013). H. Nagamochi, T. Ono, T. Ibaraki, "Implementing an efficient
    minimum capacity cut algorithm", Mathematical Programming 67 (1994).

    Examples
    --------
    >>> hpg.edge_connectivity(hpg.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))
    1
    """
    graph = as_graph(G)
    if (source is None) != (sink is None):
        raise ValueError("source and sink must both be given, or neither")
    n = graph.n_vertices
    if source is None and n < 2:
        return 0
    # Parallel edges are cut one by one.
    plain = counted(graph)
    if source is None and not graph.directed:
        return int(_lightest(plain.out_csr.to("cpu"))[0])
    if source is not None:
        return int(maximum_flow(plain, source, sink).flow_value)
    connectivity = plain.n_edges if plain.dtype is None else int(plain.weights.sum())
    both, capacity = both_ways(plain)
    for v in range(n):
        connectivity = min(connectivity, flow_between(both, capacity, v, (v + 1) % n)[0])
        if connectivity == 0:
            break
    return connectivity
