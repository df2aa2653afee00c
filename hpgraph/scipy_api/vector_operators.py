"""NumPy's operators and functions on a Vector, entry by entry, on either device.

They do not go by NumPy's dispatch, as `numpy.lib.mixins.NDArrayOperatorsMixin` would: of a CuPy array and a Vector that
asks the CuPy array first, which takes whatever lies on the GPU for an array, and would lose which entries are present.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.core.device import device_of, native
from hpgraph.core.number import beyond_range
from hpgraph.formats import Bitmask


def _defers(other: Any) -> bool:
    return not isinstance(other, Operators) and getattr(other, "__array_ufunc__", True) is None


def _binary(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return NotImplemented if _defers(other) else self.apply_ufunc(ufunc, (self, other))

    return method


def _reflected(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return NotImplemented if _defers(other) else self.apply_ufunc(ufunc, (other, self))

    return method


def _in_place(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return NotImplemented if _defers(other) else self.apply_ufunc(ufunc, (self, other), out=(self,))

    return method


def _unary(ufunc: np.ufunc) -> Callable[[Any], Any]:
    return lambda self: self.apply_ufunc(ufunc, (self,))


class Operators:
    """What makes a `hpgraph.Vector` compute like an array."""

    _values: Any
    _present: Bitmask | None

    # As for any class with entry-by-entry comparison.
    __hash__ = None  # type: ignore[assignment]

    __add__, __radd__, __iadd__ = _binary(np.add), _reflected(np.add), _in_place(np.add)
    __sub__, __rsub__, __isub__ = _binary(np.subtract), _reflected(np.subtract), _in_place(np.subtract)
    __mul__, __rmul__, __imul__ = _binary(np.multiply), _reflected(np.multiply), _in_place(np.multiply)
    __truediv__, __rtruediv__ = _binary(np.true_divide), _reflected(np.true_divide)
    __itruediv__ = _in_place(np.true_divide)
    __floordiv__, __rfloordiv__ = _binary(np.floor_divide), _reflected(np.floor_divide)
    __ifloordiv__ = _in_place(np.floor_divide)
    __mod__, __rmod__, __imod__ = _binary(np.remainder), _reflected(np.remainder), _in_place(np.remainder)
    __divmod__, __rdivmod__ = _binary(np.divmod), _reflected(np.divmod)
    __pow__, __rpow__, __ipow__ = _binary(np.power), _reflected(np.power), _in_place(np.power)
    __and__, __rand__, __iand__ = _binary(np.bitwise_and), _reflected(np.bitwise_and), _in_place(np.bitwise_and)
    __or__, __ror__, __ior__ = _binary(np.bitwise_or), _reflected(np.bitwise_or), _in_place(np.bitwise_or)
    __xor__, __rxor__, __ixor__ = _binary(np.bitwise_xor), _reflected(np.bitwise_xor), _in_place(np.bitwise_xor)
    __lt__, __le__, __gt__, __ge__ = map(_binary, (np.less, np.less_equal, np.greater, np.greater_equal))
    __eq__, __ne__ = _binary(np.equal), _binary(np.not_equal)  # type: ignore[assignment]
    __neg__, __pos__, __abs__, __invert__ = map(_unary, (np.negative, np.positive, np.absolute, np.invert))

    def __matmul__(self: Any, other: Any) -> Any:
        # A matrix on the right knows what to do.
        return self.dot(other) if getattr(other, "ndim", None) == 1 else NotImplemented

    __rmatmul__ = __matmul__

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.pop("out", ())
        if method != "__call__" or any(getattr(operand, "ndim", 0) > 1 for operand in (*inputs, *out)):
            return NotImplemented
        return self.apply_ufunc(ufunc, inputs, out, **options)

    def apply_ufunc(self, ufunc: np.ufunc, inputs: tuple[Any, ...], out: tuple[Any, ...] = (), **options: Any) -> Any:
        """A NumPy function of Vectors, arrays and numbers, written to `out`, a tuple, where given.

        An entry of the result is present where it is in all operands. Operands on different devices are a TypeError,
        of different lengths a ValueError.
        """
        arrays = [_array(operand) for operand in inputs]
        targets = tuple(_array(target) for target in out)
        device_of(*arrays, *targets)
        present: Bitmask | None = None
        for operand in inputs:
            mask = operand._present if isinstance(operand, Operators) else None
            present = mask if present is None else present if mask is None else present & mask
        # Values of absent entries are ignored. On CuPy's arrays NumPy's function is CuPy's.
        with np.errstate(all="ignore") if present is not None else np.errstate():
            try:
                results = ufunc(*arrays, **options, **({"out": targets} if out else {}))
            except OverflowError:
                raise beyond_range(np.result_type(*(a.dtype for a in arrays if hasattr(a, "dtype")))) from None
        if out:
            for target in out:
                if isinstance(target, Operators):
                    target._present = present
            return out[0] if len(out) == 1 else out
        if isinstance(results, tuple):
            return tuple(self._made(result, present) for result in results)
        return self._made(results, present)

    def _made(self, values: Any, present: Bitmask | None) -> Any:
        kind: Any = type(self)
        return kind(values, present)


def _array(operand: Any) -> Any:
    return operand._values if isinstance(operand, Operators) else native(operand)
