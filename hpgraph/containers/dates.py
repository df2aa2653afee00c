"""Columns of dates: whole numbers of a unit of time since 1970, which compiled functions compare as such."""

import datetime
from types import CellType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.device import array_module, is_cuda, to_device


class Dates(NamedTuple):
    """A column of dates: `values`, an int64 array, with its minimum for missing ones; `unit`, a datetime64 type."""

    values: Any
    unit: np.dtype[Any]

    def plain(self) -> np.ndarray[Any, Any]:
        """The dates in NumPy's type."""
        return to_device(self.values, "cpu").view(self.unit)

    def shown(self) -> Any:
        """The dates in NumPy's type on the CPU; CuPy has no such arrays."""
        return self if is_cuda(self.values) else self.values.view(self.unit)

    def without_any(self, count: int) -> "Dates":
        """Missing dates."""
        return Dates(array_module(self.values).full(count, np.iinfo(np.int64).min), self.unit)

    def in_unit(self, unit: np.dtype[Any], called: str) -> "Dates":
        """The same dates in another unit, which must hold them."""
        if unit == self.unit:
            return self
        values, xp = self.plain().astype(unit), array_module(self.values)
        if (values.astype(self.unit).view(np.int64) != self.plain().view(np.int64)).any():
            raise ValueError(f"{called} holds dates of {self.unit}, which {unit}, as the graph has, does not hold")
        return Dates(xp.asarray(values.view(np.int64)), unit)


def dates_of(given: Any) -> Dates | None:
    """Dates of an array or a sequence, None being missing; those with a time zone in UTC; None if there are others."""
    if isinstance(given, list):
        present = [value for value in given if value is not None and value == value]
        if not present or not all(isinstance(value, datetime.date | np.datetime64) for value in present):
            return None
        days = not any(isinstance(value, datetime.datetime | np.datetime64) for value in present)
        listed = [in_utc(value) if value is not None and value == value else None for value in given]
        given = np.array([np.datetime64(value) for value in listed]) if not days else np.array(listed, "M8[D]")
    if getattr(getattr(given, "dtype", None), "kind", None) != "M":
        return None
    unit = given.dtype.newbyteorder("=")
    unit = np.dtype("M8[s]") if np.datetime_data(unit)[0] == "generic" else unit
    return Dates(np.array(given, unit).view(np.int64), unit)


def in_utc(value: Any) -> Any:
    """A datetime with a time zone in UTC, without the zone; other values unchanged."""
    zone = getattr(value, "tzinfo", None)
    return value if zone is None else value.astimezone(datetime.UTC).replace(tzinfo=None)


def comparing(function: FunctionType, columns: list[Any]) -> FunctionType:
    """A function of columns, in which dates among globals and closure are numbers of the columns' unit."""
    units = {column.unit for column in columns if isinstance(column, Dates)}
    names = [name for name in function.__code__.co_names if _is_date(function.__globals__.get(name))]
    cells = function.__closure__ or ()
    if not units or not (names or any(_is_date(cell.cell_contents) for cell in cells)):
        return function
    if len(units) > 1:
        called = ", ".join(sorted(map(str, units)))
        raise ValueError(f"a function compares dates with columns of {called}: give these one unit, by with_columns")
    (unit,) = units

    def convert(value: Any) -> Any:
        if not _is_date(value):
            return value
        date = np.datetime64(in_utc(value))
        converted = date.astype(unit)
        if np.isnat(date) or converted != date:
            raise ValueError(f"{value!r} is no whole number of the column's unit, {unit}: compare with one that is")
        return int(converted.astype(np.int64))

    compared = FunctionType(
        function.__code__, {**function.__globals__, **{name: convert(function.__globals__[name]) for name in names}},
        function.__name__, function.__defaults__, tuple(CellType(convert(cell.cell_contents)) for cell in cells),
    )  # fmt: skip
    compared.__module__, compared.__qualname__ = function.__module__, function.__qualname__
    return compared


def _is_date(value: Any) -> bool:
    return isinstance(value, datetime.date | np.datetime64)
