"""Python functions of numbers as expressions, by running them on symbols; and the derivatives of these.

Both sides of a branch are followed and one is selected; derivatives follow from a rule for each operator, so that one
of a derivative follows, too. Of a maximum the first operand that attains it has the derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any

import numpy as np

from hpgraph.semiring.tracing import Paths, Refused

# Maximum paths through a function.
MAX_PATHS = 64


class Expression:
    """A number that is known when a kernel runs: a constant, a variable, or a function of others, by NumPy's name."""

    __slots__ = ("of", "operator", "value")
    __hash__ = object.__hash__

    def __init__(self, operator: str, of: tuple[Expression, ...] = (), value: Any = None) -> None:
        self.operator, self.of, self.value = operator, of, value

    def __bool__(self) -> bool:
        return _PATHS.get().decide(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options or ufunc.__name__ not in {**DERIVATIVES, **CHOICES}:
            raise TypeError(f"message: numpy.{ufunc.__name__} has no derivative here; there are {_listed()}")
        return apply(ufunc.__name__, *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is not np.where or len(args) != 3:
            raise TypeError(f"message: numpy.{function.__name__} is not known here; there are {_listed()}")
        return apply("where", *args)

    def __float__(self) -> float:
        raise TypeError("message: a function of Python's math takes plain numbers: use NumPy's, as numpy.exp")

    __int__ = __index__ = __float__  # type: ignore[assignment]

    def __neg__(self) -> Expression:
        return apply("negative", self)

    def __abs__(self) -> Expression:
        return apply("absolute", self)


def _define(method: str, name: str) -> None:
    def forwards(a: Any, b: Any) -> Any:
        return apply(name, a, b)

    def backwards(b: Any, a: Any) -> Any:
        return apply(name, a, b)

    setattr(Expression, f"__{method}__", forwards)
    if name not in COMPARISONS:
        setattr(Expression, f"__r{method}__", backwards)


COMPARISONS = {
    "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=",
}  # fmt: skip
_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**", **COMPARISONS}


def _of_power(a: Any, b: Any) -> Any:
    # A constant exponent needs no derivative, which would take the logarithm of a base that may be negative.
    to_b = 0.0 if b.operator == "constant" else apply("power", a, b) * apply("log", a)
    return b * apply("power", a, b - 1.0), to_b


# By operator, the derivatives by each operand.
DERIVATIVES: dict[str, Callable[..., Sequence[Any]]] = {
    "add": lambda a, b: (1.0, 1.0),
    "subtract": lambda a, b: (1.0, -1.0),
    "multiply": lambda a, b: (b, a),
    "divide": lambda a, b: (1.0 / b, -a / (b * b)),
    "true_divide": lambda a, b: (1.0 / b, -a / (b * b)),
    "power": _of_power,
    "negative": lambda a: (-1.0,),
    "absolute": lambda a: (apply("sign", a),),
    "sign": lambda a: (0.0,),
    "square": lambda a: (2.0 * a,),
    "reciprocal": lambda a: (-1.0 / (a * a),),
    "sqrt": lambda a: (0.5 / apply("sqrt", a),),
    "exp": lambda a: (apply("exp", a),),
    "expm1": lambda a: (apply("exp", a),),
    "log": lambda a: (1.0 / a,),
    "log1p": lambda a: (1.0 / (1.0 + a),),
    "sin": lambda a: (apply("cos", a),),
    "cos": lambda a: (-apply("sin", a),),
    "tanh": lambda a: (1.0 - apply("tanh", a) * apply("tanh", a),),
    "arctan": lambda a: (1.0 / (1.0 + a * a),),
    **dict.fromkeys(COMPARISONS, lambda a, b: (0.0, 0.0)),
}
# Operators that select one of two operands. Not sums of products, since the operand not selected may be NaN.
CHOICES: dict[str, Callable[..., tuple[Any, Any, Any]]] = {
    "where": lambda test, a, b: (test, a, b),
    "maximum": lambda a, b: (a >= b, a, b),
    "minimum": lambda a, b: (a <= b, a, b),
}
for _method, _name in (
    ("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide"), ("pow", "power"), ("lt", "less"),
    ("le", "less_equal"), ("gt", "greater"), ("ge", "greater_equal"), ("eq", "equal"), ("ne", "not_equal"),
):  # fmt: skip
    _define(_method, _name)


def _listed() -> str:
    return ", ".join(sorted({**DERIVATIVES, **CHOICES}))


def constant(value: Any) -> Expression:
    """A number as an expression."""
    if isinstance(value, Expression):
        return value
    if not isinstance(value, int | float | np.number | np.bool_):
        raise TypeError(f"message must compute with numbers, not {type(value).__name__}")
    return Expression("constant", value=float(value))


def variable(number: int) -> Expression:
    """The variable of a number."""
    return Expression("variable", value=number)


def apply(name: str, *given: Any) -> Any:
    """A function of expressions, by NumPy's name, simplified where a factor or a summand is 0 or 1."""
    a, *others = of = tuple(constant(one) for one in given)
    plain = [one.value if one.operator == "constant" else None for one in of]
    if name == "multiply" and 0.0 in plain:
        return constant(0.0)
    if name in ("multiply", "divide", "true_divide", "power") and plain[1] == 1.0:
        return a
    if name in ("add", "subtract") and plain[1] == 0.0:
        return a
    if (name, plain[0]) in (("multiply", 1.0), ("add", 0.0)):
        return others[0]
    if name == "where" and plain[1] is not None and plain[1] == plain[2]:
        return of[1]
    return Expression("divide" if name == "true_divide" else name, of)


# One for each thread, since several may trace functions at once.
_PATHS: ContextVar[Paths] = ContextVar("paths")


def traced(function: Callable[..., Any], *arguments: Any) -> Expression:
    """The expression that a function computes from symbols."""
    paths = Paths(MAX_PATHS)
    before = _PATHS.set(paths)
    try:
        expression: Expression = paths.follow(lambda: constant(function(*arguments)), partial(apply, "where"))
        return expression
    except Refused:
        raise TypeError(
            f"message has more than {MAX_PATHS} paths: the number of turns of a loop must not depend on computed values"
        ) from None
    finally:
        _PATHS.reset(before)


def in_order(expression: Expression) -> list[Expression]:
    """The subexpressions of an expression in topological order, operands first."""
    order: dict[Expression, None] = {}
    waiting = [(expression, False)]
    while waiting:
        one, ready = waiting.pop()
        if ready:
            order.setdefault(one)
        elif one not in order:
            waiting += [(one, True), *((operand, False) for operand in one.of)]
    return list(order)


# Compared by identity, since `==` creates an expression.
def derivative(expression: Expression, number: int) -> Expression:
    """By a variable: each part's derivative follows from those of its operands, as of dual numbers."""
    by: dict[int, Expression] = {}
    for one in in_order(expression):
        if one.operator in CHOICES:
            test, a, b = CHOICES[one.operator](*one.of)
            by[id(one)] = apply("where", test, by[id(a)], by[id(b)])
            continue
        total = constant(float(one.operator == "variable" and one.value == number))
        for operand, slope in zip(one.of, DERIVATIVES[one.operator](*one.of) if one.of else (), strict=True):
            total = apply("add", total, apply("multiply", slope, by[id(operand)]))
        by[id(one)] = total
    return by[id(expression)]


def text(expression: Expression, variables: Sequence[str]) -> tuple[str, list[float]]:
    """Lines of Python that return an expression, and the constants ``c[i]`` that they name as ``c0``, ``c1``, ..."""

    def spell(name: str, parts: list[str]) -> str:
        if name == "where":
            return f"{parts[1]} if {parts[0]} else {parts[2]}"
        if name == "negative":
            return f"-{parts[0]}"
        return f" {_SIGNS[name]} ".join(parts) if name in _SIGNS else f"np.{name}({', '.join(parts)})"

    lines, last, constants = _lines(expression, variables, spell)
    return "\n".join([*(f"{name} = {made}" for made, name, _ in lines), f"return {last}"]), constants


# In C++, where operands are numbers of one type, T, but for those that a choice is made by.
_CPP = {
    "where": "({0} ? {1} : {2})", "negative": "-{0}", "absolute": "fabs({0})", "square": "{0} * {0}",
    "reciprocal": "T(1) / {0}", "power": "pow({0}, {1})", "arctan": "atan({0})",
    "sign": "({0} != {0} ? {0} : T(({0} > 0) - ({0} < 0)))",
    "maximum": "({0} >= {1} || {0} != {0} ? {0} : {1})", "minimum": "({0} <= {1} || {0} != {0} ? {0} : {1})",
}  # fmt: skip


def cpp_text(expression: Expression, variables: Sequence[str], kind: str) -> str:
    """The same as lines of C++, for numbers of a type."""

    def spell(name: str, parts: list[str]) -> str:
        if name in _CPP:
            return _CPP[name].format(*parts)
        return f" {_SIGNS[name]} ".join(parts) if name in _SIGNS else f"{name}({', '.join(parts)})"

    lines, last, constants = _lines(expression, variables, spell)
    return "\n".join([
        f"typedef {kind} T;", *(f"const T c{i} = {_literal(value)};" for i, value in enumerate(constants)),
        *(f"const {'bool' if name in COMPARISONS else 'T'} {to} = {made};" for made, to, name in lines),
        f"return {last};",
    ])  # fmt: skip


def _literal(value: float) -> str:
    if value != value or abs(value) == np.inf:
        return "0 / T(0)" if value != value else f"{'-' if value < 0 else ''}1 / T(0)"
    return value.hex()


def _lines(
    expression: Expression, variables: Sequence[str], spell: Callable[[str, list[str]], str]
) -> tuple[list[tuple[str, str, str]], str, list[float]]:
    """What is computed, its name and its operator, each once; the last name; and the constants."""
    lines, names, known = list[tuple[str, str, str]](), dict[int, str](), dict[str, str]()
    constants = list[float]()
    for one in in_order(expression):
        if one.operator == "constant":
            if one.value not in constants:
                constants.append(one.value)
            names[id(one)] = f"c{constants.index(one.value)}"
            continue
        made = variables[one.value] if one.operator == "variable" else spell(
            one.operator, [names[id(operand)] for operand in one.of])  # fmt: skip
        if made not in known:
            known[made] = f"t{len(lines)}"
            lines.append((made, known[made], one.operator))
        names[id(one)] = known[made]
    return lines, names[id(expression)], constants
