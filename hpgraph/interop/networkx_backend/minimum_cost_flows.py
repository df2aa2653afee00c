"""Flows of least cost, by the network simplex method for all of NetworkX's functions."""

from collections.abc import Mapping
from numbers import Integral, Real
from operator import mul
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.algorithms.minimum_cost_flow import is_whole, least_cost_flow
from hpgraph.interop.networkx_backend.converted import UNBOUNDED, ConvertedGraph
from hpgraph.interop.networkx_backend.flows import Flow, capacities
from hpgraph.interop.networkx_backend.serving import family

# Capacities are floats, as some are infinite.
_INEXACT = 1 << 53
_ENDLESS = "Negative cost cycle of infinite capacity found. Min cost flow may be unbounded below."


def _demands(G: ConvertedGraph, demand: str) -> np.ndarray:
    """Demand of each node, int64 or float64."""
    data = G.node_data or {}
    values = [data.get(node, {}).get(demand, 0) for node in G]
    if not all(isinstance(value, Real) for value in values):
        raise NotImplementedError(f"{demand!r} of a node is not a number")
    try:
        taken = np.array(values, np.int64 if all(isinstance(value, Integral) for value in values) else np.float64)
    except OverflowError as error:
        raise NotImplementedError(f"{demand!r} of a node takes more than 64 bits") from error
    if np.isnan(taken).any():
        raise NotImplementedError(f"{demand!r} of a node is not a number")
    return taken


class _Problem:
    """Arcs with what they cost and can carry."""

    def __init__(self, G: ConvertedGraph, capacity: str, weight: str) -> None:
        self.G, self.loop, self.room = G, G.rows == G.indices, capacities(G, capacity)
        cost = G.column(weight, 0)
        self.cost = np.zeros(len(G.indices), np.int64) if cost is None else cost
        bounded = self.room != UNBOUNDED
        self.bound = np.where(bounded, self.room, np.inf)
        if np.isnan(self.cost).any() or (abs(self.room[bounded]) > _INEXACT).any():
            raise NotImplementedError("a cost is not a number, or floats would round a capacity")

    def edge(self, of: np.ndarray) -> tuple[Any, Any] | None:
        """The first edge of a mask, loops last, as NetworkX goes through them."""
        first = [*np.flatnonzero(of & ~self.loop), *np.flatnonzero(of & self.loop)][:1]
        return (self.G.nodes[self.G.rows[first[0]]], self.G.nodes[self.G.indices[first[0]]]) if first else None

    def least(self, taken: np.ndarray) -> tuple[np.ndarray, bool, bool]:
        """As `least_cost_flow`, in integers if demands and capacities are."""
        try:
            flow, meets, bounded = least_cost_flow(self.G.rows, self.G.indices, self.cost, self.bound, taken)
        except ValueError as error:
            raise NotImplementedError(str(error)) from error
        if is_whole(self.bound) and is_whole(taken):
            flow = np.rint(flow).astype(np.int64)
        return flow, meets, bounded

    def total(self, flow: np.ndarray) -> float:
        """The sum of costs, added up as NetworkX does: loops last."""
        order = np.argsort(self.loop, kind="stable")
        return sum(map(mul, self.cost[order].tolist(), flow[order].tolist()))

    def flows(self, flow: np.ndarray, later: np.ndarray | None = None) -> dict[Any, dict[Any, float]]:
        """A dict of flows for each node; arcs of the mask ``later`` come last in it."""
        order = np.arange(len(flow)) if later is None else np.lexsort((later, self.G.rows))
        return self.G.by_arc(self.G.indptr, self.G.indices[order], flow[order].tolist())


def _simplex(
    G: ConvertedGraph, demand: str | np.ndarray, capacity: str, weight: str
) -> tuple[float, dict[Any, dict[Any, float]]]:
    if len(G) == 0:
        raise nx.NetworkXError("graph has no nodes")
    taken = _demands(G, demand) if isinstance(demand, str) else demand
    given = _Problem(G, capacity, weight)
    if (endless := np.flatnonzero(np.isinf(taken))).size:
        raise nx.NetworkXError(f"node {G.nodes[endless[0]]!r} has infinite demand")
    if edge := given.edge(np.isinf(given.cost) & (given.loop | (given.room != 0))):
        raise nx.NetworkXError(f"edge {edge!r} has infinite weight")
    if not np.isfinite(given.cost).all():
        raise NotImplementedError(f"{weight!r} is infinite where nothing can flow")
    if sum(taken.tolist()) != 0:
        raise nx.NetworkXUnfeasible("total node demand is not zero")
    if edge := given.edge(given.bound < 0):
        raise nx.NetworkXUnfeasible(f"edge {edge!r} has negative capacity")
    flow, meets, bounded = given.least(taken)
    if not meets:
        raise nx.NetworkXUnfeasible("no flow satisfies all node demands")
    if not bounded:
        raise nx.NetworkXUnbounded("negative cycle with infinite capacity found")
    return given.total(flow), given.flows(flow, given.loop | (given.room == 0))


def _scaling(G: ConvertedGraph, demand: str, capacity: str, weight: str) -> tuple[float, dict[Any, dict[Any, float]]]:
    taken, given = _demands(G, demand), _Problem(G, capacity, weight)
    if not all(map(is_whole, (taken, given.bound, given.cost))):
        raise NotImplementedError("NetworkX scales whole numbers")
    if sum(taken.tolist()) != 0:
        raise nx.NetworkXUnfeasible("Sum of the demands should be 0.")
    given.bound = np.maximum(given.bound, 0)
    flow, meets, bounded = given.least(taken)
    if not (bounded if meets else given.least(np.zeros_like(taken))[2]):
        raise nx.NetworkXUnbounded(_ENDLESS)
    if not meets:
        raise nx.NetworkXUnfeasible("No flow satisfying all demands.")
    return given.total(flow), given.flows(flow)


def _of_greatest(G: ConvertedGraph, s: Any, t: Any, capacity: str, weight: str) -> dict[Any, dict[Any, float]]:
    value = Flow(G, s, t, capacities(G, capacity)).value
    taken = np.zeros(len(G), type(value))
    taken[G.index[s]], taken[G.index[t]] = -value, value
    return _simplex(G, taken, capacity, weight)[1]


def _directed(call: Mapping[str, Any]) -> str | None:
    return None if call["G"].is_directed() else "of undirected graphs NetworkX finds no such flow"


def _without_demands(call: Mapping[str, Any]) -> str | None:
    graph = call["G"]
    held = (graph.node_data or {}) if isinstance(graph, ConvertedGraph) else graph._node
    known = any("demand" in data for data in held.values())
    return "NetworkX has nodes with a demand take it besides" if known else None


globals().update(
    family(
        {
            "network_simplex": _simplex,
            "min_cost_flow": lambda G, demand, capacity, weight: _simplex(G, demand, capacity, weight)[1],
            "min_cost_flow_cost": lambda G, demand, capacity, weight: _simplex(G, demand, capacity, weight)[0],
        },
        unless=_directed,
    )
    | family({"capacity_scaling": _scaling}, unless=_directed, unread=("heap",))
    | family({"max_flow_min_cost": _of_greatest}, unless=_without_demands)
)
