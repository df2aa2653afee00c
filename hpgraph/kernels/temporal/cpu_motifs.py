"""Motifs of three arcs in a span of time. With the first arc from vertex 1 to 2, all later ones touch 1 or 2.

So for each first arc the arcs at its ends within the span are scanned backwards: those already scanned may be the third
arc if the next one is the second. Counters by the other end have their number of each kind, so an arc is visited once
for each first arc, in constant time.
"""

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import is_stopped, njit, part, tasks, team

# First arcs that a thread takes at a time.
CHUNK = 256


def motifs(arcs: tuple[Any, Any, Any], incident: tuple[Any, Any], n: int, span: Any) -> Any:
    """Numbers of motifs, int64 array of shape (6, 6): by the kind of the second arc, and of the third.

    Kinds: 1 to 2, 2 to 1, 1 to 3, 3 to 1, 2 to 3, 3 to 2. ``arcs``: source, target and time, ascending, no loops.
    ``incident``: offsets by vertex, and the arcs at it, ascending.
    """
    with team() as workers:
        found, scanned = np.zeros((workers, 6, 6), np.int64), np.zeros((workers, n, 4), np.int64)
        _motifs(arcs, incident, span, found, scanned)
    return found.sum(axis=0)


@part
def _count_chunks(worker, arcs, incident, span, found, scanned, counter):
    m = arcs[0].size
    for begin in tasks(counter, m, CHUNK):
        for first in range(begin, min(begin + CHUNK, m)):
            _from(arcs, incident, span, first, found[worker], scanned[worker])


@njit(cache=True, nogil=True)
def _motifs(arcs, incident, span, found, scanned):
    in_parallel(found.shape[0], _count_chunks, (arcs, incident, span, found, scanned, np.zeros(1, np.int64)))


@part
def _range(arcs, incident, span, first, v):
    """The arcs at a vertex that are later than one, but not by more than the span: places from, to."""
    time, (offsets, at) = arcs[2], incident
    begin, end = offsets[v], offsets[v + 1]
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if time[at[middle]] <= time[first]:
            low = middle + 1
        else:
            high = middle
    begin, high = low, low
    # The span is short, so it is scanned below, too.
    while high < end and time[at[high]] - time[first] <= span:
        high += 1
    return begin, high


@part
def _kind(arcs, e, one, two):
    """Kind, of six, of an arc at vertex 1 or 2, and the vertex 3, or -1."""
    u, v = np.int64(arcs[0][e]), np.int64(arcs[1][e])
    if u == one:
        return (0, np.int64(-1)) if v == two else (2, v)
    if u == two:
        return (1, np.int64(-1)) if v == one else (4, v)
    return (3, u) if v == one else (5, u)


@part
def _from(arcs, incident, span, first, found, scanned):
    """Count the motifs that begin with an arc. `scanned[x]`: scanned arcs of kinds 2 to 5 where vertex 3 is x."""
    one, two, time, at = arcs[0][first], arcs[1][first], arcs[2], incident[1]
    begin1, end1 = _range(arcs, incident, span, first, one)
    begin2, end2 = _range(arcs, incident, span, first, two)
    totals = np.zeros(6, np.int64)
    i, j = end1 - 1, end2 - 1
    while (i >= begin1 or j >= begin2) and not is_stopped():
        now = time[at[i]] if i >= begin1 else time[at[j]]
        if j >= begin2:
            now = max(now, time[at[j]])
        # Arcs of one instant are first all second arcs, and only then third ones.
        for adding in range(2):
            k, e = i, 0
            while k >= begin1 and time[at[k]] == now:
                _meet(arcs, at[k], one, two, adding == 1, totals, found, scanned)
                k -= 1
            e = j
            while e >= begin2 and time[at[e]] == now:
                # An arc between both ends is at both.
                if not (arcs[0][at[e]] == one or arcs[1][at[e]] == one):
                    _meet(arcs, at[e], one, two, adding == 1, totals, found, scanned)
                e -= 1
            if adding == 1:
                i, j = k, e
    for k in range(begin1, end1):
        _, x = _kind(arcs, at[k], one, two)
        if x >= 0:
            scanned[x] = 0
    for k in range(begin2, end2):
        _, x = _kind(arcs, at[k], one, two)
        if x >= 0:
            scanned[x] = 0


@part
def _meet(arcs, e, one, two, adding, totals, found, scanned):
    kind, x = _kind(arcs, e, one, two)
    if adding:
        totals[kind] += 1
        if x >= 0:
            scanned[x, kind - 2] += 1
        return
    found[kind, 0] += totals[0]
    found[kind, 1] += totals[1]
    for third in range(2, 6):
        # If the second arc has a vertex 3, the third may have no other one.
        found[kind, third] += totals[third] if x < 0 else scanned[x, third - 2]
