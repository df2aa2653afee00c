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
    """The places that a mask allows.

    Parameters
    ----------
    mask : Matrix, SciPy or CuPy sparse array, two-dimensional array of bool, or None
        It counts by value: where an entry is present and not zero. For the places that are present whatever their
        value, give ``A.structure``.
    shape : (int, int)
        Shape it must have, that of the result.
    device : {"cpu", "cuda"}
        Where it must lie.
    name : str
        What messages call it.

    Returns
    -------
    CSR or None
        A pattern, rows sorted; None for None, which allows everything.

    Raises
    ------
    ValueError
        When it has another shape.
    TypeError
        When it lies elsewhere, or is no mask of a matrix.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> A = hpg.Matrix(hpg.formats.CSR((2, 2), [0, 2, 2], [0, 1], [5, 0]))
    >>> as_matrix_mask(A, (2, 2), "cpu").nnz, as_matrix_mask(A.structure, (2, 2), "cpu").nnz
    (1, 2)
    """
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
    """A matrix without its explicit zeros.

    Parameters
    ----------
    csr : CSR

    Returns
    -------
    CSR
        Itself where it has none. On CUDA this waits for the stream.
    """
    if csr.data is None:
        return csr
    if int(array_module(csr.data).count_nonzero(csr.data)) == csr.nnz:
        return csr
    kind = value_dtype(csr.dtype)
    made: CSR = kernels(csr.device).select_entries(csr, entry_function(get_binary("ne"), kind, kind), 0)
    return made


def restrict(csr: CSR, mask: CSR | None, complement: bool = False) -> CSR:
    """The entries of a matrix that a mask allows.

    Parameters
    ----------
    csr : CSR
        Rows sorted.
    mask : CSR or None
        A pattern; None allows everything.
    complement : bool, default False
        Keep the entries that the mask leaves out.

    Returns
    -------
    CSR
    """
    if mask is None:
        return csr
    keep = entry_function(get_binary("first"), value_dtype(csr.dtype), bool)
    both, left = (None, keep) if complement else (keep, None)
    made: CSR = kernels(csr.device).merge(csr, mask, both, left, None, csr.dtype)
    return made
