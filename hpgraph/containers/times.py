"""Instants and lengths of time as numbers: columns of them, and bounds in the unit of a column."""

import datetime
import math
from typing import Any

import numpy as np

from hpgraph.containers.dates import in_utc
from hpgraph.core.device import anywhere, array_module, count, native, unmasked
from hpgraph.core.number import real


def other_kind(unit: Any) -> Any:
    """The type of timedeltas for that of datetimes, and the other way round."""
    return np.dtype(unit.str[0] + unit.str[1].swapcase() + unit.str[2:])


def column_of_times(column: Any, title: str, spans: bool = False) -> tuple[Any, Any]:
    """Times, or lengths of time, as int64 or float64; and the unit of datetimes, or None."""
    expected = "lengths of time: numbers or timedeltas" if spans else "times: numbers or datetimes"
    if getattr(getattr(column, "dt", None), "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    values = native(unmasked(column.to_numpy() if hasattr(column, "to_numpy") else column, title))
    values = values if hasattr(values, "dtype") else np.asarray(values)
    if values.dtype.kind == "O" and values.size:
        values = _of_objects(values.tolist(), title, spans)
    kind = values.dtype.kind
    if kind in "iu" or (not values.size and kind == "O"):
        if values.size and int(values.max()) > np.iinfo(np.int64).max:
            raise ValueError(f"{title} has numbers from 2**63 on, beyond int64: count from a later origin")
        return values.astype(np.int64), None
    if kind == ("m" if spans else "M"):
        missing, unit = np.isnat(values), values.dtype
        values = values.view(np.int64)
    elif kind == "f":
        missing, unit = ~array_module(values).isfinite(values), None
        values = values.astype(np.float64)
    else:
        raise TypeError(f"{title} holds {values.dtype}, not {expected}; pandas.to_datetime reads text")
    if anywhere(missing):
        raise ValueError(f"{title} is NaN, NaT or infinite in {count(missing)} of its rows: drop them")
    return values, unit


def _of_objects(listed: list[Any], title: str, spans: bool) -> Any:
    """An array of datetimes or timedeltas from Python's; other objects unchanged."""
    # Types of missing values of pandas, without importing it.
    if any(value is None or type(value).__name__ in ("NAType", "NaTType") for value in listed):
        raise ValueError(f"{title} holds no time in some of its rows: drop them, or give them one")
    if not all(isinstance(value, datetime.timedelta if spans else datetime.date) for value in listed):
        return np.asarray(listed)
    return np.array([in_utc(value) for value in listed], dtype="m8[us]" if spans else "M8[us]")


def in_finer_unit(numbers: Any, unit: Any, finer: Any) -> Any:
    """Numbers of datetimes or timedeltas in a finer unit."""
    times = numbers.view(unit).astype(finer)
    if (times.astype(unit) != numbers.view(unit)).any():
        raise ValueError(f"some times are beyond 64 bits in units of {np.datetime_data(finer)[0]}: use a coarser one")
    return times.view(np.int64)


def as_instant(value: Any, name: str, unit: Any, whole: bool, up: bool) -> Any:
    """A bound as a number; `whole`: of whole numbers, where one between two of them is rounded, up or down."""
    if unit is None:
        number = real(value, name)
        if math.isnan(number):
            raise ValueError(f"{name} must be a time, not NaN")
        if not whole or math.isinf(number):
            return number
        return int(value) if isinstance(value, int | np.integer) else math.ceil(number) if up else math.floor(number)
    value = in_utc(value)
    if not isinstance(value, datetime.date | np.datetime64 | str):
        raise TypeError(f"{name} must be a datetime, as the times of the graph are, not {value!r}")
    exact = np.datetime64(value)
    number = _in_unit(exact, unit, name)
    return number + (1 if up and np.int64(number).view(unit) < exact else 0)


def as_span(value: Any, name: str, unit: Any) -> Any:
    """A length of time as a number of the unit of timedeltas, which must not be negative; a float between two."""
    if unit is None:
        number: Any = real(value, name)
        number = int(value) if isinstance(value, int | np.integer) else number
    elif isinstance(value, datetime.timedelta | np.timedelta64):
        exact = np.timedelta64(value)
        number = _in_unit(exact, unit, name)
        if np.int64(number).view(unit) != exact:
            number = float(exact / np.int64(1).view(unit))
    else:
        raise TypeError(f"{name} must be a timedelta, as the times of the graph are datetimes, not {value!r}")
    if not number >= 0:
        raise ValueError(f"{name} must be a length of time, 0 or longer, not {value!r}")
    return number


def _in_unit(value: Any, unit: Any, name: str) -> int:
    """A datetime or timedelta in a unit, rounded down."""
    if np.isnat(value):
        raise ValueError(f"{name} must be a time, not NaT")
    below = value.astype(unit)
    # NumPy wraps around on overflow in a finer unit; the conversion back then differs.
    if np.promote_types(value.dtype, unit) == unit and below.astype(value.dtype) != value:
        raise ValueError(f"{name}={value} is beyond 64 bits in the unit of the times, {np.datetime_data(unit)[0]}")
    return int(below.astype(np.int64)) - int(below > value)
