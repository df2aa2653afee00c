"""Atomic operations on array elements inside Numba's parallel CPU kernels. Imports Numba.

Numba offers atomics for the GPU only. These are LLVM's instructions, at the same cost as in C++. The array is
one-dimensional, contiguous and of 8- to 64-bit numbers; indices are not checked and negative ones do not wrap around.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError

from hpgraph.semiring.intrinsic import element, instruction


def _checked(name: str, array: Any, index: Any, floats: bool = True) -> Any:
    """The type of an array's elements, checked to support the operation."""
    kinds = (types.Integer, types.Float) if floats else (types.Integer,)
    if not isinstance(array, types.Array) or array.ndim != 1 or array.layout != "C" or not array.mutable:
        raise TypingError(f"{name}() needs a writable contiguous 1-d array, not {array}")
    if not isinstance(array.dtype, kinds):
        raise TypingError(f"{name}() does not work on elements of {array.dtype}")
    if not isinstance(index, types.Integer):
        raise TypingError(f"{name}() needs an integer index, not {index}")
    return array.dtype


def _element(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array = context.make_array(sig.args[0])(context, builder, args[0])
    index = context.cast(builder, args[1], sig.args[1], types.intp)
    return builder.gep(array.data, [index])


def _swap_if_same(array: Any, index: Any, expected: Any, desired: Any) -> bool:
    same = bool(array[index].tobytes() == element(array, expected).tobytes())
    if same:
        array[index] = desired
    return same


def _replace(array: Any, index: Any, value: Any) -> Any:
    """Write a value; returns the old one."""
    before = array[index]
    array[index] = value
    return before


@instruction(
    lambda array, index, expected, desired: types.boolean(
        array, index, *[_checked("compare_and_swap", array, index)] * 2
    ),
    _swap_if_same,
)
def compare_and_swap(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Write `desired` to ``array[index]`` if it is `expected`; returns whether. Floats compare by their bits."""
    pointer = _element(context, builder, sig, args)
    old, new = args[2:]
    if isinstance(sig.args[0].dtype, types.Float):
        integer = ir.IntType(sig.args[0].dtype.bitwidth)
        pointer = builder.bitcast(pointer, integer.as_pointer())
        old, new = builder.bitcast(old, integer), builder.bitcast(new, integer)
    return builder.extract_value(builder.cmpxchg(pointer, old, new, "acq_rel", "acquire"), 1)


@instruction(
    lambda array, index, value: _checked("fetch_add", array, index)(array, index, array.dtype),
    lambda array, index, value: _replace(array, index, array[index] + element(array, value)),
)
def fetch_add(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Add `value` to ``array[index]``; returns the old value. Sums of floats depend on the order of the threads."""
    operation = "fadd" if isinstance(sig.return_type, types.Float) else "add"
    return builder.atomic_rmw(operation, _element(context, builder, sig, args), args[2], "acq_rel")


@instruction(
    lambda array, index, bits: _checked("atomic_or", array, index, floats=False)(array, index, array.dtype),
    lambda array, index, bits: _replace(array, index, array[index] | element(array, bits)),
)
def atomic_or(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Set bits of ``array[index]``; returns the old value."""
    return builder.atomic_rmw("or", _element(context, builder, sig, args), args[2], "acq_rel")


@instruction(
    lambda array, index: _checked("atomic_load", array, index)(array, index), lambda array, index: array[index]
)
def atomic_load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Read ``array[index]`` from memory: the compiler may hoist a plain read out of a loop."""
    pointer, size = _element(context, builder, sig, args), sig.return_type.bitwidth // 8
    return builder.load_atomic(pointer, "acquire", size, typ=context.get_value_type(sig.return_type))
