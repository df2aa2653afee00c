"""Hubs and authorities (HITS), by two products an iteration.

J. M. Kleinberg, "Authoritative sources in a hyperlinked environment", Journal of the ACM 46 (1999). Where every arc has
its reverse both products are of one matrix, and all iterations run as supersteps of one program. In a directed graph
two programs take turns. Where the largest singular values lie close together, Lanczos's method goes on from the last
iterate (C. Lanczos, Journal of Research of the NBS 45, 1950), which finds what that converges to in far fewer products.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
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
from hpgraph.containers.public import matrix_of_csr
from hpgraph.containers.result_table import ResultTable
from hpgraph.core.device import Array, array_module, everywhere, fits, total
from hpgraph.engine.definition import Parameter, Property
from hpgraph.engine.program import VertexProgram
from hpgraph.engine.run import run

# Iterations before Lanczos's method begins, the vectors that it keeps, and iterations after each of its rounds, which
# tell whether it has converged.
_FIRST, _BASIS, _AFTER = 16, 20, 4


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
    """Result of `hpgraph.hits`; ``hubs, authorities = hits(G)`` unpacks it.

    Attributes
    ----------
    hubs, authorities : float array of length n
        By index, on the graph's device.
    iterations : int
        Each has two products.
    residual : float
        Change of the authorities, scaled to sum 1, in the last iteration, summed over all vertices.
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
        The graph. In an undirected one hubs and authorities are equal up to rounding, except in bipartite components.
    tol : float
        Iterations stop when the changes of the authorities, which sum to 1, sum to at most this. 0 runs
        `max_iteration` iterations.
    max_iteration : int
        Maximum number of iterations.
    start : array of length n or dict, optional
        Initial hubs; a dict has values by vertex, and 0 for others. Default: uniform.
    normalized : bool
        Whether hubs, and authorities, sum to 1. Otherwise authorities have Euclidean length 1, and hubs are their
        product with the adjacency matrix, as in NetworkX.
    weight : None, bool or str
        Whether weights, if there are any, multiply the values sent along arcs, as in NetworkX; in the forms of
        `hpgraph.pagerank`.
    dtype : float32 or float64
        Type of the result; sums are always float64.

    Notes
    -----
    NetworkX with ``method="svd"``, before 3.7 its only one, computes a singular vector by SciPy; if the largest
    singular value is not simple, the results may differ. Memory beside the graph: four numbers a vertex, or about
    twenty-four if 16 iterations do not suffice. A directed graph is transposed, and the transpose is cached.

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
    # tol=0 requests exactly `max_iteration` iterations.
    is_short = tol == 0 or limit < _FIRST + 2 * _AFTER or not fits(_BASIS * hubs.nbytes, graph.device)
    hubs, authorities, iterations, residual = iterate(arcs, hubs, weighted, tol, limit if is_short else _FIRST)
    while tol < residual < math.inf and iterations < limit:
        left = limit - iterations
        if left > _AFTER:
            steps = left - _AFTER if left < _BASIS + 3 * _AFTER else _BASIS
            hubs, steps = _ritz_vector(arcs, hubs, weighted, steps)
            iterations += steps
        hubs, authorities, more, residual = iterate(arcs, hubs, weighted, tol, min(left, _AFTER))
        iterations += more
    if not (everywhere(xp.isfinite(hubs)) and everywhere(xp.isfinite(authorities))):
        refuse_unfit_weights(graph, weighted)
        raise ValueError("weights must not be so large that numbers overflow; weight=None does without them")
    converged = residual <= tol
    warn_unless(converged, tol, "HITS", iterations, residual)
    if not normalized:
        hubs, authorities = _by_length(graph, authorities, weighted)
    return named(HITSResult(hubs, authorities, iterations, residual, converged), graph)


def _mutually(graph: Graph, hubs: Any, weighted: bool, tol: float, limit: int) -> tuple[Any, Any, int, float]:
    zeros = array_module(graph.device).zeros_like(hubs)
    result = run(_MUTUAL[weighted], graph, max_iteration=2 * limit, value=hubs, kept=zeros, tol=tol)
    if not result.supersteps:
        return hubs, zeros, 0, math.inf
    residual = float(result.world["residual"]) if result.supersteps > 2 else math.inf
    return _scaled(result.value, result.world["total"]), result.kept, result.supersteps // 2, residual


