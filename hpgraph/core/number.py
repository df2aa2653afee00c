"""Numbers as users give them, of any size and any of Python's and NumPy's types, checked once and by name."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np


def real(value: Any, name: str, what: str = "a number") -> float:
    """A real number, as Python's float.

    Parameters
    ----------
    value : int, float or NumPy number
        An integer beyond the range of floats becomes an infinity of its sign.
    name : str
        What the message calls the argument.
    what : str
        What the message says it must be.

    Returns
    -------
    float
        Perhaps infinite or NaN: to refuse these is the caller's.

    Raises
    ------
    TypeError
        If it is no real number; bool is none.

    Examples
    --------
    >>> real(np.float32(0.5), "damping"), real(-10**400, "limit")
    (0.5, -inf)
    >>> real("3", "tol")
    Traceback (most recent call last):
    ...
    TypeError: tol must be a number, not '3'
    """
    if type(value) is float:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} must be {what}, not {value!r}")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def whole(value: Any, name: str, what: str = "a whole number") -> int:
    """A whole number, as Python's int, however large.

    Parameters
    ----------
    value : int or NumPy integer
        Or anything else with ``__index__``.
    name : str
        What the message calls the argument.
    what : str
        What the message says it must be.

    Returns
    -------
    int

    Raises
    ------
    TypeError
        If it is none; bool is none, and neither is 2.0.

    Examples
    --------
    >>> whole(np.int8(3), "max_depth"), whole(10**30, "max_depth") == 10**30
    (3, True)
    >>> whole(2.5, "max_depth")
    Traceback (most recent call last):
    ...
    TypeError: max_depth must be a whole number, not 2.5
    """
    if type(value) is int:
        return value
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be {what}, not {value!r}") from None


def beyond_range(dtype: np.dtype[Any]) -> ValueError:
    """What to raise where Python and NumPy raise `OverflowError`, as a number has no place in a type.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the values that the number meets.

    Returns
    -------
    ValueError

    Examples
    --------
    >>> raise beyond_range(np.dtype("int8"))
    Traceback (most recent call last):
    ...
    ValueError: a number is beyond the range of int8: use .astype for a wider type, or a smaller number
    """
    return ValueError(f"a number is beyond the range of {dtype}: use .astype for a wider type, or a smaller number")
