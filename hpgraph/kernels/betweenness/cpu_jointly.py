"""Many sources together, level by level, in lanes.

Forwards a level is found in one of two ways. *Pull*: every vertex that some lane has not met looks through its
in-neighbours for those on the level before; it finds its lanes and their numbers of paths at once. *Push*: the vertices
of the level before send their bits first, and whom they reach looks for the numbers then. Either way a vertex adds
up what it pulls in the order of its arcs. Backwards the vertices of each level pull from those of the level below.

Which vertices are on each level, and in which lanes, is kept as a list: the way back visits these alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from hpgraph.kernels.betweenness import LIMIT
from hpgraph.kernels.betweenness.cpu_lines import LINE, add_line
from hpgraph.kernels.betweenness.cpu_scaled import add_scaled, normalize, quotient
from hpgraph.kernels.runtime.cpu.bits import lowest_bit, popcount
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, put, vertex
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.tasks import next_task
from hpgraph.semiring.atomics import atomic_or, fetch_add
from hpgraph.semiring.stop import is_stopped

# What is done to a level's vertices by all threads.
PUSH, SETTLE, PULL, MARK, RETURN = range(5)
# A push sends bits along arcs, by atomic operations at random places, for the receivers to read their own arcs then: it
# costs about so many times what reading an arc in a pull does.
PUSH_COST = 4
# Arcs and vertices of a task, and those below which one thread does all: to enter a parallel region takes some 10 µs.
TASK, ALONE = 8192, 8192
# Vertices that a worker gathers before it reserves room for them in the list.
BUFFER = 512
# On the board, each on a line of its own: the next task, the list's end, arcs that leave and that reach the vertices
# added, arcs of those that every lane has met, and whether a number of paths came to the limit.
_NEXT, _TAIL, _LEAVING, _REACHING, _FULL, _LARGE = range(0, 96, 16)
_BOARD = 96


class Lanes(NamedTuple):
    """The state of all lanes.

    Attributes
    ----------
    numbers : float64 array of length n * stride
        σ, a row of lanes a vertex; on the way back (1 + δ) / σ takes its place. 0 where a lane has not been.
    exponents : int32 array of length n * stride
        As `hpgraph.kernels.betweenness` says.
    seen, first, second : uint64 arrays of length n
        A bit a lane: which have met the vertex; on which it is on the level before, and on the present one.
    listed : array of vertex ids
        The vertices of each level, level after level.
    masks : uint64 array
        The lanes of each.
    stride, every : int
        Lanes, made up to whole lines; the bits of all that are used.
    """

    numbers: Any
    exponents: Any
    seen: Any
    first: Any
    second: Any
    listed: Any
    masks: Any
    stride: int
    every: Any


class Ways(NamedTuple):
    """The arcs by source and by target, and blocks of the latter's rows of about as many arcs.

    Not two `Rows`: Numba passes no tuples of tuples to a parallel region.
    """

    out_indptr: Any
    out_indices: Any
    in_indptr: Any
    in_indices: Any
    bounds: Any


class Local(NamedTuple):
    """What one worker works with: sums of a row, their exponents, vertices to be listed. A crew has rows of these."""

    sums: Any
    exponents: Any
    buffer: Any


@part
def _gather_scaled(indptr, indices, v, want, front, lanes, local):
    """Add up numbers with exponents of v's neighbours in the front, in the lanes wanted; returns those with any."""
    heard = np.uint64(0)
    for k in range(lanes.stride):
        local.exponents[k] = 0
    for j in range(indptr[v], indptr[v + 1]):
        u = vertex(indices, j)
        both = front[u] & want
        heard |= both
        while both:
            k = lowest_bit(both)
            both &= both - np.uint64(1)
            at = u * lanes.stride + k
            add_scaled(local.sums, local.exponents, k, lanes.numbers[at], lanes.exponents[at])
    for k in range(lanes.stride):
        normalize(local.sums, local.exponents, k)
        if heard >> np.uint64(k) & np.uint64(1):
            lanes.exponents[v * lanes.stride + k] = local.exponents[k]
    return heard


