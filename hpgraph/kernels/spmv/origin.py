"""The CSR matrix that a HYB or SELL was made of, kept for kernels that need rows."""

from __future__ import annotations

from typing import TypeVar

from hpgraph.formats import CSR, HYB, SELL, RowFormat
from hpgraph.kernels.runtime.attached import attached

Made = TypeVar("Made", bound=HYB | SELL)


@attached
def _origin(rows: HYB | SELL) -> list[CSR]:
    return []


def hyb_of(csr: CSR) -> HYB:
    """A matrix in HYB that keeps its CSR."""
    return remember(HYB.from_csr(csr), csr)


def sell_of(csr: CSR) -> SELL:
    """A matrix in SELL that keeps its CSR."""
    return remember(SELL.from_csr(csr), csr)


def remember(rows: Made, csr: CSR) -> Made:
    """Note that two formats hold the same matrix."""
    _origin(rows)[:] = [csr]
    return rows


def csr_of(rows: RowFormat) -> CSR:
    """A matrix in CSR: the one that it was made of, else a new one, which is kept."""
    if isinstance(rows, CSR):
        return rows
    if not _origin(rows):
        remember(rows, rows.to_csr())
    return _origin(rows)[0]


@attached
def without_values(csr: CSR) -> CSR:
    """The pattern of a matrix; made once, so that data attached to it is kept too."""
    return csr.with_data(None)
