"""Joint searches from many sources, level by level.

Forward, every vertex not yet reached from some source scans its in-neighbours for those on the level before, and sums
their path counts in the order of its arcs. (A push, as in one search, would touch fewer arcs on the first levels; but
counts are gathered afterwards all the same: it takes 1.1 times as long on uniform graphs, and as long on others.)
Backward, the vertices of each level pull from the level below. The vertices of each level and their sources are kept
in a list: the backward pass visits these alone.
"""

from collections import namedtuple

import numpy as np

from hpgraph.kernels.betweenness import LIMIT
from hpgraph.kernels.betweenness.cpu_numbers import LINE, add_line, add_scaled, normalize, quotient
from hpgraph.kernels.runtime.cpu.bits import lowest_bit, popcount
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, is_stopped, njit, part, peek, prange, put, tasks, vertex
from hpgraph.kernels.runtime.direction import PULL
from hpgraph.semiring.atomics import atomic_or, fetch_add

# Operations on a level's vertices by all threads, besides `PULL`.
MARK, RETURN = range(2, 4)
# Vertices that a worker buffers before it reserves room for them in the list.
BUFFER = 512
# Shared counters, each on its own cache line: the next task, the list's end, arcs that leave and that reach the
# vertices added, and whether a path count reached the limit.
NEXT, TAIL, LEAVING, REACHING, LARGE = range(0, 80, 16)
COUNTERS = 80
# The state of all sources, a row of `stride` numbers a vertex; bitmasks of sources are uint64 arrays of length n.
# ``numbers, exponents``: σ, in the backward pass (1 + δ) / σ, 0 in sources that have not reached it; ``seen, first,
# second``: sources that have reached the vertex, that have it on the level before, and on the current one; ``listed,
# masks``: the vertices of each level, in order of levels, and their sources; ``every``: bitmask of the sources in use.
State = namedtuple("State", "numbers exponents seen first second listed masks stride every")
# The arcs by source and by target, and bounds of blocks of the latter with about as many arcs each. Not two `Rows`:
# Numba passes no nested tuples to a parallel region.
Arcs = namedtuple("Arcs", "out_indptr out_indices in_indptr in_indices bounds")
# Work space of one worker: sums of a row, their exponents, vertices to be listed. For several, rows of these.
Local = namedtuple("Local", "sums exponents buffer")


@part
def _gather(indices, first, last, want, front, numbers, stride, sums):
    """Sum numbers over the neighbours of a row in the front, for some sources; returns the sources with any."""
    received = np.uint64(0)
    for j in range(first, last):
        u = vertex(indices, j)
        both = peek(front, u) & want
        if both:
            received |= both
            for line in range(0, stride, LINE):
                bits = (both >> np.uint64(line)) & np.uint64(255)
                if bits:
                    add_line(sums, line, numbers, u * stride + line, bits)
    return received


@part
def _accumulate(numbers, own, sums, mask, shares):
    """Replace a vertex's path counts by (1 + δ) / σ; returns the sum of its dependencies, weighted by source."""
    total = 0.0
    while mask:
        k = lowest_bit(mask)
        mask &= mask - np.uint64(1)
        number = peek(numbers, own + k)
        dependency = number * peek(sums, k)
        total += dependency if shares is None else dependency * peek(shares, k)
        put(numbers, own + k, (1.0 + dependency) / number)
    return total


@part
def _gather_scaled(indptr, indices, v, want, front, state, local):
    """Sum numbers with exponents over v's neighbours in the front, for some sources; returns the sources with any."""
    received = np.uint64(0)
    for k in range(state.stride):
        local.exponents[k] = 0
    for j in range(indptr[v], indptr[v + 1]):
        u = vertex(indices, j)
        both = front[u] & want
        received |= both
        while both:
            k = lowest_bit(both)
            both &= both - np.uint64(1)
            at = u * state.stride + k
            add_scaled(local.sums, local.exponents, k, state.numbers[at], state.exponents[at])
    for k in range(state.stride):
        normalize(local.sums, local.exponents, k)
        if received >> np.uint64(k) & np.uint64(1):
            state.exponents[v * state.stride + k] = local.exponents[k]
    return received


