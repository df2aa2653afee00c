"""One shortest path from one vertex to another, found from both ends.

Bidirectional search visits a far smaller part of most graphs than a search from one end (I. Pohl,
"Bi-directional search", Machine Intelligence 6 (1971)).

On the GPU, and in a graph in pages, the search goes in supersteps. A ball around each end grows, the one with the
smaller frontier first, until they intersect. A ball of radius r holds all vertices within r; once the radii sum to at
least the length of the best path through both, no path is shorter. A ball grows by a new search with a larger radius,
which costs little more than the last level if levels grow fast; if they grow slowly, the radius doubles.
"""

from collections.abc import Hashable
from typing import Any

import numpy as np

from hpgraph.algorithms.bfs import bfs
from hpgraph.algorithms.distances import (
    Distances,
    SingleDistances,
    bucket_width,
    check_within_range,
    may_overflow,
    tree_of,
    weight_facts,
    with_lengths,
)
from hpgraph.containers.graph import Graph, id, naming_arguments
from hpgraph.containers.name_arrays import python_values
from hpgraph.core.device import anywhere, array_module, count, to_device
from hpgraph.core.errors import NoPathError
from hpgraph.engine.run import run
from hpgraph.kernels.bidirectional import joined, way_along


@naming_arguments
def shortest_path(G: Graph | Any, source: Hashable, target: Hashable, *, weight: Any = None) -> list[Any]:
    """The vertices of a shortest path.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; the path leads along its arcs.
    source, target : hashable or hpgraph.id
        Ends of the path: vertex ids, or names if the graph has names; ``hpgraph.id(5)`` is always an index.
    weight : None, bool or str
        Length of a path: the number of arcs for None, the sum of weights for True. A string names the attribute of a
        NetworkX graph, and "weight" means True otherwise.

    Returns
    -------
    list
        From `source` to `target`: names if the graph has names, else ids. ``[source]`` if both are the same. Any one of
        several shortest paths.

    Raises
    ------
    NoPathError
        If no path leads from `source` to `target`; it is a ValueError.
    ValueError, TypeError, IndexError
        If one is no vertex of the graph, or a weight is negative: `hpgraph.sssp` takes those.

    Notes
    -----
    On the CPU one thread searches; memory: up to 16 bytes for each visited vertex, 26 with weights. On the GPU balls
    around both ends grow superstep by superstep, in 24 to 40 bytes a vertex. A directed graph is transposed first, and
    the transpose is cached.

    References
    ----------
    I. Pohl, "Bi-directional search", Machine Intelligence 6 (1971).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 0, 2], [1, 3, 2, 3], [5.0, 1.0, 2.0, 2.0], names=["a", "b", "c", "d"])
    >>> hpg.shortest_path(G, "a", "d", weight=True)
    ['a', 'c', 'd']
    """
    graph, weighted = with_lengths(G, weight)
    path, _ = _path_and_length(graph, graph.index_of(source, "source"), graph.index_of(target, "target"), weighted)
    return path.tolist() if graph.names is None else python_values(graph.names[path])


@naming_arguments
def shortest_path_length(G: Graph | Any, source: Hashable, target: Hashable, *, weight: Any = None) -> int | float:
    """The length of a shortest path.

    Parameters and errors are those of `shortest_path`.

    Returns
    -------
    int, or float for weights
        With weights, the sum of the lengths from both ends, which may differ from `hpgraph.sssp` by rounding.

    References
    ----------
    I. Pohl, "Bi-directional search", Machine Intelligence 6 (1971).

    Examples
    --------
    >>> hpg.shortest_path_length(hpg.datasets.grid(30, removed=0), 0, 899)
    58
    """
    graph, weighted = with_lengths(G, weight)
    return _path_and_length(graph, graph.index_of(source, "source"), graph.index_of(target, "target"), weighted)[1]


def _path_and_length(graph: Graph, source: int, target: int, weighted: bool) -> tuple[np.ndarray, int | float]:
    """The vertices of a shortest path, and its length."""
    path_and_weight: tuple[np.ndarray, int | float] | None
    if weighted:
        path_and_weight = _least_weight(graph, source, target)
    else:
        path = _fewest_arcs(graph, source, target)
        path_and_weight = None if path is None else (path, len(path) - 1)
    if path_and_weight is None:
        raise no_path(graph, source, target, weighted)
    return path_and_weight


def no_path(graph: Graph, source: int, target: int, weighted: bool) -> NoPathError:
    """The error for a missing path; ValueError if a path's length exceeds the range of floats."""
    single = graph.dtype == np.float32
    if weighted and may_overflow(graph, np.float32 if single else np.float64):
        check_within_range(graph, run(SingleDistances if single else Distances, graph, active=id(source)).distance)
    names = [vertex if graph.names is None else graph.names[vertex] for vertex in (source, target)]
    along = " along arcs: G.undirected takes them in both directions" if graph.directed else ""
    return NoPathError(f"no path leads from {names[0]} to {names[1]}{along}")


