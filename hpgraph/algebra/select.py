"""Selection of entries by value or by position: GrB_select."""

from typing import Any

import numpy as np

from hpgraph.algebra.apply import as_thunk
from hpgraph.algebra.operands import as_container, as_number, map_container, values_dtype
from hpgraph.algebra.write import target
from hpgraph.containers.public import vector_of_values
from hpgraph.containers.vector import VectorStorage
from hpgraph.formats import Bitmask
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import BinaryOp, IndexUnaryOp, UnaryOp, get_binary, get_index_unary
from hpgraph.semiring.arithmetic import VALUE_COMPARISONS
from hpgraph.semiring.entry import EntryFunction, entry_function


def select(
    A: Any,
    op: IndexUnaryOp | UnaryOp | str | Any,
    thunk: Any = 0,
    *,
    mask: Any = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
    replace: bool = False,
    out: Any = None,
) -> Any:
    """Select the entries for which a predicate is true: ``C⟨mask⟩ accum= A⟨f(A, thunk)⟩``.

    Parameters
    ----------
    A : Matrix or Vector
        Or a sparse array of SciPy or CuPy.
    op : IndexUnaryOp, UnaryOp, str or function
        "tril", "triu", "diag", "offdiag" (of diagonal `thunk`), "rowle", "rowgt", "colle", "colgt", "valueeq",
        "valuene", "valuelt", "valuele", "valuegt", "valuege"; or a function of (value), (value, thunk),
        (value, row, column) or (value, row, column, thunk). The column of a vector's entry is 0.
    thunk : number, default 0
        The predicate's parameter.
    mask, complement, accum, replace, out
        As for `ewise_add`.

    Returns
    -------
    Matrix or Vector
        `out` if given. Values keep their type, and a pattern remains a pattern.

    Examples
    --------
    >>> A = hpg.Matrix([[1, 2], [3, 4]])
    >>> hpg.select(A, "triu", 1).toarray()
    array([[0, 2],
           [0, 0]])
    >>> hpg.select(A, lambda value, row, column: (value + row) % 2 == 0).toarray()
    array([[0, 2],
           [3, 0]])
    """
    A = as_container(A, "A")
    predicate, number = _predicate(op, values_dtype(A), thunk)
    end = target(A.shape, values_dtype(A), A.device, mask, complement, accum, replace, out)
    if isinstance(A, VectorStorage):
        chosen = Bitmask.from_bool(map_container(A, predicate, number))
        return end.write(vector_of_values(A.values.copy(), chosen if A.present is None else chosen & A.present))
    return end.write(kernels(A.device).select_entries(A.csr, predicate, number))


def _predicate(op: Any, dtype: np.dtype[Any], thunk: Any) -> tuple[EntryFunction, np.generic]:
    if isinstance(op, UnaryOp):
        return entry_function(op, dtype, bool, bool), np.bool_(False)
    if isinstance(op, str) and op in VALUE_COMPARISONS:
        number = as_number(thunk, dtype, "thunk")
        return entry_function(get_binary(VALUE_COMPARISONS[op]), dtype, number.dtype), number
    found = get_index_unary(op, "bool")
    number = as_thunk(found, thunk, dtype)
    return entry_function(found, dtype, number.dtype, bool), number
