"""Unary and binary operators: one Python function each, with its operand types and its result type.

Types follow NumPy: two operands are converted to ``numpy.result_type``, and the result is computed, and wraps around,
in that type. Over bool the arithmetic operators are the logical ones, as in NumPy and in GraphBLAS (plus: or, times:
and), and minus, which NumPy rejects, is exclusive or, as in GraphBLAS. Operators whose result is a fraction return
floats: float64 for integers, as NumPy's division. Complex numbers are valid for operations without an order: an
operator that compares or rounds rejects them.

A user's function gets its operands unconverted, and its result has the type that Numba infers: integers divided by 2
are float64, a comparison is bool. Numba computes with integers, and with any number and a Python constant, in 64 bits,
so int8 + int8 is int64 and float32 * 0.5 is float64; ``dtype=`` of an operation, or an operator declared with another
`result`, overrides this. The entries of a pattern are True: twice such an entry is the int64 2.
"""

from collections.abc import Callable
from typing import Any, Literal, Self, SupportsIndex

import numpy as np
import numpy.typing as npt

from hpgraph.semiring.dtypes import check_dtype, real_dtype
from hpgraph.semiring.function import Function
from hpgraph.semiring.inference import returned_dtype

Python = Callable[..., Any]
Kind = Literal["returned", "same", "number", "bool", "truth", "bits", "float", "part", "first", "second", "index"]
_UNARY_KINDS = ("returned", "same", "bool", "truth", "bits", "float", "part")
_BINARY_KINDS = ("returned", "same", "number", "bool", "truth", "bits", "float", "first", "second", "index")


def check_held(natural: np.dtype, final: np.dtype, name: str) -> None:
    """Refuse a real type for complex values: no conversion may silently drop the imaginary part."""
    if natural.kind == "c" and final.kind not in "bc":
        raise TypeError(f'{name} gives {natural}, which {final} cannot hold: apply "real", "imag" or "abs" to it')


# Set by the registry, which imports this module: the pickled form of a built-in object, or None.
BY_NAME: list[Callable[[Any], Any]] = []


class ByName:
    """Base of immutable objects: a copy is the object itself; pickle writes the name of a built-in, else the parts."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        found = next((found for write in BY_NAME if (found := write(self))), None)
        return super().__reduce_ex__(2) if found is None else found

    def __getstate__(self) -> dict[str, Any]:
        # Private tables cache functions for types.
        return {name: {} if name[0] == "_" and isinstance(value, dict) else value for name, value in vars(self).items()}


class Op(ByName):
    """Attributes of all operators: a name, a function, optionally specializations for some dtypes."""

    kinds: tuple[str, ...] = ()

    def __init__(
        self,
        name: str,
        python: Python | Function,
        result: Kind = "returned",
        *,
        specialize: Callable[[np.dtype], Python | None] | None = None,
        cpp: str | None = None,
        instead: str | None = None,
    ) -> None:
        if result not in self.kinds:
            raise ValueError(f"result is {result!r}; it must be one of {', '.join(self.kinds)}")
        self.name = name
        self.function = Function(python, name)
        self.result = result
        self.cpp = cpp
        self.instead = instead
        self.specialize = specialize
        self._typed: dict[tuple[np.dtype, ...], Function] = {}
        self._returned: dict[tuple[np.dtype, ...], np.dtype] = {}

    def python_for(self, dtype: np.dtype) -> Python:
        """The function that computes in a dtype."""
        special = self.specialize(dtype) if self.specialize else None
        return special or self.function.python

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def is_users(self) -> bool:
        """Whether a user's function computes it: none has a name in C++ or returns an index."""
        return self.cpp is None

    def _returns(self, python: Python, operands: tuple[np.dtype, ...]) -> np.dtype:
        """The dtype that a user's function returns for operands of these dtypes; cached."""
        if operands not in self._returned:
            function = self.function if python is self.function.python else Function(python, self.name)
            self._returned[operands] = returned_dtype(function, operands)
        return self._returned[operands]

    def _computing_dtype(self, dtype: np.dtype) -> np.dtype:
        """The dtype to compute in, for operands of the common `dtype`."""
        if dtype.kind == "c" and self.instead is not None:
            raise TypeError(f"{self.name} is not defined on complex numbers ({dtype}): {self.instead}")
        if self.result == "truth":
            return np.dtype(bool)
        if self.result == "float" and dtype.kind not in "fc":
            return np.dtype(np.float64)
        if self.result == "number" and dtype.kind == "b":
            return np.dtype(np.int8)
        if self.result == "bits" and dtype.kind in "fc":
            raise TypeError(f"{self.name} works on the bits of integers and bool, not on {dtype}")
        return dtype


