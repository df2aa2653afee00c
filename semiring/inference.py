"""Result types of Python functions for arguments of given types, inferred by Numba: the same on both devices."""

from __future__ import annotations

import dis
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.core.errors import CompileError
from hpgraph.semiring.compile_errors import at_line, reason
from hpgraph.semiring.dtypes import DTYPES

if TYPE_CHECKING:
    from hpgraph.semiring.function import Function


def returned_dtype(function: Function, argument_dtypes: tuple[Any, ...]) -> np.dtype:
    """The return dtype of a function."""
    from numba import config, from_dtype

    if config.DISABLE_JIT:
        return _dtype_seen(function, argument_dtypes)
    found = returned_type(function, tuple(from_dtype(dtype) for dtype in argument_dtypes))
    dtype = dtype_of(found)
    if dtype is None:
        raise CompileError(
            function.name, f"it must return a number, not {described(found)} {last_return(function.python)}"
        )
    return dtype


def _dtype_seen(function: Function, argument_dtypes: tuple[Any, ...]) -> np.dtype:
    """The dtype that a function returns for ones, if nothing is compiled."""
    with np.errstate(all="ignore"):
        returned = np.asarray(function(*(dtype.type(1) for dtype in argument_dtypes)))
    if returned.ndim or returned.dtype.kind not in "biufc":
        raise CompileError(function.name, f"it must return a number {last_return(function.python)}")
    return returned.dtype


def returned_type(function: Function, argument_types: tuple[Any, ...]) -> Any:
    """The Numba return type of a function."""
    from numba import types
    from numba.core.registry import cpu_target

    context = cpu_target.typing_context
    context.refresh()
    try:
        signature = types.Dispatcher(function.dispatcher).get_call_type(context, argument_types, {})
    except Exception as error:  # Numba's passes, and LLVM, raise any type
        raise CompileError(function.name, reason(error)) from error
    return types.unliteral(signature.return_type)


def dtype_of(numba_type: Any) -> np.dtype | None:
    """The dtype of a Numba type that kernels compute in; None for another type."""
    from numba import types
    from numba.np.numpy_support import as_dtype

    if isinstance(numba_type, types.IntEnumMember):
        numba_type = numba_type.dtype
    if not isinstance(numba_type, types.Boolean | types.Integer | types.Float | types.Complex):
        return None
    dtype = as_dtype(numba_type)
    return dtype if dtype in DTYPES else None


def described(numba_type: Any) -> str:
    """A Numba type in words."""
    from numba import types

    words: tuple[tuple[Any, str], ...] = (
        (types.Optional, "None where no return is reached"),
        (types.NoneType, "None"),
        (types.BaseTuple, f"a tuple of {getattr(numba_type, 'count', 0)}"),
        ((types.List, types.ListType), "a list"),
        ((types.DictType, types.LiteralStrKeyDict), "a dict"),
        (types.Set, "a set"),
        ((types.UnicodeType, types.CharSeq, types.UnicodeCharSeq), "a string"),
        (types.Array, "an array"),
        (types.Complex, "a complex number"),
        ((types.Dispatcher, types.Function, types.MakeFunctionLiteral), "a function"),
        (types.Generator, "a generator"),
    )
    return next((text for kind, text in words if isinstance(numba_type, kind)), str(numba_type))


def last_return(python: FunctionType) -> str:
    """The source location of a function's last return."""
    lines = [
        instruction.positions.lineno
        for instruction in dis.get_instructions(python.__code__)
        if instruction.opname in ("RETURN_VALUE", "RETURN_CONST") and instruction.positions is not None
    ]
    return at_line(python.__code__, next((line for line in reversed(lines) if line), None))
