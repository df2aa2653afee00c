"""Whether a function is monotone in one attribute of its first parameter, by symbolic execution without Numba.

An abstract interpretation (P. Cousot, R. Cousot, POPL'77) over four kinds of values: independent of the attribute, the
attribute itself, non-decreasing in it, and anything else. A function that is not proved monotone counts as one that may
fall, as does one with loops, which are not followed.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache
from types import CellType, FunctionType
from typing import Any

import numpy as np

from hpgraph.semiring.references import global_names
from hpgraph.semiring.tracing import MAX_WAYS, Paths, Refused, is_straight


class Course(IntEnum):
    """Dependence of a value on the attribute; each kind includes those before it."""

    CONSTANT = 0
    ITSELF = 1
    RISES = 2
    # Non-decreasing too, but possibly NaN from infinities, which breaks an order.
    RISES_OR_NAN = 3
    UNKNOWN = 4


_ORDERED = {min, max, np.minimum, np.maximum}
# Conversions that preserve order; those to an integer type do so only from an integer.
_ROUNDED = {float, np.float32, np.float64}


@lru_cache(maxsize=512)
def course(function: Any, attribute: str, constant: frozenset[str] = frozenset({"id"})) -> Course:
    """Whether a function is monotone in an attribute of its first parameter, with all else fixed."""
    paths = Paths(MAX_WAYS)
    try:
        code, own = function.__code__, function.__globals__
        if not is_straight(code):
            return Course.UNKNOWN
        names = {name: _known(own.get(name, getattr(builtins, name, None)), paths) for name in global_names(code)}
        cells = tuple(CellType(_known(cell.cell_contents, paths)) for cell in function.__closure__ or ())
        run = FunctionType(code, names, closure=cells)
        courses = dict.fromkeys(constant, Course.CONSTANT)
        source, target = _Vertex({**courses, attribute: Course.ITSELF}, paths), _Vertex(courses, paths)
        between = [_Value(Course.CONSTANT, paths)] * (code.co_argcount - 2)
        found = paths.follow(lambda: _course(run(source, *between, target)), lambda _, one, other: max(one, other))
    except Exception:  # not followed; if Numba cannot compile it either, its error explains why
        return Course.UNKNOWN
    return Course(found)


class _Value:
    """A value of which only the course is known, or a constant one that is no number, such as a function."""

    # NumPy's numbers would call their own methods, and iteration `__getitem__` without end.
    __array_ufunc__ = __iter__ = None

    def __init__(self, course: Course, paths: Paths, value: Any = None) -> None:
        self.course, self.paths, self.value = course, paths, value

    def __bool__(self) -> bool:
        if self.course != Course.CONSTANT:
            raise Refused
        return self.paths.decide(self)

    def __getattr__(self, name: str) -> Any:
        return _known(getattr(self.value, name), self.paths)

    def __call__(self, *operands: Any) -> _Value:
        return _Value(_computed(self.value, operands), self.paths)


def _define(name: str, function: Callable[..., Any]) -> None:
    def forwards(a: Any, *other: Any) -> _Value:
        return _Value(_computed(function, (a, *other)), a.paths)

    def backwards(b: Any, a: Any) -> _Value:
        return _Value(_computed(function, (a, b)), b.paths)

    setattr(_Value, f"__{name}__", forwards)
    setattr(_Value, f"__r{name}__", backwards)


_OPERATORS = "add sub mul truediv floordiv mod pow and or xor lshift rshift neg invert getitem lt le gt ge eq ne"
for _name in _OPERATORS.split():
    _define(_name, getattr(operator, f"__{_name}__"))


class _Vertex:
    """A vertex, of which some attributes have a known course."""

    __eq__ = __bool__ = None  # type: ignore[assignment]

    def __init__(self, courses: dict[str, Course], paths: Paths) -> None:
        self._courses, self._paths = courses, paths

    def __getattr__(self, name: str) -> _Value:
        return _Value(self._courses.get(name, Course.UNKNOWN), self._paths)


def _known(value: Any, paths: Paths) -> Any:
    """A number as it is, so that its sign is known; else a stand-in, which no function of Python's or NumPy's reads."""
    return value if isinstance(value, int | float | np.generic) else _Value(Course.CONSTANT, paths, value)


def _course(value: Any) -> Course:
    if isinstance(value, _Value):
        return value.course
    return Course.CONSTANT if isinstance(value, int | float | np.generic) else Course.UNKNOWN


def _computed(function: Any, operands: tuple[Any, ...]) -> Course:
    courses = [_course(operand) for operand in operands]
    most = max(courses, default=Course.CONSTANT)
    if most in (Course.CONSTANT, Course.UNKNOWN):
        return most
    right_is_fixed = courses[-1] == Course.CONSTANT
    if function is operator.add or (function is operator.sub and right_is_fixed):
        return Course.RISES_OR_NAN
    if function is operator.mul or (function is operator.truediv and right_is_fixed):
        return max(most, Course.RISES) if any(map(_is_positive, operands)) else Course.UNKNOWN
    try:
        orders, rounds = function in _ORDERED, function in _ROUNDED
    except TypeError:  # not hashable, so it is none of these
        return Course.UNKNOWN
    if orders and len(operands) > 1:
        return Course.RISES if most <= Course.RISES else Course.UNKNOWN
    return max(most, Course.RISES) if rounds and len(operands) == 1 else Course.UNKNOWN


def _is_positive(value: Any) -> bool:
    return not isinstance(value, _Value) and bool(0 < value < math.inf)