def _fewest_arcs(graph: Graph, source: int, target: int) -> np.ndarray | None:
    if graph.device != "cpu" or not graph.in_one_memory:
        return fewest_arcs(graph, source, target)
    from hpgraph.kernels.bidirectional import cpu

    return cpu.fewest_arcs(graph.out_csr, graph.in_csr, source, target)


def _least_weight(graph: Graph, source: int, target: int) -> tuple[np.ndarray, float] | None:
    if graph.device != "cpu":
        return least_weight(graph, source, target)
    from hpgraph.kernels.bidirectional import cpu

    return cpu.least_weight(graph.out_csr, graph.in_csr, source, target)


# A ball grows slowly if its last level is less than this many times the one before.
_FAST = 2
# The first radius, in expected weights of a vertex's lightest arc.
_FIRST_RADIUS = 4.0
# Shorter paths are followed on the graph's device; for longer ones the parents are copied to the CPU.
_FEW_STEPS = 64


def fewest_arcs(graph: Graph, source: int, target: int) -> np.ndarray | None:
    """The vertices of a path of fewest arcs from `source` to `target`, in NumPy; None if there is no path."""
    path = _join_balls(_Ball(graph, source), _Ball(graph.reverse(), target))
    return None if path is None else path[0]


def least_weight(graph: Graph, source: int, target: int) -> tuple[np.ndarray, float] | None:
    """The vertices of a path of least weight, in NumPy, and its weight, summed from both ends; None without a path."""
    facts = weight_facts(graph.out_csr)
    # The least of d weights spread evenly from 0 is 2 / (d + 1) of their mean.
    degree = graph.n_edges / graph.n_vertices
    radius = _FIRST_RADIUS * 2 / (degree + 1) * facts.mean if 0 < facts.mean < np.inf else np.inf
    return _join_balls(_WeightedBall(graph, source, radius), _WeightedBall(graph.reverse(), target, radius))


def _join_balls(ahead: Any, back: Any) -> tuple[np.ndarray, float] | None:
    """A shortest path through two balls, which grow until no shorter one can remain, and its length."""
    while True:
        # Vertices one arc beyond a ball have upper bounds too, so that arcs between the balls are considered.
        through = ahead.distance + back.distance
        vertex = int(through.argmin())
        length = float(through[vertex])
        if length <= ahead.radius + back.radius or ahead.complete or back.complete:
            return (joined(ahead.way_to(vertex), back.way_to(vertex)), length) if length < np.inf else None
        ahead.grow_beside(back, length)


class _Ball:
    """All vertices within some number of arcs of one."""

    def __init__(self, graph: Graph, start: int) -> None:
        self.graph, self.start = graph, start
        self.radius, self.outermost = 0, 1
        self._steps = 1
        self._grow()

    def grow_beside(self, other: "_Ball", length: float) -> None:
        """Grow the ball with the smaller frontier."""
        (self if self.outermost <= other.outermost else other)._grow()

    def _grow(self) -> None:
        """Search again, farther; waits for the GPU."""
        self.radius += self._steps
        result = bfs(self.graph, id(self.start), max_depth=self.radius)
        self._level, self._parent = result.level, result.parent
        self.distance = array_module(self._level).where(self._level < 0, np.inf, self._level)
        before, self.outermost = (count(self._level == depth) for depth in (self.radius - 1, self.radius))
        self.complete = self.outermost == 0
        self._steps = 1 if self.outermost >= _FAST * before else self.radius

    def way_to(self, vertex: int) -> list[int]:
        """From the start to a vertex inside."""
        far = self._level[vertex].item() > _FEW_STEPS
        return way_along(to_device(self._parent, "cpu") if far else self._parent, self.start, vertex)


class _WeightedBall:
    """All vertices within some distance of one, and upper bounds for their out-neighbours."""

    def __init__(self, graph: Graph, start: int, radius: float) -> None:
        self.graph, self.start = graph, start
        self.program = SingleDistances if graph.out_csr.dtype == np.float32 else Distances
        self._grow(radius)

    def grow_beside(self, other: "_WeightedBall", length: float) -> None:
        """Grow both, to half of the shortest path so far."""
        radius = length / 2 if length < np.inf else 2 * self.radius
        self._grow(radius)
        other._grow(radius)

    def _grow(self, radius: float) -> None:
        """Search again, up to this distance; waits for the GPU."""
        self.radius = radius
        width = bucket_width(self.graph, weight_facts(self.graph.out_csr))
        result = run(self.program, self.graph, active=id(self.start), ceiling=radius, delta=width)
        self.distance = result.distance.astype(np.float64)
        self.raw = result.distance
        reached = self.distance < np.inf
        self.complete = not anywhere(reached & (self.distance > radius))

    def way_to(self, vertex: int) -> list[int]:
        """From the start to a vertex inside, or one that an arc from inside reaches."""
        return way_along(to_device(tree_of(self.graph, self.start, self.raw, False), "cpu"), self.start, vertex)
