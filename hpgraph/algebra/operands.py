"""Operands of the algebra: matrices and vectors on one device, numbers in the common type."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.containers.matrix import MatrixStorage
from hpgraph.containers.public import make_matrix
from hpgraph.containers.vector import VectorStorage
from hpgraph.core.device import is_cuda
from hpgraph.core.number import real
from hpgraph.kernels.spmv.product_plan import value_dtype
from hpgraph.semiring.dtypes import check_dtype


def as_container(x: Any, name: str) -> MatrixStorage | VectorStorage:
    """A Matrix or a Vector; a sparse array of SciPy or CuPy becomes a Matrix."""
    if isinstance(x, MatrixStorage | VectorStorage):
        return x
    if hasattr(x, "tocsr"):
        return make_matrix(x)
    raise TypeError(
        f"{name} must be a Matrix, a Vector or a sparse array, not {type(x).__name__}: wrap it, hpg.Matrix({name}) or "
        f"hpg.Vector({name})"
    )


def as_matrix(x: Any, name: str) -> Any:
    """A factor as a Matrix."""
    if isinstance(x, MatrixStorage):
        return x
    if hasattr(x, "tocsr"):
        return make_matrix(x)
    raise TypeError(f"{name} must be a Matrix or a sparse array, not {type(x).__name__}: wrap it, hpg.Matrix({name})")


def as_pair(a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands that can be joined entry by entry."""
    a, b = as_container(a, "A"), as_container(b, "B")
    if isinstance(a, VectorStorage) != isinstance(b, VectorStorage):
        raise TypeError("A and B must both be matrices or both vectors")
    if a.shape != b.shape:
        raise ValueError(f"A and B must have the same shape, not {a.shape} and {b.shape}")
    if a.device != b.device:
        raise TypeError(f'A lies on "{a.device}" and B on "{b.device}": move one of them with .to()')
    return a, b


def values_dtype(x: Any) -> np.dtype[Any]:
    """Type of a Matrix's or a Vector's values; bool for a pattern."""
    return x.dtype if isinstance(x, VectorStorage) else value_dtype(x.stored_dtype)


def as_number(value: Any, dtype: np.dtype[Any], name: str) -> np.generic:
    """A number beside values of a dtype, in the type that NumPy's promotion gives it."""
    if is_cuda(value) and getattr(value, "ndim", None) == 0:
        value = value.get()[()]
    if not is_number(value):
        raise TypeError(f"{name} must be a number, not {value!r}")
    if isinstance(value, np.ndarray | np.generic):
        found = check_dtype(value.dtype, name)
        return found.type(value.item())
    if isinstance(value, bool):
        return np.bool_(value)
    try:
        found = np.result_type(dtype, value)
        held = found.type(value)
        if not hasattr(held, "dtype"):
            raise OverflowError
    except OverflowError:
        # As NumPy takes the number by itself, or the float next to it where no integer type holds it.
        held = np.asarray(value if -(2**63) <= value < 2**64 else real(value, name))[()]
    return check_dtype(held.dtype, name).type(held)


def is_number(value: Any) -> bool:
    """Whether a value is a number, or an array without dimensions, on either device."""
    if getattr(value, "ndim", None) == 0 and (isinstance(value, np.ndarray | np.generic) or is_cuda(value)):
        return value.dtype.kind in "biufc"
    return isinstance(value, bool | int | float | complex)
