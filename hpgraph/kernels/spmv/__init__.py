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
    """What either backend offers."""

    def pull(
        self,
        rows: RowFormat,
        gather: Any,
        reduce: Any,
        state: tuple[Any, ...],
        out: Any,
        *,
        active: Bitmask | None = None,
        mask: Bitmask | None = None,
        complement: bool = False,
        accum: Any = None,
        received: Bitmask | None = None,
    ) -> None:
        """Reduce the messages of active columns in every allowed row."""

    def push(
        self,
        rows: CSR,
        gather: Any,
        reduce: Any,
        state: tuple[Any, ...],
        frontier: Any,
        out: Any,
        *,
        mask: Bitmask | None = None,
        complement: bool = False,
        accum: Any = None,
    ) -> Any:
        """Send messages along the entries of listed rows; returns the targets reached, ascending."""

    def pull_dense(self, rows: RowFormat, gather: Any, reduce: Any, state: tuple[Any, ...], out: Any) -> None:
        """`pull` for each column of a dense operand at once."""


def check_pull(
    rows: RowFormat, out: Any, active: Bitmask | None, mask: Bitmask | None, complement: bool, received: Bitmask | None
) -> None:
    """Check the lengths of the arguments of `pull`."""
    n, m = rows.shape
    for name, found, expected in (
        ("out", len(out), n),
        ("active", m if active is None else active.n, m),
        ("mask", n if mask is None else mask.n, n),
        ("received", n if received is None else received.n, n),
    ):
        if found != expected:
            raise ValueError(f"{name} must have length {expected} for a matrix of shape {rows.shape}, not {found}")
    _check_writing(out, mask, complement)


def check_push(rows: CSR, out: Any, mask: Bitmask | None, complement: bool) -> None:
    """Check the lengths of the arguments of `push`."""
    n = rows.shape[1]
    for name, length in (("out", len(out)), ("mask", n if mask is None else mask.n)):
        if length != n:
            raise ValueError(f"{name} must have length {n} to push along a matrix of shape {rows.shape}, not {length}")
    _check_writing(out, mask, complement)


def check_pull_dense(rows: RowFormat, state: tuple[Any, ...], out: Any) -> None:
    """Check the shapes of the arguments of `pull_dense`."""
    widths = {array.shape[1] for array in state if array.ndim == 2}
    if out.ndim != 2 or len(out) != rows.shape[0] or (widths and widths != {out.shape[1]}):
        raise ValueError(
            f"out must have as many rows as the matrix ({rows.shape[0]}) and as many columns as the dense operand "
            f"({', '.join(map(str, widths)) or 'any'}), not shape {out.shape}"
        )
    if not out.flags.c_contiguous:
        raise ValueError("out must be in C order: make it with empty(shape)")


def _check_writing(out: Any, mask: Bitmask | None, complement: bool) -> None:
    if not out.flags.c_contiguous:
        raise ValueError("out must be contiguous: give a whole array, not a strided view")
    if complement and mask is None:
        raise ValueError("complement=True needs a mask to complement")
