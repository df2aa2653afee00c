"""Breadth-first search: levels and parents from one source, or from each of many.

Direction-optimized (S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing breadth-first search", SC'12): small
frontiers push along their out-arcs (top-down); for large ones each unvisited vertex scans its in-neighbours until the
first that is in the frontier (bottom-up). The engine chooses the direction; the program sets a vertex's level to the
superstep of its first message, and its parent to the source of that message.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from hpgraph.algorithms.levels import Tree, levels_from
from hpgraph.algorithms.parent_tree import ParentTree
from hpgraph.containers.graph import Graph, as_graph
from hpgraph.containers.vertex_array import named
from hpgraph.containers.vertices import id
from hpgraph.core.arrays import Array
from hpgraph.core.device import native, to_device
from hpgraph.core.renamed import gathers
from hpgraph.core.suggestions import naming_arguments
from hpgraph.engine.declarations import Declarations, declarations_of
from hpgraph.engine.definition import Property
from hpgraph.engine.direction import Direction
from hpgraph.engine.program import VertexProgram
from hpgraph.engine.run import run_one
from hpgraph.engine.state import ENDLESS, limit_of
from hpgraph.engine.trace import Trace


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
        # In-neighbours that are no parent send the identity of min.
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
        Arcs from the source; -1 where it does not reach. Of several searches in the least of int8, int16 and int32 that
        holds the levels.
    parent : array of vertex ids of length n or of shape (k, n), or None
        A neighbour one level up; the source is its own parent; -1 where the source does not reach.
    trace : Trace
        Direction, active vertices, arcs and time of every superstep.
    traces : list of Trace
        One a group of sources that were searched from at once.
    """

    level: Array
    parent: Any
    traces: list[Trace]

    @property
    def trace(self) -> Trace:
        """That of the only group.

        Raises
        ------
        AttributeError
            If there is none, or several.
        """
        if len(self.traces) != 1:
            raise AttributeError(f"there are {len(self.traces)} groups of searches, each with a trace: see traces")
        return self.traces[0]

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
    """Breadth-first search from one vertex, along arcs; or from several at once, each by itself.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; ``A[i, j]`` is the arc from i to j. Weights are not read.
    source : hashable or hpgraph.id
        Where to start: a vertex id, or a name where the graph has names; there ``hpgraph.id(5)`` says an index.
    sources : sequence or array of k vertices, or hpgraph.id of one, instead of `source`
        Where k searches start. Together they take a fraction of the time of k calls, as they read an arc once for all
        that are there at the same time. One may come twice.
    direction : {"auto", "push", "pull"} or Direction
        "auto" chooses each superstep.
    parents : bool
        Whether to return parents too. From one source they cost nothing; from several, writing them takes longer than
        the search.
    deterministic : bool
        Whether the parent is the one with the smallest id, the same in every run. Otherwise it is the
        source of the first message. Levels are always the same.
    max_depth : int, optional
        Levels beyond it are not searched.
    gather : bool, default True
        On a graph on several GPUs, whether levels and parents come to the first one, which takes a good part of a short
        search's time; else they stay there, as `hpgraph.DividedArray`.
    apart : bool, optional
        Deprecated: ``apart=True`` is ``gather=False``.

    Returns
    -------
    BFSResult
        Arrays by index, on the graph's device: ``G.names[i]`` is the name of vertex i where there are names.

    Raises
    ------
    IndexError, TypeError, ValueError
        If `source`, or one of `sources`, is no vertex of the graph, or another argument does not fit; ``gather=False``
        takes a graph on several GPUs, one source, and not `deterministic`.

    Notes
    -----
    On the CPU it takes 13 bytes a vertex beside the graph, 8 of them the result, where ids have 32 bits, and nothing an
    arc; the graph keeps a bit a vertex, for those that no arc reaches. A directed graph is transposed first, and keeps
    that: 8 bytes a vertex and 4 an arc.

    References
    ----------
    S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing breadth-first search", SC'12; of several sources:
    H. Liu, H. H. Huang, Y. Hu, "iBFS: concurrent breadth-first search on GPUs", SIGMOD'16.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], n_vertices=5)
    >>> r = hpg.bfs(G, 0, deterministic=True)
    >>> r.level.tolist()
    [0, 1, 1, 2, -1]
    >>> r.parent.tolist()
    [0, 0, 0, 1, -1]
    >>> hpg.bfs(G, sources=[0, 2], parents=False).level.tolist()
    [[0, 1, 1, 2, -1], [-1, -1, 0, 1, -1]]
    """
    graph, limit = as_graph(G), ENDLESS if max_depth is None else limit_of(max_depth, "max_depth")
    apart = not gather if apart is None else not gathers(apart)
    if apart and not graph.on_devices:
        raise ValueError('gather=False takes a graph on several GPUs: G.to("cuda:0,1")')
    if apart and (sources is not None or deterministic):
        raise ValueError("gather=False takes one source, and deterministic=False")
    if sources is not None:
        if source is not None:
            raise TypeError("give either source, one vertex, or sources, a list of them, not both")
        return _from_many(graph, sources, direction, parents, deterministic, max_depth)
    start = np.array([graph.index_of(source, "source")], graph.id_dtype)
    found = run_one(_search(start.dtype == np.int32), graph, start, direction=direction, limit=limit, apart=apart)
    level, parent = found.properties["level"], found.properties["parent"]
    if parents and deterministic:
        parent = _smallest(graph, level, parent)
    if parents:
        return named(BFSResult(level, parent, [found.trace]), graph)
    # The search computes parents in any case.
    return named(BFSResult(level, None, [found.trace]).or_parents_by(lambda: parent), graph)


@cache
def _search(narrow: bool) -> Declarations:
    """The program, read once: it is the library's own, and does not change.

    Parents cost nothing beside the levels (on an H200, less than nothing), so levels alone use the same program.
    """
    return declarations_of(Tree if narrow else WideTree)


def _smallest(graph: Graph, level: Any, parent: Any) -> Any:
    """The parent of smallest id of each vertex."""
    given = {"level": level, "parent": parent}
    return run_one(declarations_of(SmallestParent), graph, None, limit=1, initial=given).properties["parent"]


def _from_many(
    graph: Graph, sources: Any, direction: str | Direction, parents: bool, deterministic: bool, max_depth: int | None
) -> BFSResult:
    if isinstance(sources, str | bytes) or (np.ndim(sources.index if isinstance(sources, id) else sources) == 0):
        raise TypeError(f"sources must be a list or an array of vertices, not {sources!r}; source={sources!r} is one")
    vertices = to_device(native(graph.indices_of(sources, "sources")), "cpu")
    found = levels_from(graph, vertices, max_depth=max_depth, direction=direction, parents=parents)
    # Rows are sorted.
    if parents and deterministic and not found.first:
        for level, parent in zip(found.level, found.parent, strict=True):
            parent[...] = _smallest(graph, level, parent)
    result = named(BFSResult(found.level, found.parent, found.traces), graph, vertices)
    if not parents:
        again = partial(levels_from, graph, vertices, max_depth=max_depth, direction=direction, parents=True)
        result.or_parents_by(lambda: again().parent)
    return result
