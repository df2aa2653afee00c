"""Matchings, independent sets, colourings, the two sides of bipartite graphs, and flows."""

from collections.abc import Callable, Mapping
from typing import Any

import networkx as nx
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from hpgraph.algorithms import bipartite as _bipartite
from hpgraph.algorithms import cuts as _cuts
from hpgraph.algorithms import independent_set as _independent_set
from hpgraph.algorithms.maximum_flow import maximum_flow as _maximum_flow
from hpgraph.containers.graph import Graph
from hpgraph.containers.vertices import id
from hpgraph.core.config import config
from hpgraph.core.device import to_device
from hpgraph.csgraph import matching as _matchings
from hpgraph.interop.networkx_backend.components import is_connected_in
from hpgraph.interop.networkx_backend.converted import UNBOUNDED, ConvertedGraph
from hpgraph.interop.networkx_backend.serving import family, registered
from hpgraph.kernels.backend import kernels


def _maximal_matching(G: ConvertedGraph) -> set[tuple[Any, Any]]:
    from hpgraph.kernels.structure.cpu_greedy import matching_in_order

    source, target = G.rows[G.edges], G.indices[G.edges].astype(np.int64)
    chosen = matching_in_order(source, target, len(G))
    return set(zip(G.named(source[chosen]), G.named(target[chosen]), strict=True))


def _independent(G: ConvertedGraph, nodes: Any, seed: Any) -> list[Any]:
    """As `networkx.maximal_independent_set`."""
    given = set(nodes) if nodes else {seed.choice(G.nodes)}
    if not given <= G.index.keys():
        raise nx.NetworkXUnfeasible(f"{given} is not a subset of the nodes of G")
    numbers = np.array([G.index[node] for node in given], np.int64)
    if np.isin(G.indices[np.isin(G.rows, numbers)], numbers).any():
        raise nx.NetworkXUnfeasible(f"{given} is not an independent set of G")
    found = to_device(_independent_set.maximal_independent_set(G.graph(), id(numbers), seed.getrandbits(31)), "cpu")
    return [*given, *G.named(np.setdiff1d(found, numbers))]


def _coloring(G: ConvertedGraph) -> dict[Any, int]:
    """As `networkx.greedy_color`, by falling degree: each node takes the least colour that no neighbour has."""
    if len(G) == 0:
        return {}
    order, graph = np.argsort(-G.degree(), kind="stable"), G.graph()
    colors = kernels(graph.device).greedy_colors(graph.out_csr, to_device(order.astype(graph.id_dtype), graph.device))
    return dict(zip(G.named(order), to_device(colors, "cpu")[order].tolist(), strict=True))


def _by_degree(call: Mapping[str, Any]) -> str | None:
    if call["G"].is_directed():
        return "along arcs NetworkX sees other neighbours"
    return None if call["strategy"] == "largest_first" else "strategy must be 'largest_first'"


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
    rows, columns = (np.array([G.index[node] for node in side], np.int64) for side in (left, right))
    values = G.column(weight)
    entries = np.ones(len(G.indices)) if values is None else values.astype(np.float64)
    return left, right, csr_array((entries, G.indices, G.indptr), shape=(len(G), len(G)))[rows][:, columns]


def _largest_matching(G: ConvertedGraph, top_nodes: Any) -> dict[Any, Any]:
    """As `networkx.bipartite.maximum_matching`."""
    left, right, matrix = _sides_of(G, top_nodes)
    column = _matchings.maximum_bipartite_matching(matrix, perm_type="column").tolist()
    found = {node: right[match] for node, match in zip(left, column, strict=True) if match >= 0}
    back = {match: node for node, match in found.items()}
    return found | {node: back[node] for node in right if node in back}


def _lightest_matching(G: ConvertedGraph, top_nodes: Any, weight: str | None) -> dict[Any, Any]:
    """As `networkx.bipartite.minimum_weight_full_matching`."""
    left, right, matrix = _sides_of(G, top_nodes, weight)
    if matrix.nnz and not matrix.data.all():
        # Zeros would be no edges; all full matchings have as many edges, whose weights may all be raised.
        matrix.data += 1 - matrix.data.min()
    try:
        row, column = _matchings.min_weight_full_bipartite_matching(matrix)
    except ValueError as error:
        raise ValueError("cost matrix is infeasible") from error
    found = {left[u]: right[v] for u, v in zip(row.tolist(), column.tolist(), strict=True)}
    return found | {match: node for node, match in found.items()}


def _vertex_cover(G: ConvertedGraph, matching: Any, top_nodes: Any) -> set[Any]:
    """As `networkx.bipartite.to_vertex_cover`: what paths that alternate reach from nodes without a match (Kőnig)."""
    left, right = registered()["sets"].orig_func(G, top_nodes)
    match, on_left = np.full(len(G), -1), np.zeros(len(G), bool)
    match[[G.index[node] for node in matching]] = [G.index[other] for other in matching.values()]
    on_left[[G.index[node] for node in left]] = True
    alternates = on_left[G.rows] != (match[G.rows] == G.indices)
    start = np.flatnonzero(on_left & (match < 0))
    n = len(G)
    rows, columns = np.append(G.rows[alternates], np.full(len(start), n)), np.append(G.indices[alternates], start)
    arcs = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n + 1, n + 1))
    reached = np.zeros(n + 1, bool)
    reached[breadth_first_order(arcs, n, directed=True, return_predecessors=False)] = True
    return (left - (found := set(G.named(np.flatnonzero(reached[:n]))))) | (right & found)


