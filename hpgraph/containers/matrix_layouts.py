"""The layouts of a matrix and of its transpose (``..._t``), each built when first asked for."""

from __future__ import annotations

from typing import Any

from hpgraph.containers.layouts import Layouts
from hpgraph.formats import CSR, HYB, SELL
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.spmv.origin import hyb_of, sell_of


def new_layouts(csr: CSR, **others: Any) -> Layouts:
    """What a matrix of a CSR begins with, and other layouts of it that are there already."""
    return Layouts(shape=csr.shape, nnz=csr.nnz, dtype=csr.dtype, device=csr.device, csr=csr, **others)


def built_csr(layouts: Layouts, turned: bool) -> CSR:
    """The matrix, or its transpose, as CSR."""
    here, there = ("_t", "") if turned else ("", "_t")

    def build() -> CSR:
        if f"hyb{here}" in layouts:
            made: CSR = layouts[f"hyb{here}"].to_csr()
            return made
        if f"csr{there}" not in layouts:
            layouts[f"csr{there}"] = layouts[f"hyb{there}"].to_csr()
        turned_csr: CSR = kernels(layouts["device"]).transpose(layouts[f"csr{there}"])
        return turned_csr

    csr: CSR = layouts.once(f"csr{here}", build)
    return csr


def built_hyb(layouts: Layouts, turned: bool) -> HYB:
    """The same as HYB."""
    hyb: HYB = layouts.once("hyb_t" if turned else "hyb", lambda: hyb_of(built_csr(layouts, turned)))
    return hyb


def built_sell(layouts: Layouts, turned: bool) -> SELL:
    """The same as SELL."""
    sell: SELL = layouts.once("sell_t" if turned else "sell", lambda: sell_of(built_csr(layouts, turned)))
    return sell
