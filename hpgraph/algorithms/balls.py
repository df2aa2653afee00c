"""A shortest path between two vertices by bidirectional search in supersteps, for the GPU.

A ball around each end grows, the one with the smaller frontier first, until they intersect. A ball of radius r holds
all vertices within r; once the radii sum to at least the length of the best path through both, no path is shorter. A
ball grows by a new search with a larger radius, which costs little more than the last level if levels grow fast; if
they grow slowly, the radius doubles.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.algorithms.bfs import bfs
from hpgraph.algorithms.distances import Distances, SingleDistances, bucket_width, tree_of, weight_facts
from hpgraph.containers.graph import Graph
from hpgraph.containers.vertices import id
from hpgraph.core.device import array_module, to_device
from hpgraph.engine.run import run
from hpgraph.kernels.bidirectional import joined

# A ball grows slowly if its last level is less than this many times the one before.
_FAST = 2
# The first radius, in expected weights of a vertex's lightest arc.
_FIRST_RADIUS = 4.0
# Parents of a path of fewer steps are followed on the device of the graph.
_FEW_STEPS = 64


def fewest_arcs(graph: Graph, source: int, target: int) -> np.ndarray | None:
    """The vertices of a path of fewest arcs from `source` to `target`, in NumPy; None if there is none."""
    ahead, back = _Ball(graph, source), _Ball(graph.reverse(), target)
    n = graph.n_vertices
    while True:
        through = ahead.distance_or(n) + back.distance_or(n)
        vertex = int(through.argmin())
        # Balls of radii a and b that share no vertex lie more than a + b apart; if they share
        # some, the one of least sum is on a shortest path, since every path of at most a + b has a vertex in both.
        if int(through[vertex]) < n:
            return joined(ahead.way_to(vertex), back.way_to(vertex))
        if ahead.complete or back.complete:
            return None
        (ahead if ahead.outermost <= back.outermost else back).grow()


def least_weight(graph: Graph, source: int, target: int) -> tuple[np.ndarray, float] | None:
    """The vertices of a path of least weight, in NumPy, and its weight, added from both ends; None if there is none."""
    facts = weight_facts(graph.out_csr)
    # The least of d weights spread evenly from 0 is 2 / (d + 1) of their mean.
    degree = graph.n_edges / graph.n_vertices
    radius = _FIRST_RADIUS * 2 / (degree + 1) * facts.mean if 0 < facts.mean < np.inf else np.inf
    ahead = _WeightedBall(graph, source, radius)
    back = _WeightedBall(graph.reverse(), target, radius)
    while True:
        # Distances just beyond a ball are upper bounds by one more arc, so every arc between the balls counts.
        through = ahead.distance + back.distance
        vertex = int(through.argmin())
        length = float(through[vertex])
        if length <= ahead.radius + back.radius or ahead.complete or back.complete:
            return (joined(ahead.way_to(vertex), back.way_to(vertex)), length) if length < np.inf else None
        radius = length / 2 if length < np.inf else 2 * radius
        ahead.grow(radius)
        back.grow(radius)


class _Ball:
    """All vertices within some number of arcs of one."""

    def __init__(self, graph: Graph, start: int) -> None:
        self.graph, self.start = graph, start
        self.depth, self.outermost, self.complete = 0, 1, False
        self.level: Any = None
        self._steps = 1
        self.grow()

    def grow(self) -> None:
        """Search again, farther; waits for the GPU."""
        self.depth += self._steps
        found = bfs(self.graph, id(self.start), max_depth=self.depth)
        self.level, self._parent = found.level, found.parent
        before, self.outermost = ((self.level == depth).sum().item() for depth in (self.depth - 1, self.depth))
        self.complete = self.outermost == 0
        self._steps = 1 if self.outermost >= _FAST * before else self.depth

    def distance_or(self, nowhere: Any) -> Any:
        """Levels, with another number for what is not reached."""
        return array_module(self.level).where(self.level < 0, nowhere, self.level)

    def way_to(self, vertex: int) -> list[int]:
        """From the start to a vertex inside."""
        return _way(self._parent, self.start, vertex, self.level[vertex].item() > _FEW_STEPS)


class _WeightedBall:
    """All vertices within some distance of one, and what their arcs offer to others."""

    def __init__(self, graph: Graph, start: int, radius: float) -> None:
        self.graph, self.start = graph, start
        self.program = SingleDistances if graph.out_csr.dtype == np.float32 else Distances
        self.grow(radius)

    def grow(self, radius: float) -> None:
        """Search again, up to this distance; waits for the GPU."""
        self.radius = radius
        width = bucket_width(self.graph, weight_facts(self.graph.out_csr))
        found = run(self.program, self.graph, active=id(self.start), ceiling=radius, delta=width)
        self.distance = found.distance.astype(np.float64)
        self.raw = found.distance
        reached = self.distance < np.inf
        self.complete = not bool((reached & (self.distance > radius)).any())

    def way_to(self, vertex: int) -> list[int]:
        """From the start to a vertex inside, or one that an arc from inside reaches."""
        return _way(tree_of(self.graph, self.start, self.raw, False), self.start, vertex, True)


def _way(parent: Any, start: int, vertex: int, far: bool) -> list[int]:
    """The way along parents, from the start."""
    parent = to_device(parent, "cpu") if far else parent
    way = [vertex]
    while way[-1] != start:
        way.append(int(parent[way[-1]]))
    return way[::-1]
