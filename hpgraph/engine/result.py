"""Results of a run of a vertex program, from one start or from many sources, with the trace of its supersteps."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from hpgraph.containers.result_table import ResultTable
from hpgraph.engine.forms import Form

_COLUMNS = ("step", "direction", "active", "arcs", "µs")
# Streamed topology, predicted and measured.
_TRAFFIC = ("pages", "bytes predicted", "bytes moved", "µs predicted")
METHODS = frozenset(name for name in vars(ResultTable) if not name.startswith("_"))
"""Methods of a result; properties of the same name hide them."""


class Trace:
    """Direction, active vertices, arcs visited and time of every superstep.

    Parameters
    ----------
    rows : int64 array of shape (supersteps, 4), or a function that returns one
        Direction (0 push, 1 pull, plus 2 where the CPU took over from the GPU), active vertices, arcs, nanoseconds;
        and, of sources that run together, pairs settled, in a fifth column.
        A function is called on first use: a trace on the GPU is only fetched if it is read.
    form : Form, optional
        Which loop ran the supersteps, and why.
    traffic : int64 array of shape (supersteps, 4), optional
        Of topology that is not in memory: pages read, bytes predicted, bytes moved, nanoseconds predicted.

    Examples
    --------
    >>> trace = Trace(np.array([[0, 1, 3, 1500], [1, 3, 9, 2500]]))
    >>> print(trace.explain())
    step direction active arcs  µs
       1      push      1    3 1.5
       2      pull      3    9 2.5
    2 supersteps, 12 arcs, 0.004 ms
    """

    def __init__(
        self, rows: np.ndarray | Callable[[], np.ndarray], form: Form | None = None, traffic: np.ndarray | None = None
    ) -> None:
        self._source = rows
        self._form = form
        self.traffic = traffic

    def __getstate__(self) -> dict[str, object]:
        # Some values are computed on access, and fetched from the GPU.
        read = {name: getattr(self, name) for name in ("loop", "rows", "supersteps", "traffic")}
        return {**read, "_source": None, "_form": None}

    @cached_property
    def loop(self) -> str | None:
        """The loop that ran the supersteps, with its reason; None if unknown."""
        return None if self._form is None else self._form.in_words

    @cached_property
    def rows(self) -> np.ndarray:
        """The whole trace, an int64 array of shape (supersteps, 4)."""
        return self._source() if callable(self._source) else self._source

    @cached_property
    def supersteps(self) -> int:
        """Number of supersteps; a launch on the GPU lists at most min(2**20, n + 2) of them."""
        counted = getattr(self._source, "supersteps", None)
        return len(self.rows) if counted is None else counted()

    @property
    def direction(self) -> np.ndarray:
        """The direction of each superstep, "push" or "pull": an array of strings."""
        return np.array(["push", "pull"])[self.rows[:, 0] & 1]

    @property
    def on_host(self) -> np.ndarray:
        """Whether the CPU ran the superstep for the GPU: an array of bools.

        It takes over when frontiers stay thin for thousands of supersteps.
        """
        return self.rows[:, 0] > 1

    @property
    def active(self) -> np.ndarray:
        """Vertices active at the start of each superstep."""
        return self.rows[:, 1]

    @property
    def edges(self) -> np.ndarray:
        """Arcs visited in each superstep."""
        return self.rows[:, 2]

    @property
    def settled(self) -> np.ndarray:
        """Of many sources together, the pairs of a vertex and a source that each superstep settled.

        Otherwise, vertices active after it: the same if the first message wins, except in a last superstep at a limit.
        """
        return self.rows[:, 4] if self.rows.shape[1] > 4 else np.append(self.rows[1:, 1], 0)[: len(self)]

    @property
    def seconds(self) -> np.ndarray:
        """Time of each superstep; thin ones in a row on the CPU share theirs by vertices and arcs."""
        return self.rows[:, 3] * 1e-9

    def __len__(self) -> int:
        return len(self.rows)

    def explain(self, limit: int = 40) -> str:
        """The loop that ran, with its reason; then a table of supersteps, `limit` lines from both ends."""
        cells = [self._columns, *self._cells(max(limit, 0))]
        widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        lines = [" ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
        return "\n".join([*([self.loop] if self.loop else []), *lines, self._summary()])

    @property
    def _columns(self) -> tuple[str, ...]:
        return _COLUMNS if self.traffic is None else _COLUMNS + _TRAFFIC

    def _cells(self, limit: int) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        steps = list(range(len(self)))
        cut = len(steps) > limit
        first = (limit + 1) // 2
        if cut:
            steps = steps[:first] + steps[len(steps) - limit // 2 :]
        directions = np.where(self.on_host, np.char.add(self.direction, " on the CPU"), self.direction)
        for i in steps:
            numbers: tuple[str, ...] = f"{self.active[i]:,}", f"{self.edges[i]:,}", f"{self.rows[i, 3] / 1e3:,.1f}"
            if self.traffic is not None:
                pages, predicted_bytes, moved, predicted = self.traffic[i].tolist()
                numbers += f"{pages:,}", f"{predicted_bytes:,}", f"{moved:,}", f"{predicted / 1e3:,.1f}"
            rows.append((str(i + 1), str(directions[i]), *numbers))
        if cut:
            rows.insert(first, ("...",) * len(self._columns))
        return rows

    def _summary(self) -> str:
        listed = f" ({len(self)} listed)" if self.supersteps > len(self) else ""
        milliseconds = self.seconds.sum() * 1e3
        return f"{self.supersteps} supersteps{listed}, {int(self.edges.sum()):,} arcs, {milliseconds:,.3f} ms"

    def __repr__(self) -> str:
        return f"<Trace: {self._summary()}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in self._columns)
        body = "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in self._cells(20))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{self._summary()}</p>"


class RunResult(ResultTable):
    """Result of a run of a vertex program: each property, an array of length n, under its own name.

    Attributes
    ----------
    trace : Trace
        What each superstep did.
    supersteps : int
        Number of supersteps.
    active : array of vertex ids
        Vertices still active when the limit of supersteps ended the run; empty otherwise, and where the first message
        wins. By index, as all results: on a graph with names pass ``hpgraph.id(result.active)`` to continue.
    world : dict
        Parameters and last sums.
    """

    def __init__(
        self, properties: dict[str, Any], trace: Trace, active: Callable[[], Any], world: dict[str, Any]
    ) -> None:
        self.properties = properties
        self.trace = trace
        self._active = active
        self.world = world
        if not METHODS.isdisjoint(properties):
            self._hide_methods()

    def _hide_methods(self) -> None:
        """A program's properties hide methods of the same name."""
        self.__dict__.update({name: self.properties[name] for name in METHODS.intersection(self.properties)})

    def __getstate__(self) -> dict[str, Any]:
        _ = self.active
        return {name: value for name, value in self.__dict__.items() if name != "_active"}

    def _values(self) -> dict[str, Any]:
        # A table of vertices has no columns for edge properties.
        n = self.__dict__.get("_n")
        return {name: values for name, values in self.properties.items() if n is None or values.shape[-1] == n}

    @cached_property
    def active(self) -> Any:
        """The vertices still active; computed on first access."""
        return self._active()

    @property
    def supersteps(self) -> int:
        """Number of supersteps."""
        return self.trace.supersteps

    def __getattr__(self, name: str) -> Any:
        properties = self.__dict__.get("properties", {})
        if name in properties:
            return properties[name]
        raise AttributeError(f"the result has no {name!r}; it has {', '.join([*properties, 'trace', 'supersteps'])}")

    def __repr__(self) -> str:
        return f"<RunResult: {', '.join(self.properties)}; {self.trace!r}>"


