"""Where a small graph, a pattern, occurs in another: subgraph isomorphism and homomorphism, with labels."""

from typing import Any, Literal

import numpy as np

from hpgraph.containers.graph import Graph, as_simple, naming_arguments, one_of, vertex_names, whole
from hpgraph.core.device import array_module, fits, to_device
from hpgraph.kernels.backend import kernels, mappings
from hpgraph.kernels.structure import Rows, Steps

_KINDS = "monomorphism", "induced", "homomorphism"
Kind = Literal["monomorphism", "induced", "homomorphism"]
# The bits of a word.
_MAX_VERTICES = 64


@naming_arguments
def subgraph_isomorphisms(
    G: Graph | Any, pattern: Graph | Any, labels: Any = None, *, kind: Kind = "monomorphism", limit: int | None = None
) -> np.ndarray:
    """Subgraph isomorphisms: mappings of a pattern's vertices to a graph's that map arcs to arcs.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; weights and parallel edges are ignored.
    pattern : Graph or what `hpgraph.as_graph` takes
        At most 64 vertices. An edge of an undirected pattern is an arc both ways; in an undirected graph arcs of the
        pattern are edges.
    labels : (array of length n, array of length of the pattern), optional
        A label of each vertex of the graph, and of the pattern; vertices map to those of their label.
    kind : {"monomorphism", "induced", "homomorphism"}
        Whether other vertices of the graph may be joined by further arcs (NetworkX's subgraph monomorphism); must not
        (its subgraph isomorphism); or whether vertices of the pattern may even share one of the graph.
    limit : int, optional
        Maximum number of mappings.

    Returns
    -------
    array of shape (k, p)
        A mapping in each row, the vertex of the graph for each vertex of the pattern: names where the graph has names,
        else indices; in NumPy. A pattern with symmetries occurs as often as it has symmetries in each place.

    Notes
    -----
    On the CPU by backtracking on one thread, `count_subgraph_isomorphisms` on all; on the GPU by joins, in parts where
    partial mappings are many. Time may rise as the p-th power of n.

    References
    ----------
    V. Bonnici et al., "A subgraph isomorphism algorithm and its application to biochemical data", BMC Bioinformatics 14
    (2013). V. Carletti et al., "Challenging the time complexity of exact subgraph isomorphism for huge and dense graphs
    with VF3", IEEE TPAMI 40 (2018). L. Zeng et al., "GSI: GPU-friendly subgraph isomorphism", ICDE'20.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False)
    >>> path = hpg.Graph.from_edges([0, 1], [1, 2], directed=False)
    >>> hpg.subgraph_isomorphisms(G, path, kind="induced").tolist()
    [[0, 2, 3], [1, 2, 3], [3, 2, 0], [3, 2, 1]]
    >>> hpg.subgraph_isomorphisms(G, path, ("aabb", "aab")).tolist()
    [[0, 1, 2], [1, 0, 2]]
    """
    graph, order, rows, steps = _prepared(G, pattern, labels, kind)
    max_mappings = np.iinfo(np.int64).max if limit is None else whole(limit, "limit", least=0)
    result = (
        np.empty((0, 0), np.int64)
        if not len(order)
        else mappings(graph.device).list_mappings(rows, steps, int(max_mappings))
    )
    by_vertex = np.empty_like(result)
    by_vertex[:, order] = result
    if (order[1:] < order[:-1]).any() and len(result):
        # On the GPU if the mappings fit there.
        where = graph.device if fits(4 * result.nbytes, graph.device) else "cpu"
        ascending = array_module(where).lexsort(to_device(by_vertex.T[::-1].copy(), where))
        by_vertex = by_vertex[to_device(ascending, "cpu")]
    return vertex_names(graph, by_vertex)


