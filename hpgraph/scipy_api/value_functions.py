"""Element-wise functions that map 0 to 0, under SciPy's names: ``np.sin(A)`` is ``A.sin()``."""

from collections.abc import Callable
from typing import Any

import numpy as np

# NumPy's functions to the methods that they call; `_method` adds those of the same name.
UNARY = {np.absolute: "__abs__", np.negative: "__neg__", np.positive: "__pos__", np.conjugate: "conjugate"}


def _method(name: str, what: str) -> Callable[[Any], Any]:
    """A method with the ufunc's name."""
    ufunc = getattr(np, name)
    UNARY[ufunc] = name

    def method(self: Any) -> Any:
        return self._map(ufunc)

    method.__name__ = name
    method.__qualname__ = f"ValueFunctions.{name}"
    method.__doc__ = f"{what} of every entry, as `numpy.{name}` gives it.\n\nReturns\n-------\nMatrix or Vector\n"
    return method


class ValueFunctions:
    """Methods of `hpgraph.Matrix` and `hpgraph.Vector` that map each value."""

    arcsin = _method("arcsin", "The inverse sine")
    arcsinh = _method("arcsinh", "The inverse hyperbolic sine")
    arctan = _method("arctan", "The inverse tangent")
    arctanh = _method("arctanh", "The inverse hyperbolic tangent")
    ceil = _method("ceil", "The least whole number not below the value")
    deg2rad = _method("deg2rad", "The angle in radians")
    expm1 = _method("expm1", "exp(a) - 1")
    floor = _method("floor", "The greatest whole number not above the value")
    log1p = _method("log1p", "log(1 + a)")
    rad2deg = _method("rad2deg", "The angle in degrees")
    rint = _method("rint", "The nearest whole number")
    sign = _method("sign", "The sign")
    sin = _method("sin", "The sine")
    sinh = _method("sinh", "The hyperbolic sine")
    square = _method("square", "The square")
    sqrt = _method("sqrt", "The square root")
    tan = _method("tan", "The tangent")
    tanh = _method("tanh", "The hyperbolic tangent")
    trunc = _method("trunc", "The whole part")

    def __round__(self: Any, ndigits: int = 0) -> Any:
        return self._map(lambda data: data.round(ndigits))

    def conjugate(self: Any, copy: bool = True) -> Any:
        """The complex conjugate; real values are unchanged, and copied unless `copy` is false."""
        if self.dtype.kind == "c":
            return self._map(lambda data: data.conj())
        return self.copy() if copy else self

    conj = conjugate

    @property
    def real(self: Any) -> Any:
        """The real part; real values are unchanged."""
        return self._map(lambda data: data.real.copy()) if self.dtype.kind == "c" else self

    @property
    def imag(self: Any) -> Any:
        """The imaginary part of each entry; 0 for real values."""
        return self._map(lambda data: data.imag.copy() if data.dtype.kind == "c" else np.zeros_like(data))
