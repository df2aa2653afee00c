"""Operands of the algebra in the form that kernels require: matrices, vectors, arrays, masks, numbers, functions."""

from typing import Any

import numpy as np

from hpgraph.containers.matrix import MatrixStorage
from hpgraph.containers.public import make_matrix
from hpgraph.containers.vector import VectorStorage, is_sparse_vector
from hpgraph.core.device import array_module, is_cuda, is_sparse_matrix, native, unmasked
from hpgraph.core.number import real
from hpgraph.formats import Bitmask
from hpgraph.formats.checks import as_value_dtype
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.spmv.product_plan import value_dtype
from hpgraph.semiring import BinaryOp
from hpgraph.semiring.dtypes import check_dtype
from hpgraph.semiring.entry import EntryFunction, Operator, entry_function


def as_container(x: Any, name: str) -> MatrixStorage | VectorStorage:
    """A Matrix or a Vector; a sparse array of SciPy or CuPy becomes a Matrix."""
    if isinstance(x, MatrixStorage | VectorStorage):
        return x
    if is_sparse_matrix(x):
        return make_matrix(x)
    raise TypeError(
        f"{name} must be a Matrix, a Vector or a sparse array, not {type(x).__name__}: wrap it, hpg.Matrix({name}) or "
        f"hpg.Vector({name})"
    )


def as_matrix(x: Any, name: str, *, dense: bool = False) -> Any:
    """A factor as a Matrix; with `dense` also a two-dimensional array."""
    if isinstance(x, MatrixStorage):
        return x
    if is_sparse_matrix(x) or (dense and getattr(x, "ndim", 0) == 2):
        return make_matrix(x)
    raise TypeError(f"{name} must be a Matrix or a sparse array, not {type(x).__name__}: wrap it, hpg.Matrix({name})")


def check_same_device(name: str, device: str, other: str, other_device: str) -> None:
    """Refuse operands on different devices; `name` and `other` are their names."""
    if device != other_device:
        raise TypeError(f'{name} lies on "{device}" and {other} on "{other_device}": move one of them with .to()')


def as_pair(a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands of the same kind, shape and device."""
    a, b = as_container(a, "A"), as_container(b, "B")
    if isinstance(a, VectorStorage) != isinstance(b, VectorStorage):
        raise TypeError("A and B must both be matrices or both vectors")
    if a.shape != b.shape:
        raise ValueError(f"A and B must have the same shape, not {a.shape} and {b.shape}")
    check_same_device("A", a.device, "B", b.device)
    return a, b


def values_dtype(x: Any) -> np.dtype[Any]:
    """Type of a Matrix's or a Vector's values; bool for a pattern."""
    return x.dtype if isinstance(x, VectorStorage) else value_dtype(x.stored_dtype)


def as_number(value: Any, dtype: np.dtype[Any], name: str) -> np.generic:
    """A number in the type that NumPy's promotion gives for it and values of a dtype."""
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
        # NumPy's conversion of the number itself, or the nearest float if no integer type represents it.
        held = np.asarray(value if -(2**63) <= value < 2**64 else real(value, name))[()]
    return check_dtype(held.dtype, name).type(held)


def is_number(value: Any) -> bool:
    """Whether a value is a number or a 0-d array, on either device."""
    if getattr(value, "ndim", None) == 0 and (isinstance(value, np.ndarray | np.generic) or is_cuda(value)):
        return value.dtype.kind in "biufc"
    return isinstance(value, bool | int | float | complex)


def as_operand(x: Any, name: str, device: str) -> Any:
    """A dense operand as an array, if it is on the device and kernels support its type."""
    x = x.toarray() if is_sparse_vector(x) else native(unmasked(x, name))
    if is_cuda(x) != (device == "cuda"):
        place = "GPU" if is_cuda(x) else "CPU"
        move = "cupy.asarray" if device == "cuda" else "cupy.asnumpy"
        raise TypeError(
            f'{name} lies on the {place} and the matrix on "{device}": give {move}({name}), or move the matrix by .to()'
        )
    if device == "cpu":
        x = np.asarray(x)
    kind = as_value_dtype(x.dtype, name)
    return x if kind.isnative else x.astype(kind.newbyteorder("="))


def as_mask(mask: Any, name: str, n: int, device: str) -> Bitmask | None:
    """A mask as a Bitmask of the allowed entries; None for None, which allows everything."""
    if mask is None:
        return None
    if isinstance(mask, Bitmask):
        length, place = mask.n, mask.device
    elif isinstance(mask, VectorStorage):
        length, place = mask.size, mask.device
    elif is_sparse_matrix(mask):
        raise TypeError(f"{name} must be a Bitmask, an array of bool or a Vector, not a {type(mask).__name__}")
    else:
        flags = native(unmasked(mask, name))
        flags = flags if is_cuda(flags) else np.asarray(flags)
        if flags.dtype != np.bool_:
            raise TypeError(
                f"{name} must be a Bitmask, an array of bool or a Vector, not an array of {flags.dtype}: "
                f"give {name} != 0, or Bitmask.from_indices for a list of places"
            )
        if flags.ndim != 1:
            raise ValueError(f"{name} must have one dimension, not shape {flags.shape}")
        length, place = len(flags), "cuda" if is_cuda(flags) else "cpu"
    if length != n:
        raise ValueError(f"{name} must have length {n}, that of the result, not {length}")
    check_same_device(name, place, "the matrix", device)
    if isinstance(mask, Bitmask):
        return mask
    if isinstance(mask, VectorStorage):
        true = Bitmask.from_bool(mask.values != 0)
        return true if mask.present is None else true & mask.present
    return Bitmask.from_bool(flags)


def check_accum(op: BinaryOp, held: np.dtype[Any], given: np.dtype[Any]) -> None:
    """Refuse an accumulator whose result cannot be cast to the output's type."""
    natural = op.result_dtype(held, given)
    # Integers returned by a Python function are always int64.
    wraps = op.result == "returned" and natural.kind in "iu" and held.kind in "iu"
    if not wraps and not np.can_cast(natural, held, "same_kind"):
        raise TypeError(f"accum gives {natural}, which cannot be written to out, which is {held}")


def function_for(
    op: Operator, x: np.dtype[Any], y: np.dtype[Any], dtype: Any, out: Any, *, swapped: bool = False
) -> EntryFunction:
    """An operator as a function of an entry, with the given result type."""
    function = entry_function(op, x, y, dtype, swapped=swapped)
    if dtype is None and op.result == "returned" and function.dtype.kind in "iu":
        held = getattr(out, "dtype", None)
        if isinstance(held, np.dtype) and held.kind in "iu":
            return entry_function(op, x, y, held, swapped=swapped)
    return function


def map_container(A: Any, function: EntryFunction, thunk: Any) -> Any:
    """``function(x, thunk, row, column)`` of each entry."""
    backend = kernels(A.device)
    if not isinstance(A, VectorStorage):
        return backend.map_entries(A.csr, function, thunk)
    # The thunk is passed as a second vector without present entries.
    empty = array_module(A.device).empty(0, function.y_dtype)
    absent = Bitmask.zeros(A.size, A.device)
    return backend.zip_entries(
        A.values, empty, None, absent, function, function, None, function.dtype, fills=(True, thunk)
    )
