"""Separate searches from many sources, one for each worker at a time.

Each is a traversal from one source (`hpgraph.kernels.traversal.direction_optimizing`), without barriers between the
workers. They are called from one kernel, since a search on a small graph takes less time than a call from Python.

Searches that only count, on a graph whose frontiers are known to be thin, need no more than a FIFO queue and a byte for
each vertex (`count_each`): on a lattice of 3,600 vertices a third of the time.
"""

from collections import namedtuple

import numpy as np

from hpgraph.kernels.runtime.cpu.bits import SIDE, popcount, transpose
from hpgraph.kernels.runtime.cpu.claim import list_bits
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.functions_tuple import functions_tuple
from hpgraph.kernels.runtime.cpu.kernel import is_stopped, njit, part, peek, prefetch, put, tasks, vertex
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, STEP
from hpgraph.kernels.runtime.cpu.work_stealing import GATE, LEADER, TAIL
from hpgraph.kernels.runtime.direction import PUSH
from hpgraph.kernels.traversal import direction_optimizing as traversing
from hpgraph.kernels.traversal import thin
from hpgraph.semiring.atomics import fetch_add
from hpgraph.semiring.jit import call

# Columns of the sums of a superstep over all sources, and of the totals of a source over all supersteps.
RUNS, PULLS, ACTIVE_SUM, ARCS_SUM, CYCLES_SUM, PAIRS_SUM = range(6)
SUMS = 6
VISITED, LEVELS, FARTHEST, UNFINISHED = range(4)
# Columns of the sums of a superstep over the searches that only count.
SENDERS, SENT = range(2)
# Prefetch distances in the queue, of row pointers and of first arcs; number of vertices that fit a cache.
AHEAD_ROWS, AHEAD_ARCS = 16, 8
CACHED = 1 << 16


# Functions of one search: those of a single traversal, and one that selects its row of each property.
Runs = functions_tuple(__name__, "Runs", "gather update edge_cond row")

# Bitmaps of settled and of active vertices, a row per source; sums by superstep; totals by source.
Sources = namedtuple("Sources", "settled active sums totals inverse")

# Work space of each worker: queue, bitmaps of two frontiers, board, progress, trace, table of thin supersteps, and its
# claims: vertices and their messages.
Room = namedtuple("Room", "queues fronts boards progress trace thin buffers messages")

# The policy of a traversal, and the supersteps done before.
Course = namedtuple("Course", "alpha beta forced limit dead_end done")


@njit(cache=True, nogil=True)
def by_source(words, n, rows):
    """Transpose words, one for each of n vertices, to a bitmap for each source; bits past the last vertex are set."""
    in_parallel(rows.shape[1], _block_by_source, (words, n, rows))


@part
def _block_by_source(block, words, n, rows):
    square = np.empty(SIDE, np.uint64)
    for i in range(SIDE):
        v = block * SIDE + i
        square[i] = words[v] if v < n else ~np.uint64(0)
    transpose(square)
    for source in range(rows.shape[0]):
        rows[source, block] = square[source]


@part
def _start(source, indptr, sources, queue, board, progress, done):
    """Begin a search where a joint traversal left it, or at its start."""
    settled = sources.settled[source]
    for i in range(board.size):
        board[i] = 0
    for i in range(progress.size):
        progress[i] = 0
    count = list_bits(sources.active[source], queue, 0)
    arcs, open_ = 0, 0
    for i in range(count):
        u = np.int64(queue[i])
        arcs += peek(indptr, u + 1) - peek(indptr, u)
    for i in range(settled.size):
        open_ += SIDE - popcount(settled[i])
    board[TAIL] = count
    progress[STEP], progress[ACTIVE] = done, count
    progress[traversing.ARCS], progress[traversing.QUEUED], progress[traversing.OPEN] = arcs, 1, open_


@part
def _settled(sources, source, step, count):
    """Count the vertices that a search settled in a superstep."""
    if count:
        fetch_add(sources.sums[step - 1], PAIRS_SUM, count)
        totals = sources.totals[source]
        totals[VISITED] += count
        totals[LEVELS] += count * step
        totals[FARTHEST] = step
        sources.inverse[source] += count / step


@part
def _note(sources, source, step, first, direction, active, arcs, cycles):
    """Add a superstep of a search to the sums; its frontier was settled in the superstep before."""
    if step > first:
        _settled(sources, source, step - 1, active)
    sums = sources.sums[step - 1]
    fetch_add(sums, RUNS, 1)
    fetch_add(sums, PULLS, direction)
    fetch_add(sums, ACTIVE_SUM, active)
    fetch_add(sums, ARCS_SUM, arcs)
    fetch_add(sums, CYCLES_SUM, cycles)


