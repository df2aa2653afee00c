"""Reductions of all entries, by row or by column: GrB_reduce, over monoids and aggregators; and extremes.

The product's kernels fold rows by a monoid, balanced by entries. Extremes are NumPy's results for dense matrices:
absent entries are 0.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.algebra.extract import as_row
from hpgraph.algebra.operands import as_container
from hpgraph.algebra.write import target
from hpgraph.containers.public import make_vector, vector_of_values
from hpgraph.containers.vector import VectorStorage
from hpgraph.core.device import anywhere, array_module, count, first_true
from hpgraph.formats import CSR, Bitmask, attached, occurrences
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.spmv.product_plan import plan, value_dtype
from hpgraph.semiring import BinaryOp, Function, Monoid, Semiring, get_binary, get_monoid


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
    """Reduce the entries to a vector, ``w⟨mask⟩ accum= ⊕ over j of A[:, j]``, or to a number.

    Parameters
    ----------
    A : Matrix or Vector
        Or a sparse array of SciPy or CuPy. Absent entries are ignored.
    op : Monoid or str, default "plus"
        A monoid, or an aggregator: "sum", "prod", "min", "max", "any", "all", "count", "mean", "std", "argmin",
        "argmax", "first", "last". "any" and "all" test entries for nonzero; the monoid that selects an arbitrary
        value is ``get_monoid("any")``. "std" is the population standard deviation.
    axis : {None, 0, 1, -1, -2}, optional
        None reduces all entries, 1 those of each row, 0 those of each column, as in SciPy. A vector has no axis.
    mask, complement, accum, replace, out
        As for `ewise_add` of vectors; with an axis only.

    Returns
    -------
    Vector or NumPy scalar
        With an axis a Vector in which rows or columns without entries are absent. The number for no entries is the
        monoid's identity, 0 for "count" and NaN for "mean" and "std". On CUDA a number synchronizes the device.

    Raises
    ------
    ValueError
        If no monoid or aggregator has the name, there is no such axis, or "argmin", "argmax", "first" or "last" has no
        entries.
    TypeError
        If the operator is not defined for the values' type.

    Notes
    -----
    A monoid's result has its operator's type: small integers wrap around, and plus over bool is "or". "sum" and "prod"
    compute in 64 bits, as in NumPy. "argmin" and "argmax" return a column or a row, the first among ties.

    Examples
    --------
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


def sum_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Type in which entries are summed: that of NumPy's sum of an array of the type."""
    if dtype.kind == "u":
        return np.dtype(np.uint64)
    return np.dtype(np.int64) if dtype.kind in "bi" else dtype


def _fold(monoid: str, dtype: Callable[[np.dtype[Any]], Any] = lambda given: given) -> Callable[[CSR], VectorStorage]:
    return lambda rows: fold_rows(rows, get_monoid(monoid), dtype(value_dtype(rows.dtype)))


