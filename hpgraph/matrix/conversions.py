"""A Matrix as other things: SciPy's and CuPy's sparse arrays, dense arrays, other value types."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hpgraph.device import array_module, check_memory
from hpgraph.matrix.structure import Structure


class Conversions(Structure):
    """What `Matrix` turns into."""

    def tocsr(self, copy: bool = False) -> Any:
        """The matrix in the CSR class of SciPy or, on CUDA, of CuPy.

        Parameters
        ----------
        copy : bool, default False
            Whether to copy indices and values. Otherwise they are shared: whoever changes them changes the matrix.

        Returns
        -------
        scipy.sparse.csr_array or cupyx.scipy.sparse.csr_matrix
            A pattern gets values of bool.

        Raises
        ------
        TypeError
            On CUDA, where CuPy's sparse matrices cannot hold the values' type.

        Examples
        --------
        >>> import scipy.sparse, hpgraph as hpg
        >>> S = scipy.sparse.csr_array([[0, 2.0], [1.0, 0]])
        >>> import numpy as np
        >>> np.shares_memory(hpg.Matrix(S).tocsr().data, S.data)
        True
        """
        made = self.csr.to_scipy(dtype=np.bool_)
        return made.copy() if copy else made

    def tocsc(self, copy: bool = False) -> Any:
        """The matrix in the CSC class of SciPy or CuPy.

        Parameters
        ----------
        copy : bool, default False
            As for `tocsr`.

        Returns
        -------
        scipy.sparse.csc_array or cupyx.scipy.sparse.csc_matrix
        """
        return self.T.tocsr(copy=copy).T

    def tocoo(self, copy: bool = True) -> Any:
        """The matrix in the COO class of SciPy or CuPy, by rows.

        Parameters
        ----------
        copy : bool, default True
            As for `tocsr`.

        Returns
        -------
        scipy.sparse.coo_array or cupyx.scipy.sparse.coo_matrix
        """
        return self.tocsr().tocoo(copy=copy)

    def asformat(self, format: str | None, copy: bool = False) -> Any:
        """The matrix in any class of SciPy or CuPy.

        Parameters
        ----------
        format : str or None
            "csr", "csc", "coo", ...; "array" is a dense array, None the matrix itself.
        copy : bool, default False
            As for `tocsr`.

        Returns
        -------
        sparse array
        """
        if format in ("array", "dense"):
            return self.toarray()
        return self if format is None else self.tocsr(copy=copy).asformat(format)

    def tobsr(self, blocksize: tuple[int, int] | None = None, copy: bool = False) -> Any:
        """The matrix in SciPy's BSR class, of blocks.

        Parameters
        ----------
        blocksize : (int, int), optional
            Shape of a block; chosen by SciPy if not given.
        copy : bool, default False
            As for `tocsr`.

        Returns
        -------
        scipy.sparse.bsr_array
        """
        return self.tocsr(copy=copy).tobsr(blocksize=blocksize)

    def todia(self, copy: bool = False) -> Any:
        """The matrix in SciPy's or CuPy's DIA class."""
        return self.tocsr(copy=copy).todia()

    def todok(self, copy: bool = False) -> Any:
        """The matrix in SciPy's DOK class."""
        return self.tocsr(copy=copy).todok()

    def tolil(self, copy: bool = False) -> Any:
        """The matrix in SciPy's LIL class."""
        return self.tocsr(copy=copy).tolil()

    def toarray(self, order: str | None = None, out: Any = None) -> Any:
        """The matrix as a dense array.

        Parameters
        ----------
        order : {"C", "F"}, optional
            Order in memory.
        out : array, optional
            Where to write: of the same shape, type and device.

        Returns
        -------
        numpy.ndarray or cupy.ndarray

        Raises
        ------
        DeviceMemoryError
            When it will not fit.
        ValueError
            When `out` does not fit the matrix.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> hpg.Matrix([[0, 2], [1, 0]]).toarray()
        array([[0, 2],
               [1, 0]])
        """
        xp = array_module(self.device)
        if out is None:
            check_memory(self.shape[0] * self.shape[1] * self.dtype.itemsize, "a dense matrix", self.device)
            out = xp.zeros(self.shape, dtype=self.dtype, order=order or "C")
        else:
            if getattr(out, "shape", None) != self.shape or out.dtype != self.dtype or not isinstance(out, xp.ndarray):
                raise ValueError(f"out must be an array of shape {self.shape} and type {self.dtype} on {self.device}")
            out[...] = 0
        csr = self.csr
        out[csr.expand_rows(), csr.indices] = True if csr.data is None else csr.data
        return out

    def todense(self, order: str | None = None, out: Any = None) -> Any:
        """The same as `toarray`, as for SciPy's sparse arrays."""
        return self.toarray(order, out)

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> Self:
        """The matrix with values of another type.

        Parameters
        ----------
        dtype : dtype
            bool, an integer or a float type.
        casting : str, optional
            What may be lost, as for `numpy.ndarray.astype`.
        copy : bool, default True
            Whether to copy values that have the type already.

        Returns
        -------
        Matrix

        Raises
        ------
        TypeError
            For other types, and where `casting` forbids it.

        Warns
        -----
        numpy.exceptions.ComplexWarning
            When the imaginary part of complex values is lost, as NumPy warns.
        """
        csr = self.csr
        kind = np.dtype(dtype)
        if not np.can_cast(self.dtype, kind, casting=casting):  # type: ignore[arg-type]
            raise TypeError(f"values of type {self.dtype} cannot be cast to {kind} with casting={casting!r}")
        converted = csr.astype(kind)
        return self._with(converted.with_data(csr.data.copy()) if converted is csr and copy else converted)

    def _asfptype(self) -> Self:
        """With values of a float type, as SciPy's direct solvers ask for: float32 for integers of up to 16 bits."""
        if self.dtype.kind in "fc":
            return self
        return self.astype(np.promote_types(self.dtype, np.float32) if self.dtype.itemsize <= 2 else np.float64)

    def copy(self) -> Self:
        """The matrix over arrays of its own.

        Returns
        -------
        Matrix
        """
        return type(self)(self, copy=True, format=self._format)

    def transpose(self, axes: Any = None, copy: bool = False) -> Self:
        """The transpose.

        Parameters
        ----------
        axes : None or (1, 0)
            There for SciPy's sake.
        copy : bool, default False
            Whether to copy the arrays.

        Returns
        -------
        Matrix

        Raises
        ------
        ValueError
            For any other `axes`.
        """
        if axes is not None and (np.ndim(axes) != 1 or tuple(axes) not in ((1, 0), (-1, -2), (-1, 0), (1, -2))):
            raise ValueError(f"axes must be None or (1, 0), not {axes!r}: a matrix can only swap its two axes")
        return self.T.copy() if copy else self.T
