"""Element-wise operations on two matrices or vectors: GrB_eWiseAdd, GrB_eWiseMult and GxB_eWiseUnion."""

from typing import Any

import numpy as np

from hpgraph.algebra.operands import as_number, as_pair, function_for, values_dtype
from hpgraph.algebra.write import target
from hpgraph.containers.public import vector_of_values
from hpgraph.containers.vector import VectorStorage
from hpgraph.formats import Bitmask
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import BinaryOp, Monoid, get_binary
from hpgraph.semiring.entry import EntryFunction, entry_function

Operator = BinaryOp | Monoid | str | Any


def ewise_add(
    A: Any,
    B: Any,
    op: Operator = "plus",
    *,
    dtype: Any = None,
    mask: Any = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
    replace: bool = False,
    out: Any = None,
) -> Any:
    """Element-wise operation on the union of two matrices or vectors: ``C⟨mask⟩ accum= A ⊕ B``.

    Parameters
    ----------
    A, B : Matrix or Vector
        Of the same shape, on the same device; or sparse arrays of SciPy and CuPy.
    op : BinaryOp, Monoid, str or function, default "plus"
        ``f(a, b)`` if both have an entry. An entry of only one of them is cast to the result's type.
    dtype : dtype-like, optional
        Type of the result. By default that of the operator; for a Python function its return type, as for `apply`.
    mask : Matrix or, for vectors, Bitmask, array of bool or Vector, optional
        The positions to write: entries that are present and nonzero; ``M.structure`` is a mask of all present entries.
    complement : bool, default False
        Whether to use the complement of the mask.
    accum : BinaryOp, str or function, optional
        Combines entries of `out` and of the result if both are present.
    replace : bool, default False
        Whether entries of `out` outside the mask are dropped rather than kept.
    out : Matrix or Vector, optional
        Destination; it keeps its value type. It is unchanged if an error is raised.

    Returns
    -------
    Matrix or Vector
        `out` if given.

    Examples
    --------
    >>> A, B = hpg.Matrix([[1, 2], [0, 0]]), hpg.Matrix([[5, 0], [7, 0]])
    >>> hpg.ewise_add(A, B, "min").toarray()
    array([[1, 2],
           [7, 0]])
    """
    A, B = as_pair(A, B)
    types = values_dtype(A), values_dtype(B)
    both = function_for(get_binary(op), *types, dtype, out)
    left, right = (entry_function(get_binary(name), *types, both.dtype) for name in ("first", "second"))
    return _join(A, B, both, left, right, (True, True), mask, complement, accum, replace, out)


def ewise_mult(
    A: Any,
    B: Any,
    op: Operator = "times",
    *,
    dtype: Any = None,
    mask: Any = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
    replace: bool = False,
    out: Any = None,
) -> Any:
    """Element-wise operation on the intersection of two matrices or vectors: ``C⟨mask⟩ accum= A ⊗ B``.

    Parameters
    ----------
    A, B : Matrix or Vector
        As for `ewise_add`.
    op : BinaryOp, Monoid, str or function, default "times"
        ``f(a, b)`` if both have an entry; other positions have no entry.
    dtype, mask, complement, accum, replace, out
        As for `ewise_add`.

    Returns
    -------
    Matrix or Vector
        `out` if given.

    Examples
    --------
    >>> A, B = hpg.Matrix([[1, 2], [0, 0]]), hpg.Matrix([[5, 0], [7, 0]])
    >>> hpg.ewise_mult(A, B, "minus").toarray()
    array([[-4,  0],
           [ 0,  0]])
    """
    A, B = as_pair(A, B)
    both = function_for(get_binary(op), values_dtype(A), values_dtype(B), dtype, out)
    return _join(A, B, both, None, None, (True, True), mask, complement, accum, replace, out)


def ewise_union(
    A: Any,
    a_fill: Any,
    B: Any,
    b_fill: Any,
    op: Operator = "plus",
    *,
    dtype: Any = None,
    mask: Any = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
    replace: bool = False,
    out: Any = None,
) -> Any:
    """Element-wise operation on the union of two matrices or vectors, with fill values for absent entries.

    Parameters
    ----------
    A, B : Matrix or Vector
        As for `ewise_add`.
    a_fill, b_fill : number
        Operand of the operator for an absent entry of A or of B, if the other has one.
    op : BinaryOp, Monoid, str or function, default "plus"
        ``f(a, b)``.
    dtype, mask, complement, accum, replace, out
        As for `ewise_add`.

    Returns
    -------
    Matrix or Vector
        `out` if given.

    Examples
    --------
    >>> A, B = hpg.Matrix([[1, 2], [0, 0]]), hpg.Matrix([[5, 0], [7, 0]])
    >>> hpg.ewise_union(A, 0, B, 0, "minus").toarray()
    array([[-4,  2],
           [-7,  0]])
    """
    A, B = as_pair(A, B)
    a, b = values_dtype(A), values_dtype(B)
    x, y = as_number(a_fill, a, "a_fill"), as_number(b_fill, b, "b_fill")
    # A fill value outside the values' type takes part in the promotion, as in NumPy.
    a, b = np.result_type(a, x.dtype), np.result_type(b, y.dtype)
    A, B = (X if values_dtype(X) == dtype else X.astype(dtype) for X, dtype in ((A, a), (B, b)))
    both = function_for(get_binary(op), a, b, dtype, out)
    return _join(A, B, both, both, both, (x, y), mask, complement, accum, replace, out)


def join_nonzero(A: Any, B: Any, op: Operator, *, union: bool) -> Any:
    """SciPy's operators on matrices of one shape: absent entries are 0, and zeros of the result are dropped."""
    A, B = as_pair(A, B)
    both = entry_function(get_binary(op), values_dtype(A), values_dtype(B))
    side = both if union else None
    merge = kernels(A.device).merge
    return A._with(merge(A.csr, B.csr, both, side, side, both.dtype, fills=(0, 0), nonzero=True))


def _join(
    A: Any, B: Any, both: EntryFunction, left: EntryFunction | None, right: EntryFunction | None,
    fills: tuple[Any, Any], *where: Any,
) -> Any:  # fmt: skip
    """``where``: mask, complement, accum, replace and out."""
    end, backend = target(A.shape, both.dtype, A.device, *where), kernels(A.device)
    if isinstance(A, VectorStorage):
        values = backend.zip_entries(
            A.values, B.values, A.present, B.present, both, left, right, both.dtype, fills=fills
        )
        return end.write(vector_of_values(values, _present(A.present, B.present, union=left is not None)))
    return end.write(backend.merge(A.csr, B.csr, both, left, right, both.dtype, fills=fills))


def _present(a: Bitmask | None, b: Bitmask | None, *, union: bool) -> Bitmask | None:
    if a is None or b is None:
        return None if union else b if a is None else a
    return a | b if union else a & b
