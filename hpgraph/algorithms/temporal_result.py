"""Results of searches in time: a value for each vertex, and the paths that have it."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from hpgraph.algorithms.array_result import ArrayResult, SearchResult
from hpgraph.containers.name_arrays import python_values
from hpgraph.containers.temporal import TemporalGraph
from hpgraph.containers.vertex_array import named
from hpgraph.core.device import Array
from hpgraph.core.errors import NoPathError
from hpgraph.kernels.temporal import Stream
from hpgraph.kernels.temporal.cpu_trace import trace


class TemporalArc(NamedTuple):
    """An arc of a path: its ends, by name if the graph has names, its departure and its arrival.

    Times are Python's numbers, or NumPy's datetimes.
    """

    source: Any
    target: Any
    departure: Any
    arrival: Any


@dataclass(frozen=True, eq=False)
class TemporalPaths(ArrayResult, SearchResult, array="value"):
    """Values of best paths in time from a vertex, or to one. ``numpy.asarray`` takes it for the values.

    Attributes
    ----------
    value : array of shape (n,), or (k, n) for a sequence of k vertices
        Times, lengths of time or numbers of arcs: see the function that returned it.
    """

    value: Array

    # The search that produced the result; dropped by pickling.
    _find_in: "Search | None" = None

    def __repr__(self) -> str:
        return f"<TemporalPaths: {self.value!r}>"

    def path_to(self, vertex: Any, source: Any = None) -> list[TemporalArc]:
        """A path from the source to a vertex that has the value found, of results of a search from sources.

        Parameters
        ----------
        vertex : hashable or hpgraph.id
            A name where the graph has names, else an index.
        source : hashable or hpgraph.id, optional
            Which source; must be said where the search began at a sequence of them.

        Returns
        -------
        list of (source, target, departure, arrival)
            Its arcs, in order; none for the source itself. Of several such paths any, the same at every call.

        Raises
        ------
        NoPathError
            If no path leads there.
        ValueError, TypeError, IndexError
            If one is no vertex, or no source; or when the result was pickled, which leaves the graph behind.

        Notes
        -----
        Each call takes one pass over the arcs.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> T = hpg.TemporalGraph([("ann", "bob", 1), ("bob", "eve", 2), ("ann", "eve", 7)])
        >>> for arc in hpg.earliest_arrival(T, "ann").path_to("eve"):
        ...     print(*arc)
        ann bob 1 1
        bob eve 2 2
        """
        return self._path(vertex, source, False)

    def path_from(self, vertex: Any, target: Any = None) -> list[TemporalArc]:
        """A path from a vertex to the target that has the value found, of `latest_departure`; as `path_to`.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> T = hpg.TemporalGraph([(0, 1, 1), (1, 2, 2), (0, 2, 7)])
        >>> [tuple(arc) for arc in hpg.latest_departure(T, 2).path_from(0)]
        [(0, 2, 7, 7)]
        """
        return self._path(vertex, target, True)

    def _path(self, vertex: Any, end: Any, back: bool) -> list[TemporalArc]:
        search = self._find_in
        if search is None:
            raise ValueError("this result was pickled, without the graph in which paths are found: search again")
        usage = "path_from(vertex, target=...)" if search.back else "path_to(vertex, source=...)"
        if back != search.back:
            raise TypeError(f"paths were searched for {'to targets' if search.back else 'from sources'}: use {usage}")
        n = self.value.shape[-1]
        at = self._index(vertex, n, "vertex")
        row = 0 if search.one and end is None else self._row(end, n, usage)
        return search.path(int(search.sources[row]), at, vertex)


class Search(NamedTuple):
    """A search from one vertex or a sequence, in a stream whose arcs have these rows; ``wanted`` as of `search`."""

    T: TemporalGraph
    events: Stream
    rows: Any
    wanted: int
    strict: bool
    back: bool
    sources: Any
    one: bool

    def result(self, values: Any) -> TemporalPaths:
        """The result of given values, shape (k, n)."""
        return named(TemporalPaths(values[0] if self.one else values, self), self.T, self.sources)

    def path(self, source: int, vertex: int, called: Any) -> list[TemporalArc]:
        """The arcs of a path as `TemporalArc`s."""
        if source == vertex:
            return []
        last, before = trace(self.events, self.T.n_vertices, source, self.wanted, self.strict)
        arc, arcs = int(last[vertex]), []
        while arc >= 0:
            arcs.append(arc)
            arc = int(before[arc])
        if not arcs:
            where = f"from {called!r} to the target" if self.back else f"to {called!r} from the source"
            raise NoPathError(f"no path leads {where} in the time that was searched")
        arcs = arcs if self.back else arcs[::-1]
        tails, heads = self.events.source[arcs], self.events.target[arcs]
        times = self.T._time[self.rows[arcs]], (self.T._time + self.T._duration)[self.rows[arcs]]
        ends = [python_values(one if self.T.names is None else self.T.names[one]) for one in (tails, heads)]
        columns = [one.tolist() if self.T._unit is None else list(self.T._times_of(one)) for one in times]
        return [TemporalArc(*arc) for arc in zip(*(ends[::-1] if self.back else ends), *columns, strict=True)]
