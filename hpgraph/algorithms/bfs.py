"""Breadth-first search: levels and parents from one source, or from each of many.

Direction-optimized (S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing breadth-first search", SC'12): small
frontiers push along their out-arcs (top-down); for large ones each unvisited vertex scans its in-neighbours until the
first that is in the frontier (bottom-up). The engine chooses the direction; the program sets a vertex's level to the
superstep of its first message, and its parent to the source of that message.

Levels from several sources have the smallest integer type that holds them. Most graphs have at most 127 levels, which
fit a byte: searches first run with that limit, and restart with two bytes, or four, if one is unfinished.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from hpgraph.algorithms.array_result import ParentTree
from hpgraph.containers.graph import Graph, as_simple, id, named, naming_arguments
from hpgraph.core.device import Array, array_module, check_memory, native, to_device
from hpgraph.engine.declarations import declarations_of, declarations_of_own
from hpgraph.engine.direction import Direction
from hpgraph.engine.multi_source import run_sources
from hpgraph.engine.multi_source_totals import Levels
from hpgraph.engine.program import Property, VertexProgram
from hpgraph.engine.result import Trace
from hpgraph.engine.run import run, run_one
from hpgraph.engine.state import ENDLESS, limit_of, stays_apart
from hpgraph.formats.storage import attached
from hpgraph.kernels.backend import joint_traversal
from hpgraph.kernels.runtime.search import Starts
from hpgraph.placement.of_graph import arcs_of

_TYPES = ("int8", "int16", "int32")
# Mean in-degree up to which the parents of a directed graph are computed from levels.
_SHORT = 64


class Tree(VertexProgram):
    """Levels and parents of a breadth-first search: the source of the first message is the parent."""

    weighted = False
    reduce = "any"
    parent = Property("int32", initial=-1, start="id")
    level = Property("int32", initial=-1, start=0)

    def gather(source, weight, target):  # noqa: D102
        return source.id  # type: ignore[attr-defined]

    def update(vertex, message, world):  # noqa: D102
        return message, world.superstep


class Searches(NamedTuple):
    """Results of searches from k vertices, a row each."""

    level: Any  # int8, int16 or int32: the smallest that holds the levels; -1 where there is no path
    parent: Any  # vertex ids, or None
    traces: list[Trace]  # one a group of searches
    first: bool = False  # whether each parent is the first in-neighbour that may be one


def levels_from(
    graph: Graph,
    vertices: np.ndarray,
    *,
    incoming: bool = False,
    max_depth: int | None = None,
    direction: str | Direction = "auto",
    parents: bool = False,
) -> Searches:
    """Search breadth-first from k vertices, given as indices in NumPy, with repetitions."""
    k, n = len(vertices), graph.n_vertices
    ids = graph.id_dtype
    xp = array_module(graph.device)
    if not k:
        return Searches(xp.empty((0, n), np.int8), xp.empty((0, n), ids) if parents else None, [])
    if k == 1:
        # A single search keeps levels of four bytes; they shrink afterwards.
        single = run(_program("int32", str(ids) if parents else "", incoming), graph, active=id(int(vertices[0])),
                  direction=direction, max_iteration=max_depth)  # fmt: skip
        level = single.level[None]
        return Searches(
            level.astype(_min_dtype(int(level.max()))), single.parent[None] if parents else None, [single.trace]
        )
    joint = joint_traversal(graph.device)
    find, begin = joint.parents_of_levels, joint.begin_parents
    # Parents from levels, relative to parents in the search: 1.14 of the time at 86 arcs a vertex, 0.65 at 40, 0.33 at
    # 32 (H200). In an undirected graph a parent takes a quarter of the bytes: 0.62 of the time at 86, 0.85 at 250.
    if parents and find and begin and graph.in_one_memory and (not graph.directed or graph.n_edges <= _SHORT * n):
        check_memory(k * n * (1 + ids.itemsize), f"levels and parents of {k} searches of {n} vertices", graph.device)
        rows = graph.out_csr if incoming else graph.in_csr
        begin(rows, k, np.dtype(_TYPES[0]), not graph.directed)
        levels = levels_from(graph, vertices, incoming=incoming, max_depth=max_depth, direction=direction)
        return levels._replace(parent=find(rows, levels.level, vertices, not graph.directed), first=True)
    starts = Starts(np.asarray(vertices, ids), np.arange(k, dtype=np.int32), k)
    sufficient: dict[bool, int] = {} if graph.in_pages or graph.on_cluster else _sufficient(graph.out_csr)
    attempts, first = _attempts(joint.SHORT), 0 if joint.SHORT and graph.in_one_memory else 1
    for number in range(max(first, sufficient.get(incoming, 0)), len(attempts)):
        dtype, capacity = attempts[number]
        limit = capacity if max_depth is None else min(max_depth, capacity)
        # Release the arrays of an unfinished run before the memory of the next one is checked.
        result: Any = None
        result = run_sources(_program(dtype, str(ids) if parents else "", incoming), graph, starts, direction=direction,
                          max_iteration=limit, whole=limit == max_depth)  # fmt: skip
        if not result.unfinished or limit == max_depth:
            break
    else:
        raise AssertionError("a path has fewer vertices than an int32 can count")
    if max_depth is None:
        sufficient[incoming] = number
    # A run that ended exactly at a type's limit was repeated with a wider type, although the narrow one suffices.
    min_dtype = dtype if dtype == _TYPES[0] else _min_dtype(max(_last_level(trace) for trace in result.traces))
    return Searches(result.level.astype(min_dtype, copy=False), result.parent if parents else None, result.traces)


def begin_levels(graph: Graph, k: int) -> None:
    """Start the compilation of the kernels of `levels_from` for k vertices in a thread: it takes seconds on a GPU."""
    joint = joint_traversal(graph.device)
    begin = joint.kernel_of_searches
    if begin is not None and graph.in_one_memory:
        dtype, limit = _attempts(joint.SHORT)[_sufficient(graph.out_csr).get(False, 0)]
        declared = declarations_of(_program(dtype, "", False))
        code = declared.code((np.dtype(dtype),))
        begin(code, arcs_of(graph, declared.edges, declared.weighted, code).sending, k, limit)


def _attempts(short: int) -> list[tuple[str, int]]:
    """Types of levels, each with its maximum number of supersteps; the first limit is `short`, 0 to skip it."""
    return [(_TYPES[0], short), *((dtype, int(np.iinfo(dtype).max)) for dtype in _TYPES)]


@attached
def _sufficient(arcs: Any) -> dict[bool, int]:
    """Index of the attempt that sufficed for earlier searches of a graph, by whether they followed in-arcs."""
    return {}


def _last_level(trace: Trace) -> int:
    """The last level that a group of searches reached."""
    return int(np.max(np.flatnonzero(trace.settled), initial=-1)) + 1


def _min_dtype(level: int) -> str:
    return next(dtype for dtype in _TYPES if level <= np.iinfo(dtype).max)


@cache
def _program(level: str, ids: str, incoming: bool) -> type[VertexProgram]:
    """A program with levels of one type, and with parents if a type of ids is given."""
    properties = {"parent": Property(ids, initial=-1, start="id")} if ids else {}
    properties["level"] = Property(level, initial=-1, start=0)
    body = {**properties, "edges": "out" if incoming else "in", "__module__": __name__}
    name = f"{'Tree' if ids else 'Levels'}{'Back' if incoming else ''}"
    return type(name, (Tree if ids else Levels,), body)


class WideTree(Tree):
    """`Tree` for ids that need 64 bits."""

    parent = Property("int64", initial=-1, start="id")
    level = Property("int32", initial=-1, start=0)


class SmallestParent(VertexProgram):
    """The in-neighbour of smallest id one level up."""

    weighted = False
    reduce = "min"
    activity = "all"
    message = "int64"
    parent = Property()
    level = Property("int32")

    def gather(source, weight, target):  # noqa: D102
        # In-neighbours on other levels send the identity of min.
        nearer = source.level >= 0 and source.level + 1 == target.level  # type: ignore[operator]
        return source.id if nearer else 9223372036854775807  # type: ignore[attr-defined]

    def update(vertex, message):  # noqa: D102
        return (message if vertex.level > 0 else vertex.parent), vertex.level  # type: ignore[operator]


@dataclass(frozen=True, eq=False)
class BFSResult(ParentTree, columns=("level", "parent"), ends=("parent",)):
    """Result of a breadth-first search, or of k searches: arrays then have a row for each source.

    Attributes
    ----------
    level : int32 array of length n, or integer array of shape (k, n)
        Number of arcs from the source; -1 for unreached vertices. From several sources, in the smallest of int8, int16
        and int32 that holds the levels.
    parent : array of vertex ids of length n or of shape (k, n), or None
        A neighbour one level up; the source is its own parent; -1 for unreached vertices.
    trace : Trace
        Direction, active vertices, arcs and time of every superstep.
    traces : list of Trace
        One for each group of sources.
    """

    level: Array
    parent: Any
    traces: list[Trace]

    def __repr__(self) -> str:
        if self.level.ndim == 1:
            return f"<BFSResult: {len(self.level)} vertices, {self.trace!r}>"
        k, n = self.level.shape
        return f"<BFSResult: {n} vertices from {k} sources, {len(self.traces)} traces>"


@naming_arguments
def bfs(
    G: Graph | Any,
    source: Hashable = None,
    *,
    sources: Any = None,
    direction: str | Direction = "auto",
    parents: bool = True,
    deterministic: bool = False,
    max_depth: int | None = None,
    gather: bool = True,
    apart: bool | None = None,
) -> BFSResult:
    """Breadth-first search along arcs from one vertex, or independently from several.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; ``A[i, j]`` is the arc from i to j. Weights are not read.
    source : hashable or hpgraph.id
        The source: a vertex id, or a name if the graph has names; ``hpgraph.id(5)`` is always an index.
    sources : sequence or array of k vertices, or hpgraph.id of one, instead of `source`
        Sources of k searches, with repetitions allowed. They share each pass over the arcs, and take a fraction of the
        time of k calls.
    direction : {"auto", "push", "pull"} or Direction
        "auto" chooses each superstep.
    parents : bool
        Whether to return parents. From one source they are free; from several, writing them takes longer than the
        search.
    deterministic : bool
        Whether the parent is the one with the smallest id, the same in every run. Otherwise it is the
        source of the first message. Levels are always the same.
    max_depth : int, optional
        Levels beyond it are not searched.
    gather : bool, default True
        On a graph on several GPUs, whether levels and parents are copied to the first one, which takes much of a short
        search's time; otherwise they stay divided, as `hpgraph.DividedArray`; on a cluster, as Dask arrays.
    apart : bool, optional
        Deprecated: ``apart=True`` is ``gather=False``.

    Returns
    -------
    BFSResult
        Arrays by index, on the graph's device: ``G.names[i]`` is the name of vertex i where there are names.

    Raises
    ------
    IndexError, TypeError, ValueError
        If `source`, or one of `sources`, is not a vertex of the graph, or another argument is invalid; ``gather=False``
        requires a graph on several GPUs or on a cluster, one source, and ``deterministic=False``.

    Notes
    -----
    Memory on the CPU, beside the graph: 13 bytes a vertex if ids have 32 bits, of which 8 are the result; none for
    arcs; the graph caches one bit a vertex, for vertices without in-arcs. A directed graph is transposed first, and the
    transpose is cached: 8 bytes a vertex and 4 an arc.

    References
    ----------
    S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing breadth-first search", SC'12; of several sources:
    H. Liu, H. H. Huang, Y. Hu, "iBFS: concurrent breadth-first search on GPUs", SIGMOD'16.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], n_vertices=5)
    >>> r = hpg.bfs(G, 0, deterministic=True)
    >>> r.level.tolist()
    [0, 1, 1, 2, -1]
    >>> r.parent.tolist()
    [0, 0, 0, 1, -1]
    >>> hpg.bfs(G, sources=[0, 2], parents=False).level.tolist()
    [[0, 1, 1, 2, -1], [-1, -1, 0, 1, -1]]
    """
    graph, limit = as_simple(G), ENDLESS if max_depth is None else limit_of(max_depth, "max_depth")
    apart = stays_apart(graph, gather, apart)
    if apart and (sources is not None or deterministic):
        raise ValueError("gather=False takes one source, and deterministic=False")
    if sources is not None:
        if source is not None:
            raise TypeError("give either source, one vertex, or sources, a list of them, not both")
        return _from_sources(graph, sources, direction, parents, deterministic, max_depth)
    start = np.array([graph.index_of(source, "source")], graph.id_dtype)
    # Parents cost nothing beside the levels (on an H200, less than nothing), so levels alone use the same program.
    declared = declarations_of_own(Tree if start.dtype == np.int32 else WideTree)
    result = run_one(declared, graph, start, direction=direction, limit=limit, apart=apart)
    level, parent = result.properties["level"], result.properties["parent"]
    if parents and deterministic:
        parent = _smallest_parents(graph, level, parent)
    if parents:
        return named(BFSResult(level, parent, [result.trace]), graph)
    # The search computes parents in any case.
    return named(BFSResult(level, None, [result.trace]), graph, find_parents=lambda: parent)


def _smallest_parents(graph: Graph, level: Any, parent: Any) -> Any:
    """The parent of smallest id of each vertex."""
    initial = {"level": level, "parent": parent}
    return run_one(declarations_of_own(SmallestParent), graph, None, limit=1, initial=initial).properties["parent"]


def smallest_parents(graph: Graph, level: Any, source: int) -> Any:
    """The parent of smallest id of each vertex, by the levels of a search from a vertex; -1 where it did not reach."""
    parent = array_module(graph.device).full(graph.n_vertices, -1, graph.id_dtype)
    parent[source] = source
    return _smallest_parents(graph, level, parent)


def _from_sources(
    graph: Graph, sources: Any, direction: str | Direction, parents: bool, deterministic: bool, max_depth: int | None
) -> BFSResult:
    if isinstance(sources, str | bytes) or (np.ndim(sources.index if isinstance(sources, id) else sources) == 0):
        raise TypeError(f"sources must be a list or an array of vertices, not {sources!r}; source={sources!r} is one")
    vertices = to_device(native(graph.indices_of(sources, "sources")), "cpu")
    result = levels_from(graph, vertices, max_depth=max_depth, direction=direction, parents=parents)
    # Rows are sorted.
    if parents and deterministic and not result.first:
        for level, parent in zip(result.level, result.parent, strict=True):
            parent[...] = _smallest_parents(graph, level, parent)
    again = partial(levels_from, graph, vertices, max_depth=max_depth, direction=direction, parents=True)
    find = None if parents else lambda: again().parent
    return named(BFSResult(result.level, result.parent, result.traces), graph, vertices, find)
