"""Joint searches from many sources, level by level.

Forward, every vertex not yet reached from some source scans its in-neighbours for those on the level before, and sums
their path counts in the order of its arcs. (A push, as in one search, would touch fewer arcs on the first levels; but
counts are gathered afterwards all the same: it takes 1.1 times as long on uniform graphs, and as long on others.)
Backward, the vertices of each level pull from the level below. The vertices of each level and their sources are kept
in a list: the backward pass visits these alone.
"""

import numpy as np
from numba import prange

from hpgraph.kernels.betweenness.cpu_numbers import LINE, normalize
from hpgraph.kernels.betweenness.cpu_steps import (
    COUNTERS,
    LARGE,
    LEAVING,
    MARK,
    NEXT,
    REACHING,
    RETURN,
    TAIL,
    Local,
    list_found,
    mark,
    work_off,
)  # fmt: skip
from hpgraph.kernels.runtime.cpu.bits import lowest_bit, popcount
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import put, vertex
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.tasks import next_task
from hpgraph.kernels.runtime.direction import PULL
from hpgraph.semiring.stop import is_stopped

# Cost of an arc in marking relative to one in a pull: bits are sent by atomic operations at random places, and the
# receivers read their own arcs afterwards.
MARK_COST = 4
# Arcs and vertices of a task, and those below which one thread does all: a parallel region takes some 10 µs to enter.
TASK, ALONE = 8192, 8192


@part
def _take_part(what, ways, span, fronts, state, local, wide, counters, sums):
    """One worker's share of a step: task after task until none is left.

    `span`: the range in the list, a task's size, and whether a marking worker is alone, or later, vertices are marked.
    """
    begin, end, grain, flag = span
    filled = 0
    while True:
        task = next_task(counters)
        if what == PULL:
            if task >= ways.bounds.size - 1:
                break
            first, last = ways.bounds[task], ways.bounds[task + 1]
        else:
            first = begin + task * grain
            if task >= end - begin or first >= end:
                break
            last = min(first + grain, end)
        if what == MARK:
            mark(ways.in_indptr, ways.in_indices, first, last, state, flag)
        else:
            part_span = first, last, flag
            filled = work_off(what, ways, part_span, fronts, state, local, filled, wide, counters, sums)
    if filled:
        list_found(state, local, filled, fronts[1], counters)


@part
def _of(locals_, worker):
    return Local(locals_.sums[worker], locals_.exponents[worker], locals_.buffer[worker])


@njit(parallel=LOOPS, nogil=True)
def _all_together(what, ways, span, fronts, state, locals_, wide, counters, sums):
    for worker in prange(locals_.sums.shape[0]):
        _take_part(what, ways, span, fronts, state, _of(locals_, worker), wide, counters, sums)


@part
def _is_little(work, locals_):
    """Whether one worker does all."""
    return work <= ALONE or locals_.sums.shape[0] == 1


