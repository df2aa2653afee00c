"""Conversions of a Matrix: to SciPy's and CuPy's sparse arrays, dense arrays, other value types."""

from typing import Any, Self

import numpy as np

from hpgraph.containers.matrix_source import FORMATS, of_family
from hpgraph.core.number import one_of
from hpgraph.scipy_api.structure import Structure


def _asked(name: str) -> Any:
    """A private attribute that SciPy's functions read from sparse arrays, computed by converting the matrix."""
    return property(lambda matrix: getattr(matrix.tocsr(), name))


def _in_class(name: str) -> Any:
    """The method that converts to a class of SciPy, or of CuPy if it has the class."""

    def method(self: Any, copy: bool = False) -> Any:
        return self.tocsr(copy=copy).asformat(name)

    method.__name__ = f"to{name}"
    method.__doc__ = f"The matrix in SciPy's {name.upper()} class; `copy` is as for `tocsr`."
    return method


class Conversions(Structure):
    """Conversions of `Matrix`."""

    # Read by hstack and vstack, and by the operators of SciPy's arrays with a Matrix on the right.
    _shape_as_2d = property(lambda matrix: matrix.shape)
    _csr_container, _csc_container = _asked("_csr_container"), _asked("_csc_container")
    _add_sparse, _sub_sparse = _asked("_add_sparse"), _asked("_sub_sparse")
    _mul_scalar, _matmul_sparse = _asked("_mul_scalar"), _asked("_matmul_sparse")
    _divide, _broadcast_to = _asked("_divide"), _asked("_broadcast_to")

    def tocsr(self, copy: bool = False) -> Any:
        """The matrix in the CSR class of SciPy or, on CUDA, of CuPy.

        Parameters
        ----------
        copy : bool, default False
            For compatibility with SciPy: the arrays are always copies. ``A.csr.to_scipy()`` shares them, read-only.

        Returns
        -------
        scipy.sparse.csr_array, cupyx.scipy.sparse.csr_array or cupyx.scipy.sparse.csr_matrix
            A pattern gets values of bool. On CUDA an array if CuPy has sparse arrays, unless the input was a matrix.

        Raises
        ------
        TypeError
            On CUDA, if CuPy's sparse matrices do not support the values' type.

        Examples
        --------
        >>> import scipy.sparse
        >>> S = scipy.sparse.csr_array([[0, 2.0], [1.0, 0]])
        >>> A = hpg.Matrix(S)
        >>> R = A.tocsr()
        >>> R.data *= 2
        >>> A.sum(), R.sum()
        (np.float64(3.0), np.float64(6.0))
        """
        return of_family(self.csr.to_scipy(np.bool_, copy=True), self._as_matrix and self.device == "cuda")

    def tocsc(self, copy: bool = False) -> Any:
        """The matrix in the CSC class of SciPy or CuPy; `copy` as for `tocsr`."""
        return self.T.tocsr(copy=copy).T

    def tocoo(self, copy: bool = True) -> Any:
        """The matrix in the COO class of SciPy or CuPy, in order of rows; `copy` as for `tocsr`."""
        return self.tocsr().tocoo(copy=False)

    def asformat(self, format: str | None, copy: bool = False) -> Any:
        """The matrix in SciPy's or CuPy's class of a format: "csr", "csc", "coo", ...

        The format "array" is a dense array, None the matrix itself; `copy` is as for `tocsr`.
        """
        one_of(format, "format", FORMATS)
        if format in ("array", "dense"):
            return self.toarray()
        return self if format is None else self.tocsr(copy=copy).asformat(format)

    def tobsr(self, blocksize: tuple[int, int] | None = None, copy: bool = False) -> Any:
        """The matrix in SciPy's BSR class, of blocks of shape `blocksize`, which SciPy chooses if it is not given."""
        return self.tocsr(copy=copy).tobsr(blocksize=blocksize)

    todia, todok, tolil = _in_class("dia"), _in_class("dok"), _in_class("lil")

    def todense(self, order: str | None = None, out: Any = None) -> Any:
        """The same as `toarray`, as for SciPy's sparse arrays."""
        return self.toarray(order, out)

    def _asfptype(self) -> Self:
        """The matrix with float values, as SciPy's direct solvers expect: float32 for integers of up to 16 bits."""
        if self.dtype.kind in "fc":
            return self
        return self.astype(np.promote_types(self.dtype, np.float32) if self.dtype.itemsize <= 2 else np.float64)

    def transpose(self, axes: Any = None, copy: bool = False) -> Self:
        """The transpose; `axes`, None or (1, 0), and `copy`, which has no effect, are for compatibility with SciPy."""
        if axes is not None and (np.ndim(axes) != 1 or tuple(axes) not in ((1, 0), (-1, -2), (-1, 0), (1, -2))):
            raise ValueError(f"axes must be None or (1, 0), not {axes!r}: a matrix can only swap its two axes")
        return self.T