def _in_turn(graph: Graph, hubs: Any, weighted: bool, tol: float, limit: int) -> tuple[Any, Any, int, float]:
    to_authorities, to_hubs = _products(graph, weighted)

    def step(held: Any, iterations: int) -> tuple[Any, float]:
        hubs, authorities = held
        latest = _scaled(*to_authorities(hubs))
        residual = float(total(abs(latest - authorities), np.float64)) if iterations else math.inf
        return (_scaled(*to_hubs(latest)), latest), residual

    first = hubs, array_module(graph.device).zeros_like(hubs)
    (hubs, authorities), iterations, residual = iterated(step, first, limit, lambda residual: residual <= tol)
    return hubs, authorities, iterations, residual


def _products(graph: Graph, weighted: bool) -> Iterator[Callable[[Any], tuple[Any, float]]]:
    """Functions from hubs to authorities and back, unscaled, each with the sum of absolute values."""
    if graph.device == "cpu" and graph.in_one_memory:
        # For few arcs, the start of a program's run takes longer than a product.
        matrix = matrix_of_csr(graph.out_csr if weighted else graph.out_csr.pattern)
        yield from (partial(_multiplied, factor) for factor in (matrix.T, matrix))
    else:
        yield from (partial(_sent, programs[weighted], graph) for programs in (_AUTHORITIES, _HUBS))


def _multiplied(factor: Any, values: Any) -> tuple[Any, float]:
    product = factor @ values
    return product, float(total(abs(product), np.float64))


def _sent(program: type[VertexProgram], graph: Graph, values: Any) -> tuple[Any, float]:
    result = run(program, graph, value=values, made=values.dtype.type(0))
    return result.made, result.world["total"]


def _ritz_vector(graph: Graph, hubs: Any, weighted: bool, steps: int) -> tuple[Any, int]:
    """The best approximation of the limit of `hubs` in the Krylov space, and the number of iterates computed."""
    to_authorities, to_hubs = _products(graph, weighted)
    xp, number, eps = array_module(graph.device), hubs.dtype.type, float(np.finfo(hubs.dtype).eps)
    basis, table = xp.empty((steps, len(hubs)), hubs.dtype), np.zeros((steps, steps))
    vector, length, first = hubs, _length(hubs), 0.0
    for step in range(steps):
        basis[step] = vector / number(length)
        vector = to_hubs(to_authorities(basis[step])[0])[0]
        table[step, step] = diagonal = float(total(vector * basis[step], np.float64))
        vector = vector - number(diagonal) * basis[step]
        if step:
            table[step, step - 1] = length
            vector -= number(length) * basis[step - 1]
            # Reorthogonalize against the iterate: it is near the limit, and rounding reintroduces it.
            vector -= number(total(vector * basis[0], np.float64)) * basis[0]
        length = _length(vector)
        first = first or length
        values, vectors = np.linalg.eigh(table[: step + 1, : step + 1])
        weights = vectors[:, -1]
        # Beyond this precision, rounding errors grow in the following vectors.
        if not length * abs(weights[-1]) > max(eps**0.5 * first, 8 * eps * values[-1]):
            break
    # The sign that gives the first vector, the iterate, a positive share.
    shares = np.copysign(1, weights[0]) * weights
    result = sum(number(share) * vector_of_basis for share, vector_of_basis in zip(shares, basis, strict=False))
    # Entries that converge to 0 may be slightly negative.
    return (xp.maximum(result, 0) if everywhere(hubs >= 0) else result), step + 1


def _length(values: Any) -> float:
    # Squares of small numbers may underflow, and those of large ones overflow.
    largest = float(abs(values).max())
    return largest * math.sqrt(total((values / values.dtype.type(largest)) ** 2, np.float64)) if largest else 0.0


def _scaled(values: Any, total: float) -> Any:
    return values / values.dtype.type(total) if total > 0 else values


def _by_length(graph: Graph, authorities: Any, weighted: bool) -> tuple[Any, Any]:
    authorities = _scaled(authorities, float(array_module(graph.device).linalg.norm(authorities)))
    return run(_HUBS[weighted], graph, value=authorities, made=authorities.dtype.type(0)).made, authorities
