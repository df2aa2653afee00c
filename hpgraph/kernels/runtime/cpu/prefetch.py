"""Software prefetching, and array accesses without Numba's test for a negative index.

In Numba a negative index counts from the end, so unless it can infer the sign it tests each access. Vertices and
positions of arcs are never negative, which these functions declare to the compiler. A vertex program's own accesses by
vertex id lose the test too.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from hpgraph.semiring.intrinsic import instruction, intrinsic


def _data(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
    return context.data_model_manager[array_type].get(builder, array, "data")


def _place(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _place_in(context, builder, sig.args[0], args[0], args[1])


def _place_in(context: Any, builder: Any, array_type: Any, array: Any, position: Any) -> Any:
    return builder.gep(_data(context, builder, array_type, array), [position], inbounds=True)


def load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Code of ``array[position]``, of an instruction whose first two arguments these are."""
    value = builder.load(_place(context, builder, sig, args))
    # A bool takes a byte in memory.
    return context.data_model_manager[sig.return_type].from_data(builder, value)


@intrinsic(lambda array, position: array[position])
def peek(typingctx: Any, array: Any, position: Any) -> Any:
    """``array[position]`` of a contiguous 1-d array, `position` from 0."""
    return array.dtype(array, types.int64), load


@instruction(
    lambda array, position, value: types.none(array, types.int64, array.dtype),
    lambda array, position, value: array.__setitem__(position, value),
)
def put(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """``array[position] = value`` in a contiguous 1-d array of the value's type, `position` from 0."""
    held = context.data_model_manager[sig.args[2]].as_data(builder, args[2])
    builder.store(held, _place(context, builder, sig, args))


@instruction(
    lambda arrays, position: types.Tuple([array.dtype for array in arrays])(arrays, types.int64),
    lambda arrays, position: tuple(array[position] for array in arrays),
)
def peek_each(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """``array[position]`` of each of a tuple of arrays, as a tuple."""
    values = []
    for k, array in enumerate(sig.args[0]):
        place = _place_in(context, builder, array, builder.extract_value(args[0], k), args[1])
        values.append(context.data_model_manager[array.dtype].from_data(builder, builder.load(place)))
    return context.make_tuple(builder, sig.return_type, values)


def _put_each(arrays: Any, others: Any, position: Any, values: Any) -> None:
    for array, other, value in zip(arrays, others, values, strict=True):
        (array if other is None else other)[position] = value


@instruction(lambda arrays, others, position, values: types.none(arrays, others, types.int64, values), _put_each)
def put_each(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """``array[position] = value`` for each of a tuple of arrays; where `others` has an array, there instead."""
    # In-place stores first: nothing was written since the values were read, so LLVM drops unchanged ones.
    order = sorted(range(len(sig.args[0])), key=lambda k: not isinstance(sig.args[1][k], types.NoneType))
    for k in order:
        among = 0 if isinstance(sig.args[1][k], types.NoneType) else 1
        array = sig.args[among][k]
        place = _place_in(context, builder, array, builder.extract_value(args[among], k), args[2])
        value = builder.extract_value(args[3], k)
        value = context.cast(builder, value, sig.args[3][k], array.dtype)
        builder.store(context.data_model_manager[array.dtype].as_data(builder, value), place)


@instruction(lambda ids, position: types.int64(ids, types.int64), lambda ids, position: np.int64(ids[position]))
def vertex(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """The vertex id ``ids[position]`` as an int64 that the compiler knows not to be negative."""
    value = builder.load(_place(context, builder, sig, args))
    wide = ir.IntType(64)
    return builder.zext(value, wide) if value.type.width < wide.width else value


def prefetch_place(context: Any, builder: Any, array_type: Any, array: Any, position: Any, write: int = 0) -> None:
    """Code that prefetches the line of ``array[position]``, for reading or for writing."""
    byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
    fetch = builder.module.declare_intrinsic(
        "llvm.prefetch", tys=(byte,), fnty=ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
    )
    data = _data(context, builder, array_type, array)
    # Into all levels of cache, of the data cache.
    flags = (ir.Constant(flag, number) for number in (write, 3, 1))
    builder.call(fetch, [builder.bitcast(builder.gep(data, [position]), byte), *flags])


@instruction(lambda array, position: types.none(array, types.int64), lambda array, position: None)
def prefetch(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Prefetch the line of ``array[position]`` for reading; an index out of bounds is harmless."""
    prefetch_place(context, builder, sig.args[0], args[0], args[1])


@instruction(lambda arrays, position: types.none(arrays, types.int64), lambda arrays, position: None)
def prefetch_each(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Prefetch the line of ``array[position]`` of each of a tuple of arrays for writing."""
    for k, array in enumerate(sig.args[0]):
        prefetch_place(context, builder, array, builder.extract_value(args[0], k), args[1], 1)


@instruction(lambda array, position: array.dtype(array, types.int64), lambda array, position: array[position])
def peek_after(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """`peek` with sequentially consistent ordering after all earlier reads and writes of this thread."""
    size = sig.return_type.bitwidth // 8
    return builder.load_atomic(_place(context, builder, sig, args), "seq_cst", size)


@instruction(lambda: types.none(), lambda: None)
def fence(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Full memory fence: what this thread wrote before is visible to others before it reads on."""
    builder.fence("seq_cst")


def _copy_slice(target: Any, at: Any, source: Any, begin: Any, count: Any) -> None:
    target[at : at + count] = source[begin : begin + count]


@instruction(
    lambda target, at, source, begin, count: types.void(target, types.uint64, source, types.uint64, types.uint64),
    _copy_slice,
)
def copy_items(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """``target[at:at + count] = source[begin:begin + count]`` of arrays that share no memory, as one call of memcpy."""
    to, from_ = (context.make_array(sig.args[k])(context, builder, args[k]).data for k in (0, 2))
    size = ir.Constant(ir.IntType(64), context.get_abi_sizeof(context.get_data_type(sig.args[0].dtype)))
    byte = ir.IntType(8).as_pointer()
    places = (builder.bitcast(builder.gep(base, [args[k]]), byte) for base, k in ((to, 1), (from_, 3)))
    cgutils.raw_memcpy(builder, *places, builder.mul(args[4], size), 1)


@instruction(lambda: types.none(), lambda: None)
def rolled(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Keep LLVM from unrolling the enclosing loop: few iterations gain nothing, and copies of the body cost time."""
    barrier = builder.asm(ir.FunctionType(ir.VoidType(), []), "", "", [], True)
    barrier.attributes.add("convergent")
