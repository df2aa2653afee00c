"""Arcs in the order of time: paths, their numbers, walks and motifs. Each is one pass over a stream: CPU only.

A stream (`Stream`) is the order in which arcs are left and reached. At one instant arcs that arrive come first, then
those of no duration, then those that depart: so no arc is taken before its source is reached (H. Wu, J. Cheng, S.
Huang, Y. Ke, Y. Lu, Y. Xu, "Path problems in temporal graphs", VLDB'14).
"""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.formats.duplicates import run_starts

# Kinds of events, in their order at one instant.
ARRIVE, INSTANT, DEPART = range(3)
# Results of `hpgraph.kernels.temporal.cpu.search`.
ARRIVAL, DURATION, HOPS = range(3)
MAX_ARCS = 1 << 30
# Hops, and numbers of arcs, where nothing is reached: all others are below, and one hop more overflows nothing.
UNREACHED = np.int32(MAX_ARCS)


class Stream(NamedTuple):
    """Arcs in the order of departure, arrays of shape (m,), and events in their order."""

    source: Any
    target: Any
    time: Any
    arrival: Any
    # The first arc that departs at the same time: int32.
    first: Any
    # For each event its arc (int32) and its kind (int8): one event for an arc that lasts no time, else two.
    arc: Any
    kind: Any


def stream(source: Any, target: Any, time: Any, arrival: Any) -> Stream:
    """The stream of arcs in the order of departure; times may not be NaN."""
    m = len(time)
    if m >= MAX_ARCS:
        raise ValueError(f"arcs must be fewer than 2**30, not {m:,}: take a part of the time by start and end")
    arcs = np.arange(m, dtype=np.int32)
    lasting = np.flatnonzero(arrival > time).astype(np.int32)
    kind = np.full(m, INSTANT, np.int8)
    kind[lasting] = DEPART
    arc = arcs
    if len(lasting):
        arc, kind = np.concatenate((arcs, lasting)), np.concatenate((kind, np.full(len(lasting), ARRIVE, np.int8)))
        order = np.lexsort((kind, np.concatenate((time, arrival[lasting]))))
        arc, kind = arc[order], kind[order]
    begins = run_starts(time)
    return Stream(source, target, time, arrival, arcs[begins][np.cumsum(begins) - 1], arc, kind)
