"""Similarity: the common neighbours of two vertices, for many pairs, and the best entries of each row.

A pair costs its shorter row: each of its entries is looked up in the longer one, or the two are merged if their lengths
are similar. A measure combines the common part with the sizes of the two rows (E. A. Leicht, P. Holme, M. E. J. Newman,
"Vertex similarity in networks", Physical Review E 73, 2006, section I, lists them).
"""

from typing import Any, NamedTuple, Protocol

from hpgraph.formats import CSR

# Measures of the common part c and the sizes a and b: c itself, c / (a + b - c), c / min(a, b), 2c / (a + b), c /
# √(ab). 0 if the denominator is zero.
MEASURES = "COMMON", "JACCARD", "OVERLAP", "SORENSEN", "COSINE"
COMMON, JACCARD, OVERLAP, SORENSEN, COSINE = range(5)


class Common(NamedTuple):
    """The sum over common neighbours: of ``values``, or if None of 1, or the lesser or the product of two weights."""

    values: Any = None
    product: bool = False


class Similarity(Protocol):
    """Interface of a backend."""

    def pair_scores(self, rows: CSR, source: Any, target: Any, common: Common, measure: int, sizes: Any) -> Any:
        """A measure of each pair of rows: float64 array."""

    def best_of_rows(self, rows: CSR, k: int) -> CSR:
        """The k largest entries of each row, in descending order; ties in ascending order of columns."""
