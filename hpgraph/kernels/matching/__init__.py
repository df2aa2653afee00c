"""Matchings of bipartite graphs, given as the rows and columns of a matrix. Both searches are sequential: CPU only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from hpgraph.formats import CSR


class Matching(Protocol):
    """What `cpu` offers."""

    def largest(self, arcs: CSR) -> tuple[Any, Any]:
        """The column of each row, and the row of each column, in a matching of most arcs; -1 for none."""

    def lightest(self, arcs: CSR) -> Any:
        """The column of each row in a matching of all rows of least weight; None if some row must stay without."""
