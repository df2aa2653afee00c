"""Whether a function is monotone in one attribute of its first parameter, from Numba's IR.

An abstract interpretation (P. Cousot, R. Cousot, POPL'77) over four kinds of values: independent of the attribute, the
attribute itself, non-decreasing in it, and anything else. A function that is not proved monotone counts as one that may
fall.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numba.core import ir


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
def course(function: Callable[..., Any], attribute: str, constant: frozenset[str] = frozenset({"id"})) -> Course:
    """Whether a function is monotone in an attribute of its first parameter, with all else fixed."""
    from numba.core import errors
    from numba.core.compiler import run_frontend

    try:
        found = run_frontend(function)
    except (errors.NumbaError, NotImplementedError):  # the compilation reports what Numba cannot read
        return Course.UNKNOWN
    return _Interpretation(found, attribute, constant).result()


class _Interpretation:
    def __init__(self, function: ir.FunctionIR, attribute: str, constant: frozenset[str]) -> None:
        self._blocks = list(function.blocks.values())
        self._attribute, self._constant = attribute, constant
        names = function.arg_names
        self._source, self._vertices = names[0], {names[0], names[-1]}
        self._courses: dict[str, Course] = {}
        self._objects = self._fixed_objects()

    def _fixed_objects(self) -> dict[str, Any]:
        """Values of variables that are assigned once: functions, modules, numbers."""
        from numba.core import ir

        assigned = [s for block in self._blocks for s in block.body if isinstance(s, ir.Assign)]
        times = Counter(statement.target.name for statement in assigned)
        return {
            statement.target.name: statement.value.value
            for statement in assigned
            if isinstance(statement.value, ir.Global | ir.FreeVar | ir.Const) and times[statement.target.name] == 1
        }

    def result(self) -> Course:
        from numba.core import ir

        returned, before = Course.CONSTANT, None
        # Assignments are joined, in any order, to a fixed point; five kinds bound the number of passes.
        while before != self._courses:
            before = dict(self._courses)
            for block in self._blocks:
                for statement in block.body:
                    if isinstance(statement, ir.Assign):
                        self._assign(statement.target.name, statement.value)
                    elif isinstance(statement, ir.Return):
                        returned = max(returned, self._of(statement.value))
                    elif isinstance(statement, ir.Branch):
                        if self._of(statement.cond) != Course.CONSTANT:
                            return Course.UNKNOWN
                    elif not isinstance(statement, ir.Jump | ir.Del):
                        return Course.UNKNOWN
        return returned

    def _of(self, variable: ir.Var) -> Course:
        # Optimistic start of the fixed-point iteration.
        return self._courses.get(variable.name, Course.CONSTANT)

    def _join(self, variables: Iterable[ir.Var]) -> Course:
        return max((self._of(variable) for variable in variables), default=Course.CONSTANT)

    def _assign(self, name: str, value: Any) -> None:
        from numba.core import ir

        if isinstance(value, ir.Arg):
            found = Course.UNKNOWN if value.name in self._vertices else Course.CONSTANT
        elif isinstance(value, ir.Global | ir.FreeVar | ir.Const):
            found = Course.CONSTANT
        elif isinstance(value, ir.Var):
            found = self._of(value)
        elif isinstance(value, ir.Expr):
            found = self._expression(name, value)
        else:
            found = Course.UNKNOWN
        self._courses[name] = max(found, self._courses.get(name, Course.CONSTANT))

    def _expression(self, name: str, value: ir.Expr) -> Course:
        if value.op == "getattr":
            return self._getattr(name, value)
        if value.op == "cast":
            return self._of(value.value)
        operands = [variable for variable in value.list_vars() if variable.name not in self._vertices]
        if len(operands) < len(value.list_vars()):
            return Course.UNKNOWN
        if self._join(operands) == Course.CONSTANT:
            return Course.CONSTANT
        if value.op in ("binop", "inplace_binop"):
            return self._binop(value.fn if value.op == "binop" else value.immutable_fn, value.lhs, value.rhs)
        if value.op == "call" and not value.kws and value.vararg is None:
            return self._call(self._objects.get(value.func.name), value.args)
        return Course.UNKNOWN

    def _getattr(self, name: str, value: ir.Expr) -> Course:
        owner = value.value.name
        if owner in self._vertices:
            if value.attr in self._constant:
                return Course.CONSTANT
            return Course.ITSELF if owner == self._source and value.attr == self._attribute else Course.UNKNOWN
        if owner in self._objects:
            self._objects[name] = getattr(self._objects[owner], value.attr, None)
        return self._of(value.value)

    def _binop(self, fn: Any, left: ir.Var, right: ir.Var) -> Course:
        course = max(self._of(left), self._of(right))
        if course == Course.UNKNOWN:
            return course
        if fn is operator.add or (fn is operator.sub and self._of(right) == Course.CONSTANT):
            return Course.RISES_OR_NAN
        if fn is operator.mul and self._is_positive(left if self._of(left) == Course.CONSTANT else right):
            return max(course, Course.RISES)
        if fn is operator.truediv and self._is_positive(right):
            return max(course, Course.RISES)
        return Course.UNKNOWN

    def _is_positive(self, variable: ir.Var) -> bool:
        value = self._objects.get(variable.name)
        return isinstance(value, int | float | np.integer | np.floating) and bool(0 < value < math.inf)

    def _call(self, function: Any, arguments: list[ir.Var]) -> Course:
        course = self._join(arguments)
        try:
            orders, rounds = function in _ORDERED, function in _ROUNDED
        except TypeError:  # not hashable, so it is none of these
            return Course.UNKNOWN
        if orders and len(arguments) > 1:
            return Course.RISES if course <= Course.RISES else Course.UNKNOWN
        if rounds and len(arguments) == 1:
            return max(course, Course.RISES)
        return Course.UNKNOWN
