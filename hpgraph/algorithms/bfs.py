"""Breadth-first search: levels and parents from one source.

Direction-optimized (S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing breadth-first search", SC'12): small
frontiers push along their out-arcs, large ones are found from the other side, each unreached vertex looking among
its in-neighbours until the first that is in the frontier. All of that is the engine's business; the algorithm is
"whoever hears first takes the superstep as its level, and whom it heard from as its parent".
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, as_graph
from hpgraph.containers.vertices import id
from hpgraph.core.number import whole
from hpgraph.engine.definition import Property
from hpgraph.engine.direction import Direction
from hpgraph.engine.program import VertexProgram
from hpgraph.engine.run import run
from hpgraph.engine.trace import Trace


class Tree(VertexProgram):
    """Levels, and from whom the first message came."""

    weighted = False
    reduce = "any"
    parent = Property("int32", initial=-1, start="id")
    level = Property("int32", initial=-1, start=0)

    def gather(source, weight, target):  # noqa: D102
        return source.id  # type: ignore[attr-defined]

    def update(vertex, message, world):  # noqa: D102
        return message, world.superstep


class WideTree(Tree):
    """The same for ids that need 64 bits."""

    parent = Property("int64", initial=-1, start="id")
    level = Property("int32", initial=-1, start=0)


class SmallestParent(VertexProgram):
    """Of the in-neighbours one level up, the one with the smallest id."""

    weighted = False
    reduce = "min"
    activity = "all"
    max_iteration = 1
    message = "int64"
    parent = Property()
    level = Property("int32")

    def gather(source, weight, target):  # noqa: D102
        # Whoever is no parent says the largest number there is.
        nearer = source.level >= 0 and source.level + 1 == target.level  # type: ignore[operator]
        return source.id if nearer else 9223372036854775807  # type: ignore[attr-defined]

    def update(vertex, message):  # noqa: D102
        return (message if vertex.level > 0 else vertex.parent), vertex.level  # type: ignore[operator]


@dataclass(frozen=True)
class BFSResult:
    """What a breadth-first search found.

    Attributes
    ----------
    level : int32 array of length n
        Arcs from the source; -1 where it does not reach.
    parent : array of vertex ids of length n, or None
        A neighbour one level up; the source is its own parent; -1 where the source does not reach.
    trace : Trace
        Direction, active vertices, arcs and time of every superstep.
    """

    level: Any
    parent: Any
    trace: Trace

    def __repr__(self) -> str:
        return f"<BFSResult: {len(self.level)} vertices, {self.trace!r}>"


def bfs(
    G: Graph | Any,
    source: Hashable,
    *,
    direction: str | Direction = "auto",
    parents: bool = True,
    deterministic: bool = False,
    max_depth: int | None = None,
) -> BFSResult:
    """Breadth-first search from one vertex, along arcs.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; ``A[i, j]`` is the arc from i to j. Weights are not read.
    source : hashable or hpgraph.id
        Where to start: a vertex id, or a name where the graph has names; there ``hpgraph.id(5)`` says an index.
    direction : {"auto", "push", "pull"} or Direction
        "auto" chooses each superstep.
    parents : bool
        Whether to return parents too.
    deterministic : bool
        Whether the parent is the one with the smallest id, the same in every run. Otherwise it is whichever
        came first. Levels are always the same.
    max_depth : int, optional
        Levels beyond it are not searched.

    Returns
    -------
    BFSResult
        Arrays by index, on the graph's device: ``G.names[i]`` is the name of vertex i where there are names.

    Raises
    ------
    IndexError, TypeError, ValueError
        If `source` is no vertex of the graph, or another argument does not fit.

    Notes
    -----
    On the CPU it takes 13 bytes a vertex beside the graph, 8 of them the result, where ids have 32 bits, and nothing an
    arc; the graph keeps a bit a vertex, for those that no arc reaches. A directed graph is transposed first, and keeps
    that: 8 bytes a vertex and 4 an arc.

    References
    ----------
    S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing breadth-first search", SC'12.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], n_vertices=5)
    >>> r = hpg.bfs(G, 0, deterministic=True)
    >>> r.level.tolist()
    [0, 1, 1, 2, -1]
    >>> r.parent.tolist()
    [0, 0, 0, 1, -1]
    """
    graph = as_graph(G)
    start = graph.index_of(source, "source")
    narrow = graph.out_csr.indices.dtype == np.int32
    if max_depth is not None and whole(max_depth, "max_depth", "a whole number or None") < 0:
        raise ValueError(f"max_depth must not be negative, not {max_depth}")
    # Parents come at no cost beside the levels (on an H200, less than none), so one program serves both.
    program = Tree if narrow else WideTree
    found = run(program, graph, active=id(start), direction=direction, max_iteration=max_depth)
    if not parents:
        return BFSResult(found.level, None, found.trace)
    parent = found.parent
    if deterministic:
        parent = run(SmallestParent, graph, level=found.level, parent=parent).parent
    return BFSResult(found.level, parent, found.trace)
