"""Operators, monoids, products and Python functions as CUDA C++ types, for the kernels' templates.

A built-in operator is a struct of ``operators.cuh``. A Python function that only computes and branches is translated to
C++; any other is declared as ``extern "C"`` and linked in as LTO-IR. In both cases the template parameter is a type
with a static ``apply``.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from hpgraph.semiring.c_types import c_literal, c_type
from hpgraph.semiring.dtypes import check_dtype
from hpgraph.semiring.entry import EntryFunction
from hpgraph.semiring.function import Function
from hpgraph.semiring.index_binary import IndexBinaryOp
from hpgraph.semiring.monoid import Monoid
from hpgraph.semiring.operators import BinaryOp, UnaryOp
from hpgraph.semiring.semiring import Gather
from hpgraph.semiring.tracing import byte_type, traced

INCLUDE = '#include "operators.cuh"\n'


@dataclass(frozen=True)
class LinkedCode:
    """LTO-IR generated on demand: a kernel found in the cache needs none."""

    key: str
    produce: Callable[[], bytes] = field(compare=False, repr=False)
    lasting: bool = True
    function: Function | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class DeviceCode:
    """A C++ type and the code that defines it."""

    functor: str
    source: str
    ltoir: tuple[LinkedCode, ...] = ()


def binary_functor(
    op: BinaryOp, a_dtype: npt.DTypeLike, b_dtype: npt.DTypeLike, name: str, result_dtype: npt.DTypeLike | None = None
) -> DeviceCode:
    """A struct with ``static R apply(A a, B b)``."""
    typed = op.typed(a_dtype, b_dtype, result_dtype)
    natural = op.result_dtype(a_dtype, b_dtype)
    final = natural if result_dtype is None else check_dtype(result_dtype, "result_dtype")
    if op.cpp is None:
        return function_functor(typed, (a_dtype, b_dtype), final, name)
    value = _apply(op, a_dtype, b_dtype, final, "a", "b")
    parameters = f"{c_type(a_dtype)} a, {c_type(b_dtype)} b"
    return DeviceCode(name, INCLUDE + _struct(name, c_type(final), parameters, f"return {value};"))


def monoid_functor(monoid: Monoid, dtype: npt.DTypeLike, name: str) -> DeviceCode:
    """A struct of a monoid in one type, with static ``apply``, ``identity``, ``is_terminal`` and ``atomic_combine``."""
    found = check_dtype(dtype)
    kind = c_type(found)
    code = binary_functor(monoid.op, found, found, f"{name}Operator", found)
    terminal = monoid.terminal_for(found)
    if monoid.ends_on_anything:
        is_terminal = f"a != {c_literal(monoid.identity_for(found))}"
    else:
        is_terminal = "false" if terminal is None else f"a == {c_literal(terminal)}"
    # A built-in monoid's struct in operators.cuh uses the hardware's atomics if there are any.
    atomic = (
        f"hpgraph::op::{monoid.op.cpp}::atomic_combine(where, value)"
        if monoid.cpp
        else f"hpgraph::op::combine_by_cas<{code.functor}>(where, value)"
    )
    # Complex numbers are not combined atomically: no instruction does both parts at once.
    combine = f"    __device__ static bool atomic_combine({kind}* where, {kind} value) {{ return {atomic}; }}\n"
    source = f"""{code.source}struct {name} : {code.functor} {{
    static constexpr bool has_terminal = {str(monoid.has_terminal(found)).lower()};
    __device__ static {kind} identity() {{ return {c_literal(monoid.identity_for(found))}; }}
    __device__ static bool is_terminal({kind} a) {{ return {is_terminal}; }}
{"" if found.kind == "c" else combine}}};
"""
    return DeviceCode(name, source if source.startswith(INCLUDE) else INCLUDE + source, code.ltoir)


def gather_functor(
    gather: Function,
    weight_dtype: npt.DTypeLike,
    state_dtypes: Sequence[npt.DTypeLike],
    result_dtype: npt.DTypeLike,
    index_dtype: npt.DTypeLike,
    name: str,
) -> DeviceCode:
    """A struct with ``static R apply(const S0* s0, ..., I source, W weight, I target)``."""
    weight, result = check_dtype(weight_dtype, "weight_dtype"), check_dtype(result_dtype, "result_dtype")
    state = [check_dtype(dtype, "state_dtypes") for dtype in state_dtypes]
    index = c_type(index_dtype)
    pointers = [f"const {c_type(dtype)}* s{i}" for i, dtype in enumerate(state)]
    parameters = ", ".join([*pointers, f"{index} source", f"{c_type(weight)} weight", f"{index} target"])
    op = gather.semiring.multiply if isinstance(gather, Gather) else None
    if op and not isinstance(op, IndexBinaryOp) and (op.cpp or op.position):
        if op.position:
            # A vector has one column.
            value = f"({c_type(result)}){'0' if op.position == 'column' else op.position}"
        elif op.cpp == "pair":
            value = f"({c_type(result)})1"
        else:
            value = _apply(op, weight, state[0], result, "weight", "s0[source]")
        return DeviceCode(name, INCLUDE + _struct(name, c_type(result), parameters, f"return {value};"))
    types = (tuple(f"{dtype.name}*" for dtype in state), index_dtype, weight, index_dtype)
    text, call, code = _called(gather, types, result, name)
    arguments = [*(f"({byte_type(dtype)}*)s{i}" for i, dtype in enumerate(state)), "source", "weight", "target"]
    body = f"return {call.format(', '.join(arguments))};"
    return DeviceCode(name, INCLUDE + text + _struct(name, c_type(result), parameters, body), code)


def entry_functor(function: EntryFunction, name: str) -> DeviceCode:
    """A struct with ``static R apply(X x, Y y, long long i, long long j)``."""
    op, x, y, final = function.op, c_type(function.x_dtype), c_type(function.y_dtype), c_type(function.dtype)
    if isinstance(op, BinaryOp) and op.axis is not None:
        value = f"({final}){'i' if op.axis == 'row' else 'j'}"
    elif op.cpp is None:
        types = function.x_dtype, function.y_dtype, np.int64, np.int64
        return function_functor(function, types, function.dtype, name)
    elif isinstance(op, BinaryOp):
        operands = [(function.x_dtype, "x"), (function.y_dtype, "y")]
        (first, a), (second, b) = reversed(operands) if function.swapped else operands
        value = _apply(op, first, second, function.dtype, a, b)
    elif isinstance(op, UnaryOp):
        computing, natural = c_type(op.computing_dtype(function.x_dtype)), c_type(op.result_dtype(function.x_dtype))
        value = f"({final})({natural})hpgraph::op::{op.cpp}::apply<{computing}>(({computing})x)"
    else:
        natural = c_type(op.result_dtype(function.x_dtype, function.y_dtype))
        value = f"({final})({natural})hpgraph::op::{op.cpp}::apply(i, j, (long long)y)"
    parameters = f"{x} x, {y} y, long long i, long long j"
    return DeviceCode(name, INCLUDE + _struct(name, final, parameters, f"return {value};"))


def function_functor(
    function: Function, argument_dtypes: Sequence[Any], return_dtype: npt.DTypeLike | None, name: str
) -> DeviceCode:
    """A struct with ``static R apply(A0 a0, A1 a1, ...)`` that calls a Python function."""
    text, call, code = _called(function, tuple(argument_dtypes), return_dtype, name)
    kinds = [_parameter_type(dtype) for dtype in _flat(argument_dtypes)]
    parameters = ", ".join(f"{kind} a{i}" for i, kind in enumerate(kinds))
    value = call.format(", ".join(f"(unsigned char*)a{i}" if k == "bool*" else f"a{i}" for i, k in enumerate(kinds)))
    result = "void" if return_dtype is None else c_type(return_dtype)
    body = f"{value};" if return_dtype is None else f"return {value};"
    return DeviceCode(name, INCLUDE + text + _struct(name, result, parameters, body), code)


def _struct(name: str, result: str, parameters: str, body: str) -> str:
    return f"""struct {name} {{
    __device__ static {result} apply({parameters}) {{
        {body}
    }}
}};
"""


def _apply(op: BinaryOp, a_dtype: Any, b_dtype: Any, final: np.dtype, a: str, b: str) -> str:
    """C++ expression of a built-in operator, with the conversions that `BinaryOp.typed` makes."""
    if op.result in ("first", "second"):
        return f"({c_type(final)}){a if op.result == 'first' else b}"
    computing, natural = c_type(op.computing_dtype(a_dtype, b_dtype)), c_type(op.result_dtype(a_dtype, b_dtype))
    value = f"hpgraph::op::{op.cpp}::apply<{computing}>(({computing}){a}, ({computing}){b})"
    return f"({c_type(final)}){value}" if natural == c_type(final) else f"({c_type(final)})({natural}){value}"


def device_function(
    function: Function, types: tuple[Any, ...], result: npt.DTypeLike | None, symbol: str
) -> tuple[str, tuple[LinkedCode, ...]]:
    """A Python function under a name in C++: translated to C++ if possible, else Numba's code."""
    returned = None if result is None else check_dtype(result)
    text = traced(function.python, types, returned, symbol)
    if text is not None:
        return text, ()
    parameters = ", ".join(_parameter_type(kind, byte_type) for kind in _flat(types))
    declared = "void" if returned is None else byte_type(returned)
    key = f"{declared} {symbol}({parameters}) {_nesting(types)}: {function.key}"
    fault = function.fault
    code = LinkedCode(key, lambda: function.cuda(types, result, symbol, fault=fault), function.is_lasting, function)
    include = '#include "faults.cuh"\n' if fault else ""
    return f'{include}extern "C" __device__ {declared} {symbol}({parameters});\n', (code,)


