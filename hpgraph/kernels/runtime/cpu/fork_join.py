"""Fork and join on Numba's threads, without the passes of ``parallel=True``.

For a loop of `prange` Numba writes a function in Python, compiles it, wraps it twice and optimizes each time all
callees of the loop: a sixth of the time to compile a search. Here the loop calls one compiled function, from a function
with the signature of Numba's threading layers.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from hpgraph.semiring.intrinsic import intrinsic

_INT, _WORD = ir.IntType(32), ir.IntType(64)
_BYTES, _WORDS = ir.IntType(8).as_pointer(), ir.IntType(64).as_pointer()
# Arguments of a thread's work: arrays, with another offset for each thread; lengths; steps; shared data.
_SHARE = ir.FunctionType(ir.VoidType(), [_BYTES.as_pointer(), _WORDS, _WORDS, _BYTES])
_PARALLEL_FOR = ir.FunctionType(
    ir.VoidType(), [_BYTES, _BYTES.as_pointer(), _WORDS, _WORDS, _BYTES, _WORD, _WORD, _INT]
)


def _in_turn(count: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    for i in range(count):
        function(i, *arguments)


def _borrowed(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Arrays without an owner: threads that counted references to one would write to the same cache line."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = ir.Constant(array.meminfo.type, None)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        for k, one in enumerate(kind):
            value = builder.insert_value(value, _borrowed(context, builder, one, builder.extract_value(value, k)), k)
    return value


@intrinsic(_in_turn)
def in_parallel(typingctx: Any, count: Any, function: Any, arguments: Any) -> Any:
    """Call ``function(i, *arguments)`` for each `i` below `count`, divided among the threads in equal ranges."""
    called = typingctx.resolve_function_type(function, (types.int64, *arguments), {})

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        def constant(number: int) -> Any:
            return ir.Constant(_WORD, number)

        module, code = builder.module, function.dispatcher.overloads[called.args]
        context.add_linking_libs([code.library])
        # Shared by all: the count, the number of ranges, the arguments.
        kind = ir.LiteralStructType([_WORD, _WORD, args[2].type])
        number_of_threads = ir.FunctionType(_WORD, [])
        threads = builder.call(cgutils.get_or_insert_function(module, number_of_threads, "get_num_threads"), [])
        ranges = builder.select(builder.icmp_signed("<", args[0], threads), args[0], threads)
        borrowed = _borrowed(context, builder, arguments, args[2])
        everything = cgutils.make_anonymous_struct(builder, [args[0], ranges, borrowed], kind)
        shared = cgutils.alloca_once_value(builder, everything)
        # An array at address 0 of bytes: where a thread's part of it begins is the number of its first range.
        place = cgutils.alloca_once_value(builder, ir.Constant(_BYTES, None))
        lengths, steps = (cgutils.alloca_once_value(builder, value) for value in (ranges, constant(1)))

        body = ir.Function(module, _SHARE, module.get_unique_name("hpgraph_share"))
        body.linkage = "internal"
        # It is called in two places.
        body.attributes.add("noinline")
        inner = ir.IRBuilder(body.append_basic_block())
        held = inner.load(inner.bitcast(body.args[3], kind.as_pointer()))
        total, parts, given = (inner.extract_value(held, k) for k in range(3))
        first = inner.ptrtoint(inner.load(body.args[0]), _WORD)
        last = inner.add(first, inner.load(body.args[1]))
        begin, end = (inner.sdiv(inner.mul(total, at), parts) for at in (first, last))
        values = [
            context.cast(inner, inner.extract_value(given, k), kind, called.args[k + 1])
            for k, kind in enumerate(arguments)
        ]
        with cgutils.for_range_slice(inner, begin, end, constant(1)) as (i, _):
            # An exception ends only this call, as in a loop of `prange`.
            entry = context.declare_function(module, code.fndesc)
            context.call_conv.call_function(
                inner, entry, called.return_type, called.args, [i, *values], ("alwaysinline",)
            )
        inner.ret_void()

        parallel_for = cgutils.get_or_insert_function(module, _PARALLEL_FOR, "numba_parallel_for")
        with builder.if_then(builder.icmp_signed(">", ranges, constant(1))):
            builder.call(parallel_for, [
                builder.bitcast(body, _BYTES), place, lengths, steps, builder.bitcast(shared, _BYTES), constant(0),
                constant(1), builder.trunc(threads, _INT),
            ])  # fmt: skip
        # The library takes microseconds to call the function in this thread.
        with builder.if_then(builder.icmp_signed("==", ranges, constant(1))):
            builder.call(body, [place, lengths, steps, builder.bitcast(shared, _BYTES)])
        return context.get_dummy_value()

    return types.none(types.int64, function, arguments), generate
