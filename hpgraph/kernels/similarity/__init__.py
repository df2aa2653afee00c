"""Similarity: what the neighbours of two vertices have in common, for many pairs, and the best of each row.

A pair costs its shorter row: each of its entries is looked up in the longer one, or the two are merged where they are
about as long. A measure joins what is common with the sizes of the two rows (E. A. Leicht, P. Holme, M. E. J. Newman,
"Vertex similarity in networks", Physical Review E 73, 2006, section I, lists them).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from hpgraph.formats import CSR

# What becomes of the common part c and of the sizes a and b: c itself, c / (a + b - c), c / min(a, b), 2c / (a + b),
# c / √(ab). 0 where that would divide by zero.
COMMON, JACCARD, OVERLAP, SORENSEN, COSINE = range(5)


class Common(NamedTuple):
    """What is summed over common neighbours.

    Attributes
    ----------
    values : float64 array of shape (n,), or None
        What each neighbour counts; without it 1, or what follows from the two weights, if rows have any.
    product : bool
        Whether two weights count their product, rather than the lesser of them.
    """

    values: Any = None
    product: bool = False


class Similarity(Protocol):
    """What either backend offers."""

    def pair_scores(self, rows: CSR, source: Any, target: Any, common: Common, measure: int, sizes: Any) -> Any:
        """A measure of each pair of rows: float64 array."""

    def best_of_rows(self, rows: CSR, k: int) -> CSR:
        """The k largest entries of each row, the largest first, and of equals that of the lowest column."""
