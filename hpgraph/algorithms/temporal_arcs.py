"""The arcs of a graph in time as a stream: those of a span of time, contacts both ways, forwards or backwards."""

from typing import Any

import numpy as np

from hpgraph.containers.adjacency import with_reverses
from hpgraph.containers.temporal import TemporalGraph
from hpgraph.kernels.temporal import Stream, stream


def checked(T: Any) -> None:
    """Refuse arguments that are not temporal graphs."""
    if not isinstance(T, TemporalGraph):
        raise TypeError(f"T must be a hpgraph.TemporalGraph, not {type(T).__name__}")


def arcs_of(T: TemporalGraph, start: Any = None, end: Any = None, *, back: bool = False) -> tuple[Stream, Any]:
    """The arcs from `start` to `end` as a stream, contacts both ways, reversed if `back`, and the row of each."""
    if T.device != "cpu":
        raise ValueError('paths in time are searched for on the CPU, and this graph is on the GPU: use T.to("cpu")')
    arrival = T._time + T._duration
    rows = np.arange(0 if start is None else T._rows_before(T._time_of(start, "start")), T.n_edges)
    if end is not None:
        rows = rows[arrival[rows] <= T._time_of(end, "end", up=False)]
    source, target = T._source[rows], T._target[rows]
    if not T.directed:
        source, target, rows = with_reverses(source, target, rows)
    time, arrival = T._time[rows], arrival[rows]
    if back:
        order = np.argsort(-arrival, kind="stable")
        source, target, rows = target[order], source[order], rows[order]
        time, arrival = -arrival[order], -time[order]
    return stream(source, target, time, arrival), rows
