"""The products of a Matrix: ``@`` as SciPy has it, and `mxv` and `vxm` over any semiring, with mask and accumulator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.algebra.dense_operands import as_operand
from hpgraph.algebra.multiply import multiply, multiply_dense
from hpgraph.algebra.mxm import mxm
from hpgraph.algebra.mxv import mxv, vxm
from hpgraph.scipy_api.conversions import Conversions
from hpgraph.scipy_api.vector import Vector

if TYPE_CHECKING:
    from hpgraph.semiring import BinaryOp, Semiring


class Products(Conversions):
    """What `Matrix` multiplies."""

    def __matmul__(self, x: Any) -> Any:
        if type(x) is self._array_type and x.ndim in (1, 2):
            return multiply(self, x) if x.ndim == 1 else multiply_dense(self, x)
        if not (np.isscalar(x) or isinstance(x, list | tuple) or isinstance(getattr(x, "shape", None), tuple)):
            return NotImplemented
        return self._matmul(x)

    def __rmatmul__(self, x: Any) -> Any:
        if hasattr(x, "tocsr"):
            return type(self)(x, copy=False).mxm(self)
        if isinstance(x, Vector):
            return self.vxm(x)
        if np.isscalar(x):
            raise ValueError("x @ A needs a vector or a matrix, not a number: use A * x to scale A")
        x = self._operand(x, "x")
        if x.ndim == 1:
            return self.T._matmul(x)
        if x.ndim == 2:
            return self.T._matmul(x.T).T
        raise ValueError(f"x @ A needs a vector or a matrix, not shape {x.shape}: use A * x to scale A")

    def matvec(self, x: Any) -> Any:
        """``A @ x`` for one vector, as solvers call it.

        Parameters
        ----------
        x : array, shape (columns,) or (columns, 1)
            The vector, on the matrix's device.

        Returns
        -------
        array, shape (rows,) or (rows, 1)

        Raises
        ------
        ValueError
            For other shapes.
        """
        if type(x) is self._array_type and x.ndim == 1:
            return multiply(self, x)
        x = self._operand(x, "x")
        if x.shape not in ((self.shape[1],), (self.shape[1], 1)):
            raise ValueError(f"x must have shape ({self.shape[1]},) or ({self.shape[1]}, 1), not {x.shape}")
        return self._matmul(x)

    def rmatvec(self, x: Any) -> Any:
        """``A.H @ x`` for one vector, as solvers call it.

        Parameters
        ----------
        x : array, shape (rows,) or (rows, 1)
            The vector, on the matrix's device.

        Returns
        -------
        array, shape (columns,) or (columns, 1)
        """
        if self.dtype.kind == "c":
            # As the conjugate of A.T @ conj(x), no values of the matrix are written again.
            return self.T.matvec(self._operand(x, "x").conj()).conj()
        return self.T.matvec(x)

    def matmat(self, X: Any) -> Any:
        """``A @ X`` for a dense matrix, as solvers call it.

        Parameters
        ----------
        X : array, shape (columns, k)
            The matrix, on the device of A.

        Returns
        -------
        array, shape (rows, k)

        Raises
        ------
        ValueError
            For other shapes.
        """
        X = self._operand(X, "X")
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, not shape {X.shape}")
        return self._matmul(X)

    def rmatmat(self, X: Any) -> Any:
        """``A.H @ X`` for a dense matrix, as solvers call it.

        Parameters
        ----------
        X : array, shape (rows, k)
            The matrix, on the device of A.

        Returns
        -------
        array, shape (columns, k)
        """
        if self.dtype.kind == "c":
            return self.T.matmat(self._operand(X, "X").conj()).conj()
        return self.T.matmat(X)

    def mxv(
        self,
        x: Any,
        semiring: Semiring | str = "plus_times",
        mask: Any = None,
        complement: bool = False,
        accum: BinaryOp | str | None = None,
        replace: bool = False,
        out: Any = None,
    ) -> Any:
        """The product with a vector over a semiring: ``y⟨mask⟩ accum= A ⊕.⊗ x``.

        Parameters
        ----------
        x : array or Vector, shape (columns,)
            The vector, on the matrix's device. Absent entries of a `Vector` take no part.
        semiring : Semiring or str, default "plus_times"
            What adds and multiplies; the operator's first operand is the matrix entry.
        mask : Bitmask, array of bool or Vector, shape (rows,), optional
            Entries of the result to compute. An array or a Vector counts by value: where it is true (present and not
            zero); for the places that are present whatever their value, give ``vector.structure``, a Bitmask.
        complement : bool, default False
            Compute the entries that the mask leaves out.
        accum : BinaryOp, str or function, optional
            Joins what `out` holds with what the product gives: ``out[i] = accum(out[i], t[i])``. Entries without a
            product are not changed.
        replace : bool, default False
            Whether entries of `out` that the mask does not allow are dropped, rather than kept; in an array they become
            the identity of the semiring's addition.
        out : array or Vector, shape (rows,), optional
            Written in place, at the entries that the mask allows only. It is left as it was if an error is raised.

        Returns
        -------
        array or Vector, shape (rows,)
            `out` where given; else a Vector if `x` is one, and an array otherwise. Where there is no product, an array
            holds the identity of the semiring's addition (for instance 0 for plus, inf for min), and a Vector is
            absent.

        Raises
        ------
        ValueError
            When lengths do not fit, or no semiring or operator has the name.
        TypeError
            When operands lie on different devices, the semiring does not work on their types, or the result cannot
            be cast to the type of `out`.

        Notes
        -----
        The operation is GrB_mxv of the GraphBLAS C API specification. Over bool, plus and times are logical or and and.

        Examples
        --------
        >>> import numpy as np, hpgraph as hpg
        >>> A = hpg.Matrix([[0, 4.0, 1.0], [0, 0, 0], [0, 2.0, 0]])
        >>> A.mxv(np.array([np.inf, 0, 3.0]), "min_plus")
        array([ 4., inf,  2.])
        >>> distance = np.array([3.0, 0, 9.0])
        >>> A.mxv(distance, "min_plus", mask=distance > 5, accum="min", out=distance)
        array([3., 0., 2.])
        """
        return mxv(self, x, semiring, mask, complement, accum, replace, out)

    def vxm(
        self,
        x: Any,
        semiring: Semiring | str = "plus_times",
        mask: Any = None,
        complement: bool = False,
        accum: BinaryOp | str | None = None,
        replace: bool = False,
        out: Any = None,
    ) -> Any:
        """The product with a vector on the left over a semiring: ``y⟨mask⟩ accum= xᵀ ⊕.⊗ A``.

        Along the arcs of a graph's adjacency matrix this sends what x holds at their sources to their targets.

        Parameters
        ----------
        x : array or Vector, shape (rows,)
            The vector; it is the first operand of the semiring's operator.
        semiring, mask, complement, accum, replace, out
            As for `mxv`, over the columns.

        Returns
        -------
        array or Vector, shape (columns,)
            As for `mxv`.

        Raises
        ------
        ValueError, TypeError
            As for `mxv`.

        Examples
        --------
        >>> import numpy as np, hpgraph as hpg
        >>> A = hpg.Matrix([[0, 4.0, 1.0], [0, 0, 0], [0, 2.0, 0]])
        >>> A.vxm(np.array([0, np.inf, np.inf]), "min_plus")
        array([inf,  4.,  1.])
        """
        return vxm(x, self, semiring, mask, complement, accum, replace, out)

    def mxm(
        self,
        B: Any,
        semiring: Semiring | str = "plus_times",
        mask: Any = None,
        complement: bool = False,
        accum: BinaryOp | str | None = None,
        replace: bool = False,
        out: Any = None,
    ) -> Any:
        """The product with a sparse matrix over a semiring: ``C⟨mask⟩ accum= A ⊕.⊗ B``; see `hpgraph.mxm`.

        Parameters
        ----------
        B : Matrix, shape (columns, n)
            The right-hand factor.
        semiring, mask, complement, accum, replace, out
            As for `hpgraph.mxm`.

        Returns
        -------
        Matrix, shape (rows, n)
            `out` where given.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> A = hpg.Matrix([[0, 4.0], [2.0, 0]])
        >>> A.mxm(A, "max_plus").toarray()
        array([[6., 0.],
               [0., 6.]])
        """
        return mxm(self, B, semiring, mask, complement, accum, replace, out)

    def _matmul(self, x: Any) -> Any:
        """``A @ x`` for whatever x is."""
        if hasattr(x, "tocsr"):
            return self.mxm(x)
        if isinstance(x, Vector):
            return self.mxv(x)
        if np.isscalar(x):
            raise ValueError(f"A of shape {self.shape} cannot be multiplied by a number: use A * x to scale A")
        x = self._operand(x, "x")
        if x.ndim == 1:
            return multiply(self, x)
        if x.ndim == 2:
            return multiply_dense(self, x)
        hint = ": use A * x to scale A" if x.ndim == 0 else ""
        raise ValueError(f"A of shape {self.shape} cannot be multiplied by an array of shape {x.shape}{hint}")

    def _operand(self, x: Any, name: str) -> Any:
        return as_operand(x, name, self.device)
