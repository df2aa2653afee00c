"""Sums of eight lanes, a cache line, by one vector instruction if the processor has it."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from hpgraph.semiring.intrinsic import intrinsic

# Lanes of a line.
LINE = 8


def _add_in_python(sums: Any, first: Any, numbers: Any, at: Any, lanes: Any) -> None:
    for k in range(LINE):
        if int(lanes) >> k & 1:
            sums[first + k] += numbers[at + k]


@intrinsic(_add_in_python)
def add_line(typingctx: Any, sums: Any, first: Any, numbers: Any, at: Any, lanes: Any) -> Any:
    """``sums[first + k] += numbers[at + k]`` for each bit k that is set among the lowest eight of a uint64.

    As a plain loop it is not vectorized: LLVM cannot know that the arrays do not alias.
    """

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        line = ir.VectorType(ir.DoubleType(), LINE)

        def place(array: int, index: int) -> Any:
            data = context.make_array(sig.args[array])(context, builder, args[array]).data
            return builder.bitcast(builder.gep(data, [args[index]], inbounds=True), line.as_pointer())

        mask = builder.bitcast(builder.trunc(args[4], ir.IntType(LINE)), ir.VectorType(ir.IntType(1), LINE))
        to = place(0, 1)
        held, number = builder.load(to, align=8), builder.load(place(2, 3), align=8)
        builder.store(builder.select(mask, builder.fadd(held, number), held), to, align=8)
        return context.get_dummy_value()

    return types.none(sums, types.int64, numbers, types.int64, types.uint64), generate
