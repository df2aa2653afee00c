"""GrB_apply with a unary, a bound binary or an index-unary operator."""

from types import FunctionType
from typing import Any

import numpy as np

from hpgraph.algebra.operands import as_container, as_number, function_for, map_container, values_dtype
from hpgraph.algebra.write import target
from hpgraph.containers.public import vector_of_values
from hpgraph.containers.vector import VectorStorage
from hpgraph.semiring import BinaryOp, Function, IndexUnaryOp, UnaryOp, get_binary, get_index_unary, get_unary
from hpgraph.semiring.entry import EntryFunction
from hpgraph.semiring.registry import index_unary_names


def apply(
    A: Any,
    op: UnaryOp | BinaryOp | IndexUnaryOp | str | Any,
    *,
    left: Any = None,
    right: Any = None,
    thunk: Any = 0,
    dtype: Any = None,
    mask: Any = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
    replace: bool = False,
    out: Any = None,
) -> Any:
    """Apply an operator to every entry: ``C⟨mask⟩ accum= f(A)``.

    Parameters
    ----------
    A : Matrix or Vector
        Or a sparse array of SciPy or CuPy.
    op : UnaryOp, BinaryOp, IndexUnaryOp, str or function
        A unary operator; with `left` or `right` a binary one; or an index-unary one ("rowindex", "colindex",
        "diagindex", ...). A function takes (value), with `left` or `right` two values, else (value, row, column) or
        (value, row, column, thunk). The column of a vector's entry is 0, and the values of a pattern are True.
    left, right : number, optional
        The operator's first or second operand.
    thunk : number, default 0
        The parameter of an index-unary operator: "rowindex" gives row + thunk, "diagindex" column - (row + thunk), as
        in SuiteSparse:GraphBLAS: 0 on the diagonal that "diag" with the same thunk selects.
    dtype : dtype-like, optional
        Type of the result. By default that of the operator; for a Python function the return type inferred by Numba:
        float64 for ``x / 2``, bool for ``x > 2``, and int64 for ``x + 1`` of any integers but uint64.
    mask, complement, accum, replace, out
        As for `ewise_add`.

    Returns
    -------
    Matrix or Vector
        `out` if given.

    Examples
    --------
    >>> A = hpg.Matrix([[0, 4], [9, 0]])
    >>> hpg.apply(A, "sqrt").toarray()
    array([[0., 2.],
           [3., 0.]])
    >>> hpg.apply(A, "minus", left=10).toarray()
    array([[0, 6],
           [1, 0]])
    >>> hpg.apply(A, lambda value, row, column: value + 100 * row).toarray()
    array([[  0,   4],
           [109,   0]])
    >>> hpg.apply(A, lambda value: value / 2).toarray()
    array([[0. , 2. ],
           [4.5, 0. ]])
    """
    A = as_container(A, "A")
    function, number = _function(op, values_dtype(A), left, right, thunk, dtype, out)
    end = target(A.shape, function.dtype, A.device, mask, complement, accum, replace, out)
    values = map_container(A, function, number)
    if isinstance(A, VectorStorage):
        return end.write(vector_of_values(values, A.present))
    return end.write(A.csr.with_data(values, copy=False))


def _function(
    op: Any, values: np.dtype[Any], left: Any, right: Any, thunk: Any, dtype: Any, out: Any
) -> tuple[EntryFunction, np.generic]:
    if left is not None and right is not None:
        raise ValueError("left and right are both given: of a binary operator one operand is bound, the other is A's")
    if left is not None or right is not None:
        number = as_number(right if left is None else left, values, "right" if left is None else "left")
        return function_for(get_binary(op), values, number.dtype, dtype, out, swapped=left is not None), number
    index_unary = _index_unary(op)
    if index_unary is not None:
        number = as_thunk(index_unary, thunk, values)
        return function_for(index_unary, values, number.dtype, dtype, out), number
    if isinstance(op, BinaryOp):
        raise TypeError(f"{op.name} takes two operands: give one of them as left= or right=")
    return function_for(get_unary(op), values, np.dtype(bool), dtype, out), np.bool_(False)


def _index_unary(op: Any) -> IndexUnaryOp | None:
    if isinstance(op, IndexUnaryOp) or (isinstance(op, str) and op in index_unary_names()):
        return get_index_unary(op)
    if isinstance(op, str | UnaryOp | BinaryOp) or not callable(op):
        return None
    arguments = op.__code__.co_argcount if isinstance(op, FunctionType) else Function(op).n_arguments
    if arguments == 2:
        raise TypeError(
            "a function of two arguments takes two operands: give one of them as left= or right=, or take "
            "(value, row, column)"
        )
    return None if arguments == 1 else get_index_unary(op)


# Half of the int64 range, so that the difference of two indices can be added without overflow.
_FARTHEST = 1 << 62


def as_thunk(op: IndexUnaryOp, thunk: Any, dtype: np.dtype[Any]) -> np.generic:
    """The thunk of an index-unary operator: an integer for built-in ones, promoted as in NumPy for a function."""
    if op.cpp is not None and isinstance(thunk, int):
        # Larger values are equivalent: they are beyond all rows, columns and diagonals.
        thunk = min(max(thunk, -_FARTHEST), _FARTHEST)
    if op.cpp is None:
        return as_number(thunk, dtype, "thunk")
    number = as_number(thunk, np.dtype(np.int64), "thunk")
    if number.dtype.kind == "c" or (number.dtype.kind == "f" and not float(number).is_integer()):
        raise TypeError(f"thunk must be a whole number for {op.name}, not {thunk!r}")
    return np.int64(min(max(int(number), -_FARTHEST), _FARTHEST))
