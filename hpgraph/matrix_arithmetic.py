"""A Matrix entry by entry: scaling, powers, sums, the diagonal. Names and results are SciPy's."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from hpgraph.device import array_module, is_cuda
from hpgraph.matrix_products import Products


class Arithmetic(Products):
    """What `Matrix` computes entry by entry, and its sums."""

    def _map(self, function: Callable[[Any], Any]) -> Self:
        """The same places, each with the function of its value."""
        csr = self.csr
        data = csr.data
        if data is None:
            data = array_module(self.device).ones(csr.nnz, dtype=bool)
        with np.errstate(all="ignore"):
            return self._with(csr.with_data(function(data)))

    def _scale(self, scalar: Any, function: Callable[[Any, Any], Any], sign: str) -> Any:
        if not _is_scalar(scalar):
            if hasattr(scalar, "shape"):
                raise TypeError(
                    f"A {sign} B takes a number, not {type(scalar).__name__}: use A @ B for the product of matrices, "
                    "or A.tocsr().multiply(B) for that of their entries"
                )
            return NotImplemented
        return self._map(lambda data: function(data, scalar))

    def __mul__(self, scalar: Any) -> Any:
        return self._scale(scalar, operator.mul, "*")

    __rmul__ = __mul__

    def __truediv__(self, scalar: Any) -> Any:
        # In float64 also where values are float32, as SciPy does.
        return self._scale(scalar, lambda data, divisor: data.astype(np.float64) / divisor, "/")

    def __add__(self, other: Any) -> Any:
        return self._with_sparse(other, operator.add, "+")

    def __sub__(self, other: Any) -> Any:
        return self._with_sparse(other, operator.sub, "-")

    def _with_sparse(self, other: Any, function: Callable[[Any, Any], Any], sign: str) -> Any:
        """A sum or a difference, which SciPy or CuPy works out."""
        if hasattr(other, "tocsr"):
            return type(self)(function(self.tocsr(), other.tocsr()))
        if _is_scalar(other) and other == 0:
            return self.copy()
        raise TypeError(
            f"A {sign} B needs another sparse matrix, not {type(other).__name__}, as the result would be dense: "
            f"use A.toarray() {sign} B"
        )

    def __neg__(self) -> Self:
        if self.dtype == np.bool_:
            raise TypeError("a matrix of bool has no negative: use A.astype(int) first")
        return self._map(operator.neg)

    def __pos__(self) -> Self:
        return self.copy()

    def __abs__(self) -> Self:
        return self._map(abs)

    def __pow__(self, n: Any) -> Any:
        return self.power(n)

    def power(self, n: Any, dtype: Any = None) -> Self:
        """Every value raised to a power.

        Parameters
        ----------
        n : number, not 0
            The exponent.
        dtype : dtype, optional
            Type to compute in.

        Returns
        -------
        Matrix

        Raises
        ------
        NotImplementedError
            When `n` is 0 or no number: the result would not be sparse.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> hpg.Matrix([[0, 2], [3, 0]]).power(2).toarray()
        array([[0, 4],
               [9, 0]])
        """
        if not _is_scalar(n):
            raise NotImplementedError(f"n must be a number, not {type(n).__name__}")
        if not n:
            raise NotImplementedError("zero to the power of 0 is 1, and the result not sparse: use A.toarray() ** 0")
        given = self if dtype is None else self.astype(dtype)
        return given._map(lambda data: data**n)

    def multiply(self, other: Any) -> Self:
        """The product with a number.

        Parameters
        ----------
        other : number
            The factor.

        Returns
        -------
        Matrix

        Raises
        ------
        TypeError
            For anything else.
        """
        product = self * other
        if product is NotImplemented:
            raise TypeError(f"a matrix cannot be multiplied by {type(other).__name__}")
        result: Self = product
        return result

    def dot(self, other: Any) -> Any:
        """The product with a vector, a matrix or a number.

        Parameters
        ----------
        other : array, Vector, sparse matrix or number
            The right-hand operand.

        Returns
        -------
        array, Vector or Matrix
            As ``A @ other``, or ``A * other`` for a number.
        """
        return self * other if np.isscalar(other) else self @ other

    def conjugate(self, copy: bool = True) -> Self:
        """The complex conjugate, which is the matrix itself: values are real.

        Parameters
        ----------
        copy : bool, default True
            Whether to copy the arrays.

        Returns
        -------
        Matrix
        """
        return self.copy() if copy else self

    conj = conjugate

    @property
    def real(self) -> Self:
        """The real part, which is the matrix itself."""
        return self

    def sum(self, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        """Sum of the entries, of columns or of rows.

        Parameters
        ----------
        axis : {None, 0, 1, -1, -2}, optional
            None sums all, 0 each column, 1 each row.
        dtype : dtype, optional
            Type of the sum; by default int64 or uint64 for integers and bool, as in SciPy.
        out : array, optional
            Where to write the sums.

        Returns
        -------
        scalar, or array of shape (columns,) or (rows,)
            On CUDA the scalar is an array without dimensions, as in CuPy.

        Raises
        ------
        ValueError
            When there is no such axis.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> hpg.Matrix([[0, 2], [3, 0]]).sum(axis=1)
        array([2, 3])
        """
        kind = np.dtype(_sum_dtype(self.dtype) if dtype is None else dtype)
        axis = _axis(axis)
        if axis is None:
            data = self.csr.data
            xp = array_module(self.device)
            result = xp.asarray(self.nnz, dtype=kind)[()] if data is None else data.sum(dtype=kind)
        else:
            summed = self.T if axis == 0 else self
            ones = array_module(self.device).ones(summed.shape[1], dtype=kind)
            result = summed._multiply(ones).astype(kind, copy=False)
        if out is None:
            return result
        if out.shape != result.shape:
            raise ValueError(f"out must have shape {result.shape}, not {out.shape}")
        out[...] = result
        return out

    def mean(self, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        """Mean of all entries, of each column or of each row, absent ones counted as 0.

        Parameters
        ----------
        axis, dtype, out
            As for `sum`; the mean of integers is float64.

        Returns
        -------
        scalar, or array of shape (columns,) or (rows,)
        """
        whole = self.dtype.kind in "biu"
        count = {None: self.shape[0] * self.shape[1], 0: self.shape[0], 1: self.shape[1]}[_axis(axis)]
        final = np.dtype(dtype if dtype is not None else np.float64 if whole else self.dtype)
        total = self.sum(axis, dtype=np.float64 if whole else final)
        with np.errstate(all="ignore"):
            result = (total / count if count else total * np.nan).astype(final)
        if out is None:
            return result
        out[...] = result
        return out

    def diagonal(self, k: int = 0) -> Any:
        """The entries (i, i + k), zeros where there are none.

        Parameters
        ----------
        k : int, default 0
            Which diagonal; above the main one if positive.

        Returns
        -------
        array of shape (length of the diagonal,)

        Examples
        --------
        >>> import hpgraph as hpg
        >>> hpg.Matrix([[5, 2], [3, 0]]).diagonal()
        array([5, 0])
        """
        rows, columns = self.shape
        k = operator.index(k)
        length = max(0, min(rows + min(k, 0), columns - max(k, 0)))
        result = array_module(self.device).zeros(length, dtype=self.dtype)
        if length:
            csr = self.csr
            row = csr.expand_rows()
            found = (csr.indices - row == k).nonzero()[0]
            result[row[found] + min(k, 0)] = True if csr.data is None else csr.data[found]
        return result

    def trace(self, offset: int = 0) -> Any:
        """Sum of a diagonal.

        Parameters
        ----------
        offset : int, default 0
            Which diagonal, as for `diagonal`.

        Returns
        -------
        scalar
        """
        return self.diagonal(offset).sum()

    def getnnz(self, axis: int | None = None) -> Any:
        """Number of stored entries, explicit zeros among them; of each column or row with an axis.

        Parameters
        ----------
        axis : {None, 0, 1, -1, -2}, optional
            As for `sum`.

        Returns
        -------
        int, or int64 array of shape (columns,) or (rows,)
        """
        axis = _axis(axis)
        if axis is None:
            return self.nnz
        if axis == 1:
            return self.csr.degrees
        xp = array_module(self.device)
        return xp.bincount(self.csr.indices, minlength=self.shape[1]).astype(np.int64, copy=False)

    def count_nonzero(self, axis: int | None = None) -> Any:
        """Number of entries that are not zero; of each column or row with an axis.

        Parameters
        ----------
        axis : {None, 0, 1, -1, -2}, optional
            As for `sum`.

        Returns
        -------
        int, or int64 array of shape (columns,) or (rows,)
        """
        axis = _axis(axis)
        csr = self.csr
        if csr.data is None:
            return self.getnnz(axis)
        xp = array_module(self.device)
        if axis is None:
            return int(xp.count_nonzero(csr.data))
        place = csr.indices if axis == 0 else csr.expand_rows()
        length = self.shape[1] if axis == 0 else self.shape[0]
        return xp.bincount(place[csr.data != 0], minlength=length).astype(np.int64, copy=False)


def _is_scalar(value: Any) -> bool:
    return bool(np.isscalar(value)) or ((
        isinstance(value, np.ndarray) or is_cuda(value)
    ) and getattr(value, "ndim", None) == 0)


def _axis(axis: Any) -> int | None:
    if axis is None:
        return None
    try:
        found = {0: 0, 1: 1, -1: 1, -2: 0}[operator.index(axis)]
    except (KeyError, TypeError):
        raise ValueError(f"axis must be None, 0 (columns) or 1 (rows), not {axis!r}") from None
    return found


def _sum_dtype(dtype: np.dtype[Any]) -> Any:
    """Type in which entries are summed: as wide as NumPy's sum of such an array."""
    if dtype.kind == "u":
        return np.uint64
    return np.int64 if dtype.kind in "bi" else dtype
