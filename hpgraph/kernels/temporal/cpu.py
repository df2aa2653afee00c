"""Searches along paths in the order of time, from many sources at once.

A vertex has for each source the best state of the paths that have reached it so far. A departure reads the state of its
source, an arrival improves that of its target. States of a block of sources are contiguous, and each block passes over
the stream once, on one thread.
"""

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import is_stopped, njit, part, tasks, team
from hpgraph.kernels.temporal import ARRIVAL, ARRIVE, DEPART, DURATION, HOPS, INSTANT, UNREACHED, Stream

# Maximum number of sources of a block, and bytes of its states if there are many vertices.
WIDTH, STATES = 64, 1 << 25


def search(events: Stream, n: int, sources: Any, wanted: int, strict: bool, found: Any) -> None:
    """Improve `found` (shape (k, n), of the type of the times) by paths from each of k distinct sources.

    ``wanted``: ARRIVAL, the earliest; DURATION, the shortest; HOPS, the fewest. Entries of sources themselves stay.
    """
    slot = np.zeros(len(events.time), np.int32)
    with team() as workers:
        rows = _slots(events.arc, events.kind, events.time, slot)
        width = max(1, min(WIDTH, -(-len(sources) // workers), STATES // (4 * max(n, 1))))
        workers = min(workers, -(-len(sources) // width))
        room = np.empty((workers, n, width), np.int32), np.empty((workers, rows, width), np.int32)
        column = np.full((workers, n), -1, np.int32)
        _search(events, slot, sources, wanted, strict, found, *room, column)


@part
def instant_end(arc, kind, time, at, step=1):
    """End of the run of arcs of no duration at the same instant as an event; a step of -1 searches backwards."""
    end, now = at + step, time[arc[at]]
    while 0 <= end < arc.size and kind[end] == INSTANT and time[arc[end]] == now:
        end += step
    return end


@njit(cache=True, nogil=True)
def _slots(arc, kind, time, slot):
    """Assign slots to arcs in transit, distinct at any time; returns the number of slots."""
    free, size, rows, at = np.empty(slot.size, np.int32), 0, 0, 0
    most = 1
    while at < arc.size:
        if kind[at] == INSTANT:
            end = instant_end(arc, kind, time, at)
            most = max(most, end - at)
            at = end
            continue
        e = arc[at]
        if kind[at] == ARRIVE:
            free[size] = slot[e]
            size += 1
        elif size > 0:
            size -= 1
            slot[e] = free[size]
        else:
            slot[e] = rows
            rows += 1
        at += 1
    # Arcs of no duration have the slots above.
    at = 0
    while at < arc.size:
        end = at + 1
        if kind[at] == INSTANT:
            end = instant_end(arc, kind, time, at)
            for i in range(at, end):
                slot[arc[i]] = rows + i - at
        at = end
    return rows + most


@njit(cache=True, nogil=True)
def _search(events, slot, sources, wanted, strict, found, states, flights, column):
    counter = np.zeros(1, np.int64)
    given = events, slot, sources, wanted, strict, found
    in_parallel(column.shape[0], _search_blocks, (given, (states, flights, column), counter))


@part
def _search_blocks(worker, given, space, counter):
    events, slot, sources, wanted, strict, found = given
    state, flight, of = space[0][worker], space[1][worker], space[2][worker]
    width = state.shape[1]
    for begin in tasks(counter, sources.size, width):
        block = sources[begin : begin + width]
        state[:] = UNREACHED
        for b in range(block.size):
            of[block[b]] = b
            if wanted != DURATION:
                state[block[b], b] = 0
        _pass(events, slot, wanted, strict, found[begin : begin + width], state, flight, of)
        for b in range(block.size):
            of[block[b]] = -1


@part
def _pass(events, slot, wanted, strict, found, state, flight, of):
    arc, kind = events.arc, events.kind
    at = 0
    while at < arc.size:
        if at & 255 == 0 and is_stopped():
            break
        e = arc[at]
        if kind[at] == DEPART:
            _depart(events, e, wanted, state, flight[slot[e]], of)
            at += 1
        elif kind[at] == ARRIVE:
            _arrive(events, e, wanted, found, state, flight[slot[e]])
            at += 1
        else:
            end = instant_end(arc, kind, events.time, at)
            if strict:
                for i in range(at, end):
                    _depart(events, arc[i], wanted, state, flight[slot[arc[i]]], of)
                for i in range(at, end):
                    _arrive(events, arc[i], wanted, found, state, flight[slot[arc[i]]])
            else:
                changed = True
                while changed and not is_stopped():
                    changed = False
                    for i in range(at, end):
                        row = flight[slot[arc[i]]]
                        _depart(events, arc[i], wanted, state, row, of)
                        changed |= _arrive(events, arc[i], wanted, found, state, row)
            at = end


@part
def _depart(events, e, wanted, state, row, of):
    """State of paths along an arc at its departure: the state, one hop more, or the last time to leave their source."""
    u = events.source[e]
    if wanted == DURATION and of[u] >= 0:
        state[u, of[u]] = -events.first[e]
    of_source = state[u]
    step = np.int32(wanted == HOPS)
    for b in range(row.size):
        row[b] = of_source[b] + step


@part
def _arrive(events, e, wanted, found, state, row):
    """Whether a path is better than those before."""
    of_target = state[events.target[e]]
    # Branch-free, so that it is vectorized over sources: most paths improve nothing.
    better = np.int32(0)
    for b in range(row.size):
        better |= np.int32(row[b] < of_target[b])
    if better == 0:
        return False
    v, arrival = events.target[e], events.arrival[e]
    for b in range(found.shape[0]):
        if row[b] < of_target[b]:
            of_target[b] = row[b]
            if wanted == ARRIVAL:
                found[b, v] = min(found[b, v], arrival)
            elif wanted == HOPS:
                found[b, v] = row[b]
            else:
                found[b, v] = min(found[b, v], arrival - events.time[-row[b]])
    return True
