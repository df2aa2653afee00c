"""What the benchmark asks of a library, and hpgraph's own answer to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import hpgraph as hpg

from .answers import ITERATIONS
from .graphs import Case

WORKS = ("bfs", "sssp", "pagerank", "spmv", "triangles", "build")
PER_SOURCE = ("bfs", "sssp")


class Library:
    """A library with one graph loaded in its own form.

    A subclass defines a method for each of `WORKS` that it can do: ``bfs(source)``, ``sssp(source)``, ``pagerank()``,
    ``spmv()``, ``triangles()``, ``build()``. That call is what is timed. Where what it returns is not yet an array of
    levels, distances, ranks or products, or a number of triangles, a method ``read_<work>`` turns it into one,
    outside the clock.
    """

    name: ClassVar[str]
    distribution: ClassVar[str]
    most_arcs: ClassVar[int | None] = None
    """Graphs with more arcs are not tried unless the library is named on the command line."""

    rank_tolerance: ClassVar[float] = 1e-6
    """How far, summed over all vertices, PageRank may be from the definition."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def call(self, work: str) -> Callable[..., Any] | None:
        """The method that does a work, or None."""
        return getattr(self, work, None)

    def read(self, work: str, raw: Any) -> Any:
        """The comparable answer in what the method returned."""
        return getattr(self, f"read_{work}", lambda answer: answer)(raw)


class HPGraph(Library):
    """hpgraph through its public functions; the graph lies on the device already."""

    name = "hpgraph"
    distribution = "hpgraph"

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self._graph = case.graph
        self._array: Any = None

    def bfs(self, source: int) -> Any:
        return hpg.bfs(self._graph, source)

    def read_bfs(self, raw: Any) -> Any:
        return raw.level

    def sssp(self, source: int) -> Any:
        return hpg.sssp(self._graph, source)

    def read_sssp(self, raw: Any) -> Any:
        return raw.distance

    def pagerank(self) -> Any:
        return hpg.pagerank(self._graph, tol=0, max_iteration=ITERATIONS)

    def read_pagerank(self, raw: Any) -> Any:
        return raw.rank

    def spmv(self) -> Any:
        if self._array is None:
            self._array = hpg.Matrix(self.case.matrix)
        return self._array @ self.case.vector

    def triangles(self) -> int:
        return hpg.triangle_count(self._graph)

    def build(self) -> Any:
        """A graph from its arcs, with what push and pull need."""
        graph = hpg.Graph(self.case.matrix, directed=False)
        return graph, graph.out_csr, graph.hyb, graph.out_degree

    def read_build(self, raw: Any) -> int:
        return int(raw[0].n_edges)
