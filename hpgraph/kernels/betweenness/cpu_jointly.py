"""Many sources together, level by level, in lanes.

Forwards a level is found in one of two ways. *Pull*: every vertex that some lane has not met looks through its
in-neighbours for those on the level before; it finds its lanes and their numbers of paths at once. *Push*: the vertices
of the level before send their bits first, and whom they reach looks for the numbers then. Either way a vertex adds
up what it pulls in the order of its arcs. Backwards the vertices of each level pull from those of the level below.

Which vertices are on each level, and in which lanes, is kept as a list: the way back visits these alone.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from hpgraph.kernels.betweenness.cpu_lines import LINE
from hpgraph.kernels.betweenness.cpu_scaled import normalize
from hpgraph.kernels.betweenness.cpu_steps import (
    BOARD,
    FULL,
    LARGE,
    LEAVING,
    MARK,
    NEXT,
    REACHING,
    RETURN,
    SETTLE,
    TAIL,
    Local,
    list_found,
    mark,
    push,
    work_off,
)
from hpgraph.kernels.runtime.cpu.bits import lowest_bit, popcount
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, put, vertex
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.tasks import next_task
from hpgraph.kernels.runtime.direction import PULL, PUSH
from hpgraph.semiring.stop import is_stopped

# A push sends bits along arcs, by atomic operations at random places, for the receivers to read their own arcs then: it
# costs about so many times what reading an arc in a pull does.
PUSH_COST = 4
# Arcs and vertices of a task, and those below which one thread does all: to enter a parallel region takes some 10 µs.
TASK, ALONE = 8192, 8192


@part
def _take_part(what, ways, span, fronts, lanes, local, wide, board, sums):
    """A worker's part in one step: task after task until none is left.

    `span` is where the vertices lie in the list, a task's size, and whether there is no other worker or, on the way
    back, whether vertices are marked.
    """
    begin, end, grain, flag = span
    filled = 0
    while True:
        task = next_task(board)
        if what == PULL:
            if task >= ways.bounds.size - 1:
                break
            first, last = ways.bounds[task], ways.bounds[task + 1]
        else:
            first = begin + task * grain
            if task >= end - begin or first >= end:
                break
            last = min(first + grain, end)
        if what == PUSH:
            filled = push(
                ways.out_indptr, ways.out_indices, first, last, fronts[1], lanes, local, filled, flag, board
            )  # fmt: skip
        elif what == MARK:
            mark(ways.in_indptr, ways.in_indices, first, last, lanes, flag)
        else:
            part_span = first, last, flag
            filled = work_off(what, ways, part_span, fronts, lanes, local, filled, wide, board, sums)
    if filled:
        list_found(lanes, local, filled, fronts[1], board)


@part
def _of(crew, worker):
    return Local(crew.sums[worker], crew.exponents[worker], crew.buffer[worker])


@njit(parallel=LOOPS, nogil=True)
def _all_together(what, ways, span, fronts, lanes, crew, wide, board, sums):
    for worker in prange(crew.sums.shape[0]):
        _take_part(what, ways, span, fronts, lanes, _of(crew, worker), wide, board, sums)


@part
def _is_little(work, crew):
    """Whether one worker does it all."""
    return work <= ALONE or crew.sums.shape[0] == 1


@part
def _step(what, ways, begin, end, work, flag, state, wide):
    """One step over the vertices begin..end of the list, by all workers where there is enough to do."""
    fronts, lanes, crew, board, sums = state
    board[NEXT] = 0
    span = begin, end, max(TASK * (end - begin) // max(work, 1), 1), flag
    if _is_little(work, crew):
        _take_part(what, ways, span, fronts, lanes, _of(crew, 0), wide, board, sums)
    else:
        _all_together(what, ways, span, fronts, lanes, crew, wide, board, sums)


@part
def _clear(words, lanes, begin, end):
    """Clear the words of listed vertices."""
    if end - begin > words.size // LINE:
        words[:] = np.uint64(0)
    else:
        for i in range(begin, end):
            put(words, vertex(lanes.listed, i), np.uint64(0))


@part
def _start(indptr, sources, lanes, board):
    """Level 0: the sources, each vertex once; returns how many arcs leave them."""
    leaving = 0
    for k in range(sources.size):
        v = sources[k]
        bit = np.uint64(1) << np.uint64(k)
        if not lanes.first[v]:
            lanes.listed[board[TAIL]] = v
            board[TAIL] += 1
            leaving += indptr[v + 1] - indptr[v]
        lanes.first[v] |= bit
        lanes.seen[v] |= bit
        lanes.numbers[v * lanes.stride + k] = 1.0
    for i in range(board[TAIL]):
        lanes.masks[i] = lanes.first[lanes.listed[i]]
    return leaving


@part
def _arcs_to(indptr, lanes, begin, end):
    """How many arcs reach listed vertices."""
    reaching = 0
    for i in range(begin, end):
        v = vertex(lanes.listed, i)
        reaching += peek(indptr, v + 1) - peek(indptr, v)
    return reaching


@part
def _begin_scaled(lanes, begin, end):
    """From this level on numbers carry exponents."""
    for i in range(begin, end):
        for k in range(lanes.stride):
            normalize(lanes.numbers, lanes.exponents, vertex(lanes.listed, i) * lanes.stride + k)


@part
def _forwards(ways, sources, lanes, crew, board, sums, levels):
    """All levels; returns how many there are, and whether numbers carry exponents.

    `levels` has a row a level: where it begins in the list, arcs that leave it, and arcs that reach it.
    """
    front, next_front = lanes.first, lanes.second
    all_arcs = ways.in_indptr[ways.in_indptr.size - 1]
    open_, wide = all_arcs, False
    levels[0, 0], levels[0, 1], levels[0, 2] = 0, _start(ways.out_indptr, sources, lanes, board), 0
    level, begin, end = 0, 0, board[TAIL]
    while begin < end and not is_stopped():
        board[LEAVING] = board[REACHING] = 0
        state = (front, next_front), lanes, crew, board, sums
        work = levels[level, 1] + end - begin
        if PUSH_COST * work < open_:
            _step(PUSH, ways, begin, end, work, _is_little(work, crew), state, wide)
            work = _arcs_to(ways.in_indptr, lanes, end, board[TAIL]) + board[TAIL] - end
            _step(SETTLE, ways, end, board[TAIL], work, False, state, wide)
        else:
            _step(PULL, ways, begin, end, all_arcs, False, state, wide)
        _clear(front, lanes, begin, end)
        front, next_front = next_front, front
        open_ -= board[FULL]
        board[FULL] = 0
        level += 1
        begin, end = end, board[TAIL]
        levels[level, 0], levels[level, 1], levels[level, 2] = begin, board[LEAVING], board[REACHING]
        if board[LARGE] and not wide:
            wide = True
            _begin_scaled(lanes, begin, end)
    _clear(front, lanes, begin, end)
    return level, wide


@part
def _backwards(ways, sources, lanes, crew, wide, board, sums, levels, depth):
    """From the last level, `depth` - 1, to the first."""
    front, next_front = lanes.first, lanes.second
    own = np.empty(sources.size)
    # The sources themselves are of interest only to their arcs.
    for level in range(depth - 1, -1 if sums.arcs.size else 0, -1):
        begin, end = levels[level, 0], levels[level + 1, 0]
        below = levels[min(level + 2, depth), 0]
        state = (front, next_front), lanes, crew, board, sums
        # Where few vertices lie below, it is soon said who may have one there.
        work = levels[level + 1, 2] + below - end
        marked = PUSH_COST * work < levels[level, 1]
        if marked:
            _step(MARK, ways, end, below, work, _is_little(work, crew), state, wide)
        if level == 0:
            own[:] = sums.vertices[sources]
        work = levels[level, 1] + end - begin
        _step(RETURN, ways, begin, end, work, marked, state, wide)
        if level == 0:
            sums.vertices[sources] = own
        _clear(front, lanes, end, below)
        front, next_front = next_front, front


@part
def _tell(sources, lanes, sums):
    """Who reaches each vertex, and how many each source reaches."""
    for v in range(lanes.seen.size):
        mask = lanes.seen[v]
        sums.reached[v] += popcount(mask)
        while mask:
            sums.reach[lowest_bit(mask)] += 1
            mask &= mask - np.uint64(1)
    for k in range(sources.size):
        sums.reached[sources[k]] -= 1


@njit(cache=True, nogil=True)
def run_jointly(ways, sources, lanes, crew, sums):
    """Add the dependencies of all sources, of which there are as many as lanes at most.

    The arrays of `lanes` are zero, but for the lists.
    """
    board = np.zeros(BOARD, np.int64)
    levels = np.empty((ways.out_indptr.size + 1, 3), np.int64)
    depth, wide = _forwards(ways, sources, lanes, crew, board, sums, levels)
    if sums.reach.size:
        _tell(sources, lanes, sums)
    lanes.seen[:] = np.uint64(0)
    _backwards(ways, sources, lanes, crew, wide, board, sums, levels, depth)
