"""NumPy's functions on a Matrix: each calls the operator or the method that does it, ``np.sin(A)`` is ``A.sin()``."""

from __future__ import annotations

from typing import Any

import numpy as np

_UNARY = {np.absolute: "__abs__", np.negative: "__neg__", np.positive: "__pos__", np.conjugate: "conjugate"}
_UNARY |= {
    getattr(np, name): name
    for name in (
        "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "deg2rad", "expm1", "floor", "log1p", "rad2deg", "rint",
        "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
    )
}  # fmt: skip
# The operator, and what it is called with the operands the other way round.
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


class Ufuncs:
    """What makes NumPy's functions, and operators with an array on the left, come to a `Matrix`."""

    # NumPy's matrices and old code go by it.
    __array_priority__ = 1000.0

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.pop("out", None)
        result: Any
        if method != "__call__" or options:
            return NotImplemented
        if ufunc in _UNARY:
            result = getattr(inputs[0], _UNARY[ufunc])()
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
        np.copyto(out[0], dense, casting="same_kind")
        return out[0]