class MultiSourceResult(RunResult):
    """Result of a run of a vertex program from many sources: each property, an array of shape (k, n).

    Attributes
    ----------
    traces, groups : list of Trace, list of int64 arrays
        What each superstep of each group of sources did, and the sources of each; ``trace`` is that of the only group.
    active : list of arrays of vertex ids
        For each source, the vertices still active when the limit of supersteps ended its run.
    unfinished : bool
        Whether the limit of supersteps may have ended some source's run.
    world : dict
        Parameters and last sums by name: a list each, of one value a source.
    """

    def __init__(self, properties: dict[str, Any]) -> None:
        self.properties = properties
        self.world = {}
        self.traces: list[Trace] = []
        self.groups: list[np.ndarray] = []
        self.unfinished = False
        self._of_sources: list[Any] = []
        self._hide_methods()

    @property
    def active(self) -> list[Any]:  # type: ignore[override]
        """For each source, the vertices still active."""
        return self._of_sources

    @property
    def trace(self) -> Trace:  # type: ignore[override]
        """The trace of the only group."""
        if len(self.traces) != 1:
            raise AttributeError(f"there are {len(self.traces)} groups of sources, each with a trace: see traces")
        return self.traces[0]

    def __repr__(self) -> str:
        groups = f"{len(self.active)} sources in {len(self.traces)} groups"
        return f"<MultiSourceResult: {', '.join(self.properties)}; {groups}>"
