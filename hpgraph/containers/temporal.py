"""Graphs of arcs that have a time: rows sorted by departure, and the graphs that windows of time are."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from numbers import Number
from typing import Any, Self

import numpy as np

from hpgraph.containers import adjacency
from hpgraph.containers.graph import Graph
from hpgraph.containers.name_arrays import as_array
from hpgraph.containers.names import Names, as_names
from hpgraph.containers.public import public
from hpgraph.core.device import array_module, device_of, native, normalize_device, to_device, unmasked
from hpgraph.core.number import real

_TITLES = ("time", "timestamp", "t", "date", "datetime")
_ROWS = ("source", "target", "time", "duration")


class TemporalGraph:
    """Arcs that exist at a time: contacts, calls, payments, departures of trains. Parallel arcs are all kept.

    Parameters
    ----------
    table : table, dict of columns, list of tuples, or (m, 3) or (m, 4) array
        A row for each arc: a table as for `hpgraph.from_edges`, or rows ``(source, target, time[, duration])``.
    source, target, time : hashable, optional
        Titles of columns. Ends are known by their titles as in `hpgraph.from_edges`; times by "time", "timestamp", "t",
        "date" or "datetime".
    duration : hashable, number or timedelta, optional
        Title of the column of durations, or the duration of every arc: the arc leaves its source at its time, and
        reaches its target so much later. By default 0, contacts of an instant.
    weight : hashable, optional
        Title of the column of weights, of which the graphs below hold the sums.
    directed : bool, default True
        False says that each row is a contact, which leads both ways.
    n_vertices, names
        As for `hpgraph.from_edges`.

    Raises
    ------
    ValueError
        When columns are of unlike lengths or not there; when a time or a duration is missing, NaN, NaT or infinite, or
        a duration is negative.
    TypeError
        When times are neither numbers nor datetimes, or durations do not go with them: numbers with numbers, timedeltas
        with datetimes.

    Attributes
    ----------
    n_vertices, n_edges : int
        Number of vertices and of rows.
    source, target : integer arrays of shape (m,)
        Ends, by index, in the order of time; rows of one time are in the order in which they were given.
    time, duration : arrays of shape (m,)
        int64 or float64; on the CPU datetime64 and timedelta64 where times are such. Datetimes with a zone are
        converted to UTC.
    weight : array of shape (m,) or None
    directed, device, names
        As those of `Graph`.

    Notes
    -----
    A TemporalGraph does not change. What it computes itself runs on its device; functions of paths run on the CPU.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> T = hpg.TemporalGraph([("ann", "bob", 1), ("bob", "eve", 2), ("ann", "bob", 5)])
    >>> T
    TemporalGraph: 3 vertices, 3 arcs from 1 to 5, directed, no weights, cpu, named 'ann', 'bob', 'eve'
    >>> hpg.earliest_arrival(T, "ann").tolist()
    [1.0, 1.0, 2.0]
    """

    # What an algorithm that takes a Graph says.
    _graphs_of_it = "T.between(t0, t1) and T.snapshot(t) of a TemporalGraph are graphs"
    index_of: Any = Graph.index_of
    indices_of: Any = Graph.indices_of

    def __init__(
        self, table: Any, source: Any = None, target: Any = None, time: Any = None, duration: Any = None,
        weight: Any = None, *, directed: bool = True, n_vertices: int | None = None, names: Any = None,
    ) -> None:  # fmt: skip
        columns = _columns(table)
        if time is None:
            time = next((title for title in columns if str(title).lower() in _TITLES), None)
        if time not in columns:
            raise ValueError(f"time: the table has no column {time!r}; it has {', '.join(map(repr, columns))}")
        moments, self._unit = _numbers(columns[time], f"column {time!r}")
        if duration is None and "duration" in columns:
            duration = "duration"
        elif duration is None:
            duration = 0 if self._unit is None else np.zeros(1, _swapped(self._unit))[0]
        if isinstance(duration, Number | datetime.timedelta | np.timedelta64) and duration not in columns:
            spans, unit = _numbers([duration], "duration", True)
            spans = np.broadcast_to(spans, moments.shape)
        elif duration in columns:
            spans, unit = _numbers(columns[duration], f"column {duration!r}", True)
        else:
            raise ValueError(f"duration: the table has no column {duration!r}; it has {', '.join(map(repr, columns))}")
        ends = {title: column for title, column in columns.items() if title not in (time, duration)}
        named = names if names is not None else n_vertices
        given = public("interop").edges_given(ends, source, target, weight, named) or {}
        called = given.get("names") if names is None or isinstance(names, bool) else as_array(list(names))
        weights = self._take_ends(given, len(called) if called is not None and n_vertices is None else n_vertices)
        self._names: Names | None = as_names(called, self.n_vertices)
        # A copy, as of the other columns: the user's own may change.
        self.directed, self.weight = bool(directed), None if weights is None else weights.copy()
        for what, column in (("times", moments), ("durations", spans)):
            if column.shape != self.source.shape:
                raise ValueError(f"columns must have one length, not {len(column)} {what} for {len(self.source)} arcs")
        self._take_times(moments, spans, unit)

    def _take_ends(self, given: dict[str, Any], n_vertices: int | None) -> Any:
        """Check ends and weights as `Graph` does, which is built once; returns the weights."""
        arcs = (given[name] for name in ("source", "target", "weight"))
        self.source, self.target, weight = (np.asarray(one) if isinstance(one, list) else one for one in arcs)
        csr = adjacency.from_arcs(
            self.source, self.target, weight, n_vertices, both_ways=False, duplicates="min", sparse=True
        )
        self.n_vertices, self.device = int(csr.shape[0]), device_of(self.source)
        self.source, self.target = (end.astype(csr.indices.dtype) for end in (self.source, self.target))
        return weight

    def _take_times(self, moments: Any, spans: Any, unit: Any) -> None:
        """Durations and times in one type and one unit, and all rows in the order of time."""
        if (unit is None) != (self._unit is None):
            raise TypeError("duration must be a number where times are numbers, a timedelta where they are datetimes")
        if unit is not None:
            finest = np.promote_types(_swapped(self._unit), unit)
            moments = moments.view(self._unit).astype(_swapped(finest)).view(np.int64)
            spans, self._unit = spans.view(unit).astype(finest).view(np.int64), _swapped(finest)
        kind, xp = np.result_type(moments.dtype, spans.dtype), array_module(self.device)
        self._time, self._duration = (to_device(one, self.device).astype(kind) for one in (moments, spans))
        if len(self._time) and bool((self._duration < 0).any()):
            raise ValueError("duration must not be negative: an arc reaches its target when it leaves or later")
        if bool((self._time + self._duration < self._time).any()):
            raise ValueError("time + duration is beyond 64 bits: count from a later origin, or in a coarser unit")
        if len(self._time) and bool((self._time[1:] < self._time[:-1]).any()):
            order = xp.argsort(self._time, kind="stable")
            for name in ("source", "target", "_time", "_duration", "weight"):
                if (column := getattr(self, name)) is not None:
                    setattr(self, name, column[order])

    n_edges = property(lambda self: len(self._time), doc="Number of rows.")
    names = property(
        lambda self: None if self._names is None else self._names.array, doc="Name of each vertex, or None."
    )
    time = property(lambda self: self._moments(self._time), doc="Departure of each arc, ascending.")
    duration = property(lambda self: self._spans(self._duration), doc="Duration of each arc.")

    def _moments(self, numbers: Any) -> Any:
        """Times as the user has them: int64 minimum is no time."""
        return numbers if self._unit is None else to_device(numbers, "cpu").view(self._unit)

    def _spans(self, numbers: Any) -> Any:
        return numbers if self._unit is None else to_device(numbers, "cpu").view(_swapped(self._unit))

    def _moment(self, value: Any, name: str, up: bool = True) -> Any:
        """A time as a number; one between two of the times' own unit is rounded, up or down."""
        if self._unit is None:
            number = real(value, name)
            if math.isnan(number):
                raise ValueError(f"{name} must be a time, not NaN")
            if self._time.dtype.kind != "i" or math.isinf(number):
                return number
            return value if isinstance(value, int | np.integer) else math.ceil(number) if up else math.floor(number)
        if isinstance(value, datetime.datetime):
            value = _in_utc(value)
        if not isinstance(value, datetime.date | np.datetime64 | str):
            raise TypeError(f"{name} must be a datetime, as the times of the graph are, not {value!r}")
        return _rounded(np.datetime64(value), self._unit, name, up)

    def _span(self, value: Any, name: str) -> Any:
        """A length of time as a number, which must not be negative."""
        if self._unit is None:
            number: Any = real(value, name)
            number = value if isinstance(value, int | np.integer) else number
        elif isinstance(value, datetime.timedelta | np.timedelta64):
            number = _rounded(np.timedelta64(value), _swapped(self._unit), name, False)
        else:
            raise TypeError(f"{name} must be a timedelta, as the times of the graph are datetimes, not {value!r}")
        if not number >= 0:
            raise ValueError(f"{name} must be a length of time, 0 or longer, not {value!r}")
        return number

    def _graph(self, rows: Any, weight: Any = None) -> Graph:
        """The graph of some rows: an arc for each pair, of the sum of the weights."""
        weight = self.weight[rows] if weight is None and self.weight is not None else weight
        csr = adjacency.from_arcs(
            self.source[rows], self.target[rows], weight, self.n_vertices, both_ways=not self.directed, duplicates="sum"
        )
        return Graph._made(csr, self.directed, self._names)

    def between(self, t0: Any = None, t1: Any = None) -> Graph:
        """The graph of the arcs that depart from `t0` on and before `t1`.

        Parameters
        ----------
        t0, t1 : number or datetime, optional
            By default all the time there is. An instant without a zone is in UTC.

        Returns
        -------
        Graph
            On all vertices. The weight of an arc is the sum of the weights of its rows, or their number.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> T = hpg.TemporalGraph({"source": [0, 0, 1], "target": [1, 1, 2], "time": [1.0, 2.0, 4.0]})
        >>> T.between(1, 4)
        Graph: 3 vertices, 1 arcs, directed, int64 weights, cpu
        """
        begin = 0 if t0 is None else self._rows_before(self._moment(t0, "t0"))
        end = self.n_edges if t1 is None else self._rows_before(self._moment(t1, "t1"))
        return self._graph(slice(begin, max(begin, end)))

    def _rows_before(self, number: Any, side: Any = "left") -> int:
        if isinstance(number, float) and math.isinf(number):
            return 0 if number < 0 else self.n_edges
        xp = array_module(self.device)
        return int(xp.searchsorted(self._time, xp.asarray([number], self._time.dtype), side)[0])

    def snapshot(self, t: Any) -> Graph:
        """The graph of the arcs under way at an instant: ``time <= t < time + duration``, or ``time == t``.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> hpg.TemporalGraph([(0, 1, 2, 3), (1, 2, 4, 1)]).snapshot(4).n_edges
        2
        """
        now = self._moment(t, "t", up=False)
        rows = slice(0, self._rows_before(now, "right"))
        kept = self._time[rows] + self._duration[rows] > now
        if self._moment(t, "t") == now:
            kept |= self._time[rows] == now
        return self._graph(array_module(self.device).flatnonzero(kept))

    def windows(self, width: Any, step: Any = None) -> Iterator[tuple[Any, Graph]]:
        """Graphs of windows of time, from the first arc on, until a window begins after the last.

        Parameters
        ----------
        width, step : number or timedelta
            Length of each window, and from the beginning of one to that of the next; by default `width`. Above 0.

        Yields
        ------
        begin : number or numpy.datetime64
        graph : Graph
            As by ``between(begin, begin + width)``. Rows are in order of time, so a window costs what its own rows do.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> T = hpg.TemporalGraph([(0, 1, 0), (1, 2, 3), (2, 0, 4)])
        >>> [(int(begin), G.n_edges) for begin, G in T.windows(2)]
        [(0, 1), (2, 1), (4, 1)]
        """
        length = self._span(width, "width")
        stride = length if step is None else self._span(step, "step")
        if not (length > 0 and stride > 0):
            raise ValueError("width and step must be above 0, in the unit of the times")
        return self._windows(length, stride)

    def _windows(self, length: Any, stride: Any) -> Iterator[tuple[Any, Graph]]:
        if not self.n_edges:
            return
        first, last = self._time[0].item(), self._time[-1].item()
        whole = self._time.dtype.kind == "i"
        for number in range(int((last - first) // stride) + 1):
            begin = first + number * stride
            bounds = (math.ceil(bound) if whole else bound for bound in (begin, begin + length))
            rows = slice(*map(self._rows_before, bounds))
            yield (begin if self._unit is None else np.int64(begin).view(self._unit)), self._graph(rows)

    def decay(self, half_life: Any, at: Any = None) -> Graph:
        """The graph of what is remembered at an instant: a row counts half after each `half_life`.

        Parameters
        ----------
        half_life : number or timedelta
            Above 0.
        at : number or datetime, optional
            By default the time of the last row; later rows are left out.

        Returns
        -------
        Graph
            Weights are sums of ``weight * 2 ** -((at - time) / half_life)``, where rows without weights have 1.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> hpg.TemporalGraph([(0, 1, 0), (0, 1, 10)]).decay(10).weights.tolist()
        [1.5]
        """
        life = self._span(half_life, "half_life")
        if not life > 0:
            raise ValueError("half_life must be above 0, in the unit of the times")
        now = (self._time[-1].item() if self.n_edges else 0) if at is None else self._moment(at, "at", up=False)
        rows = slice(0, self._rows_before(now, "right"))
        kept = array_module(self.device).exp2((self._time[rows] - now) / life)
        return self._graph(rows, kept if self.weight is None else kept * self.weight[rows])

    def to(self, device: str) -> Self:
        """The same arcs on "cpu" or "cuda"; itself where they lie there."""
        device = normalize_device(device)
        if device == self.device:
            return self
        moved = object.__new__(type(self))
        moved.__dict__.update(self.__dict__, device=device)
        for name in ("source", "target", "_time", "_duration", "weight"):
            setattr(moved, name, to_device(getattr(self, name), device))
        return moved

    def __len__(self) -> int:
        return self.n_edges

    def __repr__(self) -> str:
        ends = f" from {self.time[0]} to {self.time[-1]}" if self.n_edges else ""
        weights = "no weights" if self.weight is None else f"{self.weight.dtype} weights"
        words = [f"{self.n_vertices:,} vertices", f"{self.n_edges:,} {'arcs' if self.directed else 'contacts'}{ends}",
                 "directed" if self.directed else "undirected", weights, self.device]  # fmt: skip
        return "TemporalGraph: " + ", ".join(words + ([] if self._names is None else [f"named {self._names.some}"]))


def _columns(table: Any) -> dict[Any, Any]:
    """The columns of a table, or of rows, by title."""
    columns: dict[Any, Any] | None = public("interop").columns_given(table)
    if columns is not None:
        return columns
    if isinstance(table, list):
        lengths = {len(row) if isinstance(row, list | tuple) else 0 for row in table}
        columns = dict(zip(_ROWS, zip(*table, strict=True), strict=False)) if len(lengths) == 1 else {}
        if not table:
            columns = {title: np.empty(0, np.int64) for title in _ROWS[:3]}
    else:
        rows = native(table)
        two = getattr(rows, "ndim", 0) == 2
        columns = {title: rows[:, place] for place, title in enumerate(_ROWS[: rows.shape[1]])} if two else {}
        if two and rows.dtype.kind == "f":
            columns |= {end: rows[:, place].astype(np.int64) for place, end in enumerate(_ROWS[:2])}
    if len(columns) not in (3, 4):
        raise TypeError(
            f"no arcs with times are known in {type(table).__name__}: give a table, a dict of columns, or rows "
            "(source, target, time) or (source, target, time, duration)"
        )
    return columns


def _swapped(unit: Any) -> Any:
    """The type of timedeltas for that of datetimes, and the other way round."""
    return np.dtype(unit.str[0] + unit.str[1].swapcase() + unit.str[2:])


def _in_utc(value: datetime.datetime) -> datetime.datetime:
    return value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)


def _rounded(value: Any, unit: Any, name: str, up: bool) -> int:
    """A datetime or timedelta in a unit."""
    if np.isnat(value):
        raise ValueError(f"{name} must be a time, not NaT")
    below = value.astype(unit)
    number = int(below.astype(np.int64)) - int(below > value)
    return number + (1 if up and np.int64(number).view(unit) < value else 0)


def _numbers(column: Any, title: str, spans: bool = False) -> tuple[Any, Any]:
    """Times, or lengths of time, as int64 or float64; and the unit of datetimes, or None."""
    wanted = "lengths of time: numbers or timedeltas" if spans else "times: numbers or datetimes"
    if getattr(getattr(column, "dt", None), "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    values = native(unmasked(column.to_numpy() if hasattr(column, "to_numpy") else column, title))
    values = values if hasattr(values, "dtype") else np.asarray(values)
    if values.dtype.kind == "O" and values.size:
        listed = [_in_utc(value) if isinstance(value, datetime.datetime) else value for value in values.tolist()]
        kind = datetime.timedelta if spans else datetime.date
        if any(value is None for value in listed):
            raise ValueError(f"{title} holds no time in some of its rows: drop them, or give them one")
        if all(isinstance(value, kind) for value in listed):
            values = np.array(listed, dtype="m8[us]" if spans else "M8[us]")
    letter = values.dtype.kind
    if letter in "iu" or (not values.size and letter == "O"):
        return values.astype(np.int64), None
    if letter == ("m" if spans else "M"):
        missing, unit = np.isnat(values), values.dtype
        values = values.view(np.int64)
    elif letter == "f":
        missing, unit = ~array_module(values).isfinite(values), None
        values = values.astype(np.float64)
    else:
        raise TypeError(f"{title} holds {values.dtype}, not {wanted}; pandas.to_datetime reads text")
    if bool(missing.any()):
        raise ValueError(f"{title} is NaN, NaT or infinite in {int(missing.sum())} of its rows: drop them")
    return values, unit
