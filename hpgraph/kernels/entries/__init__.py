"""Entries: elementwise operations. Maps, selections, unions, intersections, parts of a matrix, Kronecker products."""

from typing import Any, Protocol

from hpgraph.formats import CSR, Bitmask


class Entries(Protocol):
    """Interface of a backend. Matrices are in canonical CSR: rows sorted, no duplicates."""

    def map_entries(self, csr: CSR, function: Any, thunk: Any = False) -> Any:
        """The result of a function of value, row, column and thunk for each entry."""

    def select_entries(self, csr: CSR, predicate: Any, thunk: Any = False) -> CSR:
        """The entries that satisfy a predicate."""

    def keep_entries(self, csr: CSR, flags: Any) -> CSR:
        """The entries for which an array of bool is true."""

    def zip_entries(
        self, x: Any, y: Any, x_present: Bitmask | None, y_present: Bitmask | None, both: Any, left: Any, right: Any,
        dtype: Any, *, fills: tuple[Any, Any] = (True, True),
    ) -> Any:  # fmt: skip
        """Two vectors combined: by `both` at common indices, by `left` and `right` at those of one."""

    def merge(
        self, a: CSR, b: CSR, both: Any, left: Any, right: Any, dtype: Any, *,
        fills: tuple[Any, Any] = (True, True), nonzero: bool = False,
    ) -> CSR:  # fmt: skip
        """Two matrices combined likewise; an operator that is None drops its entries."""

    def rows_of(self, csr: CSR, rows: Any, low: int, high: int) -> CSR:
        """The given rows, in any order, restricted to the columns low..high."""

    def columns_of(self, csr: CSR, columns: Any) -> CSR:
        """The given columns, in any order."""

    def induced(self, csr: CSR, chosen: Bitmask) -> tuple[CSR, Any]:
        """The submatrix of chosen rows and columns, renumbered; and the chosen indices, ascending."""

    def positions_of(self, csr: CSR, rows: Any, columns: Any) -> Any:
        """Positions of the entries at the given places; -1 if there is none."""

    def kron(self, a: CSR, b: CSR, op: Any, types: tuple[Any, Any], shape: tuple[int, int]) -> CSR:
        """The Kronecker product."""
