"""Maximum flow: on the GPU by synchronous push-relabel, as an edge-vertex program, on the CPU by blocking flows.

A. V. Goldberg, R. E. Tarjan, "A new approach to the maximum-flow problem", J. ACM 35(4), 1988. Every active vertex
finds its lowest residual neighbour, lifts itself above it, and pushes along that one arc (B. Hong, Z. He, "An
asynchronous multithreaded algorithm for the maximum network flow problem with nonblocking global relabeling heuristic",
TPDS 22(6), 2011; here all vertices read in one superstep and push in the next, so results are reproducible). Global
relabelling, a search from the sink, runs each time that pushes have cost as much as such a search (B. V. Cherkassky, A.
V. Goldberg, "On implementing the push-relabel method for the maximum flow problem", Algorithmica 19, 1997).
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, as_graph, as_simple, id, named, naming_arguments
from hpgraph.containers.public import matrix_of_csr
from hpgraph.containers.result_table import ResultTable
from hpgraph.core.device import anywhere, array_module, to_device, total
from hpgraph.engine.definition import EdgeProperty, Parameter, Property
from hpgraph.engine.edge_program import EdgeVertexProgram
from hpgraph.engine.run import run
from hpgraph.kernels.backend import kernels
from hpgraph.scipy_api.matrix import Matrix

# A message holds a height and a vertex, 31 bits each, or a sum of excesses, and one bit that says which.
MAX_VERTICES, MAX_FLOW = 1 << 30, 1 << 61
# Supersteps of the first pushes, and the fewest: a look and a push four times.
MIN = 8
# With fewer arcs in both directions one thread of an H200's host is faster: 8 to 120 times at 100,000, and of three in
# four kinds of graphs at 4,000,000.
MIN_PUSHED = 1 << 22
# Arcs that this thread processes in the time of one superstep of the GPU: between two pairs of vertices of each of four
# kinds of 10,000,000 arcs (uniform, skewed, small world, R-MAT) it took 16 to 118 ns an arc, in the median 30, and a
# superstep 11 us, beside 0.5 ns for each arc that it looks at and 1.9 ms a run. A lattice of 10,000,000 arcs, left
# after 33,000 supersteps, takes 1.0 s instead of 14.9 (H200).
ARCS_A_SUPERSTEP = 300


@dataclass(frozen=True, eq=False)
class MaximumFlow(ResultTable, columns=("flow", "source", "target"), ends=("source", "target"), edges=True):
    """A maximum flow; as a table, the arcs with positive flow.

    Attributes
    ----------
    flow_value : int or float
        Value of the flow from source to sink.
    flow : Matrix of shape (n, n)
        ``flow[u, v]`` is the flow from u to v, negative for flow from v to u; int64, or float64 where capacities are
        floats, on the graph's device.
    """

    flow_value: float
    flow: Matrix

    def _values(self) -> dict[str, Any]:
        entries = self.flow.tocoo()
        along = entries.data > 0
        return {"flow": entries.data[along], "source": entries.row[along], "target": entries.col[along]}

    def __repr__(self) -> str:
        return f"<MaximumFlow: {self.flow_value}>"


def residual(edge):  # type: ignore[no-untyped-def]
    """Residual capacity of an arc, which flow along its reverse increases."""
    return edge.capacity - edge.flow + edge.reverse.flow


class Heights(EdgeVertexProgram):
    """Number of residual arcs to the start of the search: breadth-first, against the arcs."""

    weighted = False
    combiner = "min"
    height = Property("int32")
    capacity = EdgeProperty("int64", constant=True)
    flow = EdgeProperty("int64", constant=True)

    def edge_cond(source, edge, target):  # noqa: D102
        rises = target.height > source.height + 1  # type: ignore[operator]
        return rises and edge.reverse.capacity - edge.reverse.flow + edge.flow > 0

    def edge_compute(source, edge, target):  # noqa: D102
        return source.height + 1  # type: ignore[operator]


class Push(EdgeVertexProgram):
    """In odd supersteps vertices with an excess look for their lowest neighbour, in even ones they push to it."""

    weighted = False
    message = "int64"
    identity = 0
    height = Property("int32")
    excess = Property("int64")
    lowest = Property("int32", initial=-1)
    capacity = EdgeProperty("int64", constant=True)
    flow = EdgeProperty("int64")
    source = Parameter("int64")
    sink = Parameter("int64")
    top = Parameter("int64")

    def combiner(a, b):  # noqa: D102
        # Excesses are even, pairs of a height and a vertex odd; a vertex receives only one kind in a superstep.
        if a & 1:  # type: ignore[operator]
            return min(a, b) if b & 1 else a
        return b if b & 1 else a + b

    def reply_cond(source, edge, target, world):  # noqa: D102
        return residual(edge) > 0 if world.superstep & 1 else source.lowest == target.id

    def reply(source, edge, target, world):  # noqa: D102
        if world.superstep & 1:
            return (target.height << 31 | target.id) << 1 | 1
        # If the neighbour was lifted too, nothing is pushed, and the vertex searches again.
        return -2 * min(source.excess, residual(edge)) if source.height == target.height + 1 else 0

    def edge_cond(source, edge, target, world):  # noqa: D102
        return world.superstep & 1 == 0 and source.lowest == target.id and source.height == target.height + 1

    def edge_compute(source, edge, target):  # noqa: D102
        pushed = min(source.excess, residual(edge))
        return 2 * pushed, edge.flow + pushed

    def vertex_compute(vertex, message):  # noqa: D102
        if message & 1:
            return max(vertex.height, (message >> 32) + 1), vertex.excess, (message >> 1) & 0x7FFFFFFF
        return vertex.height, vertex.excess + message // 2, -1

    def vote_to_halt(before, vertex, world):  # noqa: D102
        at_an_end = vertex.id == world.source or vertex.id == world.sink
        return at_an_end or vertex.excess == 0 or vertex.height >= world.top


@naming_arguments
def maximum_flow(G: Graph | Any, source: Any, sink: Any) -> MaximumFlow:
    """A maximum flow from a source to a sink; weights are capacities.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Weights are capacities: finite, not negative. Without weights each arc carries 1. An undirected edge
        carries its weight in either direction; loops carry nothing.
    source, sink : vertex
        By name, or by index if the graph has no names.

    Returns
    -------
    MaximumFlow
        With SciPy's names: `flow_value`, and `flow`, which is antisymmetric.

    Raises
    ------
    ValueError
        When a capacity is negative, infinite or NaN, source and sink are the same, or the flow may exceed 64 bits.

    Notes
    -----
    The value is the same on every device. Among several maximum flows, each device always returns the same one, but
    the CPU's may differ from the GPU's: it augments along shortest paths on one thread, and the GPU pushes excesses in
    parallel. With float capacities, or fewer than 2**22 arcs in both directions, it always runs on the CPU, to which a
    graph on the GPU is copied; it also restarts there once the supersteps on the GPU have taken as long as the CPU is
    expected to take, as in lattices. Sums of floats are rounded in double precision. Memory beside the graph: about 90
    bytes for each arc in both directions on the GPU, and 40 on the CPU; a directed graph caches its arcs in both
    directions and their capacities, 16 to 24 bytes each.

    References
    ----------
    A. V. Goldberg, R. E. Tarjan, "A new approach to the maximum-flow problem", J. ACM 35(4), 1988. E. A. Dinic,
    "Algorithm for solution of a problem of maximum flow in networks with power estimation", Soviet Math. Doklady 11,
    1970.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 1, 2], [1, 2, 2, 3, 3], [5, 3, 4, 2, 6])
    >>> found = hpg.maximum_flow(G, 0, 3)
    >>> found.flow_value
    8
    >>> found.flow.toarray()[0].tolist()
    [0, 5, 3, 0]
    """
    graph = as_simple(G, "sum")
    s, t = two_ends(graph, source, sink)
    both, capacity = _kept_both_ways(graph)
    value, net = flow_between(both, capacity, s, t)
    if net.dtype.kind == "f":
        # The two arcs of an edge are rounded independently.
        net = (net - net[both.reverse_arcs]) / 2
    return named(MaximumFlow(value, matrix_of_csr(both.out_csr.with_data(net))), graph)


def two_ends(graph: Graph, source: Any, sink: Any) -> tuple[int, int]:
    """The indices of a source and a sink, which must differ."""
    s, t = graph.index_of(source, "source"), graph.index_of(sink, "sink")
    if s == t:
        raise ValueError("source and sink must be two vertices, not one")
    return s, t


def flow_between(both: Graph, capacity: Any, s: int, t: int) -> tuple[Any, Any]:
    """The value of a maximum flow between two vertices, and what flows along each arc, of what `both_ways` gives."""
    floats = capacity.dtype.kind == "f"
    if not floats:
        _check_source(both, capacity, s)
    arcs = both.out_csr.nnz
    if both.device != "cpu" and not floats and arcs >= MIN_PUSHED:
        # Push on the GPU for at most the expected time of the CPU, which then starts from scratch.
        pushed = _push(both, capacity, s, t, arcs / ARCS_A_SUPERSTEP)
        if pushed is not None:
            value, flow = pushed
            return value, flow - flow[both.reverse_arcs]
    # Imported here, since it imports Numba.
    from hpgraph.kernels.structure.cpu_maximum_flow import maximum_flow as by_paths

    capacity = to_device(capacity, "cpu")
    if not floats and int(capacity.max(initial=0)) > MAX_FLOW:
        capacity = np.minimum(capacity, MAX_FLOW)
    residual = capacity.copy()
    value, _ = by_paths(both.out_csr.to("cpu"), residual, s, t)
    return value, to_device(np.subtract(capacity, residual, out=residual), both.device)


def counted(G: Any) -> Graph:
    """The simple graph whose weights are the numbers of parallel edges; without weights if there are none."""
    graph = as_graph(G)
    pattern = graph.out_csr.with_data(None)
    return Graph._from_csr(pattern, graph.directed, graph._names, graph.multigraph).simple("count")


def both_ways(graph: Graph) -> tuple[Graph, Any]:
    """The graph with every arc's reverse, and how much each arc carries: int64 or float64, on the graph's device."""
    arcs, xp = graph.out_csr, array_module(graph.device)
    if graph.n_vertices > MAX_VERTICES:
        raise ValueError(f"maximum_flow takes at most {MAX_VERTICES} vertices, not {graph.n_vertices}")
    check_capacities(arcs.data)
    if arcs.data is None:
        carried = arcs.with_data(xp.ones(arcs.nnz, np.int64))
    else:
        if arcs.data.dtype == np.uint64:
            # Capacities beyond the supported flow are clipped, since they would be negative in int64.
            arcs = arcs.with_data(xp.minimum(arcs.data, np.uint64(MAX_FLOW)))
        carried = arcs.astype(np.float64 if arcs.data.dtype.kind == "f" else np.int64)
    backend = kernels(graph.device)
    if graph.directed and not backend.is_both_ways(carried.with_data(None)):
        carried = backend.with_reverses(carried)
    elif anywhere(loops := carried.expand_rows() == carried.indices):
        carried = carried.with_data(xp.where(loops, 0, carried.data), copy=False)
    return Graph._from_csr(carried.with_data(None), False, None) if graph.directed else graph, carried.data


def check_capacities(weights: Any) -> None:
    """Refuse capacities that are negative or not finite; None are those without weights."""
    if weights is None or not len(weights):
        return
    if not (smallest := weights.min().item()) >= 0:
        raise ValueError(f"capacities must not be negative, and there is one of {smallest}")
    with np.errstate(over="ignore"):
        together = float(total(weights, np.float64))
    if not together < np.inf:
        raise ValueError(
            "capacities must be finite, and so must their sum: a bound above the sum of all others serves as none"
        )


def _kept_both_ways(graph: Graph) -> tuple[Graph, Any]:
    """`both_ways`, cached with a directed graph; for an undirected one, which is its own, that would be a cycle."""
    if not graph.directed:
        return both_ways(graph)
    network = functools.cache(lambda: both_ways(graph))
    both = graph.once("both_ways", lambda: network()[0])
    return both, graph.once("capacity_both_ways", lambda: network()[1])


def _check_source(graph: Graph, capacity: Any, s: int) -> None:
    begin, end = to_device(graph.out_csr.indptr[s : s + 2], "cpu").tolist()
    # As floats, sums cannot wrap around.
    if float(total(capacity[begin:end], np.float64)) >= MAX_FLOW:
        raise ValueError(f"the source's arcs carry more than {MAX_FLOW} together, which cannot be counted")


def _push(graph: Graph, capacity: Any, s: int, t: int, most: float) -> tuple[int, Any] | None:
    """The value and the flow along each arc, net along an edge; None if that takes more than `most` supersteps."""
    n, xp = graph.n_vertices, array_module(graph.device)
    begin, end = to_device(graph.out_csr.indptr[s : s + 2], "cpu").tolist()
    first = capacity[begin:end]
    flow, excess = xp.zeros(len(capacity), np.int64), xp.zeros(n, np.int64)
    flow[begin:end] = first
    excess[graph.out_csr.indices[begin:end]] = first
    supersteps = MIN
    # Phase one pushes all possible flow to the sink, phase two returns the remaining excess to the source.
    for start, lowest, other, top in ((t, 0, s, n), (s, n, t, 2 * n)):
        waiting = True
        while waiting:
            height = xp.full(n, top, np.int32)
            height[start] = lowest
            if start == s:
                height[other] = 0
            searched = run(
                Heights, graph, active=id(start), direction="push", height=height, capacity=capacity, flow=flow
            )
            height, worth = searched.height, int(searched.trace.edges.sum())
            most -= len(searched.trace.rows)
            active = (excess > 0) & (height < top)
            active[xp.asarray([s, t])] = False
            active = id(active.nonzero()[0])
            waiting = len(active.index) > 0
            while waiting and worth > 0:
                if most < 0:
                    return None
                pushed = run(
                    Push, graph, active=active, direction="push", max_iteration=supersteps, height=height,
                    excess=excess, capacity=capacity, flow=flow, source=s, sink=t, top=top,
                )  # fmt: skip
                height, excess, flow, active = pushed.height, pushed.excess, pushed.flow, id(pushed.active)
                waiting = len(pushed.active) > 0
                cost = int(pushed.trace.edges.sum())
                worth -= cost
                most -= len(pushed.trace.rows)
                # A run has a fixed cost: supersteps double while it costs less than remains until the next relabelling.
                supersteps = 2 * supersteps if cost < worth else max(supersteps // 2 & ~1, MIN)
    return int(excess[t]), flow