@part
def _gather_back(indptr, indices, v, want, front, lanes, local, wide, places):
    """Add up what v's neighbours in the front have, with exponents, or with a place for the dependency on each arc."""
    own = v * lanes.stride
    for j in range(indptr[v], indptr[v + 1]):
        w = vertex(indices, j)
        both = front[w] & want
        total = 0.0
        while both:
            k = lowest_bit(both)
            both &= both - np.uint64(1)
            at = w * lanes.stride + k
            number = lanes.numbers[at]
            if wide:
                number = quotient(number, lanes.exponents[at] - lanes.exponents[own + k])
            local.sums[k] += number
            total += number * lanes.numbers[own + k]
        if places.size:
            places[j] += total


@part
def _list(lanes, local, filled, masks, board):
    """Move the vertices of a buffer to the list; `masks` has their lanes."""
    start = fetch_add(board, _TAIL, filled)
    for i in range(filled):
        v = vertex(local.buffer, i)
        put(lanes.listed, start + i, local.buffer[i])
        put(lanes.masks, start + i, peek(masks, v))
    return 0


@part
def _work_off(what, ways, span, fronts, lanes, local, filled, wide, board, sums):
    """Vertices pull from their neighbours in the front: a stretch of all vertices, or of those listed.

    On the way back `span` says whether vertices are marked, too. Returns how many vertices the buffer then holds.
    """
    # Whatever is called in the loop with a tuple would count references to each of its arrays, for every vertex.
    indptr, indices = ways.in_indptr, ways.in_indices
    if what == RETURN:
        indptr, indices = ways.out_indptr, ways.out_indices
    other = ways.out_indptr
    front, next_front = fronts
    numbers, seen, listed, masks = lanes.numbers, lanes.seen, lanes.listed, lanes.masks
    stride, own_sums, vertices = lanes.stride, local.sums, sums.vertices
    begin, end, marked = span
    leaving, reaching, full, large = 0, 0, 0, False
    slowly = wide or (what == RETURN and sums.arcs.size > 0)
    for i in range(begin, end):
        v = i if what == PULL else vertex(listed, i)
        if what == PULL:
            want = lanes.every & ~peek(seen, v)
        elif what == SETTLE:
            want = peek(next_front, v)
            put(masks, i, want)
        else:
            want = peek(masks, i)
            put(next_front, v, want)
        mask = want
        if marked:
            want &= peek(seen, v)
        if what == RETURN:
            put(seen, v, np.uint64(0))
        first, last = peek(indptr, v), peek(indptr, v + 1)
        if what == PULL and (not want or first == last):
            continue
        for k in range(stride):
            put(own_sums, k, 0.0)
        heard = np.uint64(0)
        if not want:
            pass
        elif not slowly:
            for j in range(first, last):
                u = vertex(indices, j)
                both = peek(front, u) & want
                if both:
                    heard |= both
                    for line in range(0, stride, LINE):
                        bits = (both >> np.uint64(line)) & np.uint64(255)
                        if bits:
                            add_line(own_sums, line, numbers, u * stride + line, bits)
        elif what == RETURN:
            _gather_back(indptr, indices, v, want, front, lanes, local, wide, sums.arcs)
        else:
            heard = _gather_scaled(indptr, indices, v, want, front, lanes, local)
        own = v * stride
        if what == RETURN:
            total = 0.0
            while mask:
                k = lowest_bit(mask)
                mask &= mask - np.uint64(1)
                number = peek(numbers, own + k)
                dependency = number * peek(own_sums, k)
                total += dependency
                put(numbers, own + k, (1.0 + dependency) / number)
            put(vertices, v, peek(vertices, v) + total)
        elif heard:
            met = peek(seen, v) | heard
            put(seen, v, met)
            leaving += peek(other, v + 1) - peek(other, v)
            reaching += last - first
            if met == lanes.every:
                full += last - first
            if what == PULL:
                put(next_front, v, heard)
                put(local.buffer, filled, listed.dtype.type(v))
                filled += 1
                if filled == BUFFER:
                    filled = _list(lanes, local, filled, next_front, board)
            while heard:
                k = lowest_bit(heard)
                heard &= heard - np.uint64(1)
                number = peek(own_sums, k)
                large = large or number >= LIMIT
                put(numbers, own + k, number)
    if large:
        board[_LARGE] = 1
    if what != RETURN:
        fetch_add(board, _LEAVING, leaving)
        fetch_add(board, _REACHING, reaching)
        fetch_add(board, _FULL, full)
    return filled