class UnaryOp(Op):
    """A function of one number.

    Parameters
    ----------
    name : str
    python : function
        ``f(a)``.
    result : {"returned", "same", "bool", "truth", "bits", "float", "part"}
        Type of the result: the function's return type; that of the operand; bool; bool computed from bool; that of the
        operand, integers and bool only; a float, or a complex number for one; that of the operand's real part.
    specialize : function, optional
        Returns the function to use for a dtype instead, or None.
    cpp : str, optional
        Name of the equivalent in ``operators.cuh``; without it the GPU uses `python`.
    instead : str, optional
        Alternative to an operator that is undefined for complex numbers, for the message.

    Examples
    --------
    >>> from hpgraph.semiring import get_unary
    >>> get_unary("abs")(np.int32(-3))
    np.int32(3)
    """

    kinds = _UNARY_KINDS

    def computing_dtype(self, dtype: npt.DTypeLike) -> np.dtype:
        """The dtype that the operand is converted to."""
        return self._computing_dtype(check_dtype(dtype))

    def result_dtype(self, dtype: npt.DTypeLike) -> np.dtype:
        """The dtype of the result; `TypeError` or `CompileError` if the operator is not defined for `dtype`."""
        computing = self.computing_dtype(dtype)
        if self.is_users:
            returned = self._returns(self.python_for(computing), (computing,))
            if self.result == "returned":
                return returned
        if self.result == "bool":
            return np.dtype(bool)
        return real_dtype(computing) if self.result == "part" else computing

    def typed(self, dtype: npt.DTypeLike) -> Function:
        """The operator for one operand type, as a `Function` ``f(a)`` for kernels that converts as NumPy would."""
        key = (check_dtype(dtype),)
        if key not in self._typed:
            computing = self.computing_dtype(dtype)
            python = self.python_for(computing)
            self._typed[key] = _convert_unary(self.name, python, computing.type, self.result_dtype(dtype).type)
        return self._typed[key]

    def __call__(self, a: Any) -> Any:
        """The value for a scalar, as a NumPy scalar."""
        with np.errstate(all="ignore"):
            return self.typed(np.asarray(a).dtype)(a)


