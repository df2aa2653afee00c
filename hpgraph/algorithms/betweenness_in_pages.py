"""Betweenness of a graph in pages: source after source, a search that counts paths, and its levels back again.

U. Brandes, "A faster algorithm for betweenness centrality", J. Mathematical Sociology 25(2), 2001, as vertex programs:
what belongs to vertices stays, and arcs come past it once forwards and once backwards for each level.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.containers.vertices import id
from hpgraph.core.device import array_module
from hpgraph.core.placements import not_served
from hpgraph.engine.definition import Parameter, Property
from hpgraph.engine.program import VertexProgram
from hpgraph.engine.run import run
from hpgraph.kernels.betweenness import Sums


class Paths(VertexProgram):
    """How far a vertex is, and how many shortest paths lead to it."""

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
    """What depends on the vertices of a level: each of those behind it shares out what it has among its paths."""

    edges = "out"
    weighted = False
    reduce = "plus"
    message = "float64"
    max_iteration = 1
    level = Property("int32")
    paths = Property("float64")
    share = Property("float64")
    depends = Property("float64")
    depth = Parameter("int32")

    def gather(source, weight, target):
        return source.share

    def update(vertex, message, world):
        if vertex.level != world.depth:
            return vertex.level, vertex.paths, vertex.share, vertex.depends
        depends = vertex.paths * message
        return vertex.level, vertex.paths, (1 + depends) / vertex.paths, depends


def add_dependencies(graph: Any, sources: np.ndarray, sums: Sums, done: Callable[[int], None]) -> None:
    """Add the dependencies of each source by numbers of arcs."""
    xp = array_module(graph.device)
    for at, source in enumerate(sources.tolist()):
        found = run(Paths, graph, active=id(source))
        level, paths = found.level, found.paths
        there = level >= 0
        if not bool(xp.isfinite(paths).all()):
            raise not_served("in pages", "there are more shortest paths than a float64 holds")
        depends, share = xp.zeros(graph.n_vertices), xp.where(there, 1 / xp.where(there, paths, 1), 0)
        for depth in range(int(level.max()) - 1, 0, -1):
            back = run(_Dependencies, graph, active=level == depth + 1, level=level, paths=paths, share=share,
                       depends=depends, depth=depth)  # fmt: skip
            share, depends = back.share, back.depends
        sums.vertices[:] += depends
        if len(sums.reached):
            there[source] = False
            sums.reached[:] += there
            sums.reach[at] = int(there.sum()) + 1
        done(1)
