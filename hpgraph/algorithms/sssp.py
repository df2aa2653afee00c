"""Single-source shortest paths, for weights of any sign.

Where no weight is negative the active vertices are taken in buckets of distance (Δ-stepping, U. Meyer, P. Sanders,
"Δ-stepping: a parallelizable shortest path algorithm", 2003, with two buckets as in A. Davidson et al., IPDPS'14);
otherwise it is Bellman–Ford over the vertices whose distance changed, with periodic checks for negative cycles.
Distances are minima of sums along paths, so their values do not depend on the order of events: they repeat bit for bit.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hpgraph.algorithms.array_result import ParentTree
from hpgraph.algorithms.bfs import BFSResult, bfs
from hpgraph.algorithms.distances import (
    Distances,
    SingleDistances,
    WeightFacts,
    bucket_width,
    check_within_range,
    facts_of,
    tree_of,
    trees_of,
)
from hpgraph.algorithms.negative_cycle import check_no_negative_cycle
from hpgraph.containers.graph import Graph, as_simple, id, named, naming_arguments, real
from hpgraph.core.caller import renamed
from hpgraph.core.device import Array, array_module, check_memory, native, to_device
from hpgraph.engine.declarations import declarations_of_own
from hpgraph.engine.grouping import sources_at_most
from hpgraph.engine.multi_source import run_sources
from hpgraph.engine.result import Trace
from hpgraph.engine.run import run, run_one
from hpgraph.kernels.runtime.search import Starts

# Supersteps before the first check for a negative cycle; every further interval is twice as long.
FIRST_LOOK = 32


@dataclass(frozen=True, eq=False)
class SSSPResult(ParentTree, columns=("distance", "parent"), ends=("parent",)):
    """Shortest paths from one source, or from each of k sources: arrays then have a row for each.

    Attributes
    ----------
    distance : float array of length n, or of shape (k, n)
        Infinity where the source does not reach.
    parent : array of vertex ids of length n or of shape (k, n), or None
        The vertex before on a shortest path; the source is its own parent; -1 where the source does not reach.
    traces : list of Trace
        What each superstep of each group of searches did; ``trace`` is that of the only group.
    sources : int64 array of length k, or None
        Indices of several sources, in NumPy, in the given order.
    """

    distance: Array
    parent: Any
    traces: list[Trace]
    sources: Any = None

    def __repr__(self) -> str:
        if self.sources is None:
            return f"<SSSPResult: {len(self.distance)} vertices, {self.trace!r}>"
        k, n = self.distance.shape
        return f"<SSSPResult: {k} sources, {n} vertices, in {len(self.traces)} groups>"


MultiSourceSSSPResult = SSSPResult
"""Former name of the result from several sources."""


@naming_arguments
def sssp(
    G: Graph | Any,
    source: Hashable = None,
    *,
    sources: Any = None,
    cutoff: float | None = None,
    parents: bool = False,
    deterministic: bool = False,
    delta: float | None = None,
    group_size: int | str = "auto",
    lanes: int | str | None = None,
) -> SSSPResult:
    """Length of a shortest path from one vertex, or from each of several, to every other.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; ``A[i, j]`` is the length of the arc from i to j, 1 in an unweighted graph. A stored zero is an
        arc; one of infinite length reaches nothing.
    source : hashable or hpgraph.id
        The source: a vertex id, or a name if the graph has names; ``hpgraph.id(5)`` is always an index.
    sources : sequence or array of vertices, or hpgraph.id, instead of `source`
        Sources of several independent searches, with repetitions allowed. They share each pass over the arcs.
    cutoff : float, optional
        Vertices farther than this count as unreached. With negative weights such vertices still have parents, since the
        shortest path to a nearer vertex may pass through them.
    parents : bool
        Whether to compute a tree of shortest paths too.
    deterministic : bool
        Whether the parent is the one with the smallest id among those with fewest arcs to the source, the same in every
        run. Distances are always the same.
    delta : float, optional
        Width of the first bucket. Later ones are doubled or halved: on the GPU by the amount of repeated work, on the
        CPU if buckets hold too few vertices for a superstep. Default: from the mean weight and degree.
    group_size : int or "auto"
        Maximum number of searches that run together; groups run one after the other, with a progress bar.
    lanes : optional
        Deprecated: `group_size` under its former name.

    Returns
    -------
    SSSPResult
        Arrays by index, on the graph's device; distances are float32 where weights are, else float64, so that sums of
        whole numbers are exact up to 2**53.

    Raises
    ------
    NegativeCycleError
        If the source reaches a cycle of negative length.
    ValueError, IndexError, TypeError
        If a weight is NaN or -inf, a distance would be beyond the range of its type, `source`, or one of `sources`, is
        no vertex of the graph, or another argument does not fit.

    Notes
    -----
    Memory on the CPU, beside the graph: 14 bytes a vertex, 18 in double precision, if ids have 32 bits, of which 4 or 8
    are the result; none for arcs. If every arc of an undirected graph has length 1, a breadth-first search is used: it
    takes a quarter to two thirds of the time, and 13 bytes a vertex beside the result.

    Searches from several sources give the same bits as single searches. On the CPU, searches that share few arcs run
    on one thread each; with negative weights they run one after the other.

    References
    ----------
    R. Bellman, "On a routing problem", 1958. U. Meyer, P. Sanders, "Δ-stepping", J. Algorithms 49 (2003).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0], n_vertices=4)
    >>> r = hpg.sssp(G, 0, parents=True)
    >>> r.distance.tolist(), r.parent.tolist()
    ([0.0, 1.0, 3.0, inf], [0, 0, 1, -1])
    >>> hpg.sssp(G, sources=[1, 0]).distance.tolist()
    [[inf, 0.0, 2.0, inf], [0.0, 1.0, 3.0, inf]]
    """
    graph = as_simple(G)
    if (source is None) == (sources is None):
        raise TypeError("sssp takes either source=, one vertex, or sources=, several")
    starts = _starts_of(graph, sources) if source is None else None
    start = graph.index_of(source, "source") if starts is None else 0
    facts = facts_of(graph)
    if facts.has_nan or facts.least == -np.inf:
        raise ValueError("weights must not be NaN or -inf: replace them, or remove those arcs")
    if delta is not None:
        delta = real(delta, "delta", "a number or None", above=0)
    if cutoff is not None:
        cutoff = real(cutoff, "cutoff", "a number or None", least=0)
        # No finite distance exceeds the largest number of its type.
        cutoff = min(cutoff, float(np.finfo(_dtype_of(graph)).max))
    sources_at_most(group_size, 1, 1)
    plain = delta is None and lanes is None and isinstance(group_size, str)
    if plain and facts.ones and graph.in_one_memory and not graph.directed:
        return _by_hops(graph, start if starts is None else starts, cutoff, parents, deterministic)
    program = SingleDistances if _dtype_of(graph) == np.float32 else Distances
    width, ceiling = bucket_width(graph, facts) if delta is None else delta, cutoff
    if starts is not None:
        group_size = group_size if lanes is None else renamed("lanes", "group_size", lanes)
        distance, traces = _many(program, graph, starts, facts, ceiling, width, group_size)
        trees = trees_of if len(starts) else _no_trees
        distance, find = _within(graph, starts, distance, facts, cutoff, trees, deterministic)
        several = SSSPResult(distance, find() if parents else None, traces, starts)
        return named(several, graph, starts, None if parents else find)
    if facts.least < 0:
        distance, trace = _bellman_ford(program, graph, start)
    else:
        source_id = np.array([start], graph.id_dtype)
        found = run_one(declarations_of_own(program), graph, source_id, delta=width, ceiling=ceiling)
        distance, trace = found.properties["distance"], found.trace
    distance, find = _within(graph, start, distance, facts, cutoff, tree_of, deterministic)
    result = SSSPResult(distance, find() if parents else None, [trace])
    return named(result, graph, find_parents=None if parents else find)


def _by_hops(graph: Graph, start: Any, cutoff: float | None, parents: bool, deterministic: bool) -> SSSPResult:
    """Distances where every arc has length 1: levels of breadth-first searches, which read fewer arcs."""
    depth = None if cutoff is None else int(min(cutoff, graph.n_vertices))
    several, dtype = isinstance(start, np.ndarray), _dtype_of(graph)
    if several:
        what = f"distances from {len(start)} sources to {graph.n_vertices} vertices"
        check_memory(len(start) * graph.n_vertices * dtype.itemsize, what, graph.device)

    def search(parents: bool) -> BFSResult:
        where: dict[str, Any] = {"sources" if several else "source": id(start)}
        return bfs(graph, **where, parents=parents, deterministic=deterministic, max_depth=depth)

    found = search(parents)
    level = native(found.level)
    distance = level.astype(dtype)
    distance[level < 0] = np.inf
    result = SSSPResult(distance, found.parent, found.traces, start if several else None)
    find = None if parents else (lambda: search(True).parent) if several else found._find_parents
    return named(result, graph, start if several else None, find)


def _within(
    graph: Graph,
    start: Any,
    distance: Any,
    facts: WeightFacts,
    cutoff: float | None,
    tree: Callable[[Graph, Any, Any, bool], Any],
    deterministic: bool,
) -> tuple[Any, Callable[[], Any]]:
    """Distances up to the cutoff, and a function that computes parents from them."""
    if cutoff is None:
        if not facts.longest < float(np.finfo(distance.dtype).max):
            for row in distance.reshape(-1, graph.n_vertices):
                check_within_range(graph, row)
        return distance, partial(tree, graph, start, distance, deterministic)
    near = distance.copy()
    near[distance > cutoff] = np.inf
    # Only arcs of negative length lead from beyond the cutoff to vertices within it.
    return near, partial(tree, graph, start, distance if facts.least < 0 else near, deterministic)


def _dtype_of(graph: Graph) -> np.dtype:
    single = graph.weighted and graph.dtype == np.float32
    return np.dtype(np.float32 if single else np.float64)


def _starts_of(graph: Graph, sources: Any) -> np.ndarray:
    """Indices of the sources, in NumPy."""
    if isinstance(sources, int | np.integer | str):
        raise TypeError(f"sources must be a list or array of vertices, not {sources!r}: one vertex alone is source")
    listed = to_device(native(graph.indices_of(sources, "sources")), "cpu")
    return np.asarray(listed, np.int64).reshape(-1)


def _many(
    program: type[Distances],
    graph: Graph,
    starts: np.ndarray,
    facts: WeightFacts,
    ceiling: float | None,
    width: float | None,
    group_size: int | str,
) -> tuple[Any, list[Trace]]:
    """Distances from several vertices, and the traces of groups of searches."""
    k, n, dtype = len(starts), graph.n_vertices, _dtype_of(graph)
    if k == 0:
        return array_module(graph.device).empty((0, n), dtype), []
    if facts.least >= 0:
        active = Starts(starts.astype(graph.id_dtype), np.arange(k, dtype=np.int32), k)
        result = run_sources(program, graph, active, group_size=group_size, ceiling=ceiling, delta=width)
        return result.distance, result.traces
    check_memory(k * n * dtype.itemsize, f"distances from {k} sources to {n} vertices", graph.device)
    distance, traces = array_module(graph.device).empty((k, n), dtype), []
    for i, start in enumerate(starts.tolist()):
        distance[i], trace = _bellman_ford(program, graph, start)
        traces.append(trace)
    return distance, traces


def _no_trees(graph: Graph, starts: np.ndarray, distance: Any, deterministic: bool) -> Any:
    return array_module(graph.device).empty(distance.shape, graph.id_dtype)


def _bellman_ford(program: type[Distances], graph: Graph, start: int) -> tuple[Any, Trace]:
    active: Any = np.array([start])
    stretch, rows = FIRST_LOOK, []
    so_far: dict[str, Any] = {}
    while len(active):
        result = run(program, graph, active=id(active), max_iteration=stretch, **so_far)
        distance, active = result.distance, result.active
        so_far["distance"] = distance
        rows.append(result.trace.rows)
        stretch *= 2
        if len(active):
            check_no_negative_cycle(graph, start, distance, sum(map(len, rows)))
    return distance, Trace(np.concatenate(rows))
