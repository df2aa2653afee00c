"""Operators as functions of a matrix entry, the form that element-wise kernels require.

``f(x, y, i, j)``: two values, a row and a column. A union or an intersection passes the entries of two matrices, or an
entry and a substitute for the absent one; a map passes an entry and a number.
"""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from hpgraph.semiring.dtypes import check_dtype
from hpgraph.semiring.function import TypedFunction
from hpgraph.semiring.index_binary import IndexBinaryOp
from hpgraph.semiring.operators import BinaryOp, IndexUnaryOp, Python, UnaryOp, check_held

Operator = UnaryOp | BinaryOp | IndexUnaryOp


class EntryFunction(TypedFunction):
    """``f(x, y, i, j)`` for given types, with its operator; `swapped`: y is the operator's first operand."""

    def __init__(
        self, python: Python, op: Operator, x_dtype: np.dtype, y_dtype: np.dtype, dtype: np.dtype, swapped: bool
    ) -> None:
        super().__init__(python, op.name, (x_dtype, y_dtype, dtype))
        self.op = op
        self.x_dtype = x_dtype
        self.y_dtype = y_dtype
        self.dtype = dtype
        self.swapped = swapped

    @property
    def uses_position(self) -> bool:
        """Whether the function reads row or column."""
        if isinstance(self.op, IndexUnaryOp):
            return self.op.uses_position
        return isinstance(self.op, BinaryOp) and self.op.position is not None


def entry_function(
    op: Operator,
    x_dtype: npt.DTypeLike,
    y_dtype: npt.DTypeLike,
    dtype: npt.DTypeLike | None = None,
    *,
    swapped: bool = False,
) -> EntryFunction:
    """An operator as a function of an entry; cached for the same operator and types."""
    return _entry_function(
        op, check_dtype(x_dtype), check_dtype(y_dtype), None if dtype is None else check_dtype(dtype), swapped
    )


@functools.lru_cache(maxsize=4096)
def _entry_function(op: Operator, x: np.dtype, y: np.dtype, dtype: np.dtype | None, swapped: bool) -> EntryFunction:
    if isinstance(op, BinaryOp):
        natural = op.result_dtype(*((y, x) if swapped else (x, y)))
    elif isinstance(op, IndexUnaryOp):
        natural = op.result_dtype(x, y)
    else:
        natural = op.result_dtype(x)
    final = natural if dtype is None else dtype
    check_held(natural, final, op.name)
    return EntryFunction(_python(op, x, y, final, swapped), op, x, y, final, swapped)


def _python(op: Operator, x_dtype: np.dtype, y_dtype: np.dtype, final: np.dtype, swapped: bool) -> Python:
    convert: Any = final.type
    if isinstance(op, UnaryOp):
        unary = op.typed(x_dtype)
        return lambda x, y, i, j: convert(unary(x))
    if isinstance(op, IndexUnaryOp):
        index_unary = op.typed(x_dtype, y_dtype, final)
        return lambda x, y, i, j: index_unary(x, i, j, y)
    # Both operands are at the same position.
    if isinstance(op, IndexBinaryOp):
        if swapped:
            behind = op.placed(y_dtype, x_dtype, final)
            return lambda x, y, i, j: behind(y, i, j, x, i, j)
        placed = op.placed(x_dtype, y_dtype, final)
        return lambda x, y, i, j: placed(x, i, j, y, i, j)
    if op.position is not None:
        if op.axis == "row":
            return lambda x, y, i, j: convert(i)
        return lambda x, y, i, j: convert(j)
    if swapped:
        converse = op.typed(y_dtype, x_dtype, final)
        return lambda x, y, i, j: converse(y, x)
    binary = op.typed(x_dtype, y_dtype, final)
    return lambda x, y, i, j: binary(x, y)
