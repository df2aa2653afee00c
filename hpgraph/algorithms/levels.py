"""Levels, and optionally parents, of many breadth-first searches at once, in the smallest integer type.

Most graphs have no more than 127 levels, which fit a byte: searches run that far first, and only if some search is
unfinished do all start again with two bytes, or four.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.containers.vertices import id
from hpgraph.core.device import array_module, check_memory
from hpgraph.engine.definition import Property
from hpgraph.engine.direction import Direction
from hpgraph.engine.multi_source import run_sources
from hpgraph.engine.multi_source_totals import Levels
from hpgraph.engine.program import VertexProgram
from hpgraph.engine.run import run
from hpgraph.engine.trace import Trace
from hpgraph.kernels.backend import joint_traversal
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.runtime.search import Starts

_TYPES = ("int8", "int16", "int32")
# Mean number of neighbours up to which parents are found from levels.
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
        one = run(_program("int32", str(ids) if parents else "", incoming), graph, active=id(int(vertices[0])),
                  direction=direction, max_iteration=max_depth)  # fmt: skip
        level = one.level[None]
        return Searches(level.astype(_least(int(level.max()))), one.parent[None] if parents else None, [one.trace])
    find = joint_traversal(graph.device).parents_of_levels
    # Long rows cost more than this saves: 1.14 of the time at 86 arcs a vertex, 0.65 at 40, 0.33 at 32 (H200).
    short = not graph.in_pages and not graph.on_devices and graph.n_edges <= _SHORT * n
    if parents and find is not None and short:
        check_memory(k * n * (1 + ids.itemsize), f"levels and parents of {k} searches of {n} vertices", graph.device)
        levels = levels_from(graph, vertices, incoming=incoming, max_depth=max_depth, direction=direction)
        rows = graph.out_csr if incoming else graph.in_csr
        return levels._replace(parent=find(rows, levels.level, vertices), first=True)
    starts = Starts(np.asarray(vertices, ids), np.arange(k, dtype=np.int32), k)
    known: dict[bool, str] = {} if graph.in_pages else _known(graph.out_csr)
    for dtype in _TYPES[_TYPES.index(known.get(incoming, "int8")) :]:
        most = int(np.iinfo(dtype).max)
        limit = most if max_depth is None else min(max_depth, most)
        found = run_sources(_program(dtype, str(ids) if parents else "", incoming), graph, starts, direction=direction,
                          max_iteration=limit, whole=limit == max_depth)  # fmt: skip
        if not found.unfinished or limit == max_depth:
            break
    else:
        raise AssertionError("a path has fewer vertices than an int32 can count")
    if max_depth is None:
        known[incoming] = dtype
    # Wider than need be where the last superstep that the narrow type had room for was the last of all.
    least = dtype if dtype == _TYPES[0] else _least(max(_deepest(trace) for trace in found.traces))
    return Searches(found.level.astype(least, copy=False), found.parent if parents else None, found.traces)


@attached
def _known(arcs: Any) -> dict[bool, str]:
    """The type that the levels of earlier searches of a graph needed, along arcs and against them."""
    return {}


def _deepest(trace: Trace) -> int:
    """The last level that a group of searches reached."""
    return int(np.max(np.flatnonzero(trace.settled), initial=-1)) + 1


def _least(level: int) -> str:
    return next(dtype for dtype in _TYPES if level <= np.iinfo(dtype).max)


@cache
def _program(level: str, ids: str, incoming: bool) -> type[VertexProgram]:
    """Levels of one type, with parents of another where one is named."""
    properties = {"parent": Property(ids, initial=-1, start="id")} if ids else {}
    properties["level"] = Property(level, initial=-1, start=0)
    body = {**properties, "edges": "out" if incoming else "in", "__module__": __name__}
    name = f"{'Tree' if ids else 'Levels'}{'Back' if incoming else ''}"
    return type(name, (Tree if ids else Levels,), body)
