"""Aggregators: what is made of a row's entries that no monoid alone makes of them, such as their mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.algebra.rows import fold, fold_made, fold_rows, occupied, one_row
from hpgraph.containers.public import vector_of_values
from hpgraph.containers.vector import VectorStorage
from hpgraph.core.device import array_module
from hpgraph.formats import CSR
from hpgraph.kernels.spmv.product_plan import value_dtype
from hpgraph.semiring import Function, get_monoid


def sum_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Type in which entries are summed: as wide as that of NumPy's sum of such an array."""
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
    """In two passes: a difference of large sums would lose digits."""
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
        # A row of nothing but NaN has no extreme value.
        return vector_of_values(xp.where(found == _NOWHERE, foremost, found), occupied(rows))

    return find


def _at(rows: CSR, array: Any, position: Any) -> Any:
    """``array[position]`` for each row that has entries, else 0."""
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
# Undefined without entries; the others give the identities of their monoids.
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
        position = int(xp.argmax(rows.data == extreme))
    row = int(xp.searchsorted(rows.indptr, position, side="right")) - 1
    return np.int64(row * rows.shape[1] + int(rows.indices[position]))


def to_number(values: Any) -> Any:
    """The one element of an array, as a NumPy scalar. On CUDA this waits for the device."""
    return (values.get() if hasattr(values, "get") else values)[0]
