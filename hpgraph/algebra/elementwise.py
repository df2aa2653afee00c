"""Two matrices or two vectors entry by entry: GrB_eWiseAdd, GrB_eWiseMult and GxB_eWiseUnion."""

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
    """The union of two matrices or vectors: ``C⟨mask⟩ accum= A ⊕ B``.

    Parameters
    ----------
    A, B : Matrix or Vector
        Of the same shape, on the same device; sparse arrays of SciPy and CuPy serve as well.
    op : BinaryOp, Monoid, str or function, default "plus"
        ``f(a, b)`` where both have an entry. An entry of one of them alone passes through a cast to the result's type.
    dtype : dtype-like, optional
        Of the result. By default that of the operator; that of a Python function is what it returns, as for `apply`.
    mask : Matrix or, for vectors, Bitmask, array of bool or Vector, optional
        The places to write. It counts by value: present and not zero; for what is present whatever its value, give
        ``M.structure``.
    complement : bool, default False
        Write the places that the mask leaves out instead.
    accum : BinaryOp, str or function, optional
        Joins what `out` holds with the result, where both have an entry.
    replace : bool, default False
        Whether entries of `out` that the mask does not allow are dropped, rather than kept.
    out : Matrix or Vector, optional
        Where to write; it keeps its type of values. If an error is raised it is left as it was.

    Returns
    -------
    Matrix or Vector
        `out` where given.

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
    """The intersection of two matrices or vectors: ``C⟨mask⟩ accum= A ⊗ B``.

    Parameters
    ----------
    A, B : Matrix or Vector
        As for `ewise_add`.
    op : BinaryOp, Monoid, str or function, default "times"
        ``f(a, b)`` where both have an entry; other places have none.
    dtype, mask, complement, accum, replace, out
        As for `ewise_add`.

    Returns
    -------
    Matrix or Vector
        `out` where given.

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
    """The union of two matrices or vectors, with a number in the place of an absent entry.

    Parameters
    ----------
    A, B : Matrix or Vector
        As for `ewise_add`.
    a_fill, b_fill : number
        What the operator is given where A, or B, has no entry and the other has one.
    op : BinaryOp, Monoid, str or function, default "plus"
        ``f(a, b)``.
    dtype, mask, complement, accum, replace, out
        As for `ewise_add`.

    Returns
    -------
    Matrix or Vector
        `out` where given.

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
    # A fill that the values' type cannot hold takes part in the promotion, as it would in NumPy.
    a, b = np.result_type(a, x.dtype), np.result_type(b, y.dtype)
    A, B = (X if values_dtype(X) == dtype else X.astype(dtype) for X, dtype in ((A, a), (B, b)))
    both = function_for(get_binary(op), a, b, dtype, out)
    return _join(A, B, both, both, both, (x, y), mask, complement, accum, replace, out)


def join_nonzero(A: Any, B: Any, op: Operator, *, union: bool) -> Any:
    """The result of SciPy's operators: absent entries are 0, and zeros of the result are dropped.

    ``A, B``: of the same shape.
    """
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
