"""Betweenness centrality, of vertices and of edges: how much of the shortest paths leads through.

By numbers of arcs the sources search together (`hpgraph.kernels.betweenness`). By weights the
distances come first, from `sssp`; paths are then counted along the arcs on which distances are tight. Either way the
way back adds up dependencies, the farthest vertices first.

Of a graph in pages or on a cluster one source after the other is searched from, by vertex programs. In pages what
belongs to vertices stays, and arcs come past it once forwards and once backwards, level by level.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.algorithms.bfs import bfs
from hpgraph.algorithms.distances import weight_facts, with_weights
from hpgraph.algorithms.sources import sources_of
from hpgraph.algorithms.sssp import sssp
from hpgraph.containers.graph import Graph, as_graph, by_vertex, id, naming_arguments
from hpgraph.core.device import Array, array_module, count, everywhere, sources_within
from hpgraph.core.devices import move_array, on_each, place_of, shares
from hpgraph.core.placements import not_served
from hpgraph.engine.grouping import source_bar
from hpgraph.engine.phases import Phases
from hpgraph.engine.program import Parameter, Property, VertexProgram, run
from hpgraph.formats import CSR, occurrences
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.betweenness import GROUP, Sums, sums_of

# Bytes a vertex and source of a group of weighted searches: distances, in two layouts, and path counts on the GPU.
_WEIGHTED_BYTES = 48


@naming_arguments
def betweenness_centrality(
    G: Graph | Any,
    k: int | None = None,
    normalized: bool = True,
    weight: str | bool | None = None,
    endpoints: bool = False,
    seed: int | None = None,
    *,
    sources: Any = None,
) -> Array:
    """Betweenness of vertices: the share of shortest paths through each vertex, summed over all pairs of others.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; paths follow the arcs. Loops are on no shortest path.
    k : int, optional
        Estimate from k random sources, scaled up; the same as ``sources=k``.
    normalized : bool
        Whether to divide by the number of pairs, so that values lie between 0 and 1. Otherwise each pair counts 1,
        unordered in an undirected graph.
    weight : bool or str, optional
        Whether a path's length is the sum of its weights rather than its number of arcs. A string names the attribute
        of a NetworkX graph, and "weight" means True otherwise. In a graph without weights, all are 1.
    endpoints : bool
        Whether the ends of a path count.
    seed : int, optional
        Random seed of the draw.
    sources : int, sequence of vertices, or hpgraph.id, optional
        Starts of paths: a number of random ones, or a list. By default all vertices.

    Returns
    -------
    float64 array of length n
        By index, on the graph's device. NaN for a single source if endpoints do not count, since no path can pass
        through it.

    Raises
    ------
    ValueError, TypeError, IndexError
        If a weight is not positive, or too small to change a distance, or another argument is invalid.

    Notes
    -----
    The same call gives the same bits for any number of threads, if memory allows the same number of sources at once:
    64, or halved until they fit, in 24 bytes for each vertex and source. On the CPU, graphs on which searches share
    few arcs, such as roads, are searched from one source a thread, in 28 bytes a vertex. Numbers of shortest paths do
    not overflow.

    Scaling is NetworkX's, which since 3.6 scales sources and other vertices differently if not all are sources.

    References
    ----------
    .. [1] U. Brandes, "A faster algorithm for betweenness centrality", J. Mathematical Sociology 25(2), 2001.
    .. [2] U. Brandes, "On variants of shortest-path betweenness centrality and their generic computation", Social
       Networks 30(2), 2008.
    .. [3] U. Brandes, C. Pich, "Centrality estimation in large networks", Int. J. Bifurcation and Chaos 17(7), 2007.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> hpg.betweenness_centrality(G, normalized=False).tolist()
    [0.0, 2.0, 2.0, 0.0]
    >>> hpg.betweenness_centrality(G, sources=[0, 3], normalized=False).tolist()
    [0.0, 2.25, 2.25, 0.0]
    """
    graph, weighted = with_positive_lengths(G, weight)
    listed = _sources(graph, k, sources, seed)
    n = graph.n_vertices
    sums = path_dependencies(graph, listed, weighted, endpoints=endpoints)
    total = sums.vertices
    if endpoints:
        total += sums.reached
        xp = array_module(graph.device)
        # A source is an end of its paths to all it reaches.
        total += occurrences(xp.asarray(listed), n, sums.reach - 1)
    return by_vertex(scaled(total, listed, graph, normalized=normalized, endpoints=endpoints), graph)


def scaled(total: Any, listed: np.ndarray, graph: Any, *, normalized: bool, endpoints: bool = False) -> Any:
    """Sums over the shortest paths from some vertices, scaled in place to shares or counts of all pairs."""
    n = len(total)
    pairs = n if endpoints else n - 1
    if pairs < 2:
        return total
    sampled = len(listed) < n
    scale = _scale(pairs, len(listed) if sampled else pairs, normalized, graph)
    if sampled and not endpoints:
        starts = array_module(graph.device).asarray(listed)
        own = total[starts] * (_scale(pairs, len(listed) - 1, normalized, graph) if len(listed) > 1 else math.nan)
        total *= scale
        total[starts] = own
    else:
        total *= scale
    return total


@naming_arguments
def edge_betweenness_centrality(
    G: Graph | Any,
    k: int | None = None,
    normalized: bool = True,
    weight: str | bool | None = None,
    seed: int | None = None,
    *,
    sources: Any = None,
) -> Array:
    """Betweenness of edges: the share of shortest paths along each edge, summed over all pairs of vertices.

    Parameters and errors are those of `betweenness_centrality`.

    Returns
    -------
    float64 array of shape (n_edges,)
        By arc, in the order of ``G.weights`` and of ``G.out_csr``: by source, then by target. Both arcs of an
        undirected edge have the edge's value. The lightest of parallel edges share their value, as in NetworkX.

    References
    ----------
    .. [1] U. Brandes, "On variants of shortest-path betweenness centrality and their generic computation", Social
       Networks 30(2), 2008.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> G.out_csr.expand_rows().tolist(), G.out_csr.indices.tolist()
    ([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2])
    >>> hpg.edge_betweenness_centrality(G, normalized=False).tolist()
    [3.0, 3.0, 4.0, 4.0, 3.0, 3.0]
    """
    graph, weighted = with_positive_lengths(G, weight)
    listed = _sources(graph, k, sources, seed)
    total = path_dependencies(graph, listed, weighted, arcs=True).arcs
    if not graph.directed:
        # In a symmetric matrix, the transpose has the reverse of each arc at the arc's position.
        total = total + kernels(graph.device).transpose(graph.out_csr.with_data(total, copy=False)).data
    if graph.n_vertices >= 2:
        total *= _scale(graph.n_vertices, len(listed), normalized, graph)
    whole = as_graph(G) if isinstance(G, Graph) else graph
    return _shared(total, whole, graph, weighted) if whole.multigraph else total


def _shared(total: Any, whole: Graph, graph: Graph, weighted: bool) -> Any:
    """The values of a simple graph's arcs, shared by the arcs of a multigraph that shortest paths lead along."""
    xp, place = array_module(whole.device), whole.places_in_simple()
    takes = whole.weights == graph.weights[place] if weighted else xp.ones(whole.n_edges, np.bool_)
    many = occurrences(place[takes], graph.n_edges)
    return xp.where(takes, total[place] / many[place], 0.0)