@part
def _gather_back(indptr, indices, v, want, front, state, local, wide, places):
    """Sum over v's neighbours in the front, with exponents, or adding up the dependency on each arc in `places`."""
    own = v * state.stride
    for j in range(indptr[v], indptr[v + 1]):
        w = vertex(indices, j)
        both = front[w] & want
        total = 0.0
        while both:
            k = lowest_bit(both)
            both &= both - np.uint64(1)
            at = w * state.stride + k
            number = state.numbers[at]
            if wide:
                number = quotient(number, state.exponents[at] - state.exponents[own + k])
            local.sums[k] += number
            total += number * state.numbers[own + k]
        if places.size:
            places[j] += total


@part
def flush(state, local, filled, masks, counters):
    """Move the vertices of a buffer to the list; `masks` has their sources."""
    start = fetch_add(counters, TAIL, filled)
    for i in range(filled):
        v = vertex(local.buffer, i)
        put(state.listed, start + i, local.buffer[i])
        put(state.masks, start + i, peek(masks, v))
    return 0


@part
def pull_range(what, arcs, span, fronts, state, local, filled, wide, counters, sums):
    """Pull from neighbours in the frontier, for a range of all vertices or of the list.

    In the backward pass `span` also has whether vertices are marked. Returns the number of vertices in the buffer.
    """
    # Calls with a tuple would count references to each of its arrays, for every vertex.
    indptr, indices = arcs.in_indptr, arcs.in_indices
    if what == RETURN:
        indptr, indices = arcs.out_indptr, arcs.out_indices
    other = arcs.out_indptr
    front, next_front = fronts
    numbers, seen, listed, masks = state.numbers, state.seen, state.listed, state.masks
    stride, own_sums, vertices = state.stride, local.sums, sums.vertices
    begin, end, marked = span
    leaving, reaching, large = 0, 0, False
    slowly = wide or (what == RETURN and sums.arcs.size > 0)
    for i in range(begin, end):
        v = i if what == PULL else vertex(listed, i)
        if what == PULL:
            want = state.every & ~peek(seen, v)
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
        received = np.uint64(0)
        if want and not slowly:
            received = _gather(indices, first, last, want, front, numbers, stride, own_sums)
        elif want and what == RETURN:
            _gather_back(indptr, indices, v, want, front, state, local, wide, sums.arcs)
        elif want:
            received = _gather_scaled(indptr, indices, v, want, front, state, local)
        own = v * stride
        if what == RETURN:
            put(vertices, v, peek(vertices, v) + _accumulate(numbers, own, own_sums, mask, sums.shares))
        elif received:
            put(seen, v, peek(seen, v) | received)
            leaving += peek(other, v + 1) - peek(other, v)
            reaching += last - first
            put(next_front, v, received)
            put(local.buffer, filled, listed.dtype.type(v))
            filled += 1
            if filled == BUFFER:
                filled = flush(state, local, filled, next_front, counters)
            while received:
                k = lowest_bit(received)
                received &= received - np.uint64(1)
                number = peek(own_sums, k)
                large = large or number >= LIMIT
                put(numbers, own + k, number)
    if large:
        counters[LARGE] = 1
    if what != RETURN:
        fetch_add(counters, LEAVING, leaving)
        fetch_add(counters, REACHING, reaching)
    return filled


@part
def mark(indptr, indices, begin, end, state, alone):
    """Mark the in-neighbours of listed vertices, in `seen`: they may have dependencies in these sources."""
    listed, masks, seen = state.listed, state.masks, state.seen
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


# Cost of an arc in marking relative to one in a pull: bits are sent by atomic operations at random places, and the
# receivers read their own arcs afterwards.
MARK_COST = 4
# Arcs and vertices of a task, and those below which one thread does all: a parallel region takes some 10 µs to enter.
TASK, ALONE = 8192, 8192


