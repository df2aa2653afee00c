"""Matrix: a sparse matrix with the interface of a SciPy sparse array, on the CPU or on the GPU, over any semiring."""

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

    It replaces a SciPy CSR array (on CUDA, a CuPy CSR matrix): names and meanings are SciPy's, and the solvers of
    ``scipy.sparse.linalg`` accept it. In addition, `mxv` and `vxm` multiply over any semiring.

    Parameters
    ----------
    source : SciPy or CuPy sparse array or matrix, 2-d array, Matrix, Graph, CSR, COO, ELL, HYB or SELL, or tuple
        The entries. Duplicates are summed, explicit zeros kept. Zeros and masked elements of a dense array are not
        stored. Tuples are SciPy's: ``(rows, columns)`` is a shape without entries, ``(values, (rows, columns))`` and
        ``(values, indices, indptr)`` are arrays.
    shape : (int, int), optional
        Shape of a matrix made of arrays; by default the smallest that holds the entries.
    dtype : dtype, optional
        Type to convert the values to.
    copy : bool, default True
        Whether to copy arrays that could be shared with `source`, as those of a CSR that is sorted and free of
        duplicates. False saves the memory, but shared arrays must not be modified: layouts already built from them
        would not change, and ``A @ x`` and ``A.T @ x`` would disagree.
    format : {"auto", "csr", "hyb", "sell"}, optional
        The layout that products read; "auto" is CSR on the CPU; on CUDA it chooses by predicted time, which `explain`
        shows: mostly HYB. Other layouts are built on request. On the CPU, products of a HYB or SELL read the CSR that
        is kept with it. "sell" is SELL-32-σ, slices of 32 rows sorted by length (`hpgraph.formats.SELL`). Any name of
        `hpgraph.formats.ROW_FORMATS` is valid.

    Raises
    ------
    TypeError
        If `source` is not a matrix, or no kernel supports the type of its values.
    ValueError
        If `format` is unknown, `shape` does not fit, or arrays are inconsistent.
    IndexError
        If an array holds an index beyond the shape.

    Notes
    -----
    Operations do not modify a matrix's arrays; assignment (``A[i, j] = x``, ``A.data = values``, ``out=A``) replaces
    them, and objects derived before, such as the transpose, are unchanged. ``A.data`` may be written to as in SciPy:
    the matrix detects the change at its next use. A pattern, which has no values, acts as a matrix of bool, all true.
    Derived layouts and the transpose are cached, and several threads may request them at once.

    ``scipy.sparse.issparse`` is true for a matrix, and SciPy's functions accept it; an operator with a SciPy array on
    the left returns a SciPy array.

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
        return  # a private module: without it SciPy treats a Matrix as a linear operator
    SparseABC.register(Matrix)


def _call_array() -> None:
    """Register Matrix as a ``scipy.sparse.sparray``, once imported: else `hstack` etc. return older matrices."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    arrays = getattr(scipy_sparse, "sparray", Matrix)  # not there while SciPy is being imported
    if not issubclass(Matrix, arrays):
        Matrix.__bases__ += (arrays,)


_call_sparse()
_call_array()


def hyb_array(source: Any, *, dtype: Any = None) -> Matrix:
    """A `Matrix` that multiplies in the fastest layout of its device.

    On CUDA that is mostly HYB, an ELL slab with a COO tail; on the CPU it is CSR. The choice is that of
    ``Matrix(source)``, by predicted time; ``A.hyb`` is the HYB layout on every device, and on CUDA ``Matrix(source,
    format="hyb")`` always multiplies in it.

    Parameters
    ----------
    source : object
        Any source of `Matrix`.
    dtype : dtype, optional
        Type to convert the values to.

    Examples
    --------
    >>> import scipy.sparse
    >>> hpg.hyb_array(scipy.sparse.eye_array(3))
    <Matrix 3x3, 3 entries, float64, csr, cpu>
    """
    return Matrix(source, dtype=dtype)
