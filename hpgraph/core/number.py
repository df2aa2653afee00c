"""Numbers as users give them, of any size and any of Python's and NumPy's types, checked once and by name."""

import math
import operator
from typing import Any

import numpy as np


def real(value: Any, name: str, what: str = "a number") -> float:
    """A real number as Python's float, possibly infinite or NaN."""
    if type(value) is float:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} must be {what}, not {value!r}")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def whole(value: Any, name: str, what: str = "a whole number") -> int:
    """A whole number, as Python's int, however large."""
    if type(value) is int:
        return value
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be {what}, not {value!r}") from None


def beyond_range(dtype: np.dtype[Any]) -> ValueError:
    """What to raise where Python and NumPy raise `OverflowError`, as a number has no place in a type."""
    return ValueError(f"a number is beyond the range of {dtype}: use .astype for a wider type, or a smaller number")
