"""All entries, those of each row or of each column combined to one value: GrB_reduce, over monoids and aggregators."""

from typing import Any

from hpgraph.algebra.aggregate import (
    AGGREGATORS,
    aggregate,
    aggregate_all,
    as_axis,
    fold,
    fold_rows,
    one_row,
    to_number,
)
from hpgraph.algebra.extract import as_row
from hpgraph.algebra.operands import as_container
from hpgraph.algebra.write import target
from hpgraph.containers.vector import VectorStorage
from hpgraph.semiring import BinaryOp, Monoid, get_monoid


def reduce(
    A: Any,
    op: Monoid | str = "plus",
    axis: int | None = None,
    *,
    mask: Any = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
    replace: bool = False,
    out: Any = None,
) -> Any:
    """The entries combined: ``w⟨mask⟩ accum= ⊕ over j of A[:, j]``, or to a number.

    Parameters
    ----------
    A : Matrix or Vector
        A sparse array of SciPy or CuPy serves as well. Absent entries take no part.
    op : Monoid or str, default "plus"
        A monoid, or an aggregator: "sum", "prod", "min", "max", "any", "all", "count", "mean", "std", "argmin",
        "argmax", "first", "last". "any" and "all" test entries for nonzero; the monoid that takes an arbitrary
        value is ``get_monoid("any")``. "std" is that of the population.
    axis : {None, 0, 1, -1, -2}, optional
        None combines everything, 1 the entries of each row, 0 those of each column, as in SciPy. A vector has none.
    mask, complement, accum, replace, out
        As for `ewise_add` of vectors; with an axis only.

    Returns
    -------
    Vector or NumPy scalar
        With an axis a Vector in which rows, or columns, without entries are absent. A number made of nothing is the
        monoid's identity, 0 for "count" and NaN for "mean" and "std". On CUDA a number waits for the device.

    Raises
    ------
    ValueError
        When no monoid or aggregator has the name, there is no such axis, or nothing for "argmin", "argmax", "first" or
        "last" to choose from.
    TypeError
        When the operator does not work on the values' type.

    Notes
    -----
    A monoid's result has the type that its operator gives: small integers wrap around, and plus over bool is "or".
    "sum" and "prod" work in 64 bits, as NumPy's do. "argmin" and "argmax" give a column, or a row, the first of equals.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> A = hpg.Matrix([[1, 2], [0, 0]])
    >>> hpg.reduce(A, "max", axis=1).to_indices()
    (array([0], dtype=int32), array([2]))
    >>> hpg.reduce(A, "mean")
    np.float64(1.5)
    """
    A = as_container(A, "A")
    axis = as_axis(axis)
    is_aggregator = isinstance(op, str) and op in AGGREGATORS
    monoid = None if is_aggregator else get_monoid(op)
    if axis is None:
        if not (mask is None and accum is None and out is None) or complement or replace:
            raise ValueError("mask, complement, accum, replace and out need an axis: a number has no place for them")
        rows = as_row(A) if isinstance(A, VectorStorage) else A.csr
        if monoid is None:
            return aggregate_all(rows, str(op))
        return to_number(fold(one_row(rows), monoid))
    if isinstance(A, VectorStorage):
        raise ValueError(f"a vector is reduced to a number: leave axis out, rather than {axis}")
    rows = (A.T if axis == 0 else A).csr
    made = aggregate(rows, str(op)) if monoid is None else fold_rows(rows, monoid)
    return target(made.shape, made.dtype, made.device, mask, complement, accum, replace, out).write(made)
