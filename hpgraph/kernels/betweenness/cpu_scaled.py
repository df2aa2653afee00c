"""Path counts beyond the range of floats: a float and an exponent (`hpgraph.kernels.betweenness.STEP`) each."""

from __future__ import annotations

from hpgraph.kernels.betweenness import LIMIT, STEP
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, put

ONE_LESS = 1 / STEP


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