def with_positive_lengths(G: Any, weight: Any) -> tuple[Graph, bool]:
    """The graph, and whether its weights are used and differ from ones."""
    graph, weighted = with_weights(G, weight)
    if weighted:
        facts = weight_facts(graph.out_csr)
        if facts.has_nan or not facts.least > 0:
            unfit = "NaN" if facts.has_nan else f"{facts.least:g}"
            raise ValueError(
                f"weight: shortest paths can be counted only where every weight is positive, and there is {unfit}: "
                "replace such weights, or remove those arcs"
            )
    return graph, weighted


def _sources(graph: Graph, k: Any, sources: Any, seed: int | None) -> np.ndarray:
    if k is not None and sources is not None:
        raise ValueError("k and sources both select the sources: give one of them")
    if k is not None:
        if isinstance(k, bool) or not isinstance(k, int | np.integer):
            raise TypeError(f"k must be a whole number or None, not {k!r}; list vertices as sources")
        return sources_of(graph, k, seed, "k")
    listed = sources_of(graph, sources, seed)
    if not len(listed) and graph.n_vertices:
        raise ValueError("sources is empty: list a vertex, or omit sources to use all")
    return listed


def _scale(pairs: int, starts: int, normalized: bool, graph: Any) -> float:
    """Factor of a sum over paths from `starts` vertices, each of which has paths to `pairs` - 1 others."""
    if normalized:
        return 1 / (starts * (pairs - 1))
    return pairs / (starts * (2 if not graph.directed else 1))


