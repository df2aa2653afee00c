"""SpGEMM: the product of two sparse matrices over a semiring, by rows (Gustavson), and at the places of a mask."""

from typing import Any, Protocol

from hpgraph.formats import CSR


class MatrixProducts(Protocol):
    """Interface of a backend. `product` is a semiring's planned multiplication, and `reduce` its monoid."""

    def multiply(self, a: CSR, b: CSR, product: Any, reduce: Any, exclude: CSR | None = None) -> CSR:
        """The product with a sparse accumulator or a hash table for each row; without the places of `exclude`."""

    def masked_work(self, mask: CSR, a: CSR, row_lengths: Any, column_lengths: Any) -> tuple[int, int]:
        """Estimated costs of `multiply_by_dots` and `multiply_by_rows`."""

    def multiply_by_dots(self, mask: CSR, a: CSR, b_turned: CSR, product: Any, reduce: Any) -> CSR:
        """The product at the places of the mask: each is a row of `a` times a row of the transpose of `b`."""

    def multiply_by_rows(self, mask: CSR, a: CSR, b: CSR, product: Any, reduce: Any) -> CSR:
        """The product at the places of the mask, by rows of `b`."""