@part
def _push(indptr, indices, begin, end, next_front, lanes, local, filled, alone, board):
    """Send the lanes of listed vertices along their arcs, to those who have not met them."""
    listed, masks, seen, buffer = lanes.listed, lanes.masks, lanes.seen, local.buffer
    for i in range(begin, end):
        u = vertex(listed, i)
        mask = peek(masks, i)
        for j in range(peek(indptr, u), peek(indptr, u + 1)):
            v = vertex(indices, j)
            new = mask & ~peek(seen, v)
            before = peek(next_front, v)
            if new & ~before:
                if alone:
                    put(next_front, v, before | new)
                else:
                    before = atomic_or(next_front, v, new)
                if not before:
                    buffer[filled] = v
                    filled += 1
                    if filled == BUFFER:
                        filled = _list(lanes, local, filled, next_front, board)
    return filled


@part
def _mark(indptr, indices, begin, end, lanes, alone):
    """Tell the in-neighbours of listed vertices, in `seen`, that someone below may depend on them."""
    listed, masks, seen = lanes.listed, lanes.masks, lanes.seen
    for i in range(begin, end):
        w = vertex(listed, i)
        mask = peek(masks, i)
        for j in range(peek(indptr, w), peek(indptr, w + 1)):
            u = vertex(indices, j)
            before = peek(seen, u)
            if mask & ~before:
                if alone:
                    put(seen, u, before | mask)
                else:
                    atomic_or(seen, u, mask)


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
            filled = _push(
                ways.out_indptr, ways.out_indices, first, last, fronts[1], lanes, local, filled, flag, board
            )  # fmt: skip
        elif what == MARK:
            _mark(ways.in_indptr, ways.in_indices, first, last, lanes, flag)
        else:
            part_span = first, last, flag
            filled = _work_off(what, ways, part_span, fronts, lanes, local, filled, wide, board, sums)
    if filled:
        _list(lanes, local, filled, fronts[1], board)


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
    board[_NEXT] = 0
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
            lanes.listed[board[_TAIL]] = v
            board[_TAIL] += 1
            leaving += indptr[v + 1] - indptr[v]
        lanes.first[v] |= bit
        lanes.seen[v] |= bit
        lanes.numbers[v * lanes.stride + k] = 1.0
    for i in range(board[_TAIL]):
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
    level, begin, end = 0, 0, board[_TAIL]
    while begin < end and not is_stopped():
        board[_LEAVING] = board[_REACHING] = 0
        state = (front, next_front), lanes, crew, board, sums
        work = levels[level, 1] + end - begin
        if PUSH_COST * work < open_:
            _step(PUSH, ways, begin, end, work, _is_little(work, crew), state, wide)
            work = _arcs_to(ways.in_indptr, lanes, end, board[_TAIL]) + board[_TAIL] - end
            _step(SETTLE, ways, end, board[_TAIL], work, False, state, wide)
        else:
            _step(PULL, ways, begin, end, all_arcs, False, state, wide)
        _clear(front, lanes, begin, end)
        front, next_front = next_front, front
        open_ -= board[_FULL]
        board[_FULL] = 0
        level += 1
        begin, end = end, board[_TAIL]
        levels[level, 0], levels[level, 1], levels[level, 2] = begin, board[_LEAVING], board[_REACHING]
        if board[_LARGE] and not wide:
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
    board = np.zeros(_BOARD, np.int64)
    levels = np.empty((ways.out_indptr.size + 1, 3), np.int64)
    depth, wide = _forwards(ways, sources, lanes, crew, board, sums, levels)
    if sums.reach.size:
        _tell(sources, lanes, sums)
    lanes.seen[:] = np.uint64(0)
    _backwards(ways, sources, lanes, crew, wide, board, sums, levels, depth)
