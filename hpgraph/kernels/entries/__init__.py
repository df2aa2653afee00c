"""Entries: what goes entry by entry. Maps, selections, unions, intersections, parts of a matrix, Kronecker products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from hpgraph.formats import CSR, Bitmask


class Entries(Protocol):
    """What either backend offers. Matrices are in canonical CSR: rows sorted, no entry twice."""

    def map_entries(self, csr: CSR, function: Any, thunk: Any = False) -> Any:
        """What a function of value, row, column and thunk gives for each entry."""

    def select_entries(self, csr: CSR, predicate: Any, thunk: Any = False) -> CSR:
        """The entries for which it is true."""

    def keep_entries(self, csr: CSR, flags: Any) -> CSR:
        """The entries for which an array of bool is true."""

    def zip_entries(
        self,
        x: Any,
        y: Any,
        x_present: Bitmask | None,
        y_present: Bitmask | None,
        both: Any,
        left: Any,
        right: Any,
        dtype: Any,
        *,
        fill_x: Any = True,
        fill_y: Any = True,
    ) -> Any:
        """Two vectors joined: `both` where both have an entry, `left` and `right` where one has."""

    def merge(
        self,
        a: CSR,
        b: CSR,
        both: Any,
        left: Any,
        right: Any,
        dtype: Any,
        *,
        fill_a: Any = True,
        fill_b: Any = True,
        nonzero: bool = False,
    ) -> CSR:
        """Two matrices joined likewise; an operator that is None leaves its entries out."""

    def rows_of(self, csr: CSR, rows: Any, low: int, high: int) -> CSR:
        """Some rows, in any order, and of these the columns low..high."""

    def columns_of(self, csr: CSR, columns: Any) -> CSR:
        """Some columns, in any order."""

    def induced(self, csr: CSR, chosen: Bitmask) -> tuple[CSR, Any]:
        """The entries whose row and column are both chosen, numbered anew; and the chosen indices, ascending."""

    def positions_of(self, csr: CSR, rows: Any, columns: Any) -> Any:
        """Where the entries at these places lie; -1 where there is none."""

    def kron(self, a: CSR, b: CSR, op: Any, types: tuple[Any, Any], shape: tuple[int, int]) -> CSR:
        """The Kronecker product."""
