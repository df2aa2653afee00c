"""The smallest and the largest entry, absent ones being 0, and where it stands: NumPy's answers for dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.algebra.aggregate import aggregate, to_number
from hpgraph.algebra.rows import fold
from hpgraph.containers.public import make_vector
from hpgraph.containers.vector import VectorStorage
from hpgraph.core.device import array_module
from hpgraph.formats import CSR, occurrences
from hpgraph.kernels.spmv.product_plan import value_dtype
from hpgraph.semiring import get_monoid


def _ufunc(rows: CSR, name: str, *, skip_nan: bool) -> Any:
    xp = array_module(rows.device)
    return getattr(xp, {"min": "fmin", "max": "fmax"}[name] if skip_nan else {"min": "minimum", "max": "maximum"}[name])


def _nan_counts(rows: CSR) -> Any:
    """How many NaN each row holds; None where there is none at all."""
    if rows.data is None or rows.data.dtype.kind != "f":
        return None
    xp = array_module(rows.device)
    missing = xp.isnan(rows.data)
    if not bool(missing.any()):
        return None
    return occurrences(rows.expand_rows()[missing], rows.shape[0])


def _by_row(rows: CSR, name: str, *, width: int, explicit: bool, skip_nan: bool) -> Any:
    """The extreme of each row of `width` places; 0 where a row holds nothing."""
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
    """The column of each row's smallest or largest entry, the first of equals, or the first NaN.

    int64; 0 where only stored entries count and there are none.
    """
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
    """Where the smallest or largest entry of all stands, by rows."""
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
    absent = int((places == xp.arange(rows.nnz)).sum())
    return min(place, absent) if bool(value == 0) else absent
