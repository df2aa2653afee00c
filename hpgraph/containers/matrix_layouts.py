"""The layouts of a matrix and of its transpose (``..._t``), each built when first asked for."""

from __future__ import annotations

from typing import Any

from hpgraph.containers.layouts import Layouts
from hpgraph.formats import CSR, ROW_FORMATS
from hpgraph.kernels.backend import kernels


def new_layouts(csr: CSR, **others: Any) -> Layouts:
    """What a matrix of a CSR begins with, and other layouts of it that are there already."""
    return Layouts(shape=csr.shape, nnz=csr.nnz, dtype=csr.dtype, device=csr.device, csr=csr, **others)


def built(layouts: Layouts, name: str, turned: bool) -> Any:
    """The matrix, or its transpose, in one of `ROW_FORMATS`."""
    if not turned:
        return layouts.once(name, lambda: ROW_FORMATS[name].of(layouts["csr"]))
    if name == "csr":
        return layouts.once("csr_t", lambda: kernels(layouts["device"]).transpose(layouts["csr"]))
    return layouts.once(f"{name}_t", lambda: ROW_FORMATS[name].of(built(layouts, "csr", True)))
