"""PageRank by power iteration, pulled along in-arcs.

S. Brin, L. Page, "The anatomy of a large-scale hypertextual web search engine", 1998. A vertex sends its rank divided
by its out-degree, so the product gathers one number an arc; the rank that dangling vertices hold is a sum over all
vertices that the next superstep spreads again.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.algorithms.array_result import ArrayResult
from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.multi_source_pagerank import (
    MultiSourcePageRankResult,
    Rules,
    are_personalizations,
    jumps_of,
    rank_from_each,
)
from hpgraph.algorithms.out_strength import moderate, out_strength_of
from hpgraph.algorithms.pagerank_delta import in_proportion, spread_changes
from hpgraph.algorithms.power_iteration import checked as iteration_checked
from hpgraph.algorithms.power_iteration import ending, warn_unless
from hpgraph.algorithms.vertex_values import distribution
from hpgraph.containers.divided_array import gathered
from hpgraph.containers.graph import Graph, named, naming_arguments, one_of, real
from hpgraph.core.device import Array, array_module
from hpgraph.core.errors import ConvergenceWarning
from hpgraph.engine.declarations import declarations_of_own
from hpgraph.engine.program import Parameter, Property, VertexProgram
from hpgraph.engine.result import Trace
from hpgraph.engine.run import run_one
from hpgraph.engine.state import limit_of, stays_apart


class PageRank(VertexProgram):
    """Rank over out-degree from the in-neighbours' values: the rank itself is never stored."""

    weighted = False
    reduce = "plus"
    activity = "all"
    share = Property()  # rank over `leaving`
    leaving = Property()  # out-degree or out-strength; -1 at dangling vertices
    damping = Parameter("float64")
    jump = Parameter("float64")
    spread = Parameter("float64")
    tol = Parameter("float64")
    aggregators = ("residual", "dangling", "moving")

    def gather(source, weight, target):  # noqa: D102
        return source.share

    def update(vertex, message, world):  # noqa: D102
        rank = world.jump + world.damping * message + world.spread * world.dangling
        return rank / vertex.leaving, vertex.leaving

    def aggregate(before, vertex, world):  # noqa: D102
        change = abs((vertex.share - before.share) * vertex.leaving)
        return change, (-vertex.share if vertex.leaving < 0 else 0), (1 if change > world.tol else 0)


class Personalized(PageRank):
    """`PageRank` with a teleport distribution for jumps and dangling rank."""

    teleport = Property()

    def update(vertex, message, world):  # noqa: D102
        rank = (world.jump + world.spread * world.dangling) * vertex.teleport + world.damping * message
        return rank / vertex.leaving, vertex.leaving, vertex.teleport


_PROGRAMS: dict[tuple[bool, bool], type[VertexProgram]] = {
    (False, False): PageRank,
    (False, True): Personalized,
    (True, False): in_proportion(PageRank),
    (True, True): in_proportion(Personalized),
}


@dataclass(frozen=True, eq=False)
class PageRankResult(ArrayResult, array="rank"):
    """Result of `hpgraph.pagerank`. ``numpy.asarray`` converts it to the ranks.

    Attributes
    ----------
    rank : float array of length n
        By index, on the graph's device.
    iterations : int
    residual : float
        The last iteration's change, summed over all vertices.
    converged : bool
    trace : Trace
    """

    rank: Array
    iterations: int
    residual: float
    converged: bool
    trace: Trace

    def __repr__(self) -> str:
        return f"<PageRankResult: {len(self)} vertices, {ending(self)}>"