@part
def _fold(sources, source, step, space, course):
    """Add the supersteps in a search's trace to the sums, from `step` + 1 on; whether the search has ended."""
    progress, trace, table = space.progress, space.trace, space.thin
    first, place = course.done + 1, 0
    for row in range(progress[traversing.ROW]):
        if trace[row, 0] == thin.THIN:
            steps = trace[row, 1]
            for _ in range(steps):
                step += 1
                active, arcs = thin.counts(table[place])
                _note(sources, source, step, first, PUSH, active, arcs, trace[row, 3] // steps)
                place += 1
        else:
            step += 1
            _note(sources, source, step, first, trace[row, 0], trace[row, 1], trace[row, 2], trace[row, 3])
    progress[traversing.ROW], progress[traversing.THIN_ROW] = 0, 0
    space.board[LEADER], space.board[GATE] = 0, 0
    if progress[ACTIVE] > 0 and progress[STEP] < course.limit and not is_stopped():
        return False
    if step > course.done:
        _settled(sources, source, step, progress[ACTIVE])
    sources.totals[source, UNFINISHED] = progress[ACTIVE]
    return True


@part(counts_references=False)
def _each(worker, runs, state, world, out, in_, sources, room, course, counter):
    """One worker's searches, one after another."""
    claims = traversing.Claims(room.buffers, room.messages)
    for source in tasks(counter, sources.settled.shape[0]):
        space = traversing.Space(
            room.queues[worker], sources.settled[source], room.fronts[worker, 0], room.fronts[worker, 1],
            room.boards[worker], room.progress[worker], room.trace[worker], room.thin[worker],
        )  # fmt: skip
        _start(source, out.indptr, sources, space.queue, space.board, space.progress, course.done)
        over = False
        while not over:
            step = space.progress[STEP]
            traversing.work(worker, runs, call(runs.row, state, source), world, out, in_, space, claims, course)
            over = _fold(sources, source, step, space, course)


@njit(cache=True, nogil=True)
def run_each(runs, state, world, out, in_, sources, room, course):
    """Run the search of each source to its end; properties are arrays of shape (sources, vertices)."""
    counter = np.zeros(1, np.int64)
    in_parallel(room.queues.shape[0], _each, (runs, state, world, out, in_, sources, room, course, counter))


# Work space of each worker that only counts: queue, visited vertices, and sums by superstep. Totals of 96 searches on
# grids and a path took 1.2 to 3.1 times as long by `run_each`, whose loop serves any program.
Counting = namedtuple("Counting", "queues marks sums")


@part(inline="always")
def _fetch_ahead(out, queue, head, last):
    """Prefetch rows of vertices ahead in the queue."""
    prefetch(out.indptr, vertex(queue, min(head + AHEAD_ROWS, last)))
    prefetch(out.indices, peek(out.indptr, vertex(queue, min(head + AHEAD_ARCS, last))))


@part
def _count(out, start, queue, marks, sums, totals, limit):
    """Breadth-first search with a FIFO queue; returns the sum of 1 / level of the vertices it reaches."""
    indptr, indices, far = out.indptr, out.indices, marks.size > CACHED
    put(queue, 0, start)
    put(marks, start, np.uint8(1))
    head, tail, step, inverse = 0, 1, 0, 0.0
    while head < tail and step < limit and not is_stopped():
        end, arcs = tail, 0
        sums[step, SENDERS] += end - head
        while head < end:
            if far:
                _fetch_ahead(out, queue, head, tail - 1)
            u = vertex(queue, head)
            head += 1
            first, last = peek(indptr, u), peek(indptr, u + 1)
            arcs += last - first
            for j in range(first, last):
                v = vertex(indices, j)
                # Branch-free: whether an arc is the first to reach v is unpredictable.
                put(queue, tail, queue.dtype.type(v))
                tail += peek(marks, v) == 0
                put(marks, v, np.uint8(1))
        sums[step, SENT] += arcs
        step += 1
        found = tail - end
        totals[LEVELS] += found * step
        totals[FARTHEST] = step if found else step - 1
        inverse += found / step
    sums[step, SENDERS] += tail - head
    totals[VISITED], totals[UNFINISHED] = tail, tail - head
    if tail < marks.size // SIDE:
        for i in range(tail):
            put(marks, vertex(queue, i), np.uint8(0))
    else:
        marks[:] = 0
    return inverse


@njit(cache=True, nogil=True)
def count_each(out, starts, counting, totals, inverse, limit):
    """Count what each of `starts` reaches, a source's totals in a row; lists must have a place more than vertices."""
    counter = np.zeros(1, np.int64)
    in_parallel(counting.queues.shape[0], _count_some, (out, starts, counting, totals, inverse, limit, counter))


@part
def _count_some(worker, out, starts, counting, totals, inverse, limit, counter):
    queue, marks, sums = counting.queues[worker], counting.marks[worker], counting.sums[worker]
    for source in tasks(counter, starts.size):
        inverse[source] = _count(out, starts[source], queue, marks, sums, totals[source], limit)
