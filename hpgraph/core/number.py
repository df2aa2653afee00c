"""Checks of numeric and keyword arguments, with the argument's name in the error; Python and NumPy numbers."""

import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np


def real(value: Any, name: str, what: str = "a number", **bounds: float) -> float:
    """A real number as Python's float; infinity and NaN pass where `bounds`, those of `_check`, allow them."""
    if type(value) is float:
        number = value
    elif isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} must be {what}, not {value!r}")
    else:
        try:
            number = float(value)
        except OverflowError:
            number = math.inf if value > 0 else -math.inf
    if bounds:
        _check(number, value, name, **bounds)
    return number


def whole(value: Any, name: str, what: str = "a whole number", **bounds: float) -> int:
    """A whole number within `bounds`, those of `_check`, as Python's int, however large."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be {what}, not {value!r}") from None
    if bounds:
        _check(number, value, name, **bounds)
    return number


def flag(value: Any, name: str) -> None:
    """Raise TypeError if a value has no truth value, as arrays of several elements have none."""
    try:
        bool(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be True or False, not {value!r}") from None


def generator(seed: Any, xp: Any = np) -> Any:
    """A generator of random numbers of NumPy or CuPy; None draws others each time."""
    return xp.random.default_rng(None if seed is None else whole(seed, "seed") % 2**64)


def value_type(dtype: Any, name: str = "dtype") -> np.dtype[Any]:
    """A type of values as NumPy's object."""
    try:
        return np.dtype(dtype)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a type of values, such as numpy.float64, not {dtype!r}") from None


def one_of(value: Any, name: str, choices: Iterable[Any]) -> None:
    """Raise ValueError unless a value is one of the choices, which are strings or None."""
    listed = tuple(choices)
    # Arrays compare element by element.
    if not isinstance(value, str | None) or value not in listed:
        words = [f'"{choice}"' if isinstance(choice, str) else repr(choice) for choice in listed]
        raise ValueError(f"{name} must be {', '.join(words[:-1])} or {words[-1]}, not {value!r}")


def _check(
    number: float, value: Any, name: str, *, least: float | None = None, above: float | None = None,
    most: float | None = None, below: float | None = None,
) -> None:  # fmt: skip
    """Raise ValueError unless a number, given as `value`, lies within bounds; infinity is no bound. NaN never does."""
    if (
        (least is None or number >= least) and (above is None or number > above)
        and (most is None or number <= most) and (below is None or number < below)
    ):  # fmt: skip
        return
    if most is not None or below not in (None, math.inf):
        lower = f"above {above} and" if least is None else f"from {least} to"
        upper = f"below {below}" if most is None else most if least is not None else f"at most {most}"
        words = f"be {lower} {upper}"
    else:
        sign = ("positive", f"above {above}") if least is None else ("not negative", f"at least {least}")
        words = sign[bool(above or least)]
        words = f"be finite and {words}" if below is not None else f"be {words}".replace("be not", "not be")
    raise ValueError(f"{name} must {words}, not {value!r}")


def beyond_range(dtype: np.dtype[Any]) -> ValueError:
    """The error in place of Python's and NumPy's `OverflowError`, for a number beyond a type."""
    return ValueError(f"a number is beyond the range of {dtype}: use .astype for a wider type, or a smaller number")
