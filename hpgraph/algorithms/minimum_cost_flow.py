"""Minimum-cost flow: what supplies and demands of vertices take through arcs of bounded capacity, as cheaply as any."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.algorithms.distances import with_attributes, with_weights
from hpgraph.algorithms.maximum_flow import both_ways, flow_between, two_ends
from hpgraph.algorithms.vertex_values import as_array, vertex_values
from hpgraph.containers.columns import values_of
from hpgraph.containers.graph import Graph, named, naming_arguments
from hpgraph.containers.networkx_edges import is_networkx
from hpgraph.containers.result_table import ResultTable
from hpgraph.core.device import Array, array_module, to_device, unmasked
from hpgraph.formats import CSR
from hpgraph.kernels.structure.cpu_network_simplex import network_simplex

# Bound of sums of prices and of flows.
_LIMIT = 1 << 61


@dataclass(frozen=True, eq=False)
class MinimumCostFlow(ResultTable, columns=("flow", "source", "target"), ends=("source", "target"), edges=True):
    """A flow of least cost; as a table, the arcs with flow.

    Attributes
    ----------
    cost : int or float
        The sum of flows times costs.
    flow : array of shape (n_edges,)
        Flow along each arc, in the order of ``G.weights``, on the graph's device; int64, or float64 if a cost, capacity
        or demand is not an integer.
    source, target : arrays of vertex ids, shape (n_edges,)
        The ends of the arcs, by index.
    """

    cost: float
    flow: Array
    source: Array
    target: Array

    def _values(self) -> dict[str, Any]:
        along = self.flow > 0
        return {name: getattr(self, name)[along] for name in self._columns}

    def __repr__(self) -> str:
        return f"<MinimumCostFlow: {self.cost}>"


@naming_arguments
def min_cost_flow(G: Graph | Any, demand: Any = "demand", capacity: Any = None, weight: Any = True) -> MinimumCostFlow:
    """A flow that meets the demands of all vertices, within the capacities of the arcs, at least cost.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Each arc of an undirected graph has the capacity of its edge; parallel edges have their own.
    demand : str, array or dict
        Demand of each vertex, negative for supply; the sum is 0. A column of vertices, by default "demand"; one number
        for each vertex, or a dict by vertex; 0 for missing values.
    capacity : None, str or array
        Capacity of each arc: a column of edges, or a number for each arc in the order of ``G.weights``; infinity, None
        and missing values mean unbounded.
    weight : None, bool or str
        The cost of a unit on each arc, which may be negative: by default its weight, 1 with None; as for
        `hpgraph.pagerank`.

    Returns
    -------
    MinimumCostFlow
        `cost`, and the `flow` along each arc, which is integral for integral arguments.

    Raises
    ------
    ValueError, TypeError
        If demands do not sum to 0, no flow meets them, or the cost is unbounded below because of a negative cycle of
        unbounded arcs; if a number is NaN, or a capacity is negative.

    Notes
    -----
    Runs on one thread of the CPU; a graph on the GPU is copied to it. Beside the graph it takes 41 bytes an arc. With
    floats, costs that differ by less than 10⁻¹² of the largest count as equal.

    References
    ----------
    P. Kovács, "Minimum-cost flow algorithms: an experimental evaluation", Optimization Methods and Software 30 (2015).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [3, 6, 1, 2])
    >>> found = hpg.min_cost_flow(G, {0: -5, 3: 5}, capacity=[4, 10, 9, 5])
    >>> found.cost, found.flow.tolist()
    (24, [4, 1, 4, 1])
    """
    network, graph = _network(G, capacity, weight, demand)
    arcs, bound = graph.out_csr.to("cpu"), _bounds(network, capacity)
    taken = _demands(network, demand)
    return _cheapest(graph, arcs, bound, taken)


@naming_arguments
def max_flow_min_cost(
    G: Graph | Any, source: Any, sink: Any, capacity: Any = None, weight: Any = True
) -> MinimumCostFlow:
    """A maximum flow of minimum cost from a source to a sink.

    Parameters
    ----------
    G, capacity, weight
        As for `min_cost_flow`; without capacities an arc carries 1.
    source, sink : vertex
        By name, or by index where the graph has no names.

    Returns
    -------
    MinimumCostFlow
        As for `min_cost_flow`.

    Raises
    ------
    ValueError, TypeError
        As `maximum_flow` and `min_cost_flow` do; here capacities must be finite.

    Notes
    -----
    `maximum_flow`, and then `min_cost_flow` of its value.

    References
    ----------
    R. K. Ahuja, T. L. Magnanti, J. B. Orlin, "Network Flows" (1993).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [3, 6, 1, 2])
    >>> found = hpg.max_flow_min_cost(G, 0, 3, capacity=[4, 10, 9, 5])
    >>> found.cost, found.flow.tolist()
    (56, [4, 5, 4, 5])
    """
    network, graph = _network(G, capacity, weight, None)
    s, t = two_ends(graph, source, sink)
    arcs = graph.out_csr.to("cpu")
    bound = np.ones(arcs.nnz, np.int64) if capacity is None else _bounds(network, capacity)
    carrying = Graph._from_csr(arcs.with_data(bound, copy=False), graph.directed, None, graph.multigraph)
    value = flow_between(*both_ways(carrying.simple("sum") if graph.multigraph else carrying), s, t)[0]
    taken = np.zeros(graph.n_vertices, bound.dtype)
    taken[s], taken[t] = -value, value
    return _cheapest(graph, arcs, bound, taken)


def _network(G: Any, capacity: Any, weight: Any, demand: Any) -> tuple[Graph, Graph]:
    """The graph with the named columns, and the same graph with costs as weights, or without weights."""
    attribute = weight if isinstance(weight, str) else "weight" if weight else None
    attributes = with_attributes(G, attribute, [capacity], [demand])
    graph, weighted = with_weights(attributes, bool(weight) if is_networkx(G) else weight, parallel="keep")
    return attributes, graph if weighted else graph._weighted_by(None)


def _bounds(given: Graph, capacity: Any) -> np.ndarray:
    """The capacity of each arc, in NumPy; infinity means unbounded."""
    m = given.n_edges
    if capacity is None:
        return np.full(m, np.inf)
    if isinstance(capacity, str):
        bound = values_of(given.edge_column(capacity, both_ways=True))
        bound = array_module(bound).nan_to_num(bound, nan=np.inf, posinf=np.inf) if bound.dtype.kind == "f" else bound
    else:
        bound = as_array(unmasked(capacity, "capacity"), "capacity")
    bound = to_device(bound, "cpu")
    if bound.dtype.kind not in "biuf":
        raise TypeError(f"capacity must hold numbers, not {bound.dtype}")
    if bound.shape != (m,):
        raise ValueError(f"capacity must have one value for each of the {m} arcs, not shape {bound.shape}")
    if not bool((bound >= 0).all()):
        raise ValueError("capacity must not be negative or NaN")
    return bound


def _demands(given: Graph, demand: Any) -> np.ndarray:
    """The demand of each vertex, in NumPy."""
    taken = demand
    if isinstance(demand, str):
        taken = given.vertex_column(demand)
        taken = array_module(taken).nan_to_num(taken, posinf=np.inf) if taken.dtype.kind == "f" else taken
    return to_device(vertex_values(given, taken, "demand", np.dtype(np.float64)), "cpu")


def is_whole(numbers: Any) -> bool:
    """Whether all numbers are integral or infinite."""
    return numbers.dtype.kind != "f" or bool(((numbers == np.rint(numbers)) | (numbers == np.inf)).all())


def _cheapest(graph: Graph, arcs: CSR, bound: Any, taken: Any) -> MinimumCostFlow:
    source, target = arcs.expand_rows(), arcs.indices
    cost = np.ones(arcs.nnz, np.int64) if arcs.data is None else arcs.data
    if cost.dtype.kind == "f" and not bool(np.isfinite(cost).all()):
        raise ValueError("weight: costs must be finite")
    if abs(float(taken.sum())) > 1e-9 * float(abs(taken).sum()):
        raise ValueError(f"demand: demands must add up to 0, and their sum is {float(taken.sum()):g}, not 0")
    flow, meets, bounded = least_cost_flow(source, target, cost, bound, taken)
    if not meets:
        raise ValueError("no flow meets the demands within the capacities of G")
    if not bounded:
        raise ValueError("G has a cycle of negative cost without bounds of capacity, and no flow is the cheapest")
    ends = (to_device(part, graph.device) for part in (flow, source, target))
    return named(MinimumCostFlow(_product(flow, cost.astype(flow.dtype)), *ends), graph)


def least_cost_flow(source: Any, target: Any, cost: Any, bound: Any, taken: Any) -> tuple[np.ndarray, bool, bool]:
    """A flow of minimum cost, in NumPy; whether it meets the demands, and whether costs are bounded below."""
    wide = np.float64
    max_potential = 2 * (float(abs(taken).sum()) + float(bound[bound < np.inf].sum(dtype=wide))) + 1
    dearest = (float(abs(cost.astype(wide)).max(initial=0)) + 1) * (len(taken) + 1)
    kind: Any = np.int64 if all(map(is_whole, (cost, bound, taken))) else wide
    if kind is np.int64 and max(max_potential, dearest) >= _LIMIT:
        raise ValueError(f"G: capacities and costs add up to more than {_LIMIT}, which cannot be counted")
    loop, unbounded = source == target, bound == np.inf
    cost, capacity = cost.astype(kind), np.where(unbounded, max_potential, bound).astype(kind)
    # A loop is a cycle by itself.
    flow = np.where(loop & (cost < 0), capacity, 0).astype(kind)
    kept = np.flatnonzero(~loop & (capacity > 0))
    flow[kept], meets = network_simplex(source[kept], target[kept], cost[kept], capacity[kept], (-taken).astype(kind))
    return flow, bool(meets), not bool((flow[unbounded] > 0.75 * max_potential).any())


def _product(flow: Any, cost: Any) -> float:
    """The sum of products, exact for integers."""
    if flow.dtype.kind == "f" or float(abs(flow).astype(np.float64) @ abs(cost).astype(np.float64)) < _LIMIT:
        return (flow @ cost).item()  # type: ignore[no-any-return]
    return sum(f * c for f, c in zip(flow.tolist(), cost.tolist(), strict=True))
