"""Matrix: a sparse matrix with the manners of a SciPy sparse array, on the CPU or on the GPU, over any semiring."""

import sys
from types import GenericAlias
from typing import Any

from hpgraph.containers.matrix import Format
from hpgraph.containers.result_table import html_table
from hpgraph.scipy_api.arithmetic import Comparisons
from hpgraph.scipy_api.functions import Ufuncs
from hpgraph.scipy_api.reductions import Reductions


class Matrix(Comparisons, Reductions, Ufuncs):
    """A sparse matrix whose products run on hpgraph's kernels.

    It takes the place of a SciPy CSR array (on CUDA, of a CuPy CSR matrix): names and meanings are SciPy's, and
    ``scipy.sparse.linalg``'s solvers take it as they take one. Beyond that `mxv` and `vxm` multiply over any semiring.

    Parameters
    ----------
    source : SciPy or CuPy sparse array or matrix, 2-d array, Matrix, Graph, CSR, COO, ELL, HYB or SELL, or tuple
        The entries. Those at the same place are summed, explicit zeros kept. Of a dense array the zeros are left out,
        and masked elements. Tuples are SciPy's: ``(rows, columns)`` is a shape without entries, ``(values, (rows,
        columns))`` and ``(values, indices, indptr)`` are arrays.
    shape : (int, int), optional
        Of a matrix made of arrays; by default just large enough.
    dtype : dtype, optional
        Type to convert the values to.
    copy : bool, default True
        Whether to copy arrays that could be shared with `source`, as those of a CSR that is sorted and free of
        duplicates. False saves the memory, and such arrays must not be written to any more: layouts made of them
        before would not follow, and ``A @ x`` and ``A.T @ x`` disagree.
    format : {"auto", "csr", "hyb", "sell"}, optional
        The layout that products read; "auto" is CSR on the CPU; on CUDA it chooses by predicted time, which
        `explain` shows: mostly HYB. Others are made when asked for. On the CPU products with a HYB or SELL read the CSR
        that is kept with it. "sell" is SELL-32-σ, slices of 32 rows sorted by length (`hpgraph.formats.SELL`). Any name
        of `hpgraph.formats.ROW_FORMATS` serves.

    Raises
    ------
    TypeError
        When `source` is no matrix, or its values are of a type that no kernel serves.
    ValueError
        When `format` is unknown, `shape` does not fit, or arrays do not fit each other.
    IndexError
        When an array holds an index beyond the shape.

    Notes
    -----
    The arrays of a matrix do not change; assignment (``A[i, j] = x``, ``A.data = values``, ``out=A``) gives it other
    ones, and what was taken from it before, as its transpose, stays as it was. ``A.data`` may be written to as SciPy's
    is: before its next use the matrix looks, and takes over what was written. A pattern, which has no values, acts as
    a matrix of bool all true. What is built from it (other layouts, the transpose) is kept, and several threads may
    ask at once.

    ``scipy.sparse.issparse`` takes a matrix for sparse, and so do SciPy's functions; an operator with SciPy's array on
    the left gives SciPy's.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> A = hpg.Matrix(scipy.sparse.csr_array([[0, 2.0], [1.0, 0]]))
    >>> A @ np.array([1.0, 10.0])
    array([20.,  1.])
    >>> A.mxv(np.array([1.0, 10.0]), "min_plus")
    array([12.,  2.])
    """

    def __init__(
        self, source: Any, shape: Any = None, dtype: Any = None, copy: bool = True, *, format: Format = "auto"
    ) -> None:
        super().__init__(source, shape, dtype, copy, format=format)
        _call_array()

    __class_getitem__: Any = classmethod(GenericAlias)

    def __len__(self) -> int:
        raise TypeError("the length of a sparse matrix is ambiguous: use A.shape[0] or A.nnz")

    def __bool__(self) -> bool:
        if self.shape == (1, 1):
            return bool(self.sum())
        raise ValueError("the truth value of a sparse matrix is ambiguous: use A.nnz or A.count_nonzero()")

    def __repr__(self) -> str:
        rows, columns = self.shape
        values = "pattern" if self.is_pattern else str(self.dtype)
        return f"<Matrix {rows}x{columns}, {self.nnz:,} entries, {values}, {self.layout}, {self.device}>"

    def _repr_html_(self) -> str:
        rows = [
            ("shape", " × ".join(f"{length:,}" for length in self.shape)),
            ("entries", f"{self.nnz:,}"),
            ("values", "pattern" if self.is_pattern else str(self.dtype)),
            ("layout", self.layout),
            ("device", self.device),
            ("memory", f"{self.nbytes / 2**20:,.1f} MiB"),
        ]
        return html_table("Matrix", rows)


def _call_sparse() -> None:
    """Register Matrix for ``scipy.sparse.issparse``, so that SciPy's functions use its sparse methods."""
    try:
        from scipy._lib._sparse import SparseABC
    except ImportError:
        return  # a private module: without it SciPy takes a Matrix for a linear operator
    SparseABC.register(Matrix)


def _call_array() -> None:
    """Make Matrix a ``scipy.sparse.sparray``, once that is imported: else `hstack` and others return older matrices."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    arrays = getattr(scipy_sparse, "sparray", Matrix)  # not there while SciPy is being imported
    if not issubclass(Matrix, arrays):
        Matrix.__bases__ += (arrays,)


_call_sparse()
_call_array()


def hyb_array(source: Any, *, dtype: Any = None) -> Matrix:
    """A `Matrix` that multiplies in the layout that is fastest on its device.

    On CUDA that is mostly HYB, an ELL slab and a COO tail side by side; on the CPU it is CSR. The choice is that of
    ``Matrix(source)``, by predicted time; ``A.hyb`` is the HYB layout on every device, and on CUDA ``Matrix(source,
    format="hyb")`` always multiplies in it.

    Parameters
    ----------
    source : object
        What `Matrix` takes.
    dtype : dtype, optional
        Type to convert the values to.

    Examples
    --------
    >>> import scipy.sparse
    >>> hpg.hyb_array(scipy.sparse.eye_array(3))
    <Matrix 3x3, 3 entries, float64, csr, cpu>
    """
    return Matrix(source, dtype=dtype)
