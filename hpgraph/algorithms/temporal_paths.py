"""Paths that respect time: each arc departs when the one before it has arrived, or later.

An arc of duration d that departs at t arrives at t + d. Arcs of duration 0 need a rule of their own: with ``strict`` a
path takes at most one of them at any instant, as a contact passes nothing on in the moment in which it is made;
without, any number. Searches from many sources share each pass over the arcs (H. Wu, J. Cheng, S. Huang, Y. Ke, Y. Lu,
Y. Xu, "Path problems in temporal graphs", VLDB'14). All run on the CPU.
"""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from hpgraph.algorithms.sources import sources_of
from hpgraph.algorithms.temporal_arcs import arcs_of, checked
from hpgraph.algorithms.temporal_result import Search, TemporalPaths
from hpgraph.containers.temporal import TemporalGraph
from hpgraph.containers.vertex_array import by_vertex
from hpgraph.containers.vertices import as_collection, id
from hpgraph.core.device import Array, check_memory
from hpgraph.core.number import one_of
from hpgraph.core.suggestions import naming_arguments
from hpgraph.kernels.temporal import ARRIVAL, DURATION, HOPS, Stream
from hpgraph.kernels.temporal.cpu import search

# Distances in memory at once for sums over sources.
_AT_ONCE = 1 << 24


def unreached(kind: np.dtype[Any]) -> Any:
    """The raw value of unreached vertices: the largest of its type."""
    return np.iinfo(kind).max if kind.kind == "i" else np.inf


def _start(T: TemporalGraph, start: Any) -> Any:
    """The earliest departure as a number, by default the time of the first arc."""
    if start is not None:
        return T._time_of(start, "start")
    return T._time[0] if T.n_edges else 0


def _search(events: Stream, T: TemporalGraph, sources: Any, wanted: int, strict: bool) -> Any:
    """Raw values of shape (k, n), the largest of their type for unreached vertices."""
    distinct, place = np.unique(sources, return_inverse=True)
    kind = events.time.dtype
    check_memory(2 * len(sources) * T.n_vertices * kind.itemsize, f"paths from {len(sources)} vertices", "cpu")
    values = np.full((len(distinct), T.n_vertices), unreached(kind), kind)
    search(events, T.n_vertices, distinct, wanted, bool(strict), values)
    values[np.arange(len(distinct)), distinct] = 0
    return values if len(distinct) == len(sources) and (distinct == sources).all() else values[place]


def _vertices(T: TemporalGraph, given: Any, argument: str) -> tuple[Any, bool]:
    """Vertices to search from, and whether it is a single one."""
    single = given is not None and not isinstance(given, list | tuple | range) and np.ndim(
        given.index if isinstance(given, id) else given
    ) == 0 and not hasattr(given, "__next__")  # fmt: skip
    return sources_of(
        T, None if given is None else as_collection([given] if single else given), argument=argument
    ), single


def _search_from(
    T: TemporalGraph, given: Any, wanted: int, start: Any, end: Any, strict: bool, *, back: bool = False
) -> tuple[Any, Any, Search]:
    """Raw numbers, where there are any, and what was searched for."""
    checked(T)
    sources, single = _vertices(T, given, "targets" if back else "sources")
    events, rows = arcs_of(T, start, end, back=back)
    result = _search(events, T, sources, wanted, strict)
    search = Search(T, events, rows, wanted, bool(strict), back, sources, single)
    return result, result < unreached(result.dtype), search


def _user_values(
    found: Any, is_reached: Any, missing: float, search: Search, own: Any = 0, spans: bool = False
) -> TemporalPaths:
    """Values for users: floats, or datetimes, with `missing` or NaT if there is none, and `own` at the source."""
    T = search.T
    values = np.where(is_reached, found.astype(np.float64) if T._unit is None else found,
                      missing if T._unit is None else np.iinfo(np.int64).min)  # fmt: skip
    values[np.arange(len(values)), search.sources] = own
    if T._unit is not None:
        values = T._times_of(values, spans)
    return search.result(values)


