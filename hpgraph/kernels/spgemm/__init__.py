"""SpGEMM: the product of two sparse matrices over a semiring, by rows (Gustavson), and at the places of a mask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from hpgraph.formats import CSR


class MatrixProducts(Protocol):
    """What either backend offers. `product` multiplies, as a semiring's plan has it, and `reduce` is its monoid."""

    def multiply(self, a: CSR, b: CSR, product: Any, reduce: Any, exclude: CSR | None = None) -> CSR:
        """Each row in a sparse accumulator or a hash table; without the places of `exclude`."""

    def masked_work(self, mask: CSR, a: CSR, row_lengths: Any, column_lengths: Any) -> tuple[int, int]:
        """What `multiply_by_dots` and `multiply_by_rows` would cost."""

    def multiply_by_dots(self, mask: CSR, a: CSR, b_turned: CSR, product: Any, reduce: Any) -> CSR:
        """At the places of the mask, each as a row of `a` times a row of the transpose of `b`."""

    def multiply_by_rows(self, mask: CSR, a: CSR, b: CSR, product: Any, reduce: Any) -> CSR:
        """At the places of the mask, row by row of `b`."""