class BinaryOp(Op):
    """A function of two numbers.

    Parameters
    ----------
    name : str
    python : function
        ``f(a, b)``.
    result : str
        Type of the result: "returned", the function's return type; "same", the common type of the operands; "number",
        the same but int8 for bool; "bool", a comparison; "truth", bool computed from bool; "bits", the same as the
        operands, integers and bool only; "float"; "first" or "second", the type of that operand; "index", int64.
    specialize : function, optional
        Returns the function to use for the common dtype of the operands instead, or None.
    cpp : str, optional
        Name of the equivalent in ``operators.cuh``; without it the GPU uses `python`.
    instead : str, optional
        Alternative to an operator that is undefined for complex numbers, for the message.
    position : {"source", "target", "column"}, optional
        For operators that return an index rather than a value, its meaning in a product: the column or the row of the
        matrix entry, or the column of the second operand, which for a vector is 0. "places": see `IndexBinaryOp`.
    axis : {"row", "column"}, optional
        For the same operators, the index of their operand that they return.

    Examples
    --------
    >>> from hpgraph.semiring import get_binary
    >>> plus = get_binary("plus")
    >>> plus(np.int8(100), np.int8(100))
    np.int8(-56)
    >>> plus.result_dtype("int32", "float32")
    dtype('float64')
    """

    kinds: tuple[str, ...] = _BINARY_KINDS

    def __init__(
        self,
        name: str,
        python: Python | Function,
        result: Kind = "returned",
        *,
        specialize: Callable[[np.dtype], Python | None] | None = None,
        cpp: str | None = None,
        instead: str | None = None,
        position: Literal["source", "target", "column", "places"] | None = None,
        axis: Literal["row", "column"] | None = None,
    ) -> None:
        super().__init__(name, python, result, specialize=specialize, cpp=cpp, instead=instead)
        self.position = position
        self.axis = axis

    def computing_dtype(self, a_dtype: npt.DTypeLike, b_dtype: npt.DTypeLike) -> np.dtype:
        """The dtype that both operands are converted to."""
        return self._computing_dtype(np.result_type(check_dtype(a_dtype), check_dtype(b_dtype)))

    def result_dtype(self, a_dtype: npt.DTypeLike, b_dtype: npt.DTypeLike) -> np.dtype:
        """The dtype of the result; `TypeError` or `CompileError` if the operator is not defined for the types."""
        a, b = check_dtype(a_dtype), check_dtype(b_dtype)
        if self.is_users:
            python, *operands = self._operands(a, b)
            returned = self._returns(python, tuple(operands))
            if self.result == "returned":
                return returned
        fixed = {"bool": np.dtype(bool), "index": np.dtype(np.int64), "first": a, "second": b}
        return fixed.get(self.result) or self.computing_dtype(a, b)

    @property
    def is_users(self) -> bool:
        """Whether a user's function computes it: none has a name in C++ or returns an index."""
        return self.cpp is None and self.position is None

    def _operands(self, a: np.dtype, b: np.dtype) -> tuple[Python, np.dtype, np.dtype]:
        """The function for operands of these dtypes, and the dtype that each of them is converted to first."""
        if self.result in ("returned", "first", "second"):
            return self.python_for({"first": a, "second": b}.get(self.result) or np.result_type(a, b)), a, b
        computing = self.computing_dtype(a, b)
        return self.python_for(computing), computing, computing

    def typed(
        self, a_dtype: npt.DTypeLike, b_dtype: npt.DTypeLike, result_dtype: npt.DTypeLike | None = None
    ) -> Function:
        """The operator for two operand types, as a `Function` ``f(a, b)`` for kernels.

        Operands and result are converted as in NumPy, and the result finally to `result_dtype`.
        """
        if self.position:
            raise TypeError(f"{self.name} gives an index of a matrix entry, not a value for two numbers")
        a, b = check_dtype(a_dtype), check_dtype(b_dtype)
        natural = self.result_dtype(a, b)
        final = natural if result_dtype is None else check_dtype(result_dtype, "result_dtype")
        check_held(natural, final, self.name)
        key = (a, b, final)
        if key not in self._typed:
            python, first, second = self._operands(a, b)
            self._typed[key] = _convert_binary(self.name, python, first.type, second.type, natural.type, final.type)
        return self._typed[key]

    def __call__(self, a: Any, b: Any) -> Any:
        """The value for two scalars, as a NumPy scalar."""
        with np.errstate(all="ignore"):
            return self.typed(np.asarray(a).dtype, np.asarray(b).dtype)(a, b)


def by_kind(**functions: Python) -> Callable[[np.dtype], Python | None]:
    """A specialization by NumPy's kind of dtype: b (bool), i (signed), u (unsigned), f (float), c (complex)."""
    return lambda dtype: functions.get(dtype.kind)


def _convert_unary(name: str, python: Python, operand: Any, result: Any) -> Function:
    return Function(lambda a: result(python(operand(a))), name)


