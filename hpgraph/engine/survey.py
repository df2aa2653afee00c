"""Breadth-first searches of which only totals are kept: what centralities made of distances stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hpgraph.containers.vertices import id
from hpgraph.core.device import array_module
from hpgraph.engine.definition import Property
from hpgraph.engine.direction import Direction
from hpgraph.engine.lanes import run_lanes
from hpgraph.engine.program import VertexProgram
from hpgraph.engine.trace import Trace

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph


class Levels(VertexProgram):
    """The superstep in which a vertex first hears of the search."""

    weighted = False
    reduce = "any"
    level = Property("int32", initial=-1, start=0)

    def gather(source, weight, target):  # noqa: D102
        return 0

    def update(vertex, message, world):  # noqa: D102
        return world.superstep


class LevelsBack(Levels):
    """The same against the arcs: how far it is to where the search starts."""

    edges = "out"


class Survey(NamedTuple):
    """Totals of one breadth-first search a source; NumPy arrays of length k, in the order of the sources.

    Attributes
    ----------
    reached : int64 array
        Vertices reached, the source included.
    total : int64 array
        Sum of their levels.
    inverse : float64 array
        Sum of 1 / level, the source left out.
    farthest : int64 array
        The largest level.
    histogram : int64 array
        How many pairs of a source and a vertex lie so many arcs apart, from 0.
    traces : list of Trace
        One a group of searches.
    """

    reached: np.ndarray
    total: np.ndarray
    inverse: np.ndarray
    farthest: np.ndarray
    histogram: np.ndarray
    traces: list[Trace]


def survey(
    graph: Graph,
    sources: Any,
    *,
    incoming: bool = False,
    max_depth: int | None = None,
    lanes: int | str = "auto",
    direction: str | Direction = "auto",
) -> Survey:
    """Search breadth-first from each source, and keep totals.

    Parameters
    ----------
    graph : Graph
    sources : int64 array of length k, or None
        Indices in NumPy; None means every vertex.
    incoming : bool
        Whether to follow arcs backwards, so that levels are distances to the source.
    max_depth : int, optional
        Levels beyond it are not searched.
    lanes : int or "auto"
        Searches at once.
    direction : {"auto", "push", "pull"} or Direction

    Returns
    -------
    Survey
    """
    xp = array_module(graph.device)
    listed = np.arange(graph.n_vertices) if sources is None else np.asarray(sources, np.int64)
    rows: list[np.ndarray] = []
    traces: list[Trace] = []
    for source in listed:
        program = LevelsBack if incoming else Levels
        found = run_lanes(
            program, graph, [[id(int(source))]], lanes=lanes, direction=direction, max_iteration=max_depth
        )  # fmt: skip
        counts = xp.bincount(found.level[0] + 1)[1:]
        rows.append(counts if isinstance(counts, np.ndarray) else counts.get())
        traces.extend(found.traces)
    deepest = max(map(len, rows), default=1)
    histogram = np.zeros(deepest, np.int64)
    for row in rows:
        histogram[: len(row)] += row
    levels = np.arange(deepest)
    return Survey(
        np.array([row.sum() for row in rows], np.int64),
        np.array([row @ levels[: len(row)] for row in rows], np.int64),
        np.array([sum(count / level for level, count in enumerate(row.tolist()) if level) for row in rows], np.float64),
        np.array([len(row) - 1 for row in rows], np.int64),
        histogram,
        traces,
    )
