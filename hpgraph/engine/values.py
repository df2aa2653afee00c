"""Values that users give for properties and parameters, checked and in the declared type."""

from typing import Any

import numpy as np

from hpgraph.containers.divided_array import gathered
from hpgraph.core.device import everywhere, native, unmasked
from hpgraph.core.number import real
from hpgraph.formats.interchange import own
from hpgraph.semiring.dtypes import check_dtype


def as_given(value: Any, graph: Any, name: str) -> Any:
    """The initial value of a property: a number, or an array on either device."""
    value = native(unmasked(gathered(value(graph) if callable(value) else value), name))
    return value if hasattr(value, "dtype") or np.isscalar(value) else np.array(value)


def type_of(declared: Any, value: Any, name: str) -> np.dtype:
    """The declared type of a property, else the type of its initial value; a Python number is a float64."""
    return check_dtype(getattr(value, "dtype", np.float64) if declared is None else declared, name, real=True)


def scalar(value: Any, dtype: np.dtype, name: str) -> Any:
    """One number in a dtype."""
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        if dtype.kind != "f":
            raise ValueError(f"{name} is {dtype}, which cannot hold {value!r}")
        value = real(value, name)
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be a number, not {value!r}")
    with np.errstate(all="ignore"):
        converted: Any = array.astype(dtype)[()]
        if dtype.kind != "f" and converted != array:
            raise ValueError(f"{name} is {dtype}, which cannot hold {value!r}")
    return converted


def array(moved: Any, given: Any, dtype: np.dtype, name: str) -> Any:
    """An array of a dtype for the run to write to: a copy if `moved` shares memory with the user's array `given`."""
    if moved.size and not np.can_cast(moved.dtype, dtype, "same_kind"):
        raise TypeError(f"{name} is {dtype}, which does not take {moved.dtype}: convert it with .astype if you mean to")
    converted = own(moved.astype(dtype, copy=False), given)
    if dtype.kind in "iu" and not np.can_cast(moved.dtype, dtype) and not everywhere(converted == moved):
        raise ValueError(
            f"{name} is {dtype}, which cannot hold all the values given: they go from {moved.min()} to {moved.max()}"
        )
    return converted
