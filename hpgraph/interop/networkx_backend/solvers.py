"""Functions solved by a linear system, or by sparse products: current flow, Katz centrality, structural holes."""

from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import breadth_first_order

from hpgraph.algorithms.current_flow import closeness_of, currents, through_vertices
from hpgraph.interop.networkx_backend.components import is_connected_in
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.matrices import adjacency
from hpgraph.interop.networkx_backend.returned import as_networkx
from hpgraph.interop.networkx_backend.serving import NETWORKX, family, undirected


def _network(G: ConvertedGraph, weight: str | None, dtype: Any, solver: str) -> Any:
    """The matrix of conductances between nodes; raises the errors that NetworkX raises."""
    if not is_connected_in(G):
        raise nx.NetworkXError("Graph not connected.")
    if solver not in ("full", "lu", "cg"):
        raise KeyError(solver)
    if dtype is not float or G.has_loops:
        raise NotImplementedError("dtype is not float" if dtype is not float else "there are loops")
    G.lengths(weight, positive=True)
    return adjacency(G, None, weight).astype(np.float64).tocsr()


def _current_closeness(G: ConvertedGraph, weight: str | None, dtype: Any, solver: str) -> dict[Any, float]:
    if NETWORKX >= (3, 7) and len(G) <= 1:
        return dict.fromkeys(G, 1.0)
    conductance = _network(G, weight, dtype, solver)
    if len(G) == 1:
        raise ZeroDivisionError("float division by zero")
    return G.by_node(closeness_of(conductance))


def _currents(G: ConvertedGraph, normalized: bool, weight: str | None, dtype: Any, solver: str) -> tuple[Any, ...]:
    """The ends of the edges, the current through each, and what it is divided by."""
    conductance = _network(G, weight, dtype, solver)
    source, target, values, n = G.rows[G.edges], G.indices[G.edges], G.column(weight), len(G)
    of_edges = np.ones(len(source)) if values is None else values[G.edges].astype(np.float64)
    if normalized and n <= 2:
        raise ZeroDivisionError("float division by zero")
    scale = (n - 1.0) * (n - 2.0) if normalized else 2.0
    return source, target, currents(conductance, source, target, of_edges), scale


def _current_betweenness(
    G: ConvertedGraph, normalized: bool, weight: str | None, dtype: Any, solver: str
) -> dict[Any, float]:
    source, target, current, scale = _currents(G, normalized, weight, dtype, solver)
    return G.by_node(through_vertices(len(G), source, target, current) * 2.0 / scale)


def _current_edge_betweenness(
    G: ConvertedGraph, normalized: bool, weight: str | None, dtype: Any, solver: str
) -> dict[tuple[Any, Any], float]:
    source, target, current, scale = _currents(G, normalized, weight, dtype, solver)
    # NetworkX names an edge by the earlier of its ends in this order.
    order = np.empty(len(G), np.int64)
    order[G.numbers(nx.utils.reverse_cuthill_mckee_ordering(as_networkx(G)))] = np.arange(len(G))
    turned = order[source] > order[target]
    ends = G.pairs(np.where(turned, target, source), np.where(turned, source, target))
    return dict(zip(ends, (current / scale).tolist(), strict=True))


def _katz(G: ConvertedGraph, alpha: float, beta: Any, normalized: bool, weight: str | None) -> dict[Any, float]:
    """As `networkx.katz_centrality_numpy`, by a sparse solver."""
    if len(G) == 0:
        return {}
    nodes = list(G)
    if hasattr(beta, "keys"):
        nodes = list(beta)
        if set(nodes) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node")
        attached = np.array(list(beta.values()), float)
    else:
        try:
            attached = np.ones(len(nodes)) * float(beta)
        except (TypeError, ValueError) as error:
            raise nx.NetworkXError("beta must be a number") from error
    matrix = scipy.sparse.eye_array(len(nodes)) - alpha * adjacency(G, nodes, weight).T
    found = np.atleast_1d(scipy.sparse.linalg.spsolve(matrix.tocsc(), attached))
    norm = np.sign(found.sum()) * np.linalg.norm(found) if normalized else 1
    return dict(zip(nodes, (found / norm).tolist(), strict=True))


