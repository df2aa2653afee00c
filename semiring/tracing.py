"""Python functions as C++ text by symbolic execution, which needs neither Numba nor a linker.

A function without loops is run once for each path through it; both sides of a branch are computed and one is
selected. Values have the types that Numba infers, so that results equal those of the CPU. Everything else is refused,
and left to Numba: see `hpgraph.semiring.cuda.device_function`.
"""

from __future__ import annotations

import builtins
import dis
import sys
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from hpgraph.semiring.c_types import c_literal, c_type
from hpgraph.semiring.references import global_names
from hpgraph.semiring.snapshot import copy_function

# Maximum number of paths through one function; maximum number of values and calls over all of them.
MAX_WAYS, MAX_VALUES = 16, 256
# Other built-in functions need a Python value, but values are symbols here.
_BUILTIN = {"abs", "bool", "float", "int", "max", "min"}
_BOOL, _INT64, _FLOAT32, _FLOAT64 = (np.dtype(name) for name in ("bool", "int64", "float32", "float64"))
_LITERALS = {bool: _BOOL, int: _INT64, float: _FLOAT64}


class Refused(Exception):
    """A function uses a construct that is left to Numba."""


def traced(function: FunctionType, types: Sequence[Any], result: np.dtype | None, symbol: str) -> str | None:
    """The C++ definition of a Python function, in which a bool is a byte; None if it is left to Numba."""
    text = Text()
    try:
        arguments = [text.argument(kind) for kind in types]
        returned = copy_function(function, lambda python: Traced(python, text))(*arguments)
        if result is not None:
            text.lines.append(f"return {text.converted(returned, result).name};")
    except Exception:  # not traceable; if Numba cannot compile it either, its error explains why
        return None
    kind = "void" if result is None else byte_type(result)
    body = "".join(f"    {line}\n" for line in text.lines)
    return f"__device__ __forceinline__ {kind} {symbol}({', '.join(text.parameters)}) {{\n{body}}}\n"


def byte_type(dtype: Any) -> str:
    """The C type of a value between C++ and Numba's code: a bool is a byte."""
    return "unsigned char" if dtype == _BOOL else c_type(dtype)


class Text:
    """The C++ lines of a function as they are generated, and the paths through the functions that it calls."""

    def __init__(self) -> None:
        self.parameters: list[str] = []
        self.lines: list[str] = []
        self.ways: list[TypedPaths] = []
        self.calls = 0
        self._known: dict[tuple[str, np.dtype], Value] = {}
        self._loaded: dict[str, Value] = {}

    def argument(self, kind: Any) -> Any:
        """The symbol of a parameter, or a tuple of symbols."""
        if isinstance(kind, tuple):
            return tuple(self.argument(member) for member in kind)
        name, is_pointer = f"a{len(self.parameters)}", isinstance(kind, str) and kind.endswith("*")
        dtype = np.dtype(kind[:-1] if is_pointer else kind)
        self.parameters.append(f"{byte_type(dtype)}{'*' if is_pointer else ''} {name}")
        if is_pointer:
            return Pointer(self, name, dtype)
        return self.value(f"{name} != 0", dtype) if dtype == _BOOL else Value(self, name, dtype)

    def value(self, expression: str, dtype: np.dtype) -> Value:
        """A value computed from others; equal expressions share one value."""
        found = self._known.get((expression, dtype))
        if found is None:
            found = self._known[expression, dtype] = self._named(expression, dtype)
        return found

    def _named(self, expression: str, dtype: np.dtype) -> Value:
        if len(self.lines) == MAX_VALUES:
            raise Refused
        name = f"t{len(self.lines)}"
        self.lines.append(f"const {c_type(dtype)} {name} = {expression};")
        return Value(self, name, dtype)

    def load(self, place: str, dtype: np.dtype) -> Value:
        """A value in memory. Only the function itself loads it, before any branch."""
        self._check_undecided()
        if place not in self._loaded:
            self._loaded[place] = self._named(f"{place} != 0" if dtype == _BOOL else place, dtype)
        return self._loaded[place]

    def store(self, place: str, value: Value) -> None:
        """Write to memory, under the same condition."""
        self._check_undecided()
        self._loaded.clear()
        self.ways[-1].has_stored = True
        self.lines.append(f"{place} = {value.name};")

    def _check_undecided(self) -> None:
        if any(ways.decided for ways in self.ways):
            raise Refused

    def of(self, value: Any) -> Value:
        """A value of the function, or a constant as one."""
        if isinstance(value, Value):
            return value
        dtype = value.dtype if isinstance(value, np.generic) else _LITERALS[type(value)]
        return Value(self, c_literal(dtype.type(value)), dtype)

    def converted(self, value: Any, dtype: np.dtype) -> Value:
        """A value in another type."""
        found = self.of(value)
        if found.dtype == dtype:
            return found
        return self.value(f"{found.name} != 0" if dtype == _BOOL else f"({c_type(dtype)}){found.name}", dtype)

    def chosen(self, condition: Value, one: Any, other: Any) -> Any:
        """One of two results, selected by a condition; of tuples, by member."""
        if isinstance(one, tuple):
            if type(one) is not type(other) or len(one) != len(other):
                raise Refused
            members = [self.chosen(condition, *pair) for pair in zip(one, other, strict=True)]
            return one._make(members) if hasattr(one, "_make") else tuple(members)
        a, b = self.of(one), self.of(other)
        dtype = a.dtype if a.dtype == b.dtype else _common_type(a.dtype, b.dtype)
        a, b = self.converted(a, dtype), self.converted(b, dtype)
        return a if a.name == b.name else self.value(f"{condition.name} ? {a.name} : {b.name}", dtype)


