"""The arcs of a temporal graph for sampling: rows by vertex, each sorted by time."""

import weakref
from typing import Any

import numpy as np

from hpgraph.algorithms.hop_sampling import Drawable, checked_times
from hpgraph.containers.adjacency import with_reverses
from hpgraph.containers.temporal import TemporalGraph
from hpgraph.core.device import array_module, to_device
from hpgraph.formats import CSR

_MADE: weakref.WeakKeyDictionary[TemporalGraph, dict[bool, Drawable]] = weakref.WeakKeyDictionary()


def rows_by_time(T: TemporalGraph, incoming: bool) -> Drawable:
    """The out-arcs, or in-arcs, of each vertex, numbered by their rows in `T`; cached."""
    cached = _MADE.setdefault(T, {})
    if incoming not in cached:
        xp, n = array_module(T.device), T.n_vertices
        source, target, number = T.source, T.target, xp.arange(T.n_edges)
        if not T.directed:
            source, target, number = with_reverses(source, target, number)
        row, column = (target, source) if incoming else (source, target)
        csr = CSR.from_coo(row, column, number, (n, n), duplicates="keep")
        cached[incoming] = Drawable.of_times(None, None, csr.pattern, csr.data, T._time[csr.data])
    return cached[incoming]


def limits_of(T: TemporalGraph, time: Any, count: int) -> Any:
    """The time of each seed as a number of the graph's own unit; one between two of them is rounded down."""
    if T._unit is None:
        return checked_times(time, count, T.device)
    if np.ndim(time) == 0:
        return checked_times(np.int64(T._time_of(time, "time", up=False)), count, T.device)
    limits = np.asarray(time)
    if limits.dtype.kind != "M":
        raise TypeError(f"time must be datetimes, as the times of the graph are, not of type {limits.dtype}")
    if np.isnat(limits).any():
        raise ValueError("time must not be NaT")
    return checked_times(to_device(limits.astype(T._unit).view(np.int64), T.device), count, T.device)
