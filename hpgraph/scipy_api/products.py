"""The products of a Matrix: ``@`` as in SciPy, and `mxv` and `vxm` over any semiring, with mask and accumulator."""

import math
from typing import Any

import numpy as np

from hpgraph.algebra import mxm as product
from hpgraph.algebra import mxv as products
from hpgraph.algebra.mxv import multiply, multiply_dense
from hpgraph.algebra.operands import as_operand
from hpgraph.containers.vector import is_sparse_vector
from hpgraph.core.device import array_module, is_sparse_matrix
from hpgraph.scipy_api.conversions import Conversions
from hpgraph.scipy_api.vector import Vector
from hpgraph.semiring import BinaryOp, Semiring


class Products(Conversions):
    """Products of `Matrix`; `mxv` and `mxm` are the functions of these names, with the matrix as first operand."""

    mxv = products.mxv
    mxm = product.mxm

    def __matmul__(self, x: Any) -> Any:
        if type(x) is self._array_type and x.ndim in (1, 2):
            return multiply(self, x) if x.ndim == 1 else multiply_dense(self, x)
        known = np.isscalar(x) or isinstance(x, list | tuple) or isinstance(getattr(x, "shape", None), tuple)
        if not (known or hasattr(x, "__dlpack__")):
            return NotImplemented
        return self._matmul(x)

    def __rmatmul__(self, x: Any) -> Any:
        if is_sparse_matrix(x):
            return type(self)(x, copy=False).mxm(self)
        if isinstance(x, Vector) or is_sparse_vector(x):
            return self.vxm(Vector(x))
        if np.isscalar(x):
            raise ValueError("x @ A needs a vector or a matrix, not a number: use A * x to scale A")
        x = self._operand(x, "x")
        if x.ndim == 1:
            return self.T._matmul(x)
        if x.ndim > 1:
            return self.T._matmul(x.swapaxes(-1, -2)).swapaxes(-1, -2)
        raise ValueError(f"x @ A needs a vector or a matrix, not shape {x.shape}: use A * x to scale A")

    def matvec(self, x: Any) -> Any:
        """``A @ x`` for one vector, of shape (columns,) or (columns, 1), or for each of shape (..., columns)."""
        if type(x) is self._array_type and x.ndim == 1:
            return multiply(self, x)
        x = self._operand(x, "x")
        if x.ndim > 1 and x.shape != (self.shape[1], 1) and x.shape[-1] == self.shape[1]:
            return self._matmul(x[..., None])[..., 0]
        if x.shape not in ((self.shape[1],), (self.shape[1], 1)):
            n = self.shape[1]
            raise ValueError(f"x must have shape ({n},) or ({n}, 1), not {x.shape}; or (..., {n}), for many")
        return self._matmul(x)

    def rmatvec(self, x: Any) -> Any:
        """``A.H @ x`` for one vector, of shape (rows,) or (rows, 1), or for each of shape (..., rows)."""
        if self.dtype.kind == "c":
            # As the conjugate of A.T @ conj(x), which copies no values of the matrix.
            return self.T.matvec(self._operand(x, "x").conj()).conj()
        return self.T.matvec(x)

    def matmat(self, X: Any) -> Any:
        """``A @ X`` for a dense matrix, of shape (columns, k), or for each of shape (..., columns, k)."""
        X = self._operand(X, "X")
        if X.ndim < 2:
            raise ValueError(f"X must have two dimensions or more, not shape {X.shape}")
        return self._matmul(X)

    def rmatmat(self, X: Any) -> Any:
        """``A.H @ X`` for a dense matrix, of shape (rows, k), or for each of shape (..., rows, k)."""
        if self.dtype.kind == "c":
            return self.T.matmat(self._operand(X, "X").conj()).conj()
        return self.T.matmat(X)

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
        """The product with a vector on the left over a semiring: ``y⟨mask⟩ accum= xᵀ ⊕.⊗ A``; see `hpgraph.vxm`.

        For a graph's adjacency matrix this propagates x along the arcs, from sources to targets. The vector is the
        first operand of the semiring's operator; other parameters are those of `mxv`, over the columns.

        Examples
        --------
        >>> A = hpg.Matrix([[0, 4.0, 1.0], [0, 0, 0], [0, 2.0, 0]])
        >>> A.vxm(np.array([0, np.inf, np.inf]), "min_plus")
        array([inf,  4.,  1.])
        """
        return products.vxm(x, self, semiring, mask, complement, accum, replace, out)

    def _matmul(self, x: Any) -> Any:
        """``A @ x`` for any type of operand."""
        if is_sparse_matrix(x):
            return self.mxm(x)
        if isinstance(x, Vector) or is_sparse_vector(x):
            return self.mxv(Vector(x))
        if np.isscalar(x):
            raise ValueError(f"A of shape {self.shape} cannot be multiplied by a number: use A * x to scale A")
        x = self._operand(x, "x")
        if x.ndim == 1:
            return multiply(self, x)
        if x.ndim == 2:
            return multiply_dense(self, x)
        if x.ndim > 2 and x.shape[-2] == self.shape[1]:
            return self._times_each(x)
        hint = ": use A * x to scale A" if x.ndim == 0 else ""
        raise ValueError(f"A of shape {self.shape} cannot be multiplied by an array of shape {x.shape}{hint}")

    def _times_each(self, X: Any) -> Any:
        """The product with each of a batch of matrices, whose columns are concatenated."""
        xp = array_module(self.device)
        beside = xp.moveaxis(X, -2, 0)
        product = multiply_dense(self, xp.ascontiguousarray(beside.reshape(len(beside), math.prod(beside.shape[1:]))))
        return xp.moveaxis(product.reshape(self.shape[0], *beside.shape[1:]), 0, -2)

    def _operand(self, x: Any, name: str) -> Any:
        return as_operand(x, name, self.device)
