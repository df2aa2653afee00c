"""Operations of one worker on part of a level of joint searches (`hpgraph.kernels.betweenness.cpu_jointly`)."""

from collections import namedtuple

import numpy as np

from hpgraph.kernels.betweenness import LIMIT
from hpgraph.kernels.betweenness.cpu_numbers import LINE, add_line, add_scaled, normalize, quotient
from hpgraph.kernels.runtime.cpu.bits import lowest_bit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, put, vertex
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
Ways = namedtuple("Ways", "out_indptr out_indices in_indptr in_indices bounds")


# Work space of one worker: sums of a row, their exponents, vertices to be listed. For several, rows of these.
Local = namedtuple("Local", "sums exponents buffer")


@part
def _gather(indices, first, last, want, front, numbers, stride, sums):
    """Sum numbers over the neighbours of a row in the front, for some sources; returns the sources with any."""
    heard = np.uint64(0)
    for j in range(first, last):
        u = vertex(indices, j)
        both = peek(front, u) & want
        if both:
            heard |= both
            for line in range(0, stride, LINE):
                bits = (both >> np.uint64(line)) & np.uint64(255)
                if bits:
                    add_line(sums, line, numbers, u * stride + line, bits)
    return heard


@part
def _depend(numbers, own, sums, mask):
    """Replace a vertex's path counts by their shares; returns the sum of its dependencies."""
    total = 0.0
    while mask:
        k = lowest_bit(mask)
        mask &= mask - np.uint64(1)
        number = peek(numbers, own + k)
        dependency = number * peek(sums, k)
        total += dependency
        put(numbers, own + k, (1.0 + dependency) / number)
    return total


@part
def _gather_scaled(indptr, indices, v, want, front, state, local):
    """Sum numbers with exponents over v's neighbours in the front, for some sources; returns the sources with any."""
    heard = np.uint64(0)
    for k in range(state.stride):
        local.exponents[k] = 0
    for j in range(indptr[v], indptr[v + 1]):
        u = vertex(indices, j)
        both = front[u] & want
        heard |= both
        while both:
            k = lowest_bit(both)
            both &= both - np.uint64(1)
            at = u * state.stride + k
            add_scaled(local.sums, local.exponents, k, state.numbers[at], state.exponents[at])
    for k in range(state.stride):
        normalize(local.sums, local.exponents, k)
        if heard >> np.uint64(k) & np.uint64(1):
            state.exponents[v * state.stride + k] = local.exponents[k]
    return heard


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
def list_found(state, local, filled, masks, counters):
    """Move the vertices of a buffer to the list; `masks` has their sources."""
    start = fetch_add(counters, TAIL, filled)
    for i in range(filled):
        v = vertex(local.buffer, i)
        put(state.listed, start + i, local.buffer[i])
        put(state.masks, start + i, peek(masks, v))
    return 0


@part
def work_off(what, ways, span, fronts, state, local, filled, wide, counters, sums):
    """Vertices pull from their neighbours in the front: a range of all vertices, or of the list.

    In the backward pass `span` also tells whether vertices are marked. Returns the number of vertices in the buffer.
    """
    # Calls with a tuple would count references to each of its arrays, for every vertex.
    indptr, indices = ways.in_indptr, ways.in_indices
    if what == RETURN:
        indptr, indices = ways.out_indptr, ways.out_indices
    other = ways.out_indptr
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
        heard = np.uint64(0)
        if want and not slowly:
            heard = _gather(indices, first, last, want, front, numbers, stride, own_sums)
        elif want and what == RETURN:
            _gather_back(indptr, indices, v, want, front, state, local, wide, sums.arcs)
        elif want:
            heard = _gather_scaled(indptr, indices, v, want, front, state, local)
        own = v * stride
        if what == RETURN:
            put(vertices, v, peek(vertices, v) + _depend(numbers, own, own_sums, mask))
        elif heard:
            put(seen, v, peek(seen, v) | heard)
            leaving += peek(other, v + 1) - peek(other, v)
            reaching += last - first
            put(next_front, v, heard)
            put(local.buffer, filled, listed.dtype.type(v))
            filled += 1
            if filled == BUFFER:
                filled = list_found(state, local, filled, next_front, counters)
            while heard:
                k = lowest_bit(heard)
                heard &= heard - np.uint64(1)
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
