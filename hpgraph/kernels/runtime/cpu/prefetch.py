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

from hpgraph.semiring.intrinsic import intrinsic


def _place(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _place_in(context, builder, sig.args[0], args[0], args[1])


def _place_in(context: Any, builder: Any, array_type: Any, array: Any, position: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [position], inbounds=True)


def load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Code of ``array[position]``, of an instruction whose first two arguments these are."""
    value = builder.load(_place(context, builder, sig, args))
    # A bool takes a byte in memory.
    return context.data_model_manager[sig.return_type].from_data(builder, value)


@intrinsic(lambda array, position: array[position])
def peek(typingctx: Any, array: Any, position: Any) -> Any:
    """``array[position]`` of a contiguous 1-d array, `position` from 0."""
    return array.dtype(array, types.int64), load


@intrinsic(lambda array, position, value: array.__setitem__(position, value))
def put(typingctx: Any, array: Any, position: Any, value: Any) -> Any:
    """``array[position] = value`` in a contiguous 1-d array of the value's type, `position` from 0."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        held = context.data_model_manager[sig.args[2]].as_data(builder, args[2])
        builder.store(held, _place(context, builder, sig, args))
        return context.get_dummy_value()

    return types.none(array, types.int64, array.dtype), generate


@intrinsic(lambda arrays, position: tuple(array[position] for array in arrays))
def peek_each(typingctx: Any, arrays: Any, position: Any) -> Any:
    """``array[position]`` of each of a tuple of arrays, as a tuple."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = []
        for k, array in enumerate(sig.args[0]):
            place = _place_in(context, builder, array, builder.extract_value(args[0], k), args[1])
            values.append(context.data_model_manager[array.dtype].from_data(builder, builder.load(place)))
        return context.make_tuple(builder, sig.return_type, values)

    return types.Tuple([array.dtype for array in arrays])(arrays, types.int64), generate


def _put_each(arrays: Any, others: Any, position: Any, values: Any) -> None:
    for array, other, value in zip(arrays, others, values, strict=True):
        (array if other is None else other)[position] = value


@intrinsic(_put_each)
def put_each(typingctx: Any, arrays: Any, others: Any, position: Any, values: Any) -> Any:
    """``array[position] = value`` for each of a tuple of arrays; where `others` has an array, there instead."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        # First those in place: nothing was written since the values were read, so that LLVM drops what is unchanged.
        order = sorted(range(len(sig.args[0])), key=lambda k: not isinstance(sig.args[1][k], types.NoneType))
        for k in order:
            among = 0 if isinstance(sig.args[1][k], types.NoneType) else 1
            array = sig.args[among][k]
            place = _place_in(context, builder, array, builder.extract_value(args[among], k), args[2])
            value = builder.extract_value(args[3], k)
            value = context.cast(builder, value, sig.args[3][k], array.dtype)
            builder.store(context.data_model_manager[array.dtype].as_data(builder, value), place)
        return context.get_dummy_value()

    return types.none(arrays, others, types.int64, values), generate


@intrinsic(lambda ids, position: np.int64(ids[position]))
def vertex(typingctx: Any, ids: Any, position: Any) -> Any:
    """The vertex id ``ids[position]`` as an int64 that the compiler knows not to be negative."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = builder.load(_place(context, builder, sig, args))
        wide = ir.IntType(64)
        return builder.zext(value, wide) if value.type.width < wide.width else value

    return types.int64(ids, types.int64), generate


def prefetch_place(
    context: Any, builder: Any, array_type: Any, array: Any, position: Any, write: int = 0
) -> None:
    """Code that fetches the line of ``array[position]``, for reading or for writing."""
    byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
    fetch = builder.module.declare_intrinsic(
        "llvm.prefetch", tys=(byte,), fnty=ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
    )
    data = context.make_array(array_type)(context, builder, array).data
    # Into all levels of cache, of the data cache.
    how = (ir.Constant(flag, number) for number in (write, 3, 1))
    builder.call(fetch, [builder.bitcast(builder.gep(data, [position]), byte), *how])


@intrinsic(lambda array, position: None)
def prefetch(typingctx: Any, array: Any, position: Any) -> Any:
    """Prefetch the line of ``array[position]`` for reading; an index out of bounds is harmless."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        prefetch_place(context, builder, sig.args[0], args[0], args[1])
        return context.get_dummy_value()

    return types.none(array, types.int64), generate


@intrinsic(lambda arrays, position: None)
def prefetch_each(typingctx: Any, arrays: Any, position: Any) -> Any:
    """Fetch the line of ``array[position]``, of each of a tuple of arrays, for writing."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        for k, array in enumerate(sig.args[0]):
            prefetch_place(context, builder, array, builder.extract_value(args[0], k), args[1], 1)
        return context.get_dummy_value()

    return types.none(arrays, types.int64), generate


@intrinsic(lambda array, position: array[position])
def peek_after(typingctx: Any, array: Any, position: Any) -> Any:
    """`peek`, not before any earlier read or write of this thread has taken effect (sequentially consistent)."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        size = sig.return_type.bitwidth // 8
        return builder.load_atomic(_place(context, builder, sig, args), "seq_cst", size)

    return array.dtype(array, types.int64), generate


@intrinsic(lambda: None)
def fence(typingctx: Any) -> Any:
    """Full memory fence: what this thread wrote before is visible to others before it reads on."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.none(), generate


def _copy_slice(target: Any, at: Any, source: Any, begin: Any, count: Any) -> None:
    target[at : at + count] = source[begin : begin + count]


@intrinsic(_copy_slice)
def copy_items(typingctx: Any, target: Any, at: Any, source: Any, begin: Any, count: Any) -> Any:
    """``target[at:at + count] = source[begin:begin + count]`` of arrays that share no memory, as one call of memcpy."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        to, from_ = (context.make_array(sig.args[k])(context, builder, args[k]).data for k in (0, 2))
        size = ir.Constant(ir.IntType(64), context.get_abi_sizeof(context.get_data_type(sig.args[0].dtype)))
        byte = ir.IntType(8).as_pointer()
        places = (builder.bitcast(builder.gep(base, [args[k]]), byte) for base, k in ((to, 1), (from_, 3)))
        cgutils.raw_memcpy(builder, *places, builder.mul(args[4], size), 1)
        return context.get_dummy_value()

    return types.void(target, types.uint64, source, types.uint64, types.uint64), generate


@intrinsic(lambda: None)
def rolled(typingctx: Any) -> Any:
    """Keep LLVM from unrolling the enclosing loop: few iterations gain nothing, and copies of the body cost time."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        nothing = builder.asm(ir.FunctionType(ir.VoidType(), []), "", "", [], True)
        nothing.attributes.add("convergent")
        return context.get_dummy_value()

    return types.none(), generate
