"""Eigenvector and Katz centrality, by iterations pulled along in-arcs.

P. Bonacich, "Power and centrality: a family of measures", American Journal of Sociology 92 (1987). A superstep
multiplies what the one before left unscaled: its length, the sum of all squares, is known only when the superstep is
over, and the next one divides by it. So an iteration is one pass. The length also estimates the largest eigenvalue, to
which the shift is in proportion.

For Katz centrality: L. Katz, "A new status index derived from sociometric analysis", Psychometrika 18 (1953).
"""

import math
from typing import Any

import numpy as np

from hpgraph.algorithms.distances import facts_of, with_weights
from hpgraph.algorithms.out_strength import scaled
from hpgraph.algorithms.power_iteration import (
    CentralityResult,
    SendsValue,
    by_weights,
    checked,
    refuse_unfit_weights,
    warn_unless,
)
from hpgraph.algorithms.vertex_values import vertex_values
from hpgraph.containers.graph import Graph, named, naming_arguments, real
from hpgraph.core.device import array_module, total
from hpgraph.engine.definition import Parameter, Property
from hpgraph.engine.result import Trace
from hpgraph.engine.run import run

# The shift, over the length that a unit vector has after a step: it tends to λ / 5, and of the eigenvalues λ and -λ of
# a bipartite graph the first becomes the larger by half. Never below the second, in mean weights, so that lengths do
# not vanish in a graph without cycles, where λ is 0.
_SHIFT = 1 / 6
_MIN_SHIFT = 2.0**-40


class Power(SendsValue):
    """``x ← (A / mean weight + s I)ᵀ x``, scaled to length 1 when it is next read."""

    last = Property()  # the one before it, scaled
    per_weight = Parameter("float64")  # 1 / mean weight
    enough = Parameter("float64")
    aggregators = ("squares", "residual")

    def update(vertex, message, world):  # noqa: D102
        length = math.sqrt(world.squares) if world.squares > 0 else 1.0
        shift = max(_SHIFT * length, _MIN_SHIFT) if world.squares > 0 else 1.0
        return (world.per_weight * message + shift * vertex.value) / length, vertex.value / length  # type: ignore[operator]

    def aggregate(before, vertex, world):  # noqa: D102
        return vertex.value * vertex.value, abs(vertex.last - before.last)

    def converged(world):  # noqa: D102
        return world.superstep > 1 and world.residual < world.enough  # type: ignore[attr-defined]


_PROGRAMS = by_weights(Power)


@naming_arguments
def eigenvector_centrality(
    G: Graph | Any,
    *,
    tol: float = 1e-6,
    max_iteration: int = 100,
    start: Any = None,
    weight: str | bool | None = None,
    dtype: Any = np.float64,
) -> CentralityResult:
    """Eigenvector centrality: a vertex's value is proportional to the sum of its in-neighbours' values.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one in-arcs count; ``G.reverse()`` reverses every arc.
    tol : float
        Iterations stop when the changes of all vertices sum to less than n · `tol`, as in NetworkX. 0 runs
        `max_iteration` iterations.
    max_iteration : int
        Maximum number of iterations.
    start : array of length n or dict, optional
        Initial values; a dict has values by vertex, and 0 for others. Default: uniform.
    weight : None, bool or str
        Whether weights multiply the values sent along arcs, as for `hpgraph.pagerank`.
    dtype : float32 or float64
        Type of the numbers; sums are float64 always. float32 takes about half the time where arcs go far.

    Returns
    -------
    CentralityResult
        Its `centrality`, of Euclidean length 1, is an eigenvector of the largest eigenvalue.

    Notes
    -----
    The power method is applied to A + s I, which has the same eigenvectors and converges on bipartite graphs too; s
    tends to a fifth of the largest eigenvalue, so that the unit of weights has no effect. NetworkX's s is 1. Memory
    beside the graph: three numbers a vertex. A directed graph is transposed first, and the transpose is cached.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False)
    >>> hpg.eigenvector_centrality(G).centrality.round(3).tolist()
    [0.523, 0.523, 0.612, 0.282]
    """
    graph, weighted = with_weights(G, weight, parallel="keep")
    tol, limit, dtype = checked(tol, max_iteration, dtype)
    xp, n = array_module(graph.device), graph.n_vertices
    if n == 0:
        return named(CentralityResult(xp.empty(0, dtype), 0, 0.0, True, Trace(np.empty((0, 4), np.int64))), graph)
    arcs = scaled(graph) if weighted else graph
    value: Any = dtype.type(1 / math.sqrt(n))
    if start is not None:
        value = vertex_values(graph, start, "start", dtype)
        length = float(xp.linalg.norm(value))
        if not 0 < length < math.inf:
            raise ValueError("start must not be zero everywhere, nor so large that its squares overflow")
        value /= dtype.type(length)
    enough = n * tol
    # The mean weight, or the largest absolute value if a weight is negative.
    size = facts_of(arcs).longest / max(graph.n_edges, 1) if weighted else 1.0
    initial = {"value": value, "last": dtype.type(0), "enough": enough, "per_weight": 1 / size if size else 1.0}
    result = run(_PROGRAMS[weighted], arcs, max_iteration=limit, **initial)
    squares = float(result.world["squares"])
    if not 0 < squares < math.inf:
        refuse_unfit_weights(graph, weighted)
        raise ValueError("weights must not be so large, or so negative, that all numbers overflow or vanish")
    # The array belongs to the run, so it may be changed in place.
    centrality = result.value
    centrality *= dtype.type(1 / math.sqrt(squares))
    change = float(total(xp.abs(centrality - result.last), np.float64))
    residual = change if result.supersteps else math.inf
    converged = residual < enough
    warn_unless(converged, tol, "eigenvector centrality", result.supersteps, residual)
    return named(CentralityResult(centrality, result.supersteps, residual, converged, result.trace), graph)


