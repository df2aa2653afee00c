"""Sums over all walks in the order of time: one pass, sequential."""

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit
from hpgraph.kernels.temporal import ARRIVE, DEPART, INSTANT, Stream
from hpgraph.kernels.temporal.cpu import instant_end


def katz(events: Stream, n: int, factor: Any) -> Any:
    """For each vertex the sum over strict walks to it of the products of their arcs' factors (float64, shape (m,))."""
    value, carried = np.zeros(n), np.empty(len(events.time))
    with interruptible():
        _katz(events, factor, value, carried)
    return value


@njit(cache=True, nogil=True)
def _katz(events, factor, value, carried):
    arc, kind, at = events.arc, events.kind, 0
    while at < arc.size:
        if at & 255 == 0 and is_stopped():
            break
        end = instant_end(arc, kind, events.time, at) if kind[at] == INSTANT else at + 1
        if kind[at] != ARRIVE:
            for i in range(at, end):
                carried[arc[i]] = factor[arc[i]] * (1 + value[events.source[arc[i]]])
        if kind[at] != DEPART:
            for i in range(at, end):
                value[events.target[arc[i]]] += carried[arc[i]]
        at = end


def pagerank(source: Any, target: Any, n: int, damping: float, transition: float) -> Any:
    """Rozenshtein and Gionis's streaming estimate, by their names: counts r (float64, shape (n,)), not scaled."""
    r, s = np.zeros(n), np.zeros(n)
    with interruptible():
        _pagerank(source, target, damping, transition, r, s)
    return r


@njit(cache=True, nogil=True)
def _pagerank(source, target, damping, transition, r, s):
    for e in range(source.size):
        if e & 255 == 0 and is_stopped():
            break
        u, v = source[e], target[e]
        r[u] += 1 - damping
        s[u] += 1 - damping
        active = damping * s[u]
        r[v] += active
        if transition < 1:
            s[v] += active * (1 - transition)
            s[u] *= transition
        else:
            s[v] += active
            s[u] = 0
