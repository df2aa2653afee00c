"""Matchings, independent sets, colourings, and the two sides of bipartite graphs."""

from typing import Any

import networkx as nx
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from hpgraph.algorithms import bipartite as _bipartite
from hpgraph.algorithms import independent_set as _independent_set
from hpgraph.algorithms import matching as _matching
from hpgraph.containers.graph import Graph, id
from hpgraph.core.device import to_device
from hpgraph.csgraph import matching as _matchings
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.serving import NETWORKX, family, registered, undirected
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.structure.cpu_greedy import matching_in_order


def _maximal_matching(G: ConvertedGraph) -> set[tuple[Any, Any]]:
    source, target = G.rows[G.edges], G.indices[G.edges].astype(np.int64)
    chosen = matching_in_order(source, target, len(G))
    return set(G.pairs(source[chosen], target[chosen]))


def _independent(G: ConvertedGraph, nodes: Any, seed: Any) -> list[Any] | set[Any]:
    given = set(nodes) if nodes else {seed.choice(G.nodes)}
    if not given <= G.index.keys():
        raise nx.NetworkXUnfeasible(f"{given} is not a subset of the nodes of G")
    numbers = G.numbers(given)
    if np.isin(G.indices[np.isin(G.rows, numbers)], numbers).any():
        raise nx.NetworkXUnfeasible(f"{given} is not an independent set of G")
    found = to_device(_independent_set.maximal_independent_set(G.graph(), id(numbers), seed.getrandbits(31)), "cpu")
    chosen = [*given, *G.named(np.setdiff1d(found, numbers))]
    return set(chosen) if NETWORKX >= (3, 7) else chosen


def colors_in_order(G: ConvertedGraph) -> tuple[Any, Any]:
    """Vertices by falling degree and the colour of each: the least that no neighbour has."""
    order, graph = np.argsort(-G.degree(), kind="stable"), G.graph()
    colors = kernels(graph.device).greedy_colors(graph.out_csr, to_device(order.astype(graph.id_dtype), graph.device))
    return order, to_device(colors, "cpu")[order]


def _coloring(G: ConvertedGraph) -> dict[Any, int]:
    """As `networkx.greedy_color`, by falling degree."""
    if len(G) == 0:
        return {}
    order, colors = colors_in_order(G)
    return dict(zip(G.named(order), colors.tolist(), strict=True))


def _sides(G: ConvertedGraph) -> dict[Any, int]:
    """As `networkx.bipartite.color`: the first node of a component has 1, and one without neighbours 0."""
    if len(G) == 0:
        return {}
    try:
        first, _ = _bipartite.bipartite_sets(G.graph())
    except ValueError as error:
        raise nx.NetworkXError("Graph is not bipartite.") from error
    side = np.zeros(len(G), np.int64)
    side[to_device(first, "cpu")] = 1
    side[G.degree() == 0] = 0
    return G.by_node(side)


def _sides_of(G: ConvertedGraph, top_nodes: Any, weight: str | None = None) -> tuple[list[Any], list[Any], Any]:
    """The nodes of either side, in the order of sets, and the matrix of the edges from one to the other."""
    left, right = map(list, registered()["sets"].orig_func(G, top_nodes))
    rows, columns = map(G.numbers, (left, right))
    values = G.column(weight)
    entries = np.ones(len(G.indices)) if values is None else values.astype(np.float64)
    return left, right, csr_array((entries, G.indices, G.indptr), shape=(len(G), len(G)))[rows][:, columns]


def _largest_matching(G: ConvertedGraph, top_nodes: Any) -> dict[Any, Any]:
    left, right, matrix = _sides_of(G, top_nodes)
    column = _matchings.maximum_bipartite_matching(matrix, perm_type="column").tolist()
    found = {node: right[match] for node, match in zip(left, column, strict=True) if match >= 0}
    back = {match: node for node, match in found.items()}
    return found | {node: back[node] for node in right if node in back}


def _lightest_matching(G: ConvertedGraph, top_nodes: Any, weight: str | None) -> dict[Any, Any]:
    left, right, matrix = _sides_of(G, top_nodes, weight)
    if matrix.nnz and not matrix.data.all():
        # Weights are shifted above 0, as zeros are no edges: full matchings have equally many edges.
        matrix.data += 1 - matrix.data.min()
    try:
        row, column = _matchings.min_weight_full_bipartite_matching(matrix)
    except ValueError as error:
        raise ValueError("cost matrix is infeasible") from error
    found = {left[u]: right[v] for u, v in zip(row.tolist(), column.tolist(), strict=True)}
    return found | {match: node for node, match in found.items()}


def _heaviest(G: ConvertedGraph, weight: str | None, maxcardinality: bool = True, sign: int = 1) -> set[Any]:
    """As `networkx.max_weight_matching`, or of least weight."""
    values, edges = G.column(weight), G.edges[G.rows[G.edges] != G.indices[G.edges]]
    values = np.ones(len(edges), np.int64) if values is None else values[edges]
    if not np.isfinite(values).all():
        raise NotImplementedError(f"{weight!r} is not finite somewhere")
    # Sums of weights are compared; that of more edges must outweigh any of fewer.
    G.check_exact(weight, float(np.abs(values).max(initial=0)) * (len(G) + 1) ** (2 if maxcardinality else 1))
    graph = Graph.from_edges(
        G.rows[edges], G.indices[edges], sign * values.astype(np.float64), n_vertices=len(G), directed=False
    )  # fmt: skip
    mate = to_device(_matching.max_weight_matching(graph, bool(maxcardinality)), "cpu")
    first = np.flatnonzero(mate > np.arange(len(G)))
    return set(G.pairs(first, mate[first]))


def _vertex_cover(G: ConvertedGraph, matching: Any, top_nodes: Any) -> set[Any]:
    """As `networkx.bipartite.to_vertex_cover`: what paths that alternate reach from nodes without a match (Kőnig)."""
    left, right = registered()["sets"].orig_func(G, top_nodes)
    match, on_left = np.full(len(G), -1), np.zeros(len(G), bool)
    match[G.numbers(matching)] = G.numbers(matching.values())
    on_left[G.numbers(left)] = True
    alternates = on_left[G.rows] != (match[G.rows] == G.indices)
    start = np.flatnonzero(on_left & (match < 0))
    n = len(G)
    rows, columns = np.append(G.rows[alternates], np.full(len(start), n)), np.append(G.indices[alternates], start)
    arcs = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n + 1, n + 1))
    reached = np.zeros(n + 1, bool)
    reached[breadth_first_order(arcs, n, directed=True, return_predecessors=False)] = True
    return (left - (found := set(G.named(np.flatnonzero(reached[:n]))))) | (right & found)


globals().update(
    family({"maximal_matching": _maximal_matching, "maximal_independent_set": _independent})
    | family({"greedy_color": _coloring}, unless=undirected)
    | family({"color": _sides}, parallel=True)
    | family("sets", parallel=True)
    | family(
        {
            "hopcroft_karp_matching": _largest_matching,
            "eppstein_matching": _largest_matching,
            "to_vertex_cover": _vertex_cover,
        },
        parallel=True,
    )
    | family(
        {
            "minimum_weight_full_matching": _lightest_matching,
            "max_weight_matching": lambda G, maxcardinality, weight: _heaviest(G, weight, maxcardinality),
            "min_weight_matching": lambda G, weight: _heaviest(G, weight, sign=-1),
        }
    )
)
