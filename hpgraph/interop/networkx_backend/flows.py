"""Flows and cuts: between two nodes, of a whole graph, and between all pairs."""

from collections.abc import Callable, Mapping
from typing import Any

import networkx as nx
import numpy as np
from scipy.sparse import csr_array

from hpgraph.algorithms import cuts as _cuts
from hpgraph.algorithms import maximum_flow as _flows
from hpgraph.containers.graph import Graph
from hpgraph.core.config import config
from hpgraph.core.device import to_device
from hpgraph.interop.networkx_backend.components import is_connected_in
from hpgraph.interop.networkx_backend.converted import UNBOUNDED, ConvertedGraph
from hpgraph.interop.networkx_backend.returned import graph_of_edges
from hpgraph.interop.networkx_backend.serving import family


def capacities(G: ConvertedGraph, capacity: str) -> np.ndarray:
    """Capacity of each arc, int64 or float64: `UNBOUNDED` if none is given, or it is infinite."""
    values = G.column(capacity, UNBOUNDED)
    if values is None:
        return np.full(len(G.indices), UNBOUNDED)
    if np.isnan(values).any():
        raise NotImplementedError(f"{capacity!r} is not a number somewhere")
    return np.where(np.isposinf(values), UNBOUNDED, values)


def check_ends(G: ConvertedGraph, *ends: Any) -> None:
    """Raise NetworkX's error of flows where an end is no node."""
    for node in ends:
        if node not in G:
            raise nx.NetworkXError(f"node {node} not in graph")


class Flow:
    """A maximum flow between two nodes, capacities being 1 each if none are given."""

    def __init__(self, G: ConvertedGraph, source: Any, sink: Any, values: np.ndarray | None = None) -> None:
        check_ends(G, source, sink)
        if source == sink:
            raise nx.NetworkXError("source and sink are the same node")
        self.G = G
        values = np.ones(len(G.indices), np.int64) if values is None else values
        unbounded = values == UNBOUNDED
        values = np.where(unbounded, 0, np.maximum(values, 0))
        values[G.rows == G.indices] = 0
        # More than all bounded arcs carry flows only where a path has no bounds. Sums of floats are rounded.
        bounded, floats = values.sum().item(), values.dtype.kind == "f"
        values[unbounded & (G.rows != G.indices)] = (2 if floats else 1) * bounded + 1
        order = np.lexsort((G.indices, G.rows))
        graph = Graph.from_edges(
            G.rows[order], G.indices[order], values[order], n_vertices=len(G), directed=True, duplicates="max"
        ).to(config.networkx_device)
        self.both, self.capacity = _flows.both_ways(graph)
        value, self.net = _flows.flow_between(self.both, self.capacity, G.index[source], G.index[sink])
        # NetworkX has the whole number 0 where nothing flows, here and along an arc.
        self.value = value or 0
        if self.value > (1.5 if floats else 1) * bounded:
            raise nx.NetworkXUnbounded("Infinite capacity path, flow unbounded above.")
        self.values, self.sink = values, G.index[sink]

    def by_arc(self) -> np.ndarray:
        """The flow along each arc, in the graph's order."""
        if len(self.G.indices) == 0:
            return np.zeros(0, np.int64)
        # Of the two arcs of an edge floats are rounded each by itself.
        net = (self.net - self.net[self.both.reverse_arcs]) / 2 if self.net.dtype.kind == "f" else self.net
        arcs = self.both.out_csr.with_data(net).to("cpu")
        matrix = csr_array((arcs.data, arcs.indices, arcs.indptr), shape=arcs.shape)
        return np.maximum(np.asarray(matrix[self.G.rows, self.G.indices]).ravel(), 0)

    def flows(self) -> dict[Any, dict[Any, int]]:
        """A dict of flows for each node."""
        return self.G.by_arc(self.G.indptr, self.G.indices, [value or 0 for value in self.by_arc().tolist()])

    def beyond(self) -> np.ndarray:
        """A mask of the nodes that still reach the sink."""
        return to_device(_cuts.far_side(self.both, self.capacity, self.net, self.sink), "cpu")

    def cut(self) -> tuple[set[Any], set[Any]]:
        """The nodes that still reach the sink, and the others, which come first."""
        reaches = self.beyond()
        return set(self.G.named(np.flatnonzero(~reaches))), set(self.G.named(np.flatnonzero(reaches)))


