"""Nearest neighbours on the CPU: few distances are below the largest kept, and one comparison of vectors finds these.

Squared distances of some rows to a line of columns are summed in registers (K. Goto, R. van de Geijn, "Anatomy of
high-performance matrix multiplication", ACM TOMS 34(3), 2008), and compared before they leave them.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from hpgraph.kernels.runtime.cpu.bits import lowest_bit
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, prange, tasks, team
from hpgraph.semiring.intrinsic import instruction

# Rows, and bytes of columns, whose sums fit 32 registers of 64 bytes.
ROWS, LINE = 6, 128
# Groups of rows that read the same columns from the caches, one after the other.
GROUPS = 16


def search(points: Any, k: int) -> Any:
    """`hpgraph.kernels.nearest.Nearest.search`."""
    (n, d), lanes = points.shape, LINE // points.itemsize
    rows, columns = (np.zeros((-(-n // size) * size, d), points.dtype) for size in (ROWS, lanes))
    rows[:n], columns[:n] = points, points
    lines = np.ascontiguousarray(columns.reshape(len(columns) // lanes, lanes, d).swapaxes(1, 2))
    squares = np.full(len(columns), np.inf, points.dtype)
    squares[:n] = (points * points).sum(axis=1)
    distance, index = np.full((n, k), np.inf, points.dtype), np.zeros((n, k), np.int64)
    with team() as threads:
        _keep(rows, lines, squares, distance, index, threads)
    return index


def _below_in_python(points: Any, row: int, lines: Any, at: int, squares: Any, limits: Any, values: Any) -> Any:
    lanes = lines.shape[2]
    values[:] = squares[at * lanes : (at + 1) * lanes] - 2 * (points[row : row + ROWS] @ lines[at])
    return tuple(sum(1 << j for j in range(lanes) if values[i, j] < limits[i]) for i in range(ROWS))


@instruction(
    lambda points, row, lines, at, squares, limits, values: types.UniTuple(types.uint64, ROWS)(
        points, types.int64, lines, types.int64, squares, limits, values
    ),
    _below_in_python,
)
def _below(context, builder, signature, args):
    """Distances of `ROWS` points from one on to a line of columns, into `values`; bits of those below each one's limit.

    Squared distances, less the square of the row's own length.
    """
    arrays = {k: context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 2, 4, 5, 6)}
    number = context.get_value_type(signature.args[0].dtype)
    size = signature.args[0].dtype.bitwidth // 8
    lanes, word = LINE // size, ir.IntType(64)
    line = ir.VectorType(number, lanes)

    def pointer(k, position):
        return builder.gep(arrays[k].data, [position], inbounds=True)

    def load_line(k, position):
        return builder.load(builder.bitcast(pointer(k, position), line.as_pointer()), align=size)

    def spread(value):
        one = builder.insert_element(ir.Constant(line, ir.Undefined), value, ir.IntType(32)(0))
        return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes))

    inner = cgutils.unpack_tuple(builder, arrays[0].shape, 2)[1]
    first = builder.mul(args[1], inner)
    begin = builder.mul(args[3], builder.mul(inner, word(lanes)))
    sums = [cgutils.alloca_once_value(builder, ir.Constant(line, None)) for _ in range(ROWS)]
    with cgutils.for_range(builder, inner) as loop:
        column = load_line(2, builder.add(begin, builder.mul(loop.index, word(lanes))))
        for i, total in enumerate(sums):
            at = builder.add(first, builder.add(builder.mul(inner, word(i)), loop.index))
            product = builder.fmul(spread(builder.load(pointer(0, at))), column, flags=("contract",))
            builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
    square, found = load_line(4, builder.mul(args[3], word(lanes))), []
    for i, total in enumerate(sums):
        held = builder.load(total)
        value = builder.fsub(square, builder.fadd(held, held))
        builder.store(value, builder.bitcast(pointer(6, word(i * lanes)), line.as_pointer()), align=size)
        less = builder.fcmp_ordered("<", value, spread(builder.load(pointer(5, word(i)))))
        found.append(builder.zext(builder.bitcast(less, ir.IntType(lanes)), word))
    return context.make_tuple(builder, signature.return_type, found)


@part
def _insert(distance, index, value, number):
    """Insert a distance into a row's ascending list; the last element is dropped."""
    at = distance.size - 1
    while at > 0 and distance[at - 1] > value:
        distance[at], index[at] = distance[at - 1], index[at - 1]
        at -= 1
    distance[at], index[at] = value, number


@njit(parallel=LOOPS, cache=True, nogil=True)
def _keep(points, lines, squares, distance, index, threads):
    """The nearest of each point, by tasks of some rows, and the lowest of equals; `lines` are blocks of columns."""
    n, last, lanes = len(distance), distance.shape[1] - 1, lines.shape[2]
    counter = np.zeros(1, np.int64)
    for _ in prange(threads):
        values, limits = np.empty((ROWS, lanes), points.dtype), np.empty(GROUPS * ROWS, points.dtype)
        for begin in tasks(counter, n, GROUPS * ROWS):
            end = min(begin + GROUPS * ROWS, n)
            # Rows beyond the last have no distance below their limit.
            limits[:] = -np.inf
            limits[: end - begin] = np.inf
            for at in range(len(lines)):
                for row in range(begin, end, ROWS):
                    bits = _below(points, row, lines, at, squares, limits[row - begin :], values)
                    for i in range(ROWS):
                        left = bits[i]
                        while left != 0:
                            j = lowest_bit(left)
                            left &= left - np.uint64(1)
                            one, value = row + i, values[i, j]
                            if value < distance[one, last] and at * lanes + j != one:
                                _insert(distance[one], index[one], value, at * lanes + j)
                                limits[one - begin] = distance[one, last]