def _called(
    function: Function, types: tuple[Any, ...], result: Any, name: str
) -> tuple[str, str, tuple[LinkedCode, ...]]:
    """A Python function in C++ for a struct of that name, its call (``{}``: its arguments), and the code to link."""
    kinds = [_parameter_type(kind) for kind in (*_flat(types), *(() if result is None else (result,)))]
    if any("complex" in kind for kind in kinds):
        raise TypeError(
            f"{function.name} is a Python function of complex numbers, which cannot be linked into a kernel on the GPU:"
            ' give a built-in operator, or move the operands by .to("cpu")'
        )
    identity = f"{name} {function.key}({', '.join(kinds)}) {_nesting(types)} {result is None}"
    symbol = f"hpgraph_{hashlib.sha256(identity.encode()).hexdigest()[:24]}"
    text, code = device_function(function, types, result, symbol)
    is_bool = result is not None and np.dtype(result) == np.bool_
    return text, f"{'(bool)' if is_bool else ''}{symbol}({{}})", code


def _flat(types: Sequence[Any]) -> list[Any]:
    flat: list[Any] = []
    for dtype in types:
        flat.extend(_flat(dtype) if isinstance(dtype, tuple) else [dtype])
    return flat


def _nesting(types: tuple[Any, ...]) -> str:
    return "(" + "".join(_nesting(dtype) if isinstance(dtype, tuple) else "." for dtype in types) + ")"


def _parameter_type(kind: Any, typed: Callable[[Any], str] = c_type) -> str:
    is_pointer = isinstance(kind, str) and kind.endswith("*")
    return typed(np.dtype(kind[:-1])) + "*" if is_pointer else typed(np.dtype(kind))