class _Flow:
    """A maximum flow between two nodes, capacities being whole numbers; where none is given it has no bound."""

    def __init__(self, G: ConvertedGraph, source: Any, sink: Any, capacity: str) -> None:
        for node, title in ((source, "node"), (sink, "node")):
            if node not in G:
                raise nx.NetworkXError(f"{title} {node!s} not in graph")
        if source == sink:
            raise nx.NetworkXError("source and sink are the same node")
        self.G = G
        values = G.column(capacity, UNBOUNDED)
        values = np.full(len(G.indices), UNBOUNDED) if values is None else values
        if values.dtype.kind == "f":
            raise NotImplementedError(f"{capacity!r} is not a whole number somewhere")
        unbounded = values == UNBOUNDED
        values = np.where(unbounded, 0, np.maximum(values, 0))
        values[G.rows == G.indices] = 0
        # More than all bounded arcs carry flows only where a path has no bounds.
        beyond = int(values.sum()) + 1
        values[unbounded & (G.rows != G.indices)] = beyond
        order = np.lexsort((G.indices, G.rows))
        self.graph = Graph.from_edges(
            G.rows[order], G.indices[order], values[order], n_vertices=len(G), directed=True, duplicates="max"
        ).to(config.networkx_device)
        self.found = _maximum_flow(self.graph, id(G.index[source]), id(G.index[sink]))
        self.value = int(self.found.flow_value)
        if self.value >= beyond:
            raise nx.NetworkXUnbounded("Infinite capacity path, flow unbounded above.")
        self.values, self.sink = values, G.index[sink]

    def by_arc(self) -> np.ndarray:
        """What flows along each arc, in the graph's order."""
        net = self.found.flow.to("cpu").tocsr()
        return np.maximum(np.asarray(net[self.G.rows, self.G.indices]).ravel(), 0)

    def flows(self) -> dict[Any, dict[Any, int]]:
        """A dict of flows for each node."""
        G, bounds = self.G, self.G.indptr.tolist()
        values, named = self.by_arc().tolist(), G.named(G.indices)
        return {
            node: dict(zip(named[begin:end], values[begin:end], strict=True))
            for node, begin, end in zip(G, bounds, bounds[1:], strict=False)
        }

    def cut(self) -> tuple[set[Any], set[Any]]:
        """The nodes that still reach the sink, and the others, which come first."""
        reaches = to_device(_cuts.far_side(self.graph, self.found.flow.csr, self.sink), "cpu")
        return set(self.G.named(np.flatnonzero(~reaches))), set(self.G.named(np.flatnonzero(reaches)))


def _least_cut(G: ConvertedGraph, weight: str) -> tuple[float, tuple[list[Any], list[Any]]]:
    """As `networkx.stoer_wagner`."""
    if len(G) < 2:
        raise nx.NetworkXError("graph has less than two nodes.")
    if not is_connected_in(G):
        raise nx.NetworkXError("graph is not connected.")
    graph = G.lengths(weight)
    value, (one, other) = _cuts.stoer_wagner(graph)
    return value, (G.named(one), G.named(other))


def _connectivity(G: ConvertedGraph) -> int:
    """As `networkx.edge_connectivity` of whole graphs: between two nodes NetworkX reads a small part of one."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    if len(G) == 1 or G.has_loops:
        raise NotImplementedError("of one node, and of loops, NetworkX has special cases")
    return _cuts.edge_connectivity(G.graph())


def _flow(what: Callable[[_Flow], Any]) -> Callable[..., Any]:
    def run(flowG: ConvertedGraph, _s: Any, _t: Any, capacity: str) -> Any:
        return what(_Flow(flowG, _s, _t, capacity))

    return run


def _no_options(call: Mapping[str, Any]) -> str | None:
    return "options of a flow function are not taken" if call.get("kwargs") else None


globals().update(
    family({"maximal_matching": _maximal_matching, "maximal_independent_set": _independent})
    | family({"greedy_color": _coloring}, unless=_by_degree, unread=("strategy",))
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
    | family({"minimum_weight_full_matching": _lightest_matching})
    | family({"stoer_wagner": _least_cut}, unread=("heap",))
    | family({"edge_connectivity": _connectivity}, unread=("flow_func",))
    | family(
        {
            "maximum_flow": _flow(lambda found: (found.value, found.flows())),
            "maximum_flow_value": _flow(lambda found: found.value),
            "minimum_cut": _flow(lambda found: (found.value, found.cut())),
            "minimum_cut_value": _flow(lambda found: found.value),
        },
        unless=_no_options,
        unread=("kwargs",),
    )
)
