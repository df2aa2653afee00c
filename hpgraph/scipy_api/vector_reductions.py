"""SciPy's methods of one-dimensional sparse arrays: those of a `Matrix` of one row. What is absent counts as 0."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from hpgraph.algebra.operands import is_number
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import array_module
from hpgraph.formats import CSR
from hpgraph.scipy_api.vector_indexing import Indexing


def _of_row(name: str, what: str) -> Callable[..., Any]:
    """A method of `Matrix`, on the one row."""

    def method(self: RowMethods, axis: Any = None, **options: Any) -> Any:
        if axis not in (None, 0, -1, (0,), (-1,)):
            raise ValueError(f"axis must be None, 0 or -1, not {axis!r}: a vector has one axis")
        return getattr(self.row, name)(**options)

    method.__name__ = name
    method.__qualname__ = f"RowMethods.{name}"
    method.__doc__ = f"""{what}, absent entries counted as 0.

        Parameters
        ----------
        axis : {{None, 0, -1}}, optional
            The only one.
        **options : object
            As for `Matrix.{name}`.

        Returns
        -------
        scalar
            On CUDA, of a sum or an extreme, an array without dimensions.

        Raises
        ------
        ValueError
            When there is no such axis.
        """
    return method


class RowMethods(Indexing):
    """What a `hpgraph.Vector` has of SciPy's arrays of one dimension."""

    @property
    def row(self) -> Any:
        """The vector as a Matrix of one row."""
        indices, values = self.to_indices()
        indptr = array_module(self.device).asarray([0, len(indices)], dtype=np.int64)
        return matrix_of_csr(CSR((1, self.size), indptr, indices, values, validate=False))

    sum = _of_row("sum", "The sum")
    mean = _of_row("mean", "The mean")
    min = _of_row("min", "The least value")
    max = _of_row("max", "The largest value")
    argmin = _of_row("argmin", "The index of the least value")
    argmax = _of_row("argmax", "The index of the largest value")
    count_nonzero = _of_row("count_nonzero", "How many values are not zero")

    def nonzero(self) -> tuple[Any]:
        """The indices of entries that are not zero.

        Returns
        -------
        tuple of one integer array
        """
        indices, values = self.to_indices()
        return (indices[values != 0],)

    def dot(self, other: Any) -> Any:
        """The inner product with a vector or an array, or the product with a matrix or a number.

        Parameters
        ----------
        other : Vector, array, Matrix or number
            The right-hand operand.

        Returns
        -------
        scalar, Vector or array

        Raises
        ------
        ValueError
            When lengths differ.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> int(hpg.Vector.from_indices([0, 2], [1, 2], 3).dot([5, 6, 7]))
        19
        """
        if is_number(other):
            return self.multiply(other)
        if getattr(other, "ndim", 1) != 1:
            return self @ other
        other = other if isinstance(other, RowMethods) else type(self)(other)
        if other.size != self.size:
            raise ValueError(f"other must have length {self.size}, not {other.size}")
        product = self.multiply(other)
        return product.to_indices()[1].sum()

    def multiply(self, other: Any) -> Self:
        """The product with a number, an array or a vector, entry by entry.

        Parameters
        ----------
        other : Vector, array or number

        Returns
        -------
        Vector
            Present where all operands are.
        """
        other = other if is_number(other) or isinstance(other, RowMethods) else type(self)(other)
        made: Self = operator.mul(self, other)
        return made

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
        Vector

        Raises
        ------
        NotImplementedError
            When `n` is 0 or no number: absent entries would be 1.
        """
        return self._from_row(self.row.power(n, dtype))

    def maximum(self, other: Any) -> Any:
        """The larger of two, entry by entry; what is absent is 0.

        Parameters
        ----------
        other : number, array or Vector

        Returns
        -------
        Vector, or array where `other` is one
            As from `Matrix.maximum`.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> hpg.Vector([-1, 2]).maximum(hpg.Vector([0, 5])).toarray()
        array([0, 5])
        """
        return self._beside_row(other, "maximum")

    def minimum(self, other: Any) -> Any:
        """The smaller of two, entry by entry; what is absent is 0.

        Parameters
        ----------
        other : number, array or Vector

        Returns
        -------
        Vector, or array where `other` is one
            As from `Matrix.minimum`.
        """
        return self._beside_row(other, "minimum")

    def reshape(self, *shape: Any, order: str = "C", copy: bool = False) -> Any:
        """The same values in another shape of as many places.

        Parameters
        ----------
        *shape : int, (int,), two int, or (int, int)
            The new shape; one length may be -1.
        order, copy
            As for `Matrix.reshape`.

        Returns
        -------
        Vector or Matrix

        Raises
        ------
        ValueError
            When the shape does not fit.
        """
        return self.row.reshape(*shape, order=order, copy=copy)

    def tocoo(self, copy: bool = True) -> Any:
        """The vector as SciPy's COO array of one dimension; on CUDA as CuPy's matrix of one row.

        Parameters
        ----------
        copy : bool, default True
            Accepted for SciPy's sake: arrays are copied.

        Returns
        -------
        scipy.sparse.coo_array or cupyx.scipy.sparse.coo_matrix
        """
        if self.device == "cuda":
            return self.row.tocoo()
        from scipy.sparse import coo_array

        indices, values = self.to_indices()
        return coo_array((values, (indices,)), shape=self.shape)

    def _from_row(self, row: Any) -> Self:
        made: Self = row.reshape(-1)
        return made

    def _beside_row(self, other: Any, name: str) -> Any:
        if not is_number(other):
            other = other.row if isinstance(other, RowMethods) else np.reshape(other, (1, -1))
        result = getattr(self.row, name)(other)
        return self._from_row(result) if hasattr(result, "csr") else result.ravel()
