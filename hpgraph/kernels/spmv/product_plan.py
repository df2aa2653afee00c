"""Preparation of products over a semiring for their operands' types, cached."""

import functools
from typing import Any

import numpy as np

from hpgraph.semiring import BinaryOp, IndexBinaryOp, Semiring, get_binary
from hpgraph.semiring.arithmetic import SATURATED

_COMMUTATIVE = frozenset({
    "plus", "times", "min", "max", "pair", "any", "land", "lor", "lxor", "lxnor", "band", "bor", "bxor", "bxnor",
    "eq", "ne", "hypot",
})  # fmt: skip
_PAIRS = ("first", "second"), ("minus", "rminus"), ("div", "rdiv"), ("lt", "gt"), ("le", "ge")
_SWAPPED = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
_RESULT_SWAPPED = {"first": "second", "second": "first"}


def swapped(semiring: Semiring) -> Semiring:
    """The semiring that multiplies the vector by the matrix entry, for products with the vector on the left."""
    return _swapped(semiring, semiring.multiply)


@functools.lru_cache(maxsize=1024)
def _swapped(semiring: Semiring, op: BinaryOp) -> Semiring:
    if isinstance(op, IndexBinaryOp):
        return Semiring(semiring.add, op.with_operands_turned())
    builtin = (op.cpp == op.name and get_binary(op.name) is op) or SATURATED.get(op.name) is op
    if builtin and op.name in _COMMUTATIVE:
        return semiring
    if builtin and op.name in _SWAPPED:
        return Semiring(semiring.add, get_binary(_SWAPPED[op.name]))
    if op.position == "source":
        # The vector's entry and the matrix's row have the same index, as in GraphBLAS.
        return semiring
    if op.position == "target":
        # The row index of a row vector.
        return Semiring(semiring.add, BinaryOp("firsti_of_row", lambda a, b: 0, "index"))
    if op.position == "column":
        # The second operand is the matrix now, whose columns are those of the product.
        return Semiring(semiring.add, BinaryOp(op.name, op.function, "index", position="target", axis="column"))
    result: Any = _RESULT_SWAPPED.get(op.result, op.result)
    multiply = BinaryOp(
        f"{op.name}_swapped", _turn(op.function.python), result, specialize=lambda dtype: _turn(op.python_for(dtype))
    )
    return Semiring(semiring.add, multiply)


def _turn(python: Any) -> Any:
    return lambda a, b: python(b, a)


def value_dtype(dtype: np.dtype[Any] | None) -> np.dtype[Any]:
    """Type of a matrix's values in the public API: bool for a pattern, all true."""
    return np.dtype(bool) if dtype is None else dtype


@functools.lru_cache(maxsize=1024)
def plan(semiring: Semiring, matrix_dtype: Any, vector_dtype: Any, dtype: Any = None) -> tuple[Any, Any, np.dtype[Any]]:
    """Prepare a product: its gather, its monoid and the type of its result; ``matrix_dtype`` is None for a pattern."""
    gather = semiring.gather(value_dtype(matrix_dtype), vector_dtype, dtype)
    return gather, semiring.add, gather.dtype