def path_dependencies(
    graph: Graph, sources: np.ndarray, weighted: bool, *, arcs: bool = False, endpoints: bool = False,
    shares: Any = None,
) -> Sums:  # fmt: skip
    """Sums of the dependencies on all sources."""
    xp, n = array_module(graph.device), graph.n_vertices
    sums = Sums(
        xp.zeros(n), xp.zeros(graph.n_edges if arcs else 0), xp.zeros(n if endpoints else 0, np.int64),
        xp.zeros(len(sources) if endpoints else 0, np.int64), shares,
    )  # fmt: skip
    if not len(sources) or not graph.n_edges:
        sums.reach[:] = 1
        return sums
    with source_bar(len(sources), "betweenness") as done:
        if (graph.in_pages or graph.on_cluster) and not weighted and not arcs:
            add_dependencies(graph, sources, sums, done)
        elif weighted:
            _by_distances(graph, sources, sums, done)
        else:
            _by_arcs(graph, sources, sums, done)
    return sums


def _by_arcs(graph: Graph, sources: np.ndarray, sums: Sums, done: Callable[[int], Any]) -> None:
    """By numbers of arcs: each of several devices has the graph, and a part of the sources."""
    graphs = graph.replicas
    parts = shares(len(sources), len(graphs))
    devices = [place_of(one.out_csr.indptr) for one in graphs[: len(parts)]]

    def add(part: int) -> Sums:
        own_graph, share = graphs[part], parts[part]
        own = sums_of(sums, share) if part == 0 else _zero_sums(own_graph, sums, share)
        kernels(own_graph.device).dependencies(
            own_graph.out_csr,
            own_graph.in_csr,
            sources[share],
            own,
            profile=lambda: _profile(own_graph, sources[share]),
            done=done,
        )
        return own

    for share, own in zip(parts[1:], on_each(devices, add)[1:], strict=True):
        sums.reach[share] = move_array(own.reach, devices[0])
        for total, addend in zip(sums[:3], own[:3], strict=True):
            total += move_array(addend, devices[0])


def _zero_sums(graph: Graph, like: Sums, share: slice) -> Sums:
    """Zeroed sums for a share of the sources, on the graph's device."""
    xp, part = array_module(graph.device), sums_of(like, share)
    shares = None if part.shares is None else move_array(part.shares, place_of(graph.out_csr.indptr))
    return Sums(*(xp.zeros(len(array), array.dtype) for array in part[:4]))._replace(shares=shares)


def _profile(graph: Graph, sources: np.ndarray) -> np.ndarray:
    """Number of vertices on each level from the source of largest degree, which is unlikely to be isolated."""
    source = int(sources[np.asarray(graph.out_degree[sources].argmax())])
    return bfs(graph, id(source)).trace.rows[:, 1]


def _by_distances(graph: Graph, sources: np.ndarray, sums: Sums, done: Callable[[int], Any]) -> None:
    n, arcs = graph.n_vertices, graph.out_csr
    wide = graph if arcs.dtype == np.float64 else _in_double(graph)
    group = sources_within(GROUP, lambda count: _WEIGHTED_BYTES * n * count, graph.device)
    for begin in range(0, len(sources), group):
        batch = sources[begin : begin + group]
        distances = sssp(wide, sources=id(batch)).distance
        part = sums_of(sums, slice(begin, begin + group))
        if not kernels(graph.device).weighted_dependencies(wide.out_csr, wide.in_csr, distances, batch, part):
            raise ValueError(
                "weight: some weights are so small beside a distance that adding them changes nothing, and shortest "
                "paths cannot be counted: scale such weights up, or remove those arcs"
            )
        done(len(batch))