def _laplacian_centrality(G: ConvertedGraph, normalized: bool, nodelist: Any, weight: str | None) -> dict[Any, float]:
    """As `networkx.laplacian_centrality` of an undirected graph: what goes with a node's row, in closed form."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("null graph has no centrality defined")
    matrix = adjacency(G, None, weight).astype(np.float64)
    if matrix.sum() == 0:
        if normalized:
            raise ZeroDivisionError("graph with no edges has zero full energy")
        return dict.fromkeys(G, 0)
    nodes = list(G) if nodelist is None else list(nodelist)
    if len(set(G.nbunch_iter(nodes))) != len(nodes):
        raise nx.NetworkXError("nodelist has duplicate nodes or nodes not in G")
    matrix = matrix - scipy.sparse.diags_array(matrix.diagonal())
    diagonal = np.asarray(matrix.sum(axis=1)).ravel()
    squares = np.asarray(matrix.power(2).sum(axis=1)).ravel()
    energy = diagonal**2 + squares + 2 * (abs(matrix) @ diagonal)
    whole = (diagonal**2).sum() + squares.sum() if normalized else 1
    return {node: (energy[G.index[node]] / whole).item() for node in nodes}


def _trophic(G: ConvertedGraph, weight: str | None, arcs: Any = slice(None)) -> dict[Any, float]:
    """As `networkx.trophic_levels`, of some of the arcs."""
    n, source, target, values = len(G), G.rows[arcs], G.indices[arcs], G.column(weight)
    G.lengths(weight, positive=True)
    values = np.ones(len(source)) if values is None else values[arcs].astype(np.float64)
    fed = np.bincount(target, weights=values, minlength=n)
    basal = fed == 0
    if not basal.any():
        raise nx.NetworkXError(
            "This graph has no basal nodes (nodes with no incoming edges)."
            "Trophic levels are not defined without at least one basal node."
        )
    # From one more node with arcs to the basal ones.
    roots = np.flatnonzero(basal)
    ends = np.append(source, np.full(len(roots), n)), np.append(target, roots)
    wide = scipy.sparse.csr_array((np.ones(len(ends[0])), ends), shape=(n + 1, n + 1))
    if len(breadth_first_order(wide, n, directed=True, return_predecessors=False)) <= n:
        raise nx.NetworkXError(
            "Trophic levels are only defined for graphs where every node has a path "
            "from a basal node (basal nodes are nodes with no incoming edges)."
        )
    level, other = np.ones(n), np.flatnonzero(~basal)
    if len(other):
        share = scipy.sparse.csr_array((values / fed[target], (target, source)), shape=(n, n))[other][:, other]
        matrix = (scipy.sparse.eye_array(len(other)) - share).tocsc()
        level[other] += scipy.sparse.linalg.spsolve(matrix, np.ones(len(other)))
    levels: dict[Any, float] = dict.fromkeys(G.named(roots), 1)
    return levels | dict(zip(G.named(other), level[other].tolist(), strict=True))


def _trophic_differences(
    G: ConvertedGraph, weight: str | None, arcs: Any = slice(None)
) -> dict[tuple[Any, Any], float]:
    level = _trophic(G, weight, arcs)
    return {(u, v): level[v] - level[u] for u, v in G.pairs(G.rows[arcs], G.indices[arcs])}


def _incoherence(G: ConvertedGraph, weight: str | None, cannibalism: bool) -> float:
    arcs = slice(None) if cannibalism else G.rows != G.indices
    return float(np.std(list(_trophic_differences(G, weight, arcs).values())))


def _mutual(G: ConvertedGraph, weight: str | None) -> tuple[Any, np.ndarray]:
    """The weights between nodes, in both directions, and their sums; NetworkX's errors where there are no nodes."""
    matrix = adjacency(G, None, weight).astype(np.float64)
    both = (matrix + matrix.T).tocsr()
    return both, both.sum(axis=1)


def _scaled(matrix: Any, by: np.ndarray) -> Any:
    found = matrix.copy()
    found.data /= np.repeat(by, np.diff(found.indptr))
    return found


def _constraint(G: ConvertedGraph, weight: str | None) -> dict[Any, float]:
    both, total = _mutual(G, weight)
    share = _scaled(both, total)
    found = np.asarray(((share > 0) * (share + share @ share) ** 2).sum(axis=1), float).ravel()
    found[total - 2 * share.diagonal() == 0] = np.nan
    return G.by_node(found)


def _effective_size(G: ConvertedGraph) -> dict[Any, float]:
    """As `networkx.effective_size` of an undirected graph without weights, without the matrix of all pairs."""
    both, total = _mutual(G, None)
    share, known = _scaled(both, total), both > 0
    redundant = (share @ known.T.astype(float)).multiply(known)
    found = np.asarray(known.sum(axis=1) - redundant.sum(axis=1), float).ravel()
    found[share.sum(axis=1) - share.diagonal() == 0] = np.nan
    return G.by_node(found)


globals().update(
    family(
        {
            "current_flow_closeness_centrality": _current_closeness,
            "current_flow_betweenness_centrality": _current_betweenness,
            "edge_current_flow_betweenness_centrality": _current_edge_betweenness,
            "katz_centrality_numpy": _katz,
            "constraint": _constraint,
        }
    )
    # Of directed graphs NetworkX scales by the greatest weight of the other end, unlike its formula for single nodes.
    | family({"effective_size": _effective_size}, unless=undirected)
    | family({"laplacian_centrality": _laplacian_centrality}, unless=undirected, unread=("walk_type", "alpha"))
    | family(
        {
            "trophic_levels": _trophic,
            "trophic_differences": _trophic_differences,
            "trophic_incoherence_parameter": _incoherence,
        },
        without=("arcs",),
    )
)
