"""The last arc of a best path in time to each vertex, and the arc before each arc: paths, read backwards.

The state of an arc is final at its departure, so the arc that improved its source last is the one before it. The search
is that of `hpgraph.kernels.temporal.cpu`, from one source, sequential.
"""

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, part
from hpgraph.kernels.temporal import ARRIVAL, ARRIVE, DEPART, DURATION, HOPS, INSTANT, UNREACHED, Stream
from hpgraph.kernels.temporal.cpu import instant_end


def trace(events: Stream, n: int, source: int, wanted: int, strict: bool) -> tuple[Any, Any]:
    """The last arc of a best path to each vertex (int32, shape (n,)) and the arc before each (shape (m,)); -1 for none.

    ``wanted``: ARRIVAL, DURATION or HOPS, as of `hpgraph.kernels.temporal.cpu.search`.
    """
    m = len(events.time)
    last, before = np.full(n, -1, np.int32), np.full(m, -1, np.int32)
    state, carried = np.full(n, UNREACHED, np.int32), np.empty(m, np.int32)
    # The arc that improved each vertex last, and the shortest duration of the paths to it.
    by, least = np.full(n, -1, np.int32), np.zeros(n, events.time.dtype)
    with interruptible():
        _trace(events, source, wanted, strict, last, before, (state, carried, by, least))
    return last, before


@njit(cache=True, nogil=True)
def _trace(events, source, wanted, strict, last, before, room):
    arc, kind, at = events.arc, events.kind, 0
    if wanted != DURATION:
        room[0][source] = 0
    while at < arc.size:
        if at & 255 == 0 and is_stopped():
            break
        end = instant_end(arc, kind, events.time, at) if kind[at] == INSTANT else at + 1
        together = strict or kind[at] != INSTANT
        changed = True
        while changed:
            changed = False
            if kind[at] != ARRIVE and together:
                for i in range(at, end):
                    _depart(events, arc[i], source, wanted, before, room)
            if kind[at] != DEPART:
                for i in range(at, end):
                    if not together:
                        _depart(events, arc[i], source, wanted, before, room)
                    changed |= _arrive(events, arc[i], source, wanted, last, room)
            changed = changed and not together and not is_stopped()
        at = end


@part
def _depart(events, e, source, wanted, before, room):
    state, carried, by, _ = room
    u = events.source[e]
    if wanted == DURATION and u == source:
        carried[e] = -events.first[e]
    elif state[u] < UNREACHED:
        carried[e], before[e] = state[u] + np.int32(wanted == HOPS), by[u]
    else:
        carried[e] = UNREACHED


@part
def _arrive(events, e, source, wanted, last, room):
    """Whether the path along an arc is better than those before it."""
    state, carried, by, least = room
    v = events.target[e]
    if v == source or carried[e] >= state[v]:
        return False
    state[v], by[v] = carried[e], e
    if wanted == DURATION:
        lasting = events.arrival[e] - events.time[-carried[e]]
        if last[v] >= 0 and lasting >= least[v]:
            return True
        least[v] = lasting
    elif wanted == ARRIVAL and last[v] >= 0:
        return True
    last[v] = e
    return True
