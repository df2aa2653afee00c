"""Structure: transposes, degree orders, components, cores, spanning forests, triangles, and the order of a queue."""

from collections import namedtuple
from typing import Any, Protocol

from hpgraph.formats import CSR

# Of subgraph isomorphism: the arcs by source and by target. `allowed`: a bit for each step that a vertex may be.
Rows = namedtuple("Rows", "indptr indices in_indptr in_indices allowed")
# The pattern in the order of its steps: what joins a step to those before it lies from `begin` on. `other`: the step
# before; `outward`: whether the arc is to it; `is_arc`: whether there must be one, else there must be none.
Steps = namedtuple("Steps", "begin other outward is_arc distinct")


class Structure(Protocol):
    """Interface of a backend."""

    def transpose(self, csr: CSR, /) -> CSR:
        """The same matrix by columns."""

    def mirrored(self, triangle: CSR) -> CSR:
        """The symmetric pattern with these rows, which rise, above its diagonal and none on it."""

    def undirected(self, n: int, source: Any, target: Any) -> CSR:
        """The symmetric pattern of edges in any order: each once, loops left out."""

    def is_symmetric(self, csr: CSR) -> bool:
        """Whether a square matrix is canonical and equals its transpose, values included; NaN equals NaN."""

    def components(self, arcs: CSR, symmetric: bool) -> Any:
        """The least vertex of each vertex's weakly connected component."""

    def components_within(self, arcs: CSR, group: Any) -> Any:
        """`components` of the arcs of a symmetric pattern that join vertices of one group."""

    def fifo_order(self, rows: CSR, start: int, missing: int) -> tuple[Any, Any]:
        """Vertices in breadth-first order from a start, and the predecessor of each; `missing` if none."""

    def cuthill_mckee(self, arcs: CSR, degree: Any, seeds: Any) -> Any:
        """Vertices in Cuthill-McKee order; each component begins at its first in `seeds`, an array of the host."""

    def is_both_ways(self, csr: CSR) -> bool:
        """As `is_symmetric`, of a pattern; on the CPU an exact pass, which ends at the first arc without a reverse."""

    def with_reverses(self, arcs: CSR, lightest: bool = False) -> CSR:
        """Arcs in ascending rows and the reverses that they lack, whose values are 0, as those of loops become.

        With `lightest`, an arc and its reverse get the lighter of their two values instead.
        """

    def rows_both_ways(self, rows: CSR) -> CSR:
        """Rows of out-neighbours, then in-neighbours, of a square pattern; unchanged if canonical and symmetric."""

    def count_triangles(self, graph: CSR, part: int = 0, parts: int = 1) -> int:
        """Number of triangles of a symmetric graph, or of those that one of `parts` shares of the work finds."""

    def triangles_of_each(self, graph: CSR, part: int = 0, parts: int = 1) -> Any:
        """Number of triangles at each vertex, likewise."""

    def truss(self, arcs: CSR, k: int) -> Any:
        """Which arcs of a symmetric graph are in its k-truss, k being at least 3."""

    def truss_numbers(self, arcs: CSR) -> Any:
        """The largest k for which each arc is in the k-truss; 0 for loops."""

    def peel(self, arcs: CSR, beyond: Any = None) -> tuple[Any, Any]:
        """Core numbers, and the round in which each vertex is peeled, from arcs that go both ways.

        `beyond`: how many more arcs each vertex has that stay until all others are gone.
        """

    def spanning_forest(self, arcs: CSR) -> tuple[Any, Any, Any]:
        """A minimum spanning forest: one end of each edge, its position in that end's row, the root of each vertex."""

    def generations(self, out: CSR, in_degree: Any) -> Any:
        """Number of arcs of the longest path to each vertex; -1 on cycles and after them."""

    def independent_set(self, arcs: CSR, order: Any) -> Any:
        """Greedy maximal independent set: each vertex in turn joins if it has no neighbour in the set."""

    def greedy_colors(self, arcs: CSR, order: Any) -> Any:
        """Greedy colouring: for each vertex in turn the least colour that no neighbour has yet."""

    def matching(self, arcs: CSR, seed: int) -> Any:
        """The mate of each vertex in a maximal matching; -1 for none."""


class Mappings(Protocol):
    """Interface of a backend for subgraph isomorphism."""

    def count_mappings(self, rows: Rows, steps: Steps) -> int:
        """Number of mappings of the pattern's steps to vertices."""

    def list_mappings(self, rows: Rows, steps: Steps, limit: int) -> Any:
        """The first of the mappings, at most `limit`, ordered by their steps; int64 array (k, p), in NumPy."""