def _convert_binary(name: str, python: Python, first: Any, second: Any, natural: Any, final: Any) -> Function:
    if natural is final:
        return Function(lambda a, b: final(python(first(a), second(b))), name)
    return Function(lambda a, b: final(natural(python(first(a), second(b)))), name)


class IndexUnaryOp(Op):
    """A function of an entry's value and position, with a parameter thunk.

    Parameters
    ----------
    name : str
    python : function
        ``f(a, i, j, thunk)`` with value, row and column, or ``f(a, i, j)``, ``f(a, thunk)``, ``f(a)``.
    result : {"returned", "same", "bool", "index"}
        Type of the result: the function's return type; that of the value; bool; int64.
    cpp : str, optional
        Name of the equivalent in ``operators.cuh``; without it the GPU uses `python`.

    Examples
    --------
    >>> from hpgraph.semiring import get_index_unary
    >>> get_index_unary("diagindex")(7.5, 2, 5)
    np.int64(3)
    """

    kinds = ("returned", "same", "bool", "index")

    def __init__(
        self, name: str, python: Python | Function, result: Kind = "returned", *, cpp: str | None = None
    ) -> None:
        super().__init__(name, python, result, cpp=cpp)
        if not 1 <= self.function.n_arguments <= 4:
            raise TypeError(
                f"{name}() takes {self.function.n_arguments} arguments; an index-unary operator has (value), "
                "(value, thunk), (value, row, column) or (value, row, column, thunk)"
            )

    @property
    def uses_position(self) -> bool:
        """Whether the function has parameters row and column."""
        return self.function.n_arguments > 2

    def result_dtype(self, dtype: npt.DTypeLike, thunk_dtype: npt.DTypeLike = np.int64) -> np.dtype:
        """The dtype of the result; `CompileError` if a user's function fails to compile or returns a non-number."""
        given, thunk = check_dtype(dtype), check_dtype(thunk_dtype)
        if self.is_users:
            place = np.dtype(np.int64)
            operands = {1: (given,), 2: (given, thunk), 3: (given, place, place)}
            taken = operands.get(self.function.n_arguments, (given, place, place, thunk))
            returned = self._returns(self.function.python, taken)
            if self.result == "returned":
                return returned
        return {"bool": np.dtype(bool), "index": np.dtype(np.int64)}.get(self.result, given)

    def typed(
        self, dtype: npt.DTypeLike, thunk_dtype: npt.DTypeLike = np.int64, result_dtype: npt.DTypeLike | None = None
    ) -> Function:
        """The operator for one type of values, as a `Function` ``f(a, i, j, thunk)`` for kernels."""
        natural = self.result_dtype(dtype, thunk_dtype)
        final = natural if result_dtype is None else check_dtype(result_dtype, "result_dtype")
        check_held(natural, final, self.name)
        key = (check_dtype(dtype), check_dtype(thunk_dtype), final)
        if key not in self._typed:
            python = self.function.python
            self._typed[key] = _convert_index_unary(
                self.name, python, self.function.n_arguments, natural.type, final.type
            )
        return self._typed[key]

    def __call__(self, a: Any, i: int = 0, j: int = 0, thunk: Any = 0) -> Any:
        """The value for a scalar at a position, as a NumPy scalar."""
        with np.errstate(all="ignore"):
            return self.typed(np.asarray(a).dtype, np.asarray(thunk).dtype)(a, i, j, thunk)


def _convert_index_unary(name: str, python: Python, arguments: int, natural: Any, final: Any) -> Function:
    # A result computed in the values' type is rounded to that type before it is converted.
    if arguments == 1:
        return Function(lambda a, i, j, thunk: final(natural(python(a))), name)
    if arguments == 2:
        return Function(lambda a, i, j, thunk: final(natural(python(a, thunk))), name)
    if arguments == 3:
        return Function(lambda a, i, j, thunk: final(natural(python(a, i, j))), name)
    return Function(lambda a, i, j, thunk: final(natural(python(a, i, j, thunk))), name)