@naming_arguments
def earliest_arrival(
    T: TemporalGraph, sources: Any = None, *, start: Any = None, end: Any = None, strict: bool = True
) -> TemporalPaths:
    """Earliest arrival times of time-respecting paths from each source.

    Parameters
    ----------
    sources : vertex, sequence of vertices, or None
        None for all vertices.
    start, end : number or datetime, optional
        Paths depart at `start` or later and arrive at `end` or before.
    strict : bool
        Whether a path takes at most one arc of duration 0 at any instant, or any number of them. Where all durations
        are above 0 it makes no difference.

    Returns
    -------
    TemporalPaths
        An array of shape (n,), or (k, n) for a sequence of sources: float64, inf where no path leads; datetime64, NaT
        there, where times are datetimes. A source itself has `start`, by default the time of the first arc. Its
        `path_to` gives the paths.

    Notes
    -----
    O(m) time for each source, and one pass over the arcs for up to 64 of them. Whole numbers from 2**53 on are rounded.

    References
    ----------
    H. Wu, J. Cheng, S. Huang, Y. Ke, Y. Lu, Y. Xu, "Path problems in temporal graphs", VLDB'14.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> T = hpg.TemporalGraph([(1, 2, 1), (0, 1, 2), (1, 3, 5)], duration=1)
    >>> hpg.earliest_arrival(T, 0).tolist()
    [1.0, 3.0, inf, 6.0]
    """
    result, reached, search = _search_from(T, sources, ARRIVAL, start, end, strict)
    return _user_values(result, reached, np.inf, search, _start(T, start))


@naming_arguments
def latest_departure(
    T: TemporalGraph, targets: Any = None, *, start: Any = None, end: Any = None, strict: bool = True
) -> TemporalPaths:
    """Latest departure times of time-respecting paths to each target.

    Parameters
    ----------
    targets : vertex, sequence of vertices, or None
        None for all vertices.
    start, end, strict
        As for `earliest_arrival`.

    Returns
    -------
    TemporalPaths
        An array of shape (n,), or (k, n) for a sequence of targets: float64, -inf where no path leads; datetime64, NaT
        there, where times are datetimes. A target itself has `end`, by default the time at which the last arc arrives.
        Its `path_from` gives the paths.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> T = hpg.TemporalGraph([(1, 2, 1), (0, 1, 2), (1, 3, 5)], duration=1)
    >>> hpg.latest_departure(T, 3).tolist()
    [2.0, 5.0, -inf, 6.0]
    """
    result, reached, search = _search_from(T, targets, ARRIVAL, start, end, strict, back=True)
    last = (T._time + T._duration).max() if T.n_edges else 0
    own = last if end is None else T._time_of(end, "end", up=False)
    return _user_values(np.where(reached, -result, 0), reached, -np.inf, search, own)


@naming_arguments
def fastest_duration(
    T: TemporalGraph, sources: Any = None, *, start: Any = None, end: Any = None, strict: bool = True
) -> TemporalPaths:
    """Durations of the fastest time-respecting paths, from departure to arrival, over all departures.

    Parameters are those of `earliest_arrival`.

    Returns
    -------
    TemporalPaths
        An array of shape (n,), or (k, n) for a sequence of sources: float64, inf where no path leads; timedelta64, NaT
        there, where times are datetimes. 0 for a source itself. Its `path_to` gives the paths.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> T = hpg.TemporalGraph([(0, 1, 0), (0, 1, 4), (1, 2, 7)])
    >>> hpg.fastest_duration(T, 0).tolist()
    [0.0, 0.0, 3.0]
    """
    result, reached, search = _search_from(T, sources, DURATION, start, end, strict)
    return _user_values(result, reached, np.inf, search, spans=True)


@naming_arguments
def fewest_hops(
    T: TemporalGraph, sources: Any = None, *, start: Any = None, end: Any = None, strict: bool = True
) -> TemporalPaths:
    """Minimum numbers of arcs of time-respecting paths.

    Parameters are those of `earliest_arrival`.

    Returns
    -------
    TemporalPaths
        An int64 array of shape (n,), or (k, n) for a sequence of sources: -1 where no path leads. Its `path_to` gives
        the paths.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> T = hpg.TemporalGraph([(0, 1, 1), (0, 2, 3), (1, 2, 2), (2, 3, 2)])
    >>> hpg.fewest_hops(T, 0).tolist(), hpg.fewest_hops(T, 0, strict=False).tolist()
    ([0, 1, 1, -1], [0, 1, 1, 3])
    """
    result, reached, search = _search_from(T, sources, HOPS, start, end, strict)
    return search.result(np.where(reached, result, -1).astype(np.int64))


