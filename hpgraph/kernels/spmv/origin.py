"""The CSR matrix that a HYB was made of, remembered: some kernels want a matrix row by row."""

from __future__ import annotations

from hpgraph.formats import CSR, HYB
from hpgraph.kernels.runtime.attached import attached


@attached
def _origin(hyb: HYB) -> list[CSR]:
    return []


def hyb_of(csr: CSR) -> HYB:
    """A matrix in HYB, which remembers the CSR.

    Parameters
    ----------
    csr : CSR
        Kept for as long as what is returned.

    Returns
    -------
    HYB
    """
    return remember(HYB.from_csr(csr), csr)


def remember(hyb: HYB, csr: CSR) -> HYB:
    """Note that both are the same matrix.

    Parameters
    ----------
    hyb : HYB
    csr : CSR

    Returns
    -------
    HYB
        The first.
    """
    _origin(hyb)[:] = [csr]
    return hyb


def csr_of(rows: CSR | HYB) -> CSR:
    """A matrix in CSR: the one that it was made of, else one made now and remembered.

    Parameters
    ----------
    rows : CSR or HYB

    Returns
    -------
    CSR
    """
    if isinstance(rows, CSR):
        return rows
    if not _origin(rows):
        remember(rows, rows.to_csr())
    return _origin(rows)[0]


@attached
def without_values(csr: CSR) -> CSR:
    """The places of a matrix's entries; made once, so that what is worked out from them is kept too.

    Parameters
    ----------
    csr : CSR

    Returns
    -------
    CSR
        The matrix itself where it has no values.
    """
    return csr.with_data(None)
