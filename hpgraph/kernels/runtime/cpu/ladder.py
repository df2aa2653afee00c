"""A priority queue for keys that never fall below the last one taken: a heap of the least, buckets for the others.

A ladder queue of one rung (W. T. Tang, R. S. M. Goh, I. L. Thng, "Ladder queue: An O(1) priority queue structure for
large-scale discrete event simulation", ACM TOMACS 15, 2005). The heap holds the keys of the current bucket. Buckets are
of equal width; keys beyond the last overflow into one more, which becomes the next rung, as narrow as its keys are
many. A queue of few elements is the heap alone. Elements that are out of date never enter the heap from a bucket.

`keys` and `vertices` hold the heap, `far_keys` and `far_vertices` the elements of buckets, linked by `link`; `first` is
the first element of each bucket, of the overflow and of the free list, each by one more, 0 where there is none.
"""

from collections import namedtuple

import numpy as np

from hpgraph.kernels.runtime.cpu.heap import push
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, vertex

# Elements up to which a queue is a heap alone, or twice the number when last filled; elements for each bucket of
# a new rung, and its buckets at most.
MAX_HEAP, PER_BUCKET, BUCKETS = 64, 8, 4096
OVERFLOW, FREE, PLACES = BUCKETS, BUCKETS + 1, BUCKETS + 2
# `scale`: the key at which the rung begins, and buckets per unit (0 if all is in the heap). `state`: its buckets,
# the current one, the elements ever linked, those that overflowed, and the limit of a heap alone.
BEGIN, DENSITY = range(2)
RUNG, NOW, USED, BEYOND, HEAP_LIMIT = range(5)

Ladder = namedtuple("Ladder", "keys vertices far_keys far_vertices link first scale state")


@part
def ladder_of(most, ids):
    """An empty queue with room for `most` elements; vertices have the dtype of the array `ids`."""
    state = np.zeros(5, np.int64)
    state[HEAP_LIMIT] = MAX_HEAP
    return Ladder(
        np.empty(most), np.empty(most, ids.dtype), np.empty(most), np.empty(most, ids.dtype),
        np.empty(most, np.int64), np.zeros(PLACES, np.int64), np.zeros(2), state,
    )  # fmt: skip


@part
def enlarged(ladder, size, more):
    """The queue with at least twice the room, and for `more` elements than it has."""
    held, used = ladder.keys.size, ladder.state[USED]
    most = max(2 * held, used + size + more)
    made = Ladder(
        np.empty(most), np.empty(most, ladder.vertices.dtype), np.empty(most), np.empty(most, ladder.vertices.dtype),
        np.empty(most, np.int64), ladder.first, ladder.scale, ladder.state,
    )  # fmt: skip
    made.keys[:size], made.vertices[:size] = ladder.keys[:size], ladder.vertices[:size]
    made.far_keys[:used], made.far_vertices[:used] = ladder.far_keys[:used], ladder.far_vertices[:used]
    made.link[:used] = ladder.link[:used]
    return made


@part(counts_references=False)
def has_room(ladder, size, more):
    """Whether `more` elements can be inserted: all of the heap may have to move to a bucket."""
    return peek(ladder.state, USED) + size + more <= ladder.keys.size


@part
def clear(ladder):
    """Empty a queue, in which a search that was stopped leaves elements."""
    ladder.first[:], ladder.scale[:], ladder.state[:] = 0, 0.0, 0
    ladder.state[HEAP_LIMIT] = MAX_HEAP


@part(counts_references=False)
def waiting(ladder, size):
    """Upper bound of the waiting elements: the heap's size plus the elements ever linked in buckets."""
    return peek(ladder.state, USED) + size


@part(counts_references=False, forceinline=True)
def insert(ladder, size, key, v):
    """Insert an element, not below the last one taken; returns the size of the heap."""
    scale, state = ladder.scale, ladder.state
    place = (key - peek(scale, BEGIN)) * peek(scale, DENSITY)
    if not place >= peek(state, NOW) + 1:
        size = push(ladder.keys, ladder.vertices, size, key, v)
        if size > peek(state, HEAP_LIMIT) and scale[DENSITY] == 0:
            for i in range(size):
                _link(ladder, OVERFLOW, peek(ladder.keys, i), vertex(ladder.vertices, i))
            # All elements overflow until the next rung.
            state[BEYOND], state[NOW], state[RUNG] = size, -1, 0
            return 0
        return size
    if place < peek(state, RUNG):
        _link(ladder, np.int64(place), key, v)
    else:
        _link(ladder, OVERFLOW, key, v)
        state[BEYOND] += 1
    return size


@part(counts_references=False)
def _link(ladder, bucket, key, v):
    at = peek(ladder.first, FREE) - 1
    if at >= 0:
        ladder.first[FREE] = peek(ladder.link, at)
    else:
        at = peek(ladder.state, USED)
        ladder.state[USED] = at + 1
    ladder.far_keys[at], ladder.far_vertices[at] = key, v
    ladder.link[at] = peek(ladder.first, bucket)
    ladder.first[bucket] = at + 1


@part(counts_references=False)
def refill(ladder, distance):
    """Fill the empty heap with the next elements that are not out of date, if there are any; returns its size."""
    first, link, state = ladder.first, ladder.link, ladder.state
    while True:
        while state[NOW] < state[RUNG] - 1:
            state[NOW] += 1
            at = peek(first, state[NOW]) - 1
            if at < 0:
                continue
            first[state[NOW]] = 0
            size = 0
            while at >= 0:
                key, v = peek(ladder.far_keys, at), vertex(ladder.far_vertices, at)
                if key <= distance[v]:
                    size = push(ladder.keys, ladder.vertices, size, key, v)
                following = peek(link, at) - 1
                link[at] = peek(first, FREE)
                first[FREE] = at + 1
                at = following
            if size > 0:
                state[HEAP_LIMIT] = max(MAX_HEAP, 2 * size)
                return size
        if state[BEYOND] == 0:
            return 0
        _new_rung(ladder)


@part(counts_references=False)
def _new_rung(ladder):
    """Divide the elements that overflowed among buckets of equal width; few, or all of one key, are one bucket."""
    first, link, scale, state = ladder.first, ladder.link, ladder.scale, ladder.state
    count, at = state[BEYOND], first[OVERFLOW] - 1
    first[OVERFLOW] = state[BEYOND] = 0
    least, greatest = peek(ladder.far_keys, at), peek(ladder.far_keys, at)
    following = at
    while following >= 0:
        key = peek(ladder.far_keys, following)
        least, greatest = min(least, key), max(greatest, key)
        following = peek(link, following) - 1
    buckets = min(max(count // PER_BUCKET, 1), BUCKETS)
    # Slightly less, so that the greatest key falls into the last bucket in spite of rounding.
    density = buckets * (1 - 1e-9) / (greatest - least) if greatest > least and count > MAX_HEAP else 0.0
    if not density < np.inf:
        # The range is too small to divide by.
        density = 0.0
    scale[BEGIN], scale[DENSITY], state[NOW] = least, density, -1
    state[RUNG] = buckets if density > 0 else 1
    while at >= 0:
        following = peek(link, at) - 1
        bucket = np.int64((peek(ladder.far_keys, at) - least) * density)
        link[at] = peek(first, bucket)
        first[bucket] = at + 1
        at = following