def _common_type(a: np.dtype, b: np.dtype) -> np.dtype:
    """The type in which Numba computes with two numbers, or of a variable that may be either."""
    kinds = {a.kind, b.kind}
    if kinds <= {"b", "i"}:
        return _INT64
    if a == b and a.kind == "f":
        return a
    if kinds <= {"b", "i", "f"} and (_FLOAT64 in (a, b) or (a if b.kind == "f" else b).itemsize >= 4):
        return _FLOAT64
    raise Refused


def _operator(method: str, sign: str) -> tuple[Callable[[Any, Any], Value], Callable[[Any, Any], Value]]:
    """A Python operator, and the same with its operands swapped."""

    def forwards(a: Any, b: Any) -> Value:
        return getattr(a, method)(sign, a, b)

    def backwards(b: Any, a: Any) -> Value:
        return getattr(b, method)(sign, a, b)

    return forwards, backwards


class Value:
    """A number that is known only when the kernel runs."""

    # NumPy's functions would call this one's methods.
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: Text, name: str, dtype: np.dtype) -> None:
        self.text, self.name, self.dtype = text, name, dtype

    def __bool__(self) -> bool:
        return self.text.ways[-1].decide(self.text.converted(self, _BOOL))

    def _compute(self, pattern: str, a: Any, b: Any, computing: np.dtype, result: np.dtype) -> Value:
        names = (self.text.converted(operand, computing).name for operand in (a, b))
        return self.text.value(pattern.format(*names), result)

    def _note_types(self, a: Any, b: Any) -> tuple[np.dtype, np.dtype]:
        """Record the types of two operands."""
        found = self.text.of(a).dtype, self.text.of(b).dtype
        self.text.ways[-1].note(found)
        return found

    def _arithmetic(self, sign: str, a: Any, b: Any) -> Value:
        dtype = _common_type(*self._note_types(a, b))
        # Signed numbers wrap around.
        wide = f"(long long)((unsigned long long){{}} {sign} (unsigned long long){{}})"
        return self._compute(wide if dtype == _INT64 else f"{{}} {sign} {{}}", a, b, dtype, dtype)

    def _divided(self, sign: str, a: Any, b: Any) -> Value:
        dtype = _common_type(*self._note_types(a, b))
        dtype = _FLOAT64 if dtype == _INT64 else dtype
        return self._compute(f"{{}} {sign} {{}}", a, b, dtype, dtype)

    def _logic(self, sign: str, a: Any, b: Any) -> Value:
        one, other = self._note_types(a, b)
        if {one.kind, other.kind} not in ({"b"}, {"i"}):
            raise Refused
        dtype = _BOOL if one == _BOOL else _INT64
        return self._compute(f"{{}} {sign} {{}}", a, b, dtype, dtype)

    def _compared(self, sign: str, a: Any, b: Any) -> Value:
        return self._compute(f"{{}} {sign} {{}}", a, b, _common_type(*self._note_types(a, b)), _BOOL)

    def __neg__(self) -> Value:
        if self.dtype.kind == "f":
            return self.text.value(f"-{self.name}", self.dtype)
        return self._arithmetic("-", 0, self)

    def __abs__(self) -> Value:
        if self.dtype.kind != "f":
            raise Refused
        return self.text.value(f"{'fabsf' if self.dtype == _FLOAT32 else 'fabs'}({self.name})", self.dtype)

    __add__, __radd__ = _operator("_arithmetic", "+")
    __sub__, __rsub__ = _operator("_arithmetic", "-")
    __mul__, __rmul__ = _operator("_arithmetic", "*")
    __truediv__, __rtruediv__ = _operator("_divided", "/")
    __and__, __rand__ = _operator("_logic", "&")
    __or__, __ror__ = _operator("_logic", "|")
    __xor__, __rxor__ = _operator("_logic", "^")
    # Python calls the mirrored method of the other operand.
    __lt__, __le__, __gt__, __ge__, __eq__, __ne__ = (  # type: ignore[assignment]
        _operator("_compared", sign)[0] for sign in ("<", "<=", ">", ">=", "==", "!=")
    )