@naming_arguments
def pagerank(
    G: Graph | Any,
    *,
    damping: float = 0.85,
    tol: float = 1e-6,
    max_iteration: int = 100,
    personalization: Any = None,
    start: Any = None,
    normalization: str = "standard",
    convergence: str = "global",
    weight: str | bool | None = None,
    dtype: Any = np.float64,
    method: str = "power",
    gather: bool = True,
    apart: bool | None = None,
) -> PageRankResult | MultiSourcePageRankResult:
    """PageRank of every vertex.

    Parameters
    ----------
    damping : float, in [0, 1]
        Probability of following an arc rather than jumping.
    tol : float
        Where to stop: see `convergence`. Absolute, not multiplied by the number of vertices. 0 runs to
        `max_iteration`.
    max_iteration : int
        Maximum number of iterations.
    personalization : array of length n, dict, set, hpgraph.id or list of names, optional
        Teleport distribution, also of the rank of vertices without out-arcs; not negative, scaled to sum to 1. Default:
        uniform. An array, or a list of numbers, has one value for each vertex, by index, even if names are numbers. A
        dict has values by vertex, and 0 for others; a set, an `hpgraph.id` or a list of names that are not numbers has
        vertices with equal shares. An array of shape (k, n), dense or sparse, or a list of k lists of vertices computes
        k rankings in one call, each the same as from its own call.
    start : array of length n, or one of the others, optional
        Initial ranks, for example those of a similar graph. Default: the personalization.
    normalization : {"standard", "hpgraph"}
        "standard" ranks sum to 1. "hpgraph" is the form of the HPGraph and GraphMat papers,
        (1 - d) + d Σ rank / degree, starting at 1 with the dangling rank lost.
    convergence : {"global", "vertex"}
        "global" stops when the changes of all vertices sum to at most `tol`, "vertex" when no vertex changes by more.
    weight : None, bool or str
        Whether a vertex divides its rank in proportion to its arcs' weights, which must not be negative: True, or a
        name, which selects the attribute of a NetworkX graph. None divides it equally.
    dtype : float32 or float64
        Type of the ranks.
    method : {"power", "delta"}
        "power" is power iteration: every vertex sends in every iteration. With "delta" a vertex sends the change since
        it last sent, once that exceeds `tol` / n (`tol` with "vertex"). This is faster for a personalization by few
        vertices with small neighbourhoods, as in road networks, and slower otherwise, even from a `start` close to the
        result. `iterations` then counts supersteps. `damping` must be below 1.
    gather : bool, default True
        On a graph on several GPUs, whether ranks are copied to the first one. Otherwise they stay on the GPUs of their
        vertices, as a `DividedArray`, or on a cluster as a Dask array; for one personalization, by power iteration.
    apart : bool, optional
        Deprecated: ``apart=True`` is ``gather=False``.

    Returns
    -------
    PageRankResult, or MultiSourcePageRankResult for k personalizations
        Its array lies on the graph's device, of shape (n,) or (k, n).

    Notes
    -----
    Memory on the CPU, beside the graph: 36 bytes a vertex, 28 in single precision, including the result, if ids have 32
    bits; a personalization takes one more number a vertex. The graph caches its out-degrees, 4 bytes a vertex, or sums
    of weights, 8. A directed graph is transposed first, and the transpose is cached.

    With k personalizations a GPU sends changes of ranks along arcs in single precision, and carries rounding errors
    over to the next iteration. Ranks in double precision then converge to those of k single calls, and differ during
    the iteration by less than 2⁻²⁴ of their sum.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> hpg.pagerank(G).rank.round(3).tolist()
    [0.333, 0.333, 0.333]
    >>> hpg.pagerank(G, personalization={1: 1.0}).rank.round(3).tolist()
    [0.281, 0.389, 0.33]
    >>> hpg.pagerank(G, personalization=[[1], [0, 2]]).rank.round(3).tolist()
    [[0.281, 0.389, 0.33], [0.36, 0.306, 0.335]]
    """
    graph, weighted = with_weights(G, weight, parallel="keep")
    damping, tol, dtype = _checked(damping, tol, max_iteration, dtype, normalization, convergence)
    one_of(method, "method", ("power", "delta"))
    if method == "delta" and damping == 1:
        raise ValueError('damping must be below 1 for method="delta": without jumps the changes may not converge')
    n = graph.n_vertices
    start = None if start is None else gathered(start)
    personalization = None if personalization is None else gathered(personalization)
    several = personalization is not None and are_personalizations(personalization, graph)
    apart = stays_apart(graph, gather, apart)
    if apart and (method == "delta" or several):
        raise ValueError('gather=False takes one personalization and method="power"')
    if several and method == "delta":
        raise ValueError('method="delta" takes one personalization at a time: use method="power" for several')
    scaled, alone = normalization == "standard", convergence == "vertex"
    all_rank = 1.0 if scaled else float(n)
    # With a personalization, jumps and dangling rank are multiplied by each vertex's share of it.
    each = all_rank / (1 if personalization is not None else max(n, 1))
    spread = damping * each if scaled else 0.0
    rules = Rules(damping, (1 - damping) * each, spread, tol, all_rank, max_iteration, alone, scaled)
    if several:
        return _personalized_ranks(graph, personalization, start, rules, weighted, dtype)
    if n == 0:
        none = array_module(graph.device).empty(0, dtype)
        rank: Any = graph.apart(none) if apart and graph.on_devices else none  # type: ignore[attr-defined]
        return named(PageRankResult(rank, 0, 0.0, True, Trace(np.empty((0, 4), np.int64))), graph)
    teleport = None if personalization is None else distribution(personalization, "personalization", graph, dtype)
    if weighted:
        graph = moderate(graph, dtype)
    leaving = out_strength_of(graph, weighted, dtype)
    if method == "delta":
        ranks = _by_delta(graph, start, teleport, leaving, rules, weighted, dtype)
    else:
        ranks = _by_iteration(graph, start, teleport, leaving, rules, weighted, dtype, apart)
    warn_unless(ranks.converged, tol, "PageRank", ranks.iterations, ranks.residual)
    return named(ranks, graph)


