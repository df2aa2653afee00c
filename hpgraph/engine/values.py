"""What users give as properties and parameters, in the type the program declares, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.containers.divided_array import gathered
from hpgraph.core.device import native, unmasked
from hpgraph.core.number import real
from hpgraph.formats.ownership import own
from hpgraph.semiring.dtypes import check_dtype


def as_given(value: Any, graph: Any, name: str) -> Any:
    """What a property is to begin with: a number, or an array on either device.

    Parameters
    ----------
    value : number, array, sequence, or function of the graph
        As the user gave it.
    graph : Graph
    name : str
        What messages call it.

    Returns
    -------
    number, numpy.ndarray or cupy.ndarray

    Raises
    ------
    TypeError
        When an element of it is masked.

    Examples
    --------
    >>> as_given([0, 1], None, "label"), as_given(2.5, None, "width")
    (array([0, 1]), 2.5)
    """
    value = native(unmasked(gathered(value(graph) if callable(value) else value), name))
    return value if hasattr(value, "dtype") or np.isscalar(value) else np.array(value)


def type_of(declared: Any, value: Any, name: str) -> np.dtype:
    """The type of a property: the one it declares, else that of what it begins with; a Python number is a float64.

    Parameters
    ----------
    declared : dtype-like or None
    value : number or array
    name : str
        What messages call the property.

    Returns
    -------
    numpy.dtype

    Raises
    ------
    TypeError
        If it is not one of real numbers.

    Examples
    --------
    >>> type_of(None, np.arange(3, dtype=np.int32), "label"), type_of(None, 1, "width")
    (dtype('int32'), dtype('float64'))
    """
    return check_dtype(getattr(value, "dtype", np.float64) if declared is None else declared, name, real=True)


def scalar(value: Any, dtype: np.dtype, name: str) -> Any:
    """One number in a dtype.

    Parameters
    ----------
    value : number
        Python's or NumPy's.
    dtype : numpy.dtype
        The type it is to have.
    name : str
        What messages call it.

    Returns
    -------
    numpy scalar
        Floats are rounded; nothing else may change.

    Raises
    ------
    TypeError
        If it is no number.
    ValueError
        If the type cannot hold it.

    Examples
    --------
    >>> scalar(0.1, np.dtype("float32"), "width")
    np.float32(0.1)
    >>> scalar(300, np.dtype("int8"), "colour")
    Traceback (most recent call last):
    ...
    ValueError: colour is int8, which cannot hold 300
    """
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        if dtype.kind != "f":
            raise ValueError(f"{name} is {dtype}, which cannot hold {value!r}")
        value = real(value, name)
    given = np.asarray(value)
    if given.ndim or given.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be a number, not {value!r}")
    with np.errstate(all="ignore"):
        held: Any = given.astype(dtype)[()]
        if dtype.kind != "f" and held != given:
            raise ValueError(f"{name} is {dtype}, which cannot hold {value!r}")
    return held


def array(moved: Any, given: Any, dtype: np.dtype, name: str) -> Any:
    """A fresh array of a dtype, which the run may write to.

    Parameters
    ----------
    moved : array
        The values, on the device of the run.
    given : array
        The user's own; it is copied if `moved` lies in its memory.
    dtype : numpy.dtype
        The type they are to have.
    name : str
        What messages call them.

    Returns
    -------
    array
        On the device of `moved`.

    Raises
    ------
    TypeError
        If values of this kind do not go into such a type, as fractions into integers.
    ValueError
        If an integer is too large for it; to look, this waits for the GPU where integers become narrower.

    Examples
    --------
    >>> values = np.array([1, 2])
    >>> array(values, values, np.dtype("float32"), "width")
    array([1., 2.], dtype=float32)
    """
    if moved.size and not np.can_cast(moved.dtype, dtype, "same_kind"):
        raise TypeError(f"{name} is {dtype}, which does not take {moved.dtype}: convert it with .astype if you mean to")
    made = own(moved.astype(dtype, copy=False), given)
    if dtype.kind in "iu" and not np.can_cast(moved.dtype, dtype) and not bool((made == moved).all()):
        raise ValueError(f"{name} is {dtype}, which cannot hold all the values given: they go from "
                         f"{moved.min()} to {moved.max()}")
    return made
