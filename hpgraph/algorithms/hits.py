"""Hubs and authorities (HITS), by two products an iteration.

J. M. Kleinberg, "Authoritative sources in a hyperlinked environment", Journal of the ACM 46 (1999). Where every arc has
its reverse both products are of one matrix, and all iterations run as supersteps of one program. In a directed graph
two programs take turns.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.out_strength import scaled
from hpgraph.algorithms.power_iteration import (
    SendsValue,
    by_weights,
    checked,
    ending,
    iterated,
    refuse_unfit_weights,
    warn_unless,
)
from hpgraph.algorithms.vertex_values import vertex_values
from hpgraph.containers.graph import Graph, named, naming_arguments
from hpgraph.containers.result_table import ResultTable
from hpgraph.core.device import Array, array_module, everywhere, total
from hpgraph.engine.definition import Parameter, Property
from hpgraph.engine.run import run


class Mutual(SendsValue):
    """Hubs and authorities of an undirected graph in turn: after superstep 2k those of iteration k."""

    kept = Property()  # the one before it, scaled: after even supersteps, and from there on
    tol = Parameter("float64")
    aggregators = ("total", "residual")

    def update(vertex, message, world):  # noqa: D102
        scale = 1 / world.total if world.total > 0 else 1.0
        return scale * message, scale * vertex.value if world.superstep & 1 == 0 else vertex.kept  # type: ignore

    def aggregate(before, vertex, world):  # noqa: D102
        return abs(vertex.value), abs(vertex.kept - before.kept)

    def converged(world):  # noqa: D102
        even = world.superstep & 1 == 0  # type: ignore[attr-defined]  # a GPU needs no linker for it, as for %
        return even and world.superstep > 2 and world.residual <= world.tol  # type: ignore[attr-defined]


class Authorities(SendsValue):
    """Sum over the in-neighbours of each vertex."""

    max_iteration = 1
    made = Property()
    aggregators = ("total",)

    def update(vertex, message):  # noqa: D102
        return vertex.value, message

    def aggregate(before, vertex):  # noqa: D102
        return abs(vertex.made)


class Hubs(Authorities):
    """Sum over the out-neighbours of each vertex."""

    edges = "out"


_MUTUAL, _AUTHORITIES, _HUBS = by_weights(Mutual), by_weights(Authorities), by_weights(Hubs)


@dataclass(frozen=True, eq=False)
class HITSResult(ResultTable, columns=("hubs", "authorities")):
    """Hubs and authorities, and how they were come by; ``hubs, authorities = hits(G)`` takes them apart.

    Attributes
    ----------
    hubs, authorities : float array of length n
        By index, on the graph's device.
    iterations : int
        Of two products each.
    residual : float
        The last iteration's change of the authorities, summed over all vertices, where they sum to 1.
    converged : bool
    """

    hubs: Array
    authorities: Array
    iterations: int
    residual: float
    converged: bool

    def __iter__(self) -> Iterator[Any]:
        return iter((self.hubs, self.authorities))

    def __repr__(self) -> str:
        return f"<HITSResult: {len(self.hubs)} vertices, {ending(self)}>"


@naming_arguments
def hits(
    G: Graph | Any,
    *,
    tol: float = 1e-8,
    max_iteration: int = 100,
    start: Any = None,
    normalized: bool = True,
    weight: str | bool | None = "weight",
    dtype: Any = np.float64,
) -> HITSResult:
    """Hubs and authorities: good hubs point to good authorities, and good authorities are pointed to by good hubs.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In an undirected one hubs and authorities are the same, but for their last bits and for bipartite
        components.
    tol : float
        Iterations end when changes of the authorities, which sum to 1, sum to at most this. 0 runs to `max_iteration`.
    max_iteration : int
        Iterations at the most.
    start : array of length n or dict, optional
        Hubs to start from; a dict gives values by vertex, 0 to the others. Default: everywhere alike.
    normalized : bool
        Whether hubs, and authorities, sum to 1. Otherwise authorities are of Euclidean length 1, and hubs what the
        authorities give, as in NetworkX.
    weight : None, bool or str
        Whether weights, where there are any, multiply the values sent along arcs, as in NetworkX; given as for
        `hpgraph.pagerank`.
    dtype : float32 or float64
        Type of the numbers; sums are float64 always.

    Notes
    -----
    NetworkX with ``method="svd"``, before 3.7 its only one, asks SciPy for a singular vector; where the largest of the
    singular values is one of several alike the two answers may differ. Takes four numbers a vertex beside the graph. A
    directed graph is transposed, and keeps that.

    Examples
    --------
    >>> hubs, authorities = hpg.hits(hpg.Graph.from_edges([0, 1, 1], [2, 2, 3]))
    >>> hubs.round(3).tolist(), authorities.round(3).tolist()
    ([0.382, 0.618, 0.0, 0.0], [0.0, 0.0, 0.618, 0.382])
    """
    graph, weighted = with_weights(G, weight, parallel="keep")
    tol, limit, dtype = checked(tol, max_iteration, dtype)
    xp, n = array_module(graph.device), graph.n_vertices
    if n == 0:
        return named(HITSResult(xp.empty(0, dtype), xp.empty(0, dtype), 0, 0.0, True), graph)
    if start is None:
        hubs = xp.full(n, 1 / n, dtype)
    else:
        hubs = vertex_values(graph, start, "start", dtype)
        size = float(total(abs(hubs), np.float64))
        if not 0 < size < math.inf:
            raise ValueError("start must not be zero everywhere, nor so large that its sum overflows")
        hubs /= dtype.type(size)
    iterate = _in_turn if graph.directed else _mutually
    arcs = scaled(graph) if weighted and normalized else graph
    hubs, authorities, iterations, residual = iterate(arcs, hubs, weighted, tol, limit)
    if not (everywhere(xp.isfinite(hubs)) and everywhere(xp.isfinite(authorities))):
        refuse_unfit_weights(graph, weighted)
        raise ValueError("weights must not be so large that numbers overflow; weight=None does without them")
    converged = residual <= tol
    warn_unless(converged, tol, "HITS", iterations, residual)
    if not normalized:
        hubs, authorities = _by_length(graph, authorities, weighted)
    return named(HITSResult(hubs, authorities, iterations, residual, converged), graph)


def _mutually(graph: Graph, hubs: Any, weighted: bool, tol: float, limit: int) -> tuple[Any, Any, int, float]:
    nothing = array_module(graph.device).zeros_like(hubs)
    found = run(_MUTUAL[weighted], graph, max_iteration=2 * limit, value=hubs, kept=nothing, tol=tol)
    if not found.supersteps:
        return hubs, nothing, 0, math.inf
    residual = float(found.world["residual"]) if found.supersteps > 2 else math.inf
    return _scaled(found.value, found.world["total"]), found.kept, found.supersteps // 2, residual


def _in_turn(graph: Graph, hubs: Any, weighted: bool, tol: float, limit: int) -> tuple[Any, Any, int, float]:
    def step(held: Any, iterations: int) -> tuple[Any, float]:
        hubs, authorities = held
        found = run(_AUTHORITIES[weighted], graph, value=hubs, made=hubs.dtype.type(0))
        latest = _scaled(found.made, found.world["total"])
        residual = float(total(abs(latest - authorities), np.float64)) if iterations else math.inf
        found = run(_HUBS[weighted], graph, value=latest, made=latest.dtype.type(0))
        return (_scaled(found.made, found.world["total"]), latest), residual

    first = hubs, array_module(graph.device).zeros_like(hubs)
    (hubs, authorities), iterations, residual = iterated(step, first, limit, lambda residual: residual <= tol)
    return hubs, authorities, iterations, residual


def _scaled(values: Any, total: float) -> Any:
    return values / values.dtype.type(total) if total > 0 else values


def _by_length(graph: Graph, authorities: Any, weighted: bool) -> tuple[Any, Any]:
    authorities = _scaled(authorities, float(array_module(graph.device).linalg.norm(authorities)))
    return run(_HUBS[weighted], graph, value=authorities, made=authorities.dtype.type(0)).made, authorities