@part
def _step(what, ways, begin, end, work, flag, shared, wide):
    """One step over the vertices begin..end of the list, by all workers if there is enough work."""
    fronts, state, locals_, counters, sums = shared
    counters[NEXT] = 0
    span = begin, end, max(TASK * (end - begin) // max(work, 1), 1), flag
    if _is_little(work, locals_):
        _take_part(what, ways, span, fronts, state, _of(locals_, 0), wide, counters, sums)
    else:
        _all_together(what, ways, span, fronts, state, locals_, wide, counters, sums)


@part
def _clear(words, state, begin, end):
    """Clear the words of listed vertices."""
    if end - begin > words.size // LINE:
        words[:] = np.uint64(0)
    else:
        for i in range(begin, end):
            put(words, vertex(state.listed, i), np.uint64(0))


@part
def _start(indptr, sources, state, counters):
    """Level 0: the sources, each vertex once; returns the number of their out-arcs."""
    leaving = 0
    for k in range(sources.size):
        v = sources[k]
        bit = np.uint64(1) << np.uint64(k)
        if not state.first[v]:
            state.listed[counters[TAIL]] = v
            counters[TAIL] += 1
            leaving += indptr[v + 1] - indptr[v]
        state.first[v] |= bit
        state.seen[v] |= bit
        state.numbers[v * state.stride + k] = 1.0
    for i in range(counters[TAIL]):
        state.masks[i] = state.first[state.listed[i]]
    return leaving


@part
def _begin_scaled(state, begin, end):
    """From this level on, numbers carry exponents."""
    for i in range(begin, end):
        for k in range(state.stride):
            normalize(state.numbers, state.exponents, vertex(state.listed, i) * state.stride + k)


@part
def _forwards(ways, sources, state, locals_, counters, sums, levels):
    """The forward pass; returns the number of levels, and whether numbers carry exponents.

    `levels` has a row a level: its start in the list, arcs that leave it, and arcs that reach it.
    """
    front, next_front = state.first, state.second
    all_arcs = ways.in_indptr[ways.in_indptr.size - 1]
    wide = False
    levels[0, 0], levels[0, 1], levels[0, 2] = 0, _start(ways.out_indptr, sources, state, counters), 0
    level, begin, end = 0, 0, counters[TAIL]
    while begin < end and not is_stopped():
        counters[LEAVING] = counters[REACHING] = 0
        shared = (front, next_front), state, locals_, counters, sums
        _step(PULL, ways, begin, end, all_arcs, False, shared, wide)
        _clear(front, state, begin, end)
        front, next_front = next_front, front
        level += 1
        begin, end = end, counters[TAIL]
        levels[level, 0], levels[level, 1], levels[level, 2] = begin, counters[LEAVING], counters[REACHING]
        if counters[LARGE] and not wide:
            wide = True
            _begin_scaled(state, begin, end)
    _clear(front, state, begin, end)
    return level, wide


@part
def _backwards(ways, sources, state, locals_, wide, counters, sums, levels, depth):
    """The backward pass, from the last level, `depth` - 1, to the first."""
    front, next_front = state.first, state.second
    own = np.empty(sources.size)
    # Level 0 contributes only to arcs.
    for level in range(depth - 1, -1 if sums.arcs.size else 0, -1):
        begin, end = levels[level, 0], levels[level + 1, 0]
        below = levels[min(level + 2, depth), 0]
        shared = (front, next_front), state, locals_, counters, sums
        # With few vertices below, marking their in-neighbours is cheaper than scanning all arcs.
        work = levels[level + 1, 2] + below - end
        marked = MARK_COST * work < levels[level, 1]
        if marked:
            _step(MARK, ways, end, below, work, _is_little(work, locals_), shared, wide)
        if level == 0:
            own[:] = sums.vertices[sources]
        work = levels[level, 1] + end - begin
        _step(RETURN, ways, begin, end, work, marked, shared, wide)
        if level == 0:
            sums.vertices[sources] = own
        _clear(front, state, end, below)
        front, next_front = next_front, front


@part
def _add_reach(sources, state, sums):
    """Count the sources that reach each vertex, and the vertices that each source reaches."""
    for v in range(state.seen.size):
        mask = state.seen[v]
        sums.reached[v] += popcount(mask)
        while mask:
            sums.reach[lowest_bit(mask)] += 1
            mask &= mask - np.uint64(1)
    for k in range(sources.size):
        sums.reached[sources[k]] -= 1


@njit(cache=True, nogil=True)
def run_jointly(ways, sources, state, locals_, sums):
    """Add the dependencies of all sources; the arrays of `state` are zero, except the lists."""
    counters = np.zeros(COUNTERS, np.int64)
    levels = np.empty((ways.out_indptr.size + 1, 3), np.int64)
    depth, wide = _forwards(ways, sources, state, locals_, counters, sums, levels)
    if sums.reach.size:
        _add_reach(sources, state, sums)
    state.seen[:] = np.uint64(0)
    _backwards(ways, sources, state, locals_, wide, counters, sums, levels, depth)