def _by_delta(
    graph: Graph, start: Any, teleport: Any, leaving: Any, rules: Rules, weighted: bool, dtype: np.dtype
) -> PageRankResult:
    first = None if start is None else _first_ranks(graph, start, teleport, rules, dtype)
    result = spread_changes(
        graph, teleport, leaving, first, damping=rules.damping, tol=rules.tol, limit=rules.limit, weighted=weighted,
        all_rank=None if rules.scaled else graph.n_vertices, alone=rules.alone,
    )  # fmt: skip
    rank = result.rank.astype(dtype, copy=False)
    return PageRankResult(rank, result.supersteps, result.residual, result.converged, result.trace)


def _by_iteration(
    graph: Graph, start: Any, teleport: Any, leaving: Any, rules: Rules, weighted: bool, dtype: np.dtype, apart: bool
) -> PageRankResult:
    """Power iteration."""
    initial: dict[str, Any] = {} if teleport is None else {"teleport": teleport}
    initial |= {
        "share": (_first_ranks(graph, start, teleport, rules, dtype) / leaving).astype(dtype, copy=False),
        "leaving": leaving, "damping": rules.damping, "jump": rules.jump, "spread": rules.spread, "tol": rules.tol,
    }  # fmt: skip
    program = _STOPPING[_PROGRAMS[weighted, teleport is not None], rules.alone]
    declared, limit = declarations_of_own(program), limit_of(rules.limit)
    result = run_one(declared, graph, None, limit=limit, apart=apart, initial=initial)
    iterations, residual = result.supersteps, float(result.world["residual"])
    reached = result.world["moving"] == 0 if rules.alone else residual <= rules.tol
    if apart and graph.on_devices:
        rank = result.share.map(lambda share, leaving: (share * leaving).astype(dtype, copy=False), leaving)
    else:
        rank = (result.share * result.leaving).astype(dtype, copy=False)
    return PageRankResult(rank, iterations, residual, bool(iterations and reached), result.trace)


def _personalized_ranks(
    graph: Graph, personalization: Any, start: Any, rules: Rules, weighted: bool, dtype: np.dtype
) -> MultiSourcePageRankResult:
    jumps = jumps_of(personalization, graph)
    if weighted:
        graph = moderate(graph, dtype)
    first = None
    if start is not None:
        first = distribution(start, "start", graph, dtype, scale=rules.scaled)
    leaving = out_strength_of(graph, weighted, dtype)
    result = rank_from_each(graph, jumps, leaving, first, rules, weighted=weighted, dtype=dtype)
    if not result.converged.all() and rules.tol > 0:
        row = int(result.converged.argmin())
        warnings.warn(
            f"PageRank stopped for {(~result.converged).sum()} of {jumps.k} personalizations after {rules.limit} "
            f"iterations, for row {row} at a change of {result.residual[row]:.3g}, above tol={rules.tol:g}: raise "
            "max_iteration or tol",
            ConvergenceWarning,
            stacklevel=4,
        )
    return named(result, graph)


def _residual_small(world):  # type: ignore[no-untyped-def]
    return world.residual <= world.tol


def _none_moving(world):  # type: ignore[no-untyped-def]
    return world.moving == 0


_STOPPING = {
    (program, alone): type(program.__name__, (program,), {"converged": stop})
    for program in _PROGRAMS.values()
    for alone, stop in ((False, _residual_small), (True, _none_moving))
}


def _first_ranks(graph: Graph, start: Any, teleport: Any, rules: Rules, dtype: np.dtype) -> Any:
    if start is not None:
        return distribution(start, "start", graph, dtype, scale=rules.scaled)
    if teleport is not None:
        return teleport * dtype.type(rules.all_rank)
    return dtype.type(rules.all_rank / graph.n_vertices)


def _checked(
    damping: Any, tol: Any, max_iteration: Any, dtype: Any, normalization: str, convergence: str
) -> tuple[float, float, np.dtype]:
    """The arguments of PageRank, checked."""
    damping, (tol, _, dtype) = real(damping, "damping"), iteration_checked(tol, max_iteration, dtype)
    if not 0 <= damping <= 1:
        raise ValueError(f"damping must lie between 0 and 1, not {damping!r}")
    one_of(normalization, "normalization", ("standard", "hpgraph"))
    one_of(convergence, "convergence", ("global", "vertex"))
    return damping, tol, dtype
