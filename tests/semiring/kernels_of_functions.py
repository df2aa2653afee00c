"""Kernels that take functions as arguments. A module of its own: Numba caches kernels only of importable files."""

from numba import njit

from hpgraph.semiring.jit import call


@njit
def reduce_row(gather, reduce, identity, indptr, indices, data, state, row):
    total = identity
    for entry in range(indptr[row], indptr[row + 1]):
        total = call(reduce, total, call(gather, state, indices[entry], data[entry], row))
    return total


@njit(cache=True)
def reduce_rows(gather, reduce, identity, indptr, indices, data, state, out):
    for row in range(out.size):
        out[row] = reduce_row(gather, reduce, identity, indptr, indices, data, state, row)


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