def in_turn(
    T: TemporalGraph, sources: Any, wanted: int, span: tuple[Any, Any], strict: bool
) -> Iterator[tuple[Any, Any]]:
    """Batches of sources that fit memory, each with the raw values of paths from them."""
    events, _ = arcs_of(T, *span)
    step = max(1, _AT_ONCE // max(T.n_vertices, 1))
    for begin in range(0, len(sources), step):
        batch = sources[begin : begin + step]
        yield batch, _search(events, T, batch, wanted, strict)


@naming_arguments
def temporal_reach(
    T: TemporalGraph, sources: Any = None, *, within: Any = None, start: Any = None, end: Any = None,
    strict: bool = True, seed: int | None = None,
) -> Array:  # fmt: skip
    """Number of vertices that each source reaches by time-respecting paths.

    Parameters
    ----------
    sources : None, int, or sequence of vertices
        None for all vertices; a number draws that many distinct ones with `seed`. A vertex reaches itself.
    within : number or timedelta, optional
        From the departure of a path to its arrival at most.
    start, end, strict
        As for `earliest_arrival`.

    Returns
    -------
    int64 array of shape (k,)
        In the order of `sources`.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> T = hpg.TemporalGraph([(0, 1, 0), (1, 2, 5), (2, 3, 6)])
    >>> hpg.temporal_reach(T).tolist(), hpg.temporal_reach(T, within=3).tolist()
    ([4, 3, 2, 1], [2, 3, 2, 1])
    """
    checked(T)
    limit = None if within is None else T._span(within, "within")
    chosen = sources_of(T, sources, seed)
    counts = [np.empty(0, np.int64)]
    for _, result in in_turn(T, chosen, ARRIVAL if limit is None else DURATION, (start, end), strict):
        is_reached = result < unreached(result.dtype)
        counts.append((is_reached if limit is None else is_reached & (result <= limit)).sum(axis=1))
    reached = np.concatenate(counts)
    return by_vertex(reached, T) if sources is None else reached


@naming_arguments
def temporal_closeness(
    T: TemporalGraph, sources: Any = None, *, distance: Literal["hops", "duration", "arrival"] = "hops",
    start: Any = None, end: Any = None, strict: bool = True, seed: int | None = None,
) -> Array:  # fmt: skip
    """Harmonic closeness in time: the sum of 1 / d(u, v) over sources u, for each vertex v.

    Parameters
    ----------
    sources : None, int, or sequence of vertices
        As for `temporal_reach`. pathpyG's closeness is ``n - 1`` times that of all sources.
    distance : {"hops", "duration", "arrival"}
        What d is: `fewest_hops`, `fastest_duration`, or `earliest_arrival` less `start`, by default the time of the
        first arc; datetimes count in their own unit.
    start, end, strict
        As for `earliest_arrival`.

    Returns
    -------
    float64 array of shape (n,)

    Raises
    ------
    ValueError
        When a distance is 0, as by "duration" that of contacts that last no time: give them a duration.

    Notes
    -----
    O(k m) time. Sources are searched from side by side, in parallel.

    References
    ----------
    R. K. Pan, J. Saramäki, "Path lengths, correlations, and centrality in temporal networks", Physical Review E 84
    (2011).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> T = hpg.TemporalGraph([("ann", "bob", 1), ("bob", "eve", 2)])
    >>> hpg.temporal_closeness(T).tolist()
    [0.0, 1.0, 1.5]
    """
    checked(T)
    kinds = {"hops": HOPS, "duration": DURATION, "arrival": ARRIVAL}
    one_of(distance, "distance", kinds)
    total = np.zeros(T.n_vertices)
    first = _start(T, start)
    for batch, result in in_turn(T, sources_of(T, sources, seed), kinds[distance], (start, end), strict):
        lengths = (result - first if distance == "arrival" else result).astype(np.float64)
        apart = np.where(result < unreached(result.dtype), lengths, np.inf)
        apart[np.arange(len(batch)), batch] = np.inf
        if apart.size and apart.min() <= 0:
            raise ValueError(f'distance={distance!r}: one is 0; give arcs a duration, or use distance="hops"')
        total += (1 / apart).sum(axis=0)
    return by_vertex(total, T)
