"""Separate searches from sources whose frontiers are disjoint: a worker per search, or all workers on one search.

If frontiers have no vertex in common, as in a road network, a joint frontier saves nothing, and words of bits take more
memory than the bits of one search. Then each search continues as a single traversal
(`hpgraph.kernels.traversal.direction_optimizing`), without barriers between the workers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from hpgraph.kernels.runtime.cpu.bit_matrix import SIDE, transpose
from hpgraph.kernels.runtime.cpu.bits import popcount
from hpgraph.kernels.runtime.cpu.claim import list_bits
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, LOOPS, STEP
from hpgraph.kernels.runtime.cpu.work_stealing import GATE, LEADER, TAIL
from hpgraph.kernels.runtime.direction import PUSH
from hpgraph.kernels.traversal import direction_optimizing as traversing
from hpgraph.kernels.traversal.thin import THIN, counts
from hpgraph.semiring.atomics import fetch_add
from hpgraph.semiring.jit import call
from hpgraph.semiring.stop import is_stopped

# Columns of the sums of a superstep over all sources, and of the totals of a source over all supersteps.
RUNS, PULLS, ACTIVE_SUM, ARCS_SUM, CYCLES_SUM, PAIRS_SUM = range(6)
SUMS = 6
VISITED, LEVELS, FARTHEST, UNFINISHED = range(4)


class Runs(NamedTuple):
    """Functions of one search: those of a single traversal, and one that selects its row of each property."""

    gather: Any
    update: Any
    edge_cond: Any
    row: Any


class Lanes(NamedTuple):
    """Bitmaps of settled and of active vertices, a row per source; the next source to take; sums."""

    settled: Any
    active: Any
    following: Any
    sums: Any
    totals: Any
    inverse: Any


class Room(NamedTuple):
    """Work space of separate searches, one each: queue, bitmaps of two frontiers, board, progress, trace, thin rows."""

    queues: Any
    fronts: Any
    boards: Any
    progress: Any
    trace: Any
    thin: Any


class Course(NamedTuple):
    """The policy of a joint traversal, and the supersteps done before."""

    alpha: Any
    beta: Any
    forced: Any
    limit: Any
    dead_end: Any
    done: Any


@njit(parallel=LOOPS, cache=True, nogil=True)
def by_lane(words, n, rows):
    """Transpose words, one for each of n vertices, to a bitmap for each source; bits past the last vertex are set."""
    for block in prange(rows.shape[1]):
        square = np.empty(SIDE, np.uint64)
        for i in range(SIDE):
            v = block * SIDE + i
            square[i] = words[v] if v < n else ~np.uint64(0)
        transpose(square)
        for lane in range(rows.shape[0]):
            rows[lane, block] = square[lane]


@njit(parallel=LOOPS, cache=True, nogil=True)
def by_vertex(rows, n, words):
    """Transpose a bitmap for each source to words, one for each of n vertices; bits past the last source are set."""
    for block in prange(rows.shape[1]):
        square = np.empty(SIDE, np.uint64)
        for lane in range(SIDE):
            square[lane] = rows[lane, block] if lane < rows.shape[0] else ~np.uint64(0)
        transpose(square)
        for i in range(min(SIDE, n - block * SIDE)):
            words[block * SIDE + i] = square[i]


@part
def _start(lane, indptr, lanes, room, own, course):
    """Begin a separate search where the joint traversal left it."""
    queue, board, progress = room.queues[own], room.boards[own], room.progress[own]
    settled = lanes.settled[lane]
    for i in range(board.size):
        board[i] = 0
    for i in range(progress.size):
        progress[i] = 0
    count = list_bits(lanes.active[lane], queue, 0)
    arcs, open_ = 0, 0
    for i in range(count):
        u = np.int64(queue[i])
        arcs += peek(indptr, u + 1) - peek(indptr, u)
    for i in range(settled.size):
        open_ += SIDE - popcount(settled[i])
    board[TAIL] = count
    progress[STEP], progress[ACTIVE] = course.done, count
    progress[traversing.ARCS], progress[traversing.QUEUED], progress[traversing.OPEN] = arcs, 1, open_


@part
def _settled(lanes, lane, step, count):
    """Count the vertices that a search settled in a superstep."""
    if count:
        fetch_add(lanes.sums[step - 1], PAIRS_SUM, count)
        totals = lanes.totals[lane]
        totals[VISITED] += count
        totals[LEVELS] += count * step
        totals[FARTHEST] = step
        lanes.inverse[lane] += count / step


@part
def _note(lanes, lane, step, first, direction, active, arcs, cycles):
    """Add a superstep of a search to the sums; its frontier was settled in the superstep before."""
    if step > first:
        _settled(lanes, lane, step - 1, active)
    sums = lanes.sums[step - 1]
    fetch_add(sums, RUNS, 1)
    fetch_add(sums, PULLS, direction)
    fetch_add(sums, ACTIVE_SUM, active)
    fetch_add(sums, ARCS_SUM, arcs)
    fetch_add(sums, CYCLES_SUM, cycles)


@part
def _fold(lane, step, lanes, room, own, course):
    """Add the supersteps in a search's trace to the sums, from `step` + 1 on; whether the search has ended."""
    progress, trace, thin = room.progress[own], room.trace[own], room.thin[own]
    first, place = course.done + 1, 0
    for row in range(progress[traversing.ROW]):
        if trace[row, 0] == THIN:
            steps = trace[row, 1]
            for _ in range(steps):
                step += 1
                active, arcs = counts(thin[place])
                _note(lanes, lane, step, first, PUSH, active, arcs, trace[row, 3] // steps)
                place += 1
        else:
            step += 1
            _note(lanes, lane, step, first, trace[row, 0], trace[row, 1], trace[row, 2], trace[row, 3])
    progress[traversing.ROW], progress[traversing.THIN_ROW] = 0, 0
    room.boards[own, LEADER], room.boards[own, GATE] = 0, 0
    if progress[ACTIVE] > 0 and progress[STEP] < course.limit and not is_stopped():
        return False
    if step > course.done:
        _settled(lanes, lane, step, progress[ACTIVE])
    lanes.totals[lane, UNFINISHED] = progress[ACTIVE]
    return True


@njit(cache=True)
def start(lane, indptr, lanes, room, course):
    """Begin a separate search in the only work space."""
    _start(lane, indptr, lanes, room, 0, course)


@njit(cache=True)
def fold(lane, step, lanes, room, course):
    """After a call of `run_each` with one work space: add its supersteps to the sums; whether the search has ended."""
    return _fold(lane, step, lanes, room, 0, course)


@part
def _run(worker, lane, runs, state, world, out, in_, lanes, room, claims, own, course):
    """One worker's part in a search."""
    space = traversing.Space(
        room.queues[own], lanes.settled[lane], room.fronts[own, 0], room.fronts[own, 1], room.boards[own],
        room.progress[own], room.trace[own], room.thin[own],
    )  # fmt: skip
    traversing.work(worker, runs, call(runs.row, state, lane), world, out, in_, space, claims, course)


@part(counts_references=False)
def _each(worker, runs, state, world, out, in_, lanes, room, claims, course):
    """One worker on its own searches, one after another; or its part in the search that `start` began."""
    separate = room.boards.shape[0] == claims.buffers.shape[0]
    own = worker if separate else 0
    while not is_stopped():
        lane = fetch_add(lanes.following, 0, 1) if separate else lanes.following[0]
        if lane >= lanes.settled.shape[0]:
            break
        if separate:
            _start(lane, out.indptr, lanes, room, own, course)
        over = False
        while not over:
            step = room.progress[own, STEP]
            _run(worker, lane, runs, state, world, out, in_, lanes, room, claims, own, course)
            over = not separate or _fold(lane, step, lanes, room, own, course)
        if not separate:
            break


@njit(parallel=LOOPS, cache=True, nogil=True)
def run_each(runs, state, world, out, in_, lanes, room, claims, course):
    """Run the remaining searches, one per worker if each has a work space; else all workers run the next search."""
    for worker in prange(claims.buffers.shape[0]):
        _each(np.int64(worker), runs, state, world, out, in_, lanes, room, claims, course)
