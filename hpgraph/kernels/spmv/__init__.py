"""SpMV: the generalized product y<mask> accum= A (+.x) x<active>, over CSR, HYB and blocks of columns.

`pull` computes row by row, or on the GPU by stretches of equally many entries (a segmented scan); `push` multiplies a
sparse vector (SpMSpV), `pull_dense` a dense matrix (SpMM). Blocks of columns are propagation blocking (S. Beamer et
al., IPDPS'17) with partial sums instead of bins of messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from hpgraph.formats import CSR, Bitmask, RowFormat


class Products(Protocol):
    """What either backend offers. Lengths and devices are not checked here: callers have done so."""

    def pull(
        self, rows: RowFormat, gather: Any, reduce: Any, state: tuple[Any, ...], out: Any, *,
        active: Bitmask | None = None, mask: Bitmask | None = None, complement: bool = False, accum: Any = None,
        received: Bitmask | None = None,
    ) -> None:  # fmt: skip
        """Reduce the messages of active columns in every allowed row."""

    def push(
        self, rows: CSR, gather: Any, reduce: Any, state: tuple[Any, ...], frontier: Any, out: Any, *,
        mask: Bitmask | None = None, complement: bool = False, accum: Any = None,
    ) -> Any:  # fmt: skip
        """Send messages along the entries of listed rows; returns the targets reached, ascending."""

    def pull_dense(self, rows: RowFormat, gather: Any, reduce: Any, state: tuple[Any, ...], out: Any) -> None:
        """`pull` for each column of a dense operand at once."""