class Katz(SendsValue):
    """``x ← α Aᵀ x + β``."""

    alpha = Parameter("float64")
    beta = Parameter("float64")
    enough = Parameter("float64")
    aggregators = ("residual",)

    def update(vertex, message, world):  # noqa: D102
        return world.alpha * message + world.beta

    def aggregate(before, vertex):  # noqa: D102
        return abs(vertex.value - before.value)

    def converged(world):  # noqa: D102
        # Divergence is detected by overflow: an infinity, then a NaN, which is not less than anything.
        return world.residual < world.enough or not world.residual < math.inf  # type: ignore[attr-defined]


class KatzByVertex(Katz):
    """`Katz` with a β for each vertex."""

    base = Property()

    def update(vertex, message, world):  # noqa: D102
        return world.alpha * message + vertex.base, vertex.base


_KATZ = {False: by_weights(Katz), True: by_weights(KatzByVertex)}


@naming_arguments
def katz_centrality(
    G: Graph | Any,
    alpha: float = 0.1,
    beta: Any = 1.0,
    *,
    tol: float = 1e-6,
    max_iteration: int = 1000,
    start: Any = None,
    normalized: bool = True,
    weight: str | bool | None = None,
    dtype: Any = np.float64,
) -> CentralityResult:
    """Katz centrality: the number of walks that end at each vertex, where a walk of k arcs counts αᵏ.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one walks end at the vertex; ``G.reverse()`` reverses every arc.
    alpha : float
        Attenuation factor for each arc of a walk. The iteration diverges unless it is below 1 / λ, where λ is the
        largest eigenvalue of the graph.
    beta : float, array of length n, or dict
        Constant term of each vertex; a dict must have a value for every vertex.
    tol : float
        Iterations stop when the changes of all vertices sum to less than n · `tol`, as in NetworkX. 0 runs
        `max_iteration` iterations.
    max_iteration : int
        Maximum number of iterations.
    start : array of length n or dict, optional
        Initial values. Default: 0.
    normalized : bool
        Whether to scale the result to Euclidean length 1.
    weight : None, bool or str
        Whether weights multiply the values sent along arcs, as for `hpgraph.pagerank`.
    dtype : float32 or float64
        Type of the numbers; sums are float64 always. float32 takes about half the time where arcs go far.

    Returns
    -------
    CentralityResult
        Its `centrality` solves ``x = α Aᵀ x + β``, up to scale.

    Notes
    -----
    Memory beside the graph: two numbers a vertex, three if `beta` differs by vertex. A directed graph is transposed
    first, and the transpose is cached.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2], [2, 2, 3])
    >>> hpg.katz_centrality(G, normalized=False).centrality.round(3).tolist()
    [1.0, 1.0, 1.2, 1.12]
    """
    graph, weighted = with_weights(G, weight, parallel="keep")
    tol, limit, dtype = checked(tol, max_iteration, dtype)
    alpha = real(alpha, "alpha")
    xp, n = array_module(graph.device), graph.n_vertices
    if isinstance(beta, dict) and len(beta) < n:
        raise ValueError(f"beta must have a value for each of the {n} vertices, not for {len(beta)}")
    bases = vertex_values(graph, beta, "beta", dtype)
    by_vertex = np.ndim(beta) > 0 or isinstance(beta, dict)
    if n == 0:
        return named(CentralityResult(xp.empty(0, dtype), 0, 0.0, True, Trace(np.empty((0, 4), np.int64))), graph)
    base: dict[str, Any] = {"base": bases} if by_vertex else {"beta": float(beta)}
    enough = n * tol
    result = run(
        _KATZ[by_vertex][weighted], graph, max_iteration=limit, alpha=alpha, enough=enough,
        value=vertex_values(graph, 0 if start is None else start, "start", dtype), **base,
    )  # fmt: skip
    iterations, residual = result.supersteps, float(result.world["residual"]) if result.supersteps else math.inf
    centrality = result.value
    largest = float(abs(centrality).max())
    if iterations and not max(largest, residual) < math.inf:
        refuse_unfit_weights(graph, weighted)
        raise ValueError(
            f"alpha must be smaller: with {alpha:g} the values diverge, after {iterations} iterations beyond the "
            "range of floats; it must be below 1 over the largest eigenvalue of the graph"
        )
    if normalized and largest:
        # Squares of very large numbers overflow, those of very small ones vanish.
        centrality = centrality / dtype.type(largest)
        centrality /= xp.linalg.norm(centrality)
    converged = residual < enough
    warn_unless(converged, tol, "Katz centrality", iterations, residual)
    return named(CentralityResult(centrality, iterations, residual, converged, result.trace), graph)
