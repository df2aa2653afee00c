"""A shortest path between two vertices by searches in supersteps from both ends: the GPU's way.

A ball around each end grows, the thinner one first, until they meet. A ball of radius r holds all vertices within r;
where the balls' radii sum to at least the length of the best way through both, no way is shorter. Balls are grown by
searching them again with a larger radius, which costs little beside the last search wherever they grow fast; where they
grow slowly, the radius doubles.
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

# A ball whose outermost level is not this many times the one before grows slowly.
_FAST = 2
# The first radius, in weights of the lightest of a vertex's arcs.
_FIRST_RADIUS = 4.0
# A way of fewer steps is followed step by step on the device of the graph.
_FEW_STEPS = 64


def fewest_arcs(graph: Graph, source: int, target: int) -> np.ndarray | None:
    """The vertices of a path of fewest arcs.

    Returns int64 array in NumPy, or None: from `source` to `target`; None where there is no path.
    """
    ahead, back = _Ball(graph, source), _Ball(graph.reverse(), target)
    n = graph.n_vertices
    while True:
        through = ahead.distance_or(n) + back.distance_or(n)
        vertex = int(through.argmin())
        # Balls of radii a and b that share no vertex lie more than a + b apart; of those that do, the vertex where the
        # sum is least lies on a shortest path, as every way of at most a + b passes a vertex of both.
        if int(through[vertex]) < n:
            return joined(ahead.way_to(vertex), back.way_to(vertex))
        if ahead.complete or back.complete:
            return None
        (ahead if ahead.outermost <= back.outermost else back).grow()


def least_weight(graph: Graph, source: int, target: int) -> tuple[np.ndarray, float] | None:
    """The vertices of a path of least weight, and that weight.

    Returns (int64 array in NumPy, float), or None: none where there is no path. The weight is added from both ends.
    """
    facts = weight_facts(graph.out_csr)
    # The least of d weights spread evenly from 0 is 2 / (d + 1) of their mean.
    degree = graph.n_edges / graph.n_vertices
    radius = _FIRST_RADIUS * 2 / (degree + 1) * facts.mean if 0 < facts.mean < np.inf else np.inf
    ahead = _WeightedBall(graph, source, radius)
    back = _WeightedBall(graph.reverse(), target, radius)
    while True:
        # Beyond a ball distances are those by one more arc, so that every arc between the balls is looked at.
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
