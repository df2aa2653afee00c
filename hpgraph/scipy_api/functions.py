"""Negation, powers and NumPy's functions of a Matrix."""

import operator
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from hpgraph.algebra.operands import is_number
from hpgraph.core.device import array_module
from hpgraph.core.number import beyond_range
from hpgraph.scipy_api.products import Products
from hpgraph.scipy_api.value_functions import UNARY, ValueFunctions
from hpgraph.scipy_api.vector_methods import Entrywise


class Functions(Products, Entrywise, ValueFunctions):
    """Methods of `Matrix` that map each value."""

    def _map(self, function: Callable[[Any], Any]) -> Self:
        """A function of each value; the pattern is unchanged."""
        csr = self.csr
        data = csr.data
        if data is None:
            data = array_module(self.device).ones(csr.nnz, dtype=bool)
        with np.errstate(all="ignore"):
            try:
                result = function(data)
            except OverflowError:
                raise beyond_range(data.dtype) from None
            if result.dtype == np.float16:
                # NumPy's result for one-byte integers, a type without kernels.
                result = function(data.astype(np.float32))
        return self._with(csr.with_data(result, copy=False))

    def __neg__(self) -> Self:
        if self.dtype == np.bool_:
            raise NotImplementedError("a matrix of bool has no negative: use A.astype(int) first")
        return self._map(operator.neg)

    def __pos__(self) -> Self:
        return self.copy()

    def __abs__(self) -> Self:
        return self._map(abs)

    def __pow__(self, n: Any, modulus: Any = None) -> Any:
        return self.power(n)

    def power(self, n: Any, dtype: Any = None) -> Self:
        """Every value raised to a power, computed in `dtype`; a NotImplementedError for 0, which would not be sparse.

        Examples
        --------
        >>> hpg.Matrix([[0, 2], [3, 0]]).power(2).toarray()
        array([[0, 4],
               [9, 0]])
        """
        if not is_number(n):
            raise NotImplementedError(f"n must be a number, not {type(n).__name__}")
        if not n:
            raise NotImplementedError("zero to the power of 0 is 1, and the result not sparse: use A.toarray() ** 0")
        given = self if dtype is None else self.astype(dtype)
        return given._map(lambda data: data**n)

    def dot(self, other: Any) -> Any:
        """The product with a vector, a matrix or a number: ``A @ other``, or ``A * other`` for a number."""
        return self._map(lambda data: data * other) if is_number(other) else self @ other


# The operator, and its name with the operands swapped.
_BINARY = {
    np.add: ("__add__", "__radd__"),
    np.subtract: ("__sub__", "__rsub__"),
    np.multiply: ("__mul__", "__rmul__"),
    np.true_divide: ("__truediv__", "__rtruediv__"),
    np.matmul: ("__matmul__", "__rmatmul__"),
    np.power: ("__pow__", "__rpow__"),
    np.equal: ("__eq__", "__eq__"),
    np.not_equal: ("__ne__", "__ne__"),
    np.less: ("__lt__", "__gt__"),
    np.less_equal: ("__le__", "__ge__"),
    np.greater: ("__gt__", "__lt__"),
    np.greater_equal: ("__ge__", "__le__"),
    np.maximum: ("maximum", "maximum"),
    np.minimum: ("minimum", "minimum"),
}


# The axes that NumPy gives for ``array @= A``, of two dimensions and of one.
_IN_PLACE = [[(-2, -1)] * 3, [(-1,), (-2, -1), (-1,)]]


class Ufuncs:
    """Dispatch of NumPy's functions, and of operators with an array on the left, to a `Matrix`."""

    # For NumPy's matrices and older code.
    __array_priority__ = 1000.0

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.pop("out", None)
        if ufunc is np.matmul and out is not None and options.get("axes") in _IN_PLACE:
            del options["axes"]
        result: Any
        if method != "__call__" or options:
            return NotImplemented
        if ufunc in UNARY:
            result = getattr(inputs[0], UNARY[ufunc])()
        elif ufunc in _BINARY:
            left, right = inputs
            forward, reflected = _BINARY[ufunc]
            if isinstance(left, Ufuncs):
                result = getattr(left, forward)(right)
            else:
                result = getattr(right, reflected, lambda _: NotImplemented)(left)
        else:
            return NotImplemented
        if out is None or result is NotImplemented:
            return result
        # array += A
        if not isinstance(out[0], np.ndarray):
            return NotImplemented
        dense = result if isinstance(result, np.ndarray) else result.toarray()
        if ufunc is np.matmul and dense.shape != out[0].shape:
            raise ValueError(f"the product, of shape {dense.shape}, does not fit an array of shape {out[0].shape}")
        np.copyto(out[0], dense, casting="same_kind")
        return out[0]