def _bool(given: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(bool)


def _count(rows: CSR) -> VectorStorage:
    return vector_of_values(rows.degrees, occupied(rows))


def _mean(rows: CSR) -> VectorStorage:
    wide = np.dtype(np.complex128 if value_dtype(rows.dtype).kind == "c" else np.float64)
    total = fold_rows(rows, get_monoid("plus"), wide)
    with np.errstate(all="ignore"):
        return vector_of_values(total.values / rows.degrees, total.present)


_squared_distance = Function(
    lambda state, column, value, row: (value - state[0][row]) * (value - state[0][row]), "squared_distance"
)


def _std(rows: CSR) -> VectorStorage:
    """Standard deviation in two passes: a difference of large sums would lose digits."""
    if rows.data is not None and rows.data.dtype.kind == "c":
        real, imag = (_std(rows.with_data(part.copy())) for part in (rows.data.real, rows.data.imag))
        return vector_of_values((real.values**2 + imag.values**2) ** 0.5, real.present)
    mean = _mean(rows)
    squares = fold_made(rows, _squared_distance, get_monoid("plus"), mean.values, np.float64)
    with np.errstate(all="ignore"):
        return vector_of_values((squares / rows.degrees) ** 0.5, mean.present)


_NOWHERE = np.iinfo(np.int64).max
_column_of = Function(
    lambda state, column, value, row: column if value == state[0][row] else _NOWHERE, "column_of_extreme"
)


def _argextreme(monoid: str) -> Callable[[CSR], VectorStorage]:
    def find(rows: CSR) -> VectorStorage:
        xp = array_module(rows.device)
        foremost = _at(rows, rows.indices, rows.indptr[:-1]).astype(np.int64)
        if rows.data is None:
            return vector_of_values(foremost, occupied(rows))
        found = fold_made(rows, _column_of, get_monoid("min"), fold(rows, get_monoid(monoid)), np.int64)
        # A row of NaN only has no extreme value.
        return vector_of_values(xp.where(found == _NOWHERE, foremost, found), occupied(rows))

    return find


def _at(rows: CSR, array: Any, position: Any) -> Any:
    """``array[position]`` for each row with entries, else 0."""
    xp = array_module(rows.device)
    occupied = rows.degrees > 0
    out = xp.zeros(rows.shape[0], array.dtype)
    out[occupied] = array[position[occupied]]
    return out


def _values(rows: CSR) -> Any:
    return array_module(rows.device).ones(rows.nnz, bool) if rows.data is None else rows.data


def _first(rows: CSR) -> VectorStorage:
    return vector_of_values(_at(rows, _values(rows), rows.indptr[:-1]), occupied(rows))


def _last(rows: CSR) -> VectorStorage:
    return vector_of_values(_at(rows, _values(rows), rows.indptr[1:] - 1), occupied(rows))


AGGREGATORS: dict[str, Callable[[CSR], VectorStorage]] = {
    "sum": _fold("plus", sum_dtype),
    "prod": _fold("times", sum_dtype),
    "min": _fold("min"),
    "max": _fold("max"),
    "any": _fold("lor", _bool),
    "all": _fold("land", _bool),
    "count": _count,
    "mean": _mean,
    "std": _std,
    "argmin": _argextreme("min"),
    "argmax": _argextreme("max"),
    "first": _first,
    "last": _last,
}
# Undefined without entries; the others return the identities of their monoids.
_NEEDS_ENTRIES = ("argmin", "argmax", "first", "last")


def aggregate(rows: CSR, name: str) -> VectorStorage:
    """An aggregator of each row of a matrix with sorted rows; empty rows are absent."""
    return AGGREGATORS[name](rows)


def aggregate_all(rows: CSR, name: str) -> Any:
    """An aggregator of all entries of a matrix with sorted rows."""
    if rows.nnz == 0 and name in _NEEDS_ENTRIES:
        raise ValueError(f"{name} of nothing: there is no entry to choose")
    whole = one_row(rows)
    if name not in ("argmin", "argmax"):
        return to_number(AGGREGATORS[name](whole).values)
    xp = array_module(rows.device)
    position = 0
    if rows.data is not None:
        extreme = fold(whole, get_monoid(name.removeprefix("arg")))[0]
        position = first_true(rows.data == extreme)
    row = int(xp.searchsorted(rows.indptr, position, side="right")) - 1
    return np.int64(row * rows.shape[1] + int(rows.indices[position]))


def to_number(values: Any) -> Any:
    """The single element of an array, as a NumPy scalar. On CUDA this synchronizes the device."""
    return (values.get() if hasattr(values, "get") else values)[0]


@functools.lru_cache(maxsize=256)
def _of_entries(monoid: Monoid) -> Semiring:
    """The semiring whose product with any vector folds the matrix's own entries."""
    return Semiring(monoid, get_binary("first"))


def fold(rows: CSR, monoid: Monoid, dtype: Any = None) -> Any:
    """Each row reduced by a monoid; empty rows hold the identity."""
    semiring = _of_entries(monoid)
    kind = value_dtype(rows.dtype)
    gather, reduce, found = plan(semiring, rows.dtype, kind, dtype)
    return fold_made(rows, gather, reduce, array_module(rows.device).empty(1, kind), found)


def fold_made(rows: CSR, gather: Any, monoid: Monoid, state: Any, dtype: Any) -> Any:
    """`fold` of a function of each entry."""
    result = array_module(rows.device).empty(rows.shape[0], dtype)
    kernels(rows.device).pull(rows, gather, monoid, (state,), result)
    return result


def fold_rows(rows: CSR, monoid: Monoid, dtype: Any = None) -> VectorStorage:
    """`fold` as a Vector, in which empty rows are absent."""
    return vector_of_values(fold(rows, monoid, dtype), occupied(rows))


@attached
def occupied(rows: CSR) -> Bitmask:
    """The rows that have entries."""
    return Bitmask.from_bool(rows.degrees > 0)


def one_row(rows: CSR) -> CSR:
    """All entries of a matrix as one row, in their order; duplicate columns do not affect a fold."""
    ends = array_module(rows.device).asarray([0, rows.nnz], dtype=np.int64)
    return CSR((1, rows.shape[1]), ends, rows.indices, rows.data, validate=False)


def as_axis(axis: Any) -> int | None:
    """The axis as None, 0 or 1."""
    if axis is None:
        return None
    allowed = f"axis must be None, 0 (columns) or 1 (rows), not {axis!r}"
    names = axis if isinstance(axis, tuple) else (axis,)
    try:
        found = [{0: 0, 1: 1, -1: 1, -2: 0}[operator.index(name)] for name in names]
    except KeyError:
        raise ValueError(f"axis out of range: {allowed}") from None
    except TypeError:
        raise TypeError(f"axis must be an integer: {allowed}") from None
    if len(found) != len(set(found)) or not found:
        raise ValueError(f"duplicate value in axis, or none: {allowed}")
    return found[0] if len(found) == 1 else None


def _ufunc(rows: CSR, name: str, *, skip_nan: bool) -> Any:
    xp = array_module(rows.device)
    return getattr(xp, {"min": "fmin", "max": "fmax"}[name] if skip_nan else {"min": "minimum", "max": "maximum"}[name])


def _nan_counts(rows: CSR) -> Any:
    """Number of NaN in each row; None if there are none."""
    if rows.data is None or rows.data.dtype.kind != "f":
        return None
    xp = array_module(rows.device)
    missing = xp.isnan(rows.data)
    if not anywhere(missing):
        return None
    return occurrences(rows.expand_rows()[missing], rows.shape[0])


def _by_row(rows: CSR, name: str, *, width: int, explicit: bool, skip_nan: bool) -> Any:
    """The extreme of each row of length `width`; 0 for an empty row."""
    xp = array_module(rows.device)
    kind = value_dtype(rows.dtype)
    degrees = rows.degrees
    values = xp.where(degrees > 0, fold(rows, get_monoid(name), kind), kind.type(0))
    whole = (degrees == width) | explicit
    nans = _nan_counts(rows)
    if nans is not None:
        values = xp.where((nans == degrees) & (degrees > 0), kind.type(np.nan), values)
        if not skip_nan:
            values = xp.where(nans > 0, kind.type(np.nan), values)
    return xp.where(whole, values, _ufunc(rows, name, skip_nan=skip_nan)(values, kind.type(0)))


def extreme_by_row(rows: CSR, name: str, *, explicit: bool, skip_nan: bool) -> VectorStorage:
    """The smallest or largest entry of each row; with `skip_nan`, ignoring NaN."""
    values = _by_row(rows, name, width=rows.shape[1], explicit=explicit, skip_nan=skip_nan)
    return make_vector(values, values != 0)


def extreme(rows: CSR, name: str, *, explicit: bool, skip_nan: bool) -> Any:
    """The smallest or largest entry of all."""
    kind = value_dtype(rows.dtype)
    if not rows.nnz:
        return kind.type(0)
    xp = array_module(rows.device)
    value = xp.ones(1, bool) if rows.data is None else getattr(rows.data, name)(keepdims=True)
    if skip_nan and kind.kind in "fc" and bool(xp.isnan(value[0])):
        numbers = rows.data[~xp.isnan(rows.data)]
        value = getattr(numbers, name)(keepdims=True) if len(numbers) else value
    if not explicit and rows.nnz < rows.shape[0] * rows.shape[1]:
        value = _ufunc(rows, name, skip_nan=skip_nan)(value, kind.type(0))
    return to_number(value)


def places_by_row(rows: CSR, name: str, *, explicit: bool) -> Any:
    """The int64 column of each row's extreme entry, the first among ties, or the first NaN; 0 if there is none."""
    xp = array_module(rows.device)
    degrees = rows.degrees
    column = aggregate(rows, f"arg{name}").values
    value = fold(rows, get_monoid(name), value_dtype(rows.dtype))
    nans = _nan_counts(rows)
    if nans is not None:
        places = xp.where(xp.isnan(rows.data), rows.indices, rows.shape[1]).astype(np.int64)
        first_nan = fold(rows.with_data(places, copy=False), get_monoid("min"))
        column = xp.where(nans > 0, first_nan, column)
        value = xp.where(nans > 0, value.dtype.type(np.nan), value)
    if explicit:
        return column
    row = rows.expand_rows()
    # Sorted columns run 0, 1, 2, ... up to the first that is missing.
    unbroken = rows.indices == xp.arange(rows.nnz) - rows.indptr[row]
    absent = occurrences(row[unbroken], rows.shape[0])
    stored = (degrees == rows.shape[1]) | ((degrees > 0) & (value < 0 if name == "min" else value > 0))
    return xp.where(stored, column, xp.where((degrees > 0) & (value == 0), xp.minimum(column, absent), absent))


def place_of_extreme(rows: CSR, name: str, *, explicit: bool) -> int:
    """Position of the smallest or largest entry of all, in row-major order."""
    xp = array_module(rows.device)
    if rows.nnz == 0:
        if explicit:
            raise ValueError(f"Cannot apply arg{name}: arg{name} of nothing: there is no entry to choose")
        return 0
    data = xp.ones(rows.nnz, bool) if rows.data is None else rows.data
    position = int((xp.argmin if name == "min" else xp.argmax)(data))
    row = int(xp.searchsorted(rows.indptr, position, side="right")) - 1
    value, place = data[position], row * rows.shape[1] + int(rows.indices[position])
    if explicit or rows.nnz == rows.shape[0] * rows.shape[1] or bool(value < 0 if name == "min" else value > 0):
        return place
    places = rows.expand_rows().astype(np.int64) * rows.shape[1] + rows.indices
    absent = count(places == xp.arange(rows.nnz))
    return min(place, absent) if bool(value == 0) else absent