def _least_cut(G: ConvertedGraph, weight: str) -> tuple[float, tuple[list[Any], list[Any]]]:
    if len(G) < 2:
        raise nx.NetworkXError("graph has less than two nodes.")
    if not is_connected_in(G):
        raise nx.NetworkXError("graph is not connected.")
    graph = G.lengths(weight)
    value, (one, other) = _cuts.stoer_wagner(graph)
    return value, (G.named(one), G.named(other))


def of_two(s: Any, t: Any) -> bool:
    """Whether two nodes are given, rather than none for the whole graph."""
    if (s is None) != (t is None):
        raise nx.NetworkXError("Both source and target must be specified.")
    return s is not None


def check_whole(G: ConvertedGraph) -> None:
    """Raise NotImplementedError for whole graphs on which NetworkX's code gives another answer."""
    if len(G) == 1 or G.has_loops or G.is_multigraph():
        raise NotImplementedError("of one node, of loops and of parallel edges, NetworkX has special cases")


def _connectivity(G: ConvertedGraph, s: Any, t: Any) -> int:
    if of_two(s, t):
        return Flow(G, s, t).value
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    check_whole(G)
    return _cuts.edge_connectivity(G.graph())


def _edge_cut(G: ConvertedGraph, s: Any, t: Any) -> set[tuple[Any, Any]]:
    """As `networkx.minimum_edge_cut`: edges from the one part to the other."""
    if of_two(s, t):
        beyond = Flow(G, s, t).beyond()
    else:
        check_whole(G)
        if not is_connected_in(G):
            raise nx.NetworkXError("Input graph is not connected")
        beyond = np.isin(np.arange(len(G)), _cuts.stoer_wagner(G.graph())[1][1])
    crossing = ~beyond[G.rows] & beyond[G.indices]
    return set(G.pairs(G.rows[crossing], G.indices[crossing]))


def undirected_or_two(call: Mapping[str, Any]) -> str | None:
    """Refuse whole directed graphs."""
    whole = call["s"] is None and call["t"] is None
    return "of a whole directed graph NetworkX looks at some pairs alone" if whole and call["G"].is_directed() else None


def _cut_tree(G: ConvertedGraph, capacity: str) -> Any:
    """As `networkx.gomory_hu_tree`, which is the same for the same order of nodes."""
    if len(G) == 0:
        raise nx.NetworkXError("Empty Graph does not have a Gomory-Hu tree representation")
    edges = G.edges[G.rows[G.edges] != G.indices[G.edges]]
    values = capacities(G, capacity)[edges]
    if (values == UNBOUNDED).any():
        # Some cut divides the ends of such an edge.
        raise nx.NetworkXUnbounded("Infinite capacity path, flow unbounded above.")
    graph = Graph.from_edges(
        G.rows[edges], G.indices[edges], np.maximum(values, 0), n_vertices=len(G), directed=False
    )  # fmt: skip
    above, value = _cuts.cut_tree(graph)
    data = [{"weight": weight} for weight in value[1:].tolist()]
    return graph_of_edges(G.nodes, np.arange(1, len(G)), above[1:], directed=False, edge_data=data)


def _flow(what: Callable[[Flow], Any]) -> Callable[..., Any]:
    def run(flowG: ConvertedGraph, _s: Any, _t: Any, capacity: str) -> Any:
        return what(Flow(flowG, _s, _t, capacities(flowG, capacity)))

    return run


globals().update(
    family({"stoer_wagner": _least_cut}, unread=("heap",))
    | family({"edge_connectivity": _connectivity, "local_edge_connectivity": _connectivity}, unread=("flow_func",))
    | family(
        {"minimum_edge_cut": _edge_cut, "minimum_st_edge_cut": _edge_cut},
        unless=undirected_or_two,
        unread=("flow_func",),
    )
    | family({"gomory_hu_tree": _cut_tree}, unread=("flow_func",))
    | family(
        {
            "maximum_flow": _flow(lambda found: (found.value, found.flows())),
            "maximum_flow_value": _flow(lambda found: found.value),
            "minimum_cut": _flow(lambda found: (found.value, found.cut())),
            "minimum_cut_value": _flow(lambda found: found.value),
        },
        # Options of a flow function.
        only={"kwargs": ({},)},
    )
)