@part
def _run_worker(what, arcs, span, fronts, state, local, wide, counters, sums):
    """One worker of a step: takes tasks until none is left.

    `span`: the range in the list, a task's size, and whether a marking worker is alone, or later, vertices are marked.
    """
    begin, end, grain, flag = span
    filled = 0
    for task in tasks(counters, arcs.bounds.size - 1 if what == PULL else -(-(end - begin) // grain)):
        first, last = begin + task * grain, min(begin + (task + 1) * grain, end)
        if what == PULL:
            first, last = arcs.bounds[task], arcs.bounds[task + 1]
        if what == MARK:
            mark(arcs.in_indptr, arcs.in_indices, first, last, state, flag)
        else:
            part_span = first, last, flag
            filled = pull_range(what, arcs, part_span, fronts, state, local, filled, wide, counters, sums)
    if filled:
        flush(state, local, filled, fronts[1], counters)


@part
def _local_of(locals_, worker):
    return Local(locals_.sums[worker], locals_.exponents[worker], locals_.buffer[worker])


@njit(parallel=LOOPS, heavy=True, nogil=True)
def _run_workers(what, arcs, span, fronts, state, locals_, wide, counters, sums):
    for worker in prange(locals_.sums.shape[0]):
        _run_worker(what, arcs, span, fronts, state, _local_of(locals_, worker), wide, counters, sums)


@part
def _is_serial(work, locals_):
    """Whether there is too little work for several workers."""
    return work <= ALONE or locals_.sums.shape[0] == 1


@part
def _step(what, arcs, begin, end, work, flag, shared, wide):
    """One step over the vertices begin..end of the list, by all workers if there is enough work."""
    fronts, state, locals_, counters, sums = shared
    counters[NEXT] = 0
    span = begin, end, max(TASK * (end - begin) // max(work, 1), 1), flag
    if _is_serial(work, locals_):
        _run_worker(what, arcs, span, fronts, state, _local_of(locals_, 0), wide, counters, sums)
    else:
        _run_workers(what, arcs, span, fronts, state, locals_, wide, counters, sums)


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
def _forward(arcs, sources, state, locals_, counters, sums, levels):
    """The forward pass; returns the number of levels, and whether numbers carry exponents.

    `levels` has a row a level: its start in the list, arcs that leave it, and arcs that reach it.
    """
    front, next_front = state.first, state.second
    all_arcs = arcs.in_indptr[arcs.in_indptr.size - 1]
    wide = False
    levels[0, 0], levels[0, 1], levels[0, 2] = 0, _start(arcs.out_indptr, sources, state, counters), 0
    level, begin, end = 0, 0, counters[TAIL]
    while begin < end and not is_stopped():
        counters[LEAVING] = counters[REACHING] = 0
        shared = (front, next_front), state, locals_, counters, sums
        _step(PULL, arcs, begin, end, all_arcs, False, shared, wide)
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
def _backward(arcs, sources, state, locals_, wide, counters, sums, levels, depth):
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
            _step(MARK, arcs, end, below, work, _is_serial(work, locals_), shared, wide)
        if level == 0:
            for i in range(sources.size):
                own[i] = sums.vertices[sources[i]]
        work = levels[level, 1] + end - begin
        _step(RETURN, arcs, begin, end, work, marked, shared, wide)
        if level == 0:
            for i in range(sources.size):
                sums.vertices[sources[i]] = own[i]
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
def run_jointly(arcs, sources, state, locals_, sums):
    """Add the dependencies of all sources; the arrays of `state` are zero, except the lists."""
    counters = np.zeros(COUNTERS, np.int64)
    levels = np.empty((arcs.out_indptr.size + 1, 3), np.int64)
    depth, wide = _forward(arcs, sources, state, locals_, counters, sums, levels)
    if sums.reach.size:
        _add_reach(sources, state, sums)
    state.seen[:] = np.uint64(0)
    _backward(arcs, sources, state, locals_, wide, counters, sums, levels, depth)
