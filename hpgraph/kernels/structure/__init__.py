"""Structure: transposes, degree orders, components, cores, spanning forests, triangles, and the order of a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from hpgraph.formats import CSR


class Structure(Protocol):
    """What either backend offers."""

    def transpose(self, csr: CSR, /) -> CSR:
        """The same matrix by columns."""

    def is_symmetric(self, csr: CSR) -> bool:
        """Whether a square matrix is canonical and equals its transpose, values included; NaN equals NaN."""

    def components(self, arcs: CSR, symmetric: bool) -> Any:
        """The least vertex of each vertex's weakly connected component."""

    def fifo_order(self, rows: CSR, start: int, nobody: int) -> tuple[Any, Any]:
        """The order in which a queue meets vertices from a start, and who brought each; `nobody` where none did."""

    def count_triangles(self, graph: CSR, part: int = 0, parts: int = 1) -> int:
        """How many triangles there are in a symmetric graph; of so many parts of the work, those that one finds."""

    def triangles_of_each(self, graph: CSR, part: int = 0, parts: int = 1) -> Any:
        """How many each vertex is in, likewise."""

    def truss(self, arcs: CSR, k: int) -> Any:
        """Which arcs of a symmetric graph are in its k-truss, k being at least 3."""

    def truss_numbers(self, arcs: CSR) -> Any:
        """The largest k for which each arc is in the k-truss; 0 for loops."""

    def peel(self, arcs: CSR) -> tuple[Any, Any]:
        """Core numbers, and the round in which each vertex is peeled, from arcs that go both ways."""

    def spanning_forest(self, arcs: CSR) -> tuple[Any, Any]:
        """The edges of a spanning forest of least weight: one end of each, and where they lie in its row."""

    def generations(self, out: CSR, in_degree: Any) -> Any:
        """How many arcs the longest path to each vertex has; -1 on cycles and behind them."""

    def independent_set(self, arcs: CSR, order: Any) -> Any:
        """Who is taken when each vertex in turn is that has no neighbour among those taken."""

    def greedy_colors(self, arcs: CSR, order: Any) -> Any:
        """The least colour that no neighbour has yet, for each vertex in turn."""

    def matching(self, arcs: CSR, seed: int) -> Any:
        """The mate of each vertex in a maximal matching; -1 for none."""
