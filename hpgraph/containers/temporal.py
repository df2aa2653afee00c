"""Graphs of arcs that have a time: rows sorted by departure, and the graphs that windows of time are."""

import datetime
import math
from collections.abc import Callable, Iterator
from numbers import Number
from typing import Any, Self

import numpy as np

from hpgraph.containers import adjacency
from hpgraph.containers.graph import Graph
from hpgraph.containers.name_arrays import as_array
from hpgraph.containers.names import Names, as_names
from hpgraph.containers.pair_counts import PairCounts
from hpgraph.containers.public import public
from hpgraph.containers.times import as_instant, as_span, column_of_times, in_finer_unit, other_kind
from hpgraph.core.device import anywhere, array_module, device_of, native, normalize_device, to_device
from hpgraph.formats.interchange import read_only

_TITLES = ("time", "timestamp", "t", "date", "datetime")
_ROWS = ("source", "target", "time", "duration")
# Windows are counted incrementally if each overlaps this many, with this many rows a pair.
_OVERLAP, _ROWS_A_PAIR = 4, 0.5
# Attributes that hold an array with a value for each row.
_HELD = ("_source", "_target", "_time", "_duration", "_weight")


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
        Title of the column of durations, or the duration of every arc: an arc leaves its source at its time, and
        reaches its target after its duration. By default 0, instantaneous contacts.
    weight : hashable, optional
        Title of the column of weights, which are summed in the graphs below.
    directed : bool, default True
        False declares that each row is a contact, an arc in both directions.
    n_vertices, names
        As for `hpgraph.from_edges`.

    Raises
    ------
    ValueError
        If columns differ in length or do not exist; if a time or a duration is missing, NaN, NaT or infinite, or a
        duration is negative.
    TypeError
        If times are neither numbers nor datetimes, or durations do not match them: numbers with numbers, timedeltas
        with datetimes.

    Attributes
    ----------
    n_vertices, n_edges : int
        Number of vertices and of rows.
    source, target : integer arrays of shape (m,)
        Ends, by index, in order of time; rows of equal time keep their order. These arrays are read-only, as those of
        `Graph`; on CUDA they are copies.
    time, duration : arrays of shape (m,)
        int64 or float64; on the CPU datetime64 and timedelta64 if times are datetimes. Datetimes with a time zone are
        converted to UTC.
    weight : array of shape (m,) or None
    directed, device, names
        As those of `Graph`.

    Notes
    -----
    A TemporalGraph is immutable. Its methods run on its device; functions of paths run on the CPU.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> T = hpg.TemporalGraph([("ann", "bob", 1), ("bob", "eve", 2), ("ann", "bob", 5)])
    >>> T
    TemporalGraph: 3 vertices, 3 arcs from 1 to 5, directed, no weights, cpu, named 'ann', 'bob', 'eve'
    >>> hpg.earliest_arrival(T, "ann").tolist()
    [1.0, 1.0, 2.0]
    """

    # Advice in the error of an algorithm that takes a Graph.
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
        if time is None:
            titles = ", ".join(map(repr, columns))
            raise ValueError(f"time: none of the columns {titles} is called {' or '.join(_TITLES)}: give time=")
        if time not in columns:
            raise ValueError(f"time: the table has no column {time!r}; it has {', '.join(map(repr, columns))}")
        moments, self._unit = column_of_times(columns[time], f"column {time!r}")
        if duration is None and "duration" in columns:
            duration = "duration"
        elif duration is None:
            duration = 0 if self._unit is None else np.zeros(1, other_kind(self._unit))[0]
        if isinstance(duration, Number | datetime.timedelta | np.timedelta64) and duration not in columns:
            spans, unit = column_of_times([duration], "duration", True)
            spans = np.broadcast_to(spans, moments.shape)
        elif duration in columns:
            spans, unit = column_of_times(columns[duration], f"column {duration!r}", True)
        else:
            raise ValueError(f"duration: the table has no column {duration!r}; it has {', '.join(map(repr, columns))}")
        ends = {title: column for title, column in columns.items() if title not in (time, duration)}
        named = names if names is not None else n_vertices
        given = public("interop").edges_given(ends, source, target, weight, named) or {}
        called = given.get("names") if names is None or isinstance(names, bool) else as_array(list(names))
        weights = self._take_ends(given, len(called) if called is not None and n_vertices is None else n_vertices)
        self._names: Names | None = as_names(called, self.n_vertices)
        # A copy, like the other columns, since the user may change the array.
        self.directed, self._weight = bool(directed), None if weights is None else weights.copy()
        for what, column in (("times", moments), ("durations", spans)):
            if column.shape != self._source.shape:
                raise ValueError(f"columns must have one length, not {len(column)} {what} for {len(self._source)} arcs")
        self._take_times(moments, spans, unit)

    def _take_ends(self, given: dict[str, Any], n_vertices: int | None) -> Any:
        """Check ends and weights as `Graph` does, which is built once; returns the weights."""
        arcs = (given[name] for name in ("source", "target", "weight"))
        source, target, weight = (np.asarray(one) if isinstance(one, list) else one for one in arcs)
        csr = adjacency.from_arcs(source, target, weight, n_vertices, both_ways=False, duplicates="min", sparse=True)
        self.n_vertices, self.device = int(csr.shape[0]), device_of(source)
        self._source, self._target = (end.astype(csr.indices.dtype) for end in (source, target))
        return weight

    def _take_times(self, moments: Any, spans: Any, unit: Any) -> None:
        """Durations and times in one type and one unit, and all rows in the order of time."""
        if (unit is None) != (self._unit is None):
            raise TypeError("duration must be a number where times are numbers, a timedelta where they are datetimes")
        if unit is not None:
            finest = np.promote_types(other_kind(self._unit), unit)
            moments = in_finer_unit(moments, self._unit, other_kind(finest))
            spans, self._unit = in_finer_unit(spans, unit, finest), other_kind(finest)
        kind, xp = np.result_type(moments.dtype, spans.dtype), array_module(self.device)
        self._time, self._duration = (to_device(one, self.device).astype(kind) for one in (moments, spans))
        if len(self._time) and anywhere(self._duration < 0):
            raise ValueError("duration must not be negative: an arc reaches its target when it leaves or later")
        with np.errstate(over="ignore"):
            arrival = self._time + self._duration
        if anywhere((arrival < self._time) | (arrival == np.inf)):
            raise ValueError("time + duration is beyond 64 bits: count from a later origin, or in a coarser unit")
        if len(self._time):
            first, last = self._time.min().item(), arrival.max().item()
            # The extreme int64 values mark missing times.
            earliest, latest = (1 - 2**63, 2**63 - 2) if kind.kind == "i" else (-np.inf, np.inf)
            if not (earliest <= first and last <= latest and last - first <= latest and last - first < np.inf):
                raise ValueError(
                    "times differ by more than 64 bits hold: count from a later origin, or in a coarser unit"
                )
        if len(self._time) and anywhere(self._time[1:] < self._time[:-1]):
            order = xp.argsort(self._time, kind="stable")
            for name in _HELD:
                if (column := getattr(self, name)) is not None:
                    setattr(self, name, column[order])

    n_edges = property(lambda self: len(self._time), doc="Number of rows.")
    names = property(
        lambda self: None if self._names is None else self._names.array, doc="Name of each vertex, or None."
    )
    source = property(lambda self: read_only(self._source), doc="Vertex that each arc leaves, by index.")
    target = property(lambda self: read_only(self._target), doc="Vertex that each arc reaches, by index.")
    time = property(lambda self: self._times_of(read_only(self._time)), doc="Departure of each arc, ascending.")
    duration = property(lambda self: self._times_of(read_only(self._duration), True), doc="Duration of each arc.")
    weight = property(lambda self: read_only(self._weight), doc="Weight of each arc, or None.")

    def _times_of(self, numbers: Any, spans: bool = False) -> Any:
        """Times, or lengths of time, in the user's type; the int64 minimum is NaT."""
        if self._unit is None:
            return numbers
        return to_device(numbers, "cpu").view(other_kind(self._unit) if spans else self._unit)

    def _time_of(self, value: Any, name: str, up: bool = True) -> Any:
        """A time as a number; one between two of the times' own unit is rounded, up or down."""
        return as_instant(value, name, self._unit, self._time.dtype.kind == "i", up)

    def _span(self, value: Any, name: str) -> Any:
        """A length of time as a number, which must not be negative."""
        return as_span(value, name, None if self._unit is None else other_kind(self._unit))

    def _graph(self, rows: Any, weight: Any = None) -> Graph:
        """The graph of some rows: an arc for each pair, of the sum of the weights."""
        weight = self._weight[rows] if weight is None and self._weight is not None else weight
        csr = adjacency.from_arcs(
            self._source[rows], self._target[rows], weight, self.n_vertices, both_ways=not self.directed,
            duplicates="sum",
        )  # fmt: skip
        return Graph._from_csr(csr, self.directed, self._names)

    def between(self, t0: Any = None, t1: Any = None) -> Graph:
        """The graph of the arcs that depart from `t0` on and before `t1`.

        Parameters
        ----------
        t0, t1 : number or datetime, optional
            By default unbounded. An instant without a time zone is in UTC.

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
        begin = 0 if t0 is None else self._rows_before(self._time_of(t0, "t0"))
        end = self.n_edges if t1 is None else self._rows_before(self._time_of(t1, "t1"))
        return self._graph(slice(begin, max(begin, end)))

    def _rows_before(self, number: Any, side: Any = "left") -> int:
        whole = self._time.dtype.kind == "i"
        if math.isinf(number) or (whole and not -(1 << 63) <= number < 1 << 63):
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
        now = self._time_of(t, "t", up=False)
        rows = slice(0, self._rows_before(now, "right"))
        under_way = self._time[rows] + self._duration[rows] > now
        if self._time_of(t, "t") == now:
            under_way |= self._time[rows] == now
        return self._graph(array_module(self.device).flatnonzero(under_way))

    def windows(self, width: Any, step: Any = None) -> Iterator[tuple[Any, Graph]]:
        """Graphs of consecutive time windows, from the first arc to the last.

        Parameters
        ----------
        width, step : number or timedelta
            Length of each window, and distance of the starts of two windows, by default `width`. Positive.

        Yields
        ------
        begin : number or numpy.datetime64
        graph : Graph
            As by ``between(begin, begin + width)``. The cost of a window is that of its rows; if windows overlap much
            and there are no weights, that of the rows it adds and removes.

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
            raise ValueError("width and step must be above 0")
        if self._unit is not None and not (length % 1 == stride % 1 == 0):
            raise ValueError(f"width and step must be whole {np.datetime_data(self._unit)[0]}, the unit of the times")
        return self._windows(length, stride)

    def _windows(self, width: Any, step: Any) -> Iterator[tuple[Any, Graph]]:
        if not self.n_edges:
            return
        first, last = self._time[0].item(), self._time[-1].item()
        whole = self._time.dtype.kind == "i"
        graph_of: Callable[[slice], Graph] = self._graph
        if self._weight is None and width >= _OVERLAP * step:
            counts = PairCounts(self)
            if self.n_edges * min(1, width / max(last - first, width)) > _ROWS_A_PAIR * counts.number:
                graph_of = counts.graph
        for number in range(int((last - first) // step) + 1):
            begin = first + number * step
            bounds = (math.ceil(bound) if whole else bound for bound in (begin, begin + width))
            rows = slice(*map(self._rows_before, bounds))
            yield (begin if self._unit is None else np.int64(begin).view(self._unit)), graph_of(rows)

    def decay(self, half_life: Any, at: Any = None) -> Graph:
        """The graph at an instant with exponentially decaying weights, which halve after each `half_life`.

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
            raise ValueError("half_life must be above 0")
        now = (self._time[-1].item() if self.n_edges else 0) if at is None else self._time_of(at, "at", up=False)
        rows = slice(0, self._rows_before(now, "right"))
        factor = array_module(self.device).exp2((self._time[rows] - now) / life)
        return self._graph(rows, factor if self._weight is None else factor * self._weight[rows])

    def to(self, device: str) -> Self:
        """The same arcs on "cpu" or "cuda"; itself where they lie there."""
        device = normalize_device(device)
        if device == self.device:
            return self
        return self._with(device=device, **{name: to_device(getattr(self, name), device) for name in _HELD})

    @property
    def undirected(self) -> Self:
        """The same rows as contacts, which lead both ways; the arrays are shared."""
        return self._with(directed=False)

    def _with(self, **changed: Any) -> Self:
        graph = object.__new__(type(self))
        graph.__dict__.update(self.__dict__, **changed)
        return graph

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
            f"arcs with times cannot be read from {type(table).__name__}: give a table, a dict of columns, or rows "
            "(source, target, time) or (source, target, time, duration)"
        )
    return columns
