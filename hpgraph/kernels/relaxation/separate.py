"""Separate relaxations from sources with little overlap: one thread for each search.

Each is the single search of `hpgraph.kernels.relaxation.delta_stepping`, without barriers and atomic operations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from hpgraph.kernels.relaxation.buckets import BLOCK, ROW, SCALE, USED, Store, room
from hpgraph.kernels.relaxation.delta_stepping import FIFO, PROGRESS, SINCE, Course, work
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, LOOPS, ROWS, STEP, cycles
from hpgraph.kernels.runtime.cpu.tasks import next_task
from hpgraph.kernels.runtime.cpu.work_stealing import GATE, LEADER, blank_board
from hpgraph.semiring.stop import is_stopped


class Rooms(NamedTuple):
    """The work space of each thread: the arrays of `delta_stepping.relax`, with a leading axis of threads."""

    waiting: Any
    vertices: Any
    link: Any
    drawn: Any
    buckets: Any
    boards: Any
    rings: Any
    progress: Any
    scales: Any
    traces: Any


def rooms(n: int, workers: int, ids: np.dtype) -> Rooms:
    """Work space for so many threads."""
    blocks = room(n, 1)
    return Rooms(
        np.zeros((workers, n), np.uint8), np.empty((workers, blocks * BLOCK), ids),
        np.empty((workers, blocks), np.int32), np.empty((workers, blocks, 2), np.int32),
        np.zeros((workers, 1, ROW), np.int64), np.zeros((workers, blank_board(1).size), np.int64),
        np.empty((workers, 1, FIFO), ids), np.zeros((workers, PROGRESS), np.int64), np.zeros((workers, SCALE)),
        np.empty((workers, ROWS, 4), np.int64),
    )  # fmt: skip


@part
def _search(functions, arcs, values, sources, rooms, worker, density, sums):
    """One search, from its `sources`."""
    waiting, vertices, link = rooms.waiting[worker], rooms.vertices[worker], rooms.link[worker]
    buckets, board = rooms.buckets[worker], rooms.boards[worker]
    progress, trace, scale = rooms.progress[worker], rooms.traces[worker], rooms.scales[worker]
    board[:], progress[:], buckets[:] = 0, 0, 0
    scale[0], scale[1], scale[2] = values[sources[0]], density, density
    for i in range(sources.size):
        waiting[sources[i]] = 1
        vertices[i] = sources[i]
        scale[0] = min(scale[0], float(values[sources[i]]))
    used = (sources.size + BLOCK - 1) // BLOCK
    for i in range(used):
        link[i] = i - 1
    buckets[0, 0], board[USED] = sources.size, used
    store = Store(vertices, link, rooms.drawn[worker], buckets, board)
    course = Course(progress, scale, trace, trace.shape[0])
    goes_on = True
    while goes_on:
        board[LEADER] = board[GATE] = 0
        work(np.int64(0), functions, (values,), arcs, waiting, store, rooms.rings[worker], course)
        for row in range(progress[STEP]):
            sums[1] += trace[row, 1]
            sums[2] += trace[row, 2]
        goes_on = progress[STEP] == trace.shape[0] and progress[ACTIVE] > 0 and not is_stopped()
        progress[STEP] = progress[SINCE] = 0


@njit(parallel=LOOPS, cache=True, nogil=True)
def relax_apart(functions, arcs, states, sources, ends, rooms, density, sums):
    """Relax in each search until no vertex waits.

    ``states`` has a row of values for each search; search i starts from ``sources[ends[i]:ends[i + 1]]``. ``sums`` has
    a row of the trace for each.
    """
    counter = np.zeros(1, np.int64)
    for worker in prange(rooms.waiting.shape[0]):
        while not is_stopped():
            search = next_task(counter)
            if search >= states.shape[0]:
                break
            began = cycles()
            if ends[search] < ends[search + 1]:
                _search(functions, arcs, states[search], sources[ends[search] : ends[search + 1]], rooms,
                        np.int64(worker), density, sums[search])
            sums[search, 3] = cycles() - began
