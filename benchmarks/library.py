"""What the benchmark asks of a library, and hpgraph's own answer to it."""

import functools
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import hpgraph as hpg

from .answers import ITERATIONS, agree
from .graphs import Case


@dataclass(frozen=True)
class OwnClock:
    """What a call returns whose time the library takes itself: a program that first has to read the graph."""

    seconds: float
    answer: Any


class Library:
    """A library with one graph loaded in its own form.

    A subclass defines a method for each of `benchmarks.works.WORKS` that it can do: ``bfs(source)``, ``pagerank()``
    and so on. That call is what is timed. Where what it returns is not yet an array of levels, distances, ranks or
    products, or a number of triangles, a method ``read_<work>`` turns it into one, outside the clock.
    """

    name: ClassVar[str]
    distribution: ClassVar[str]
    most_arcs: ClassVar[int | None] = None
    """Graphs with more arcs are not tried unless the library is named on the command line."""

    rank_tolerance: ClassVar[float] = 1e-6
    """How far, summed over all vertices, PageRank may be from the definition."""

    own_clock: ClassVar[bool] = False
    """Whether each call repeats itself and takes its own time."""

    whole_answers: ClassVar[bool] = True
    """Whether answers can be proven by themselves; otherwise they are only compared, by `compare`."""

    def __init__(self, case: Case) -> None:
        self.case = case

    @classmethod
    def is_installed(cls) -> bool:
        """Whether it can be measured here."""
        return importlib.util.find_spec(cls.distribution) is not None

    def call(self, work: str) -> Callable[..., Any] | None:
        """The method that does a work, or None."""
        return getattr(self, work, None)

    def read(self, work: str, raw: Any) -> Any:
        """The comparable answer in what the method returned."""
        return getattr(self, f"read_{work}", lambda answer: answer)(raw)

    def compare(self, work: str, answer: Any, reference: Any) -> str | None:
        """What is wrong with an answer, beside one that holds; None when nothing is."""
        return agree(work, answer, reference, self.rank_tolerance)

    def renew(self) -> bool:
        """Start from a new graph, on which nothing was prepared; False for a library that prepares nothing."""
        return False

    def note(self, work: str) -> str | None:
        """What a reader of this work's time should know, in a few words."""
        return None


class HPGraph(Library):
    """hpgraph through its public functions; the graph lies on the device already."""

    name = "hpgraph"
    distribution = "hpgraph"

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self._graph = case.graph
        self._matrices: dict[str, hpg.Matrix] = {}

    def renew(self) -> bool:
        self._graph = hpg.Graph(self.case.matrix, directed=False)
        self._matrices.clear()
        return True

    def _matrix(self, kind: str) -> hpg.Matrix:
        if kind not in self._matrices:
            case = self.case
            self._matrices[kind] = {
                "float32": lambda: hpg.Matrix(case.matrix),
                "hyb_array": lambda: hpg.hyb_array(case.matrix),
                "float64": lambda: hpg.Matrix(case.wide_matrix),
                "pattern": lambda: hpg.Matrix(self._graph.out_csr.with_data(None)),
            }[kind]()
        return self._matrices[kind]

    def bfs(self, source: int) -> Any:
        return hpg.bfs(self._graph, source)

    def read_bfs(self, raw: Any) -> Any:
        return raw.level

    def bfs_smallest(self, source: int) -> Any:
        return hpg.bfs(self._graph, source, deterministic=True)

    read_bfs_smallest = read_bfs

    def bfs_row(self) -> Any:
        for source in self.case.row:
            found = hpg.bfs(self._graph, source)
        return found

    read_bfs_row = read_bfs

    def sssp(self, source: int) -> Any:
        return hpg.sssp(self._graph, source)

    def read_sssp(self, raw: Any) -> Any:
        return raw.distance

    def pagerank(self) -> Any:
        return hpg.pagerank(self._graph, tol=0, max_iteration=ITERATIONS)

    def read_pagerank(self, raw: Any) -> Any:
        return raw.rank

    def pagerank32(self) -> Any:
        return hpg.pagerank(self._graph, tol=0, max_iteration=ITERATIONS, dtype=np.float32)

    read_pagerank32 = read_pagerank

    def spmv(self) -> Any:
        return self._matrix("float32") @ self.case.vector

    def spmv_hyb(self) -> Any:
        return self._matrix("hyb_array") @ self.case.vector

    def spmv64(self) -> Any:
        return self._matrix("float64") @ self.case.wide_vector

    def min_plus(self) -> Any:
        return self._matrix("float32").mxv(self.case.vector, "min_plus")

    def lor_land(self) -> Any:
        return self._matrix("pattern").mxv(self.case.flags, "lor_land")

    def any_pair(self) -> Any:
        return self._matrix("pattern").mxv(self._some, "any_pair")

    def plus_pair(self) -> Any:
        return self._matrix("pattern").mxv(self._some, "plus_pair")

    @functools.cached_property
    def _some(self) -> hpg.Vector:
        """A vector of which half the entries are present."""
        return hpg.Vector(self.case.flags, self.case.flags)

    def read_plus_pair(self, raw: Any) -> Any:
        counts = self.case.xp.zeros(self.case.n, np.int64)
        indices, values = raw.to_indices()
        counts[indices] = values
        return counts

    read_any_pair = read_plus_pair

    def triangles(self) -> int:
        return hpg.triangle_count(self._graph)

    def build(self) -> Any:
        """A graph from its arcs, with what push and pull need."""
        graph = hpg.Graph(self.case.matrix, directed=False)
        return graph, graph.out_csr, graph.hyb, graph.out_degree

    def read_build(self, raw: Any) -> int:
        return int(raw[0].n_edges)
