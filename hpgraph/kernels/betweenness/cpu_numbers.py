"""Sums of path counts.

Those of eight sources, a cache line, are added by one vector instruction if the processor has it. Counts beyond the
range of floats are a float and an exponent (`hpgraph.kernels.betweenness.STEP`) each.
"""

from typing import Any

from llvmlite import ir
from numba import types

from hpgraph.kernels.betweenness import LIMIT, STEP
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, put
from hpgraph.semiring.intrinsic import intrinsic

# Sources of a line.
LINE = 8
ONE_LESS = 1 / STEP


def _add_in_python(sums: Any, first: Any, numbers: Any, at: Any, chosen: Any) -> None:
    for k in range(LINE):
        if int(chosen) >> k & 1:
            sums[first + k] += numbers[at + k]


@intrinsic(_add_in_python)
def add_line(typingctx: Any, sums: Any, first: Any, numbers: Any, at: Any, chosen: Any) -> Any:
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


@part(inline="always")
def add_scaled(numbers, exponents, at, number, exponent):
    """Add a number to the one at a place; 0 is the empty sum."""
    held, ahead = peek(numbers, at), exponent - peek(exponents, at)
    if held == 0.0 or ahead > 1:
        put(numbers, at, number)
        exponents[at] = exponent
    elif ahead == 1:
        put(numbers, at, number + held * ONE_LESS)
        exponents[at] = exponent
    elif ahead == 0:
        put(numbers, at, held + number)
    elif ahead == -1:
        put(numbers, at, held + number * ONE_LESS)


@part(inline="always")
def normalize(numbers, exponents, at):
    """Renormalize the number at a place below the limit."""
    if peek(numbers, at) >= LIMIT:
        put(numbers, at, peek(numbers, at) * ONE_LESS)
        exponents[at] += 1


@part(inline="always")
def quotient(inverse, less):
    """1 / σ(w), given without w's exponent, relative to a σ(v) whose exponent is smaller by `less`."""
    if less == 0:
        return inverse
    return inverse * ONE_LESS if less == 1 else 0.0