def _in_double(graph: Graph) -> Graph:
    """The graph with weights in float64, as in NetworkX, so that distances agree."""
    arcs: CSR = graph.out_csr.astype(np.float64)
    return Graph(arcs, directed=graph.directed, copy=False)


class Paths(VertexProgram):
    """The level of each vertex, and the number of shortest paths to it."""

    weighted = False
    reduce = "plus"
    message = "float64"
    level = Property("int32", initial=-1, start=0)
    paths = Property("float64", initial=0, start=1)

    def gather(source, weight, target):  # noqa: D102
        return source.paths

    def cond(vertex):  # noqa: D102
        return vertex.level < 0  # type: ignore[operator]

    def update(vertex, message, world):  # noqa: D102
        return world.superstep, message


class _Dependencies(VertexProgram):
    """Dependencies of the vertices of a level: each vertex of the next level divides its own among its paths."""

    edges = "out"
    weighted = False
    reduce = "plus"
    message = "float64"
    max_iteration = 1
    level = Property("int32")
    paths = Property("float64")
    share = Property("float64")
    depends = Property("float64")
    depth = Parameter("int32")  # the deepest level, which sends first
    iteration = Parameter("int64")

    def starts(vertex, world):
        return vertex.level == world.depth + 1 - world.iteration

    def gather(source, weight, target):
        return source.share

    def update(vertex, message, world):
        if vertex.level != world.depth - world.iteration:
            return vertex.level, vertex.paths, vertex.share, vertex.depends
        depends = vertex.paths * message
        return vertex.level, vertex.paths, (1 + depends) / vertex.paths, depends


_BACK = Phases([_Dependencies])


class _AllDependencies(VertexProgram):
    """`_Dependencies` for all levels in one run, from the last to the first: every vertex sends in each superstep."""

    weighted = False
    edges = "out"
    reduce = "plus"
    activity = "all"
    message = "float64"
    level = Property("int32")
    paths = Property("float64")
    depends = Property("float64", initial=0.0)
    depth = Parameter("int32")

    def cond(vertex, world):
        return vertex.level == world.depth - world.superstep

    def gather(source, weight, target):
        return (1 + source.depends) / source.paths if source.level == target.level + 1 else 0.0  # type: ignore[operator]

    def update(vertex, message, world):
        reached = vertex.level == world.depth - world.superstep
        return vertex.level, vertex.paths, (vertex.paths * message if reached else vertex.depends)


def add_dependencies(graph: Any, sources: np.ndarray, sums: Sums, done: Callable[[int], Any]) -> None:
    """Add the dependencies of each source by numbers of arcs."""
    xp = array_module(graph.device)
    for at, source in enumerate(sources.tolist()):
        result = run(Paths, graph, active=id(source))
        level, paths = result.level, result.paths
        reached = level >= 0
        if not everywhere(xp.isfinite(paths)):
            placement = "on a cluster" if graph.on_cluster else "in pages"
            raise not_served(placement, "there are more shortest paths than a float64 holds")
        depth = int(level.max())
        limit = max(depth - 1, 0)
        if graph.on_cluster:
            result = run(_AllDependencies, graph, max_iteration=limit, level=level, paths=paths, depth=depth)
        else:
            result = run(
                _BACK, graph, max_iteration=limit, level=level, paths=paths, depth=depth, depends=0,
                share=xp.where(reached, 1 / xp.where(reached, paths, 1), 0),
            )  # fmt: skip
        sums.vertices[:] += result.depends
        if len(sums.reached):
            reached[source] = False
            sums.reached[:] += reached
            sums.reach[at] = count(reached) + 1
        done(1)
