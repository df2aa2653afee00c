"""Betweenness of vertices in temporal shortest paths: dependencies, backwards through the stream of arcs.

Hops and numbers of shortest paths to a vertex change over time, but their values for an arc are final at its departure:
the fewest hops to its source by then, and the number of paths with so few. So each arc keeps both, and dependencies are
summed arc by arc, as U. Brandes sums them vertex by vertex ("A faster algorithm for betweenness centrality", J.
Mathematical Sociology 25, 2001).
"""

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import LOOPS, is_stopped, njit, part, prange, tasks, team
from hpgraph.kernels.temporal import ARRIVE, DEPART, INSTANT, UNREACHED, Stream
from hpgraph.kernels.temporal.cpu import instant_end


def betweenness(events: Stream, n: int, sources: Any) -> Any:
    """For each vertex the sum over pairs of the share of their shortest strict paths that pass through it: float64."""
    m = len(events.time)
    with team() as workers:
        workers = max(1, min(workers, len(sources)))
        total = np.zeros((workers, n))
        hops = np.empty((workers, n), np.int32), np.empty((workers, m), np.int32), np.empty((workers, m), np.int32)
        paths = np.empty((workers, n)), np.empty((workers, m)), np.empty((workers, m)), np.empty((workers, n))
        _betweenness(events, sources, total, hops, paths)
    return total.sum(axis=0)


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _betweenness(events, sources, total, hops, paths):
    counter = np.zeros(1, np.int64)
    for worker in prange(total.shape[0]):
        near = hops[0][worker], hops[1][worker], hops[2][worker]
        many = paths[0][worker], paths[1][worker], paths[2][worker], paths[3][worker]
        for at in tasks(counter, sources.size):
            _forward(events, sources[at], near, many)
            _backward(events, near, many, total[worker])


@part
def _forward(events, source, near, many):
    """Hops to each vertex and along each arc, and how many paths have so few; hops before an arc that lowered them."""
    (best, along, before), (number, carried, _, _) = near, many
    arc, kind = events.arc, events.kind
    best[:] = UNREACHED
    number[:] = 0
    best[source], number[source] = 0, 1
    at = 0
    while at < arc.size:
        if at & 255 == 0 and is_stopped():
            break
        end = instant_end(arc, kind, events.time, at) if kind[at] == INSTANT else at + 1
        if kind[at] != ARRIVE:
            for i in range(at, end):
                e = arc[i]
                u = events.source[e]
                along[e], carried[e] = best[u] + 1, number[u]
        if kind[at] != DEPART:
            for i in range(at, end):
                e = arc[i]
                v = events.target[e]
                before[e] = -1
                if along[e] < best[v]:
                    before[e], best[v], number[v] = best[v], along[e], carried[e]
                elif along[e] == best[v]:
                    number[v] += carried[e]
        at = end


@part
def _backward(events, near, many, total):
    """Dependency of each path along an arc, and the sum of those of the arcs that may follow at each vertex."""
    (best, along, before), (number, carried, share, following) = near, many
    arc, kind = events.arc, events.kind
    for v in range(best.size):
        # The share of one path that ends here; arcs of the final level are recognized by it while `best` goes back in
        # time.
        number[v] = 1 / number[v] if number[v] > 0 else 0.0
        following[v] = 0
    at = arc.size - 1
    while at >= 0:
        if at & 255 == 0 and is_stopped():
            break
        end = instant_end(arc, kind, events.time, at, -1) if kind[at] == INSTANT else at - 1
        if kind[at] != DEPART:
            for i in range(at, end, -1):
                e = arc[i]
                v = events.target[e]
                share[e] = 0
                if along[e] > best[v] or along[e] >= UNREACHED:
                    continue
                share[e] = following[v] + number[v]
                total[v] += carried[e] * following[v]
                if before[e] >= 0:
                    # Earlier arcs arrive with more hops: no shortest path ends or continues as these do.
                    best[v], following[v], number[v] = before[e], 0, 0
        if kind[at] != ARRIVE:
            for i in range(at, end, -1):
                e = arc[i]
                if along[e] < UNREACHED:
                    following[events.source[e]] += share[e]
        at = end