@naming_arguments
def count_subgraph_isomorphisms(
    G: Graph | Any, pattern: Graph | Any, labels: Any = None, *, kind: Kind = "monomorphism"
) -> int:
    """The number of mappings of `subgraph_isomorphisms`, without listing them.

    Parameters are those of `subgraph_isomorphisms`.

    Returns
    -------
    int
        0 for a pattern without vertices.

    Examples
    --------
    >>> triangle = hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], directed=False)
    >>> hpg.count_subgraph_isomorphisms(hpg.datasets.gnp_random_graph(5, 1), triangle)
    60
    """
    graph, order, rows, steps = _prepared(G, pattern, labels, kind)
    return mappings(graph.device).count_mappings(rows, steps) if len(order) else 0


def _prepared(G: Any, pattern: Any, labels: Any, kind: str) -> tuple[Graph, Any, Any, Any]:
    """The graph, the order of the pattern's vertices, and both as the search takes them."""
    one_of(kind, "kind", _KINDS)
    graph = as_simple(G)
    xp, arcs, small = array_module(graph.device), graph.out_csr, as_simple(pattern)
    p = small.n_vertices
    if p > _MAX_VERTICES:
        raise ValueError(f"pattern must have at most {_MAX_VERTICES} vertices, not {p}")
    P = np.zeros((p, p), bool)
    wanted = small.out_csr.to("cpu")
    P[wanted.expand_rows(), wanted.indices] = True
    P |= P.T & (not graph.directed)
    loops = xp.zeros(graph.n_vertices, bool)
    loops[arcs.indices[arcs.expand_rows() == arcs.indices]] = True
    # A homomorphism may map an arc to a loop.
    out = (arcs if kind == "homomorphism" else arcs.without_diagonal()).with_data(None)
    into = kernels(graph.device).transpose(out) if graph.directed else out
    order = _order(P)
    fit = _labelled(labels, graph.n_vertices, p)
    allowed = xp.zeros(graph.n_vertices, np.uint64)
    looped, P = np.diagonal(P).copy(), P & ~np.eye(p, dtype=bool)
    for step, i in enumerate(order):
        may = xp.asarray(fit(i)) & (loops == looped[i] if kind == "induced" else loops | ~looped[i])
        # An injective mapping needs at least as many neighbours as the pattern's vertex has.
        for csr, need in ((out, P[i].sum()), (into, P[:, i].sum())):
            may &= csr.degrees >= (min(need, 1) if kind == "homomorphism" else need)
        allowed |= may.astype(np.uint64) << np.uint64(step)
    rows = Rows(out.indptr, out.indices, into.indptr, into.indices, allowed)
    return graph, order, rows, _steps(P[np.ix_(order, order)], kind, graph.directed)


def _labelled(labels: Any, n: int, p: int) -> Any:
    """Masks of the graph's vertices with the label of each vertex of the pattern."""
    if labels is None:
        return lambda i: np.ones(n, bool)
    try:
        ours, theirs = (
            np.asarray(list(values) if isinstance(values, str) else to_device(values, "cpu")) for values in labels
        )
    except (TypeError, ValueError):
        raise ValueError("labels must be two arrays, of the graph's vertices and of the pattern's") from None
    if ours.shape != (n,) or theirs.shape != (p,):
        raise ValueError(f"labels must have {n} and {p} values, not shapes {ours.shape} and {theirs.shape}")
    return lambda i: ours == theirs[i]


def _order(P: Any) -> Any:
    """Order by most neighbours among the vertices already ordered, then by most other neighbours."""
    joined = P | P.T
    np.fill_diagonal(joined, False)
    order: list[int] = []
    left = list(range(len(P)))
    while left:
        best = max(left, key=lambda i: (joined[i, order].sum(), joined[i].sum(), -i))
        order.append(best)
        left.remove(best)
    return np.array(order, np.int64)


def _steps(P: Any, kind: str, directed: bool) -> Any:
    begin, rows = [0], list[tuple[int, bool, bool]]()
    for i in range(len(P)):
        for j in range(i):
            for outward in (False, True) if directed else (False,):
                is_arc = bool(P[i, j] if outward else P[j, i])
                if is_arc or kind == "induced":
                    rows.append((j, outward, is_arc))
        begin.append(len(rows))
    columns = np.array(rows, np.int64).reshape(-1, 3).T.copy()
    return Steps(np.array(begin), columns[0], columns[1] > 0, columns[2] > 0, kind != "homomorphism")