class Pointer:
    """An array in memory."""

    def __init__(self, text: Text, name: str, dtype: np.dtype) -> None:
        self._text, self._name, self._dtype = text, name, dtype

    def _place(self, index: Any) -> str:
        return f"{self._name}[{self._text.converted(index, _INT64).name}]"

    def __getitem__(self, index: Any) -> Value:
        return self._text.load(self._place(index), self._dtype)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._text.store(self._place(index), self._text.converted(value, self._dtype))


class Paths:
    """The paths through a call on symbols, at most `most`: each condition is assumed true first, then false."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.decided: list[tuple[Any, bool]] = []
        self._again: list[bool] = []

    def decide(self, condition: Any) -> bool:
        """Whether a condition is assumed true on this path."""
        at = len(self.decided)
        if at == self._most:
            raise Refused
        answer = self._again[at] if at < len(self._again) else True
        self.decided.append((condition, answer))
        return answer

    def follow(self, call: Callable[[], Any], choose: Callable[[Any, Any, Any], Any]) -> Any:
        """The result of a call: ``choose(condition, result if true, result if false)`` at each condition."""
        found: list[tuple[Any, list[Any]]] = []
        while not found or self._again:
            self.decided = []
            found.append((call(), self.decided))
            if len(found) > self._most:
                raise Refused
            self._again = [answer for _, answer in self.decided]
            while self._again and not self._again[-1]:
                self._again.pop()
            if self._again:
                self._again[-1] = False
        return _joined(found, 0, choose)


def _joined(found: list[tuple[Any, list[tuple[Any, bool]]]], depth: int, choose: Callable[[Any, Any, Any], Any]) -> Any:
    if len(found) == 1:
        return found[0][0]
    sides = ([path for path in found if path[1][depth][1] is side] for side in (True, False))
    return choose(found[0][1][depth][0], *(_joined(side, depth + 1, choose) for side in sides))


class TypedPaths(Paths):
    """Paths through Python that becomes C++; Numba would unify types that differ between paths at one place."""

    def __init__(self) -> None:
        super().__init__(MAX_WAYS)
        self.has_stored = False
        self._types: dict[tuple[CodeType, int], tuple[np.dtype, np.dtype]] = {}

    def decide(self, condition: Value) -> bool:
        """The value assumed for a condition on this path."""
        if self.has_stored:
            raise Refused  # another path would store again
        return super().decide(condition)

    def note(self, dtypes: tuple[np.dtype, np.dtype]) -> None:
        """Record the types of operands, by the current place in the Python code."""
        frame: Any = sys._getframe(1)
        while frame.f_globals is globals():
            frame = frame.f_back
        if self._types.setdefault((frame.f_code, frame.f_lasti), dtypes) != dtypes:
            raise Refused


def is_straight(code: CodeType) -> bool:
    """Whether a function has no loops, no functions of its own, and no blocks that handle exceptions."""
    nested = any(isinstance(constant, CodeType) for constant in code.co_consts)
    loops = any("BACKWARD" in instruction.opname for instruction in dis.get_instructions(code))
    return not (nested or loops or code.co_exceptiontable)


class Traced:
    """A Python function that runs on symbols; `python` is a private copy."""

    def __init__(self, python: FunctionType, text: Text) -> None:
        self._python, self._text = python, text

    def __call__(self, *arguments: Any) -> Any:
        """The result of a call: one value, selected by all branch decisions."""
        text, ways = self._text, TypedPaths()
        self._prepare()
        text.calls += 1
        if text.calls > MAX_VALUES:
            raise Refused  # possibly recursive
        text.ways.append(ways)
        found = ways.follow(lambda: self._python(*arguments), text.chosen)
        text.ways.pop()
        return found

    def _prepare(self) -> None:
        code, names = self._python.__code__, self._python.__globals__
        if not is_straight(code):
            raise Refused
        for cell in self._python.__closure__ or ():
            cell.cell_contents = self._called(cell.cell_contents)
        for name in global_names(code):
            if name not in names and name not in _BUILTIN:
                raise Refused
            names[name] = self._called(names.get(name, getattr(builtins, name, None)))

    def _called(self, value: Any) -> Any:
        """A type converts symbols, too; other functions are unchanged."""
        if not isinstance(value, type) or not issubclass(value, bool | int | float | np.number | np.bool_):
            return value
        text, dtype = self._text, _LITERALS[value] if value in _LITERALS else np.dtype(value)

        def convert(given: Any) -> Value:
            found = text.of(given)
            if value in (int, float):
                if found.dtype.kind == "b":
                    raise Refused
                # Already of that kind, of any size.
                return found if found.dtype.kind == dtype.kind else text.converted(found, dtype)
            return text.converted(found, dtype)

        return convert
