"""Matchings of bipartite graphs, given as rows and columns of a matrix, and of others.

Those of most arcs have two sides, one a device; the others are sequential, for the CPU only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from hpgraph.formats import CSR


class Matching(Protocol):
    """Interface of a backend."""

    def largest(self, arcs: CSR, transpose: Callable[[CSR], CSR], rows: Any, columns: Any) -> tuple[Any, Any]:
        """The column of each row, and the row of each column, in a matching of most arcs; -1 for none.

        ``transpose``: called, on the CPU, where the first free columns do not suffice; ``rows``, ``columns``: those
        that take part. A bipartite graph is its own transpose, each side being rows or columns.
        """
