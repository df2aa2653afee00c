"""Kernels that take functions as arguments. A module of its own: Numba caches kernels only of importable files."""

from numba import njit

from hpgraph.semiring.jit import call


@njit(cache=True)
def apply(function, values, out):
    for i in range(values.size):
        out[i] = call(function, values[i])


@njit(cache=True)
def apply_two(function, a, b, out):
    out[0] = call(function, a, b)


@njit(cache=True)
def fold(reduce, start, values):
    total = start
    for value in values:
        total = call(reduce, total, value)
    return total
