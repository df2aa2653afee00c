"""The CSR matrix that a HYB or SELL was made of, remembered: some kernels want a matrix row by row."""

from __future__ import annotations

from typing import TypeVar

from hpgraph.formats import CSR, HYB, SELL, RowFormat
from hpgraph.kernels.runtime.attached import attached

Made = TypeVar("Made", bound=HYB | SELL)


@attached
def _origin(rows: HYB | SELL) -> list[CSR]:
    return []


def hyb_of(csr: CSR) -> HYB:
    """A matrix in HYB, which remembers the CSR."""
    return remember(HYB.from_csr(csr), csr)


def sell_of(csr: CSR) -> SELL:
    """A matrix in SELL, which remembers the CSR."""
    return remember(SELL.from_csr(csr), csr)


def remember(rows: Made, csr: CSR) -> Made:
    """Note that both are the same matrix."""
    _origin(rows)[:] = [csr]
    return rows


def csr_of(rows: RowFormat) -> CSR:
    """A matrix in CSR: the one that it was made of, else one made now and remembered."""
    if isinstance(rows, CSR):
        return rows
    if not _origin(rows):
        remember(rows, rows.to_csr())
    return _origin(rows)[0]


@attached
def without_values(csr: CSR) -> CSR:
    """The places of a matrix's entries; made once, so that what is worked out from them is kept too."""
    return csr.with_data(None)
