"""Masks of matrices: which places of a result may be written, and the restriction of a matrix to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.containers.matrix import MatrixStorage
from hpgraph.core.device import array_module, is_cuda
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.spmv.product_plan import value_dtype
from hpgraph.semiring import get_binary
from hpgraph.semiring.entry import entry_function


def as_matrix_mask(mask: Any, shape: tuple[int, int], device: str, name: str = "mask") -> CSR | None:
    """A mask of the result's `shape` as a pattern with sorted rows; None for None, which allows everything."""
    if mask is None:
        return None
    csr = _csr_of(mask, name)
    if csr.shape != tuple(shape):
        raise ValueError(f"{name} must have shape {tuple(shape)}, that of the result, not {csr.shape}")
    if csr.device != device:
        raise TypeError(f'{name} lies on "{csr.device}" and the matrix on "{device}": move one of them with .to()')
    return without_zeros(csr).with_data(None)


def _csr_of(mask: Any, name: str) -> CSR:
    if isinstance(mask, MatrixStorage):
        return mask.csr
    if hasattr(mask, "tocsr"):
        return MatrixStorage(mask).csr
    if (isinstance(mask, np.ndarray) or is_cuda(mask)) and mask.dtype == np.bool_ and mask.ndim == 2:
        return MatrixStorage(mask).csr
    raise TypeError(
        f"{name} must be a Matrix, a sparse array or a two-dimensional array of bool, not {type(mask).__name__}: for "
        "places whatever their values give A.structure"
    )


def without_zeros(csr: CSR) -> CSR:
    """A matrix without its explicit zeros."""
    if csr.data is None:
        return csr
    if int(array_module(csr.data).count_nonzero(csr.data)) == csr.nnz:
        return csr
    kind = value_dtype(csr.dtype)
    made: CSR = kernels(csr.device).select_entries(csr, entry_function(get_binary("ne"), kind, kind), 0)
    return made


def restrict(csr: CSR, mask: CSR | None, complement: bool = False) -> CSR:
    """The entries of a matrix with sorted rows that a mask allows."""
    if mask is None:
        return csr
    keep = entry_function(get_binary("first"), value_dtype(csr.dtype), bool)
    both, left = (None, keep) if complement else (keep, None)
    made: CSR = kernels(csr.device).merge(csr, mask, both, left, None, csr.dtype)
    return made
