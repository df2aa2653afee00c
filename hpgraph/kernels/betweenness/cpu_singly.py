"""Independent searches, one source a thread: for graphs whose searches rarely overlap, and for weights.

Threads share no work space. The results of a source are added to the sums after those of the sources before it, one
range of vertices at a time, so that threads follow each other closely and the order of additions is that of the
sources.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.kernels.betweenness import LIMIT
from hpgraph.kernels.betweenness.cpu_numbers import ONE_LESS, quotient
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import njit, part, peek, prefetch, put, tasks, vertex
from hpgraph.kernels.runtime.cpu.work_stealing import yield_core
from hpgraph.semiring.atomics import atomic_load, fetch_add
from hpgraph.semiring.stop import is_stopped

# Ranges of the vertices, and the distance of their turn words: two cache lines.
STRETCHES, APART = 64, 16
# Prefetch distances in the queue, of row pointers, first arcs and first neighbours' state; number of neighbours.
AHEAD_ROWS, AHEAD_ARCS, AHEAD_NEIGHBOURS, NEIGHBOURS = 16, 8, 4, 4
# Below this many vertices they are in a cache.
CACHED = 1 << 14
# The bits of a tag that hold the level.
_LOW = (1 << 32) - 1
_BLANK = -1
# Work space of one thread; arrays of shape (threads, ...) for several. `numbers` and `tags` are the same memory, two
# words a vertex, which lie in one cache line: a float, σ or in the backward pass (1 + δ) / σ; and an int64, the level
# (weighted: the number of pending arcs), above it by 32 bits the exponent of σ, or -1 if unvisited.
Scratch = namedtuple("Scratch", "numbers tags dependency queue")


def scratches(workers: int, n: int, ids: Any) -> Scratch:
    """Blank work space."""
    tags = np.zeros((workers, 2 * n), np.int64)
    tags[:, 1::2] = _BLANK
    return Scratch(tags.view(np.float64), tags, np.zeros((workers, n)), np.empty((workers, n + 1), ids))


@part(inline="always")
def _on_path(weights, distance, tags, v, j, w):
    """Whether a shortest path takes arc j, from v to w."""
    if distance is None:
        return peek(tags, 2 * w + 1) & _LOW == (peek(tags, 2 * v + 1) & _LOW) + 1
    return distance[w] < np.inf and distance[v] + peek(weights, j) == distance[w]


@part(inline="always")
def _fetch_ahead(arcs, queue, numbers, soon, later, last):
    """Prefetch rows and neighbours of vertices ahead in the queue."""
    prefetch(arcs.indptr, vertex(queue, last))
    prefetch(arcs.indices, peek(arcs.indptr, vertex(queue, later)))
    near = vertex(queue, soon)
    first = peek(arcs.indptr, near)
    for j in range(first, min(first + NEIGHBOURS, peek(arcs.indptr, near + 1))):
        prefetch(numbers, 2 * vertex(arcs.indices, j))


@part(inline="always")
def _add_scaled(numbers, tags, v, number, exponent):
    """Add a number to that of v; 0 is the empty sum."""
    held, tag = peek(numbers, 2 * v), peek(tags, 2 * v + 1)
    ahead = exponent - (tag >> 32)
    if ahead == 0:
        held += number
    elif held == 0.0 or ahead > 0:
        held = number + held * ONE_LESS if ahead == 1 else number
        put(tags, 2 * v + 1, (tag & _LOW) | exponent << 32)
    elif ahead == -1:
        held += number * ONE_LESS
    put(numbers, 2 * v, held)


@part(inline="always")
def _normalized(numbers, tags, v):
    """Renormalize the number of v below the limit; returns it and its exponent."""
    number, tag = peek(numbers, 2 * v), peek(tags, 2 * v + 1)
    if number >= LIMIT:
        number *= ONE_LESS
        tag += 1 << 32
        put(numbers, 2 * v, number)
        put(tags, 2 * v + 1, tag)
    return number, tag >> 32


@part
def _count_paths(arcs, source, scratch):
    """Forward by levels; returns the number of vertices reached, and whether numbers carry exponents."""
    numbers, tags, queue, indptr, indices = scratch.numbers, scratch.tags, scratch.queue, arcs.indptr, arcs.indices
    put(numbers, 2 * source, 1.0)
    put(tags, 2 * source + 1, 0)
    queue[0] = source
    head, tail, wide, far = 0, 1, False, indptr.size > CACHED
    while head < tail and not is_stopped():
        end = tail - 1
        if far:
            _fetch_ahead(
                arcs, queue, numbers, min(head + AHEAD_NEIGHBOURS, end), min(head + AHEAD_ARCS, end),
                min(head + AHEAD_ROWS, end),
            )  # fmt: skip
        u = vertex(queue, head)
        head += 1
        number, exponent = peek(numbers, 2 * u), 0
        wide = wide or number >= LIMIT
        if wide:
            number, exponent = _normalized(numbers, tags, u)
        below = (peek(tags, 2 * u + 1) & _LOW) + 1
        tag_below = below | exponent << 32
        for j in range(peek(indptr, u), peek(indptr, u + 1)):
            v = vertex(indices, j)
            tag = peek(tags, 2 * v + 1)
            fresh = tag < 0
            tag = tag_below if fresh else tag
            if tag & _LOW == below:
                # Branch-free: the first arc to reach v is unpredictable.
                put(queue, tail, queue.dtype.type(v))
                tail += fresh
                put(tags, 2 * v + 1, tag)
                if wide and tag != tag_below:
                    _add_scaled(numbers, tags, v, number, exponent)
                else:
                    put(numbers, 2 * v, peek(numbers, 2 * v) + number)
    return tail, wide


@part
def _count_weighted(arcs, distance, source, scratch):
    """Forward by distances, each vertex once all its tight in-arcs are done (A. Kahn, CACM 5(11), 1962)."""
    numbers, tags, queue = scratch.numbers, scratch.tags, scratch.queue
    reached = 0
    for u in range(distance.size):
        if distance[u] < np.inf:
            reached += 1
            for j in range(arcs.indptr[u], arcs.indptr[u + 1]):
                v = vertex(arcs.indices, j)
                if _on_path(arcs.data, distance, tags, u, j, v):
                    tags[2 * v + 1] = max(tags[2 * v + 1], 0) + 1
    numbers[2 * source], tags[2 * source + 1], queue[0] = 1.0, 0, source
    head, tail, wide = 0, 1, False
    while head < tail and not is_stopped():
        u = vertex(queue, head)
        head += 1
        wide = wide or numbers[2 * u] >= LIMIT
        number, exponent = _normalized(numbers, tags, u)
        for j in range(arcs.indptr[u], arcs.indptr[u + 1]):
            v = vertex(arcs.indices, j)
            if _on_path(arcs.data, distance, tags, u, j, v):
                _add_scaled(numbers, tags, v, number, exponent)
                tags[2 * v + 1] -= 1
                if tags[2 * v + 1] & _LOW == 0:
                    queue[tail] = v
                    tail += 1
    return tail, wide, tail == reached


@part
def _accumulate(arcs, distance, scratch, count, wide):
    """Backward: the dependency on each vertex of the queue."""
    numbers, tags, queue, dependencies = scratch.numbers, scratch.tags, scratch.queue, scratch.dependency
    indptr, indices, weights = arcs.indptr, arcs.indices, arcs.data
    last = tags[2 * queue[count - 1] + 1] & _LOW if distance is None else -1
    far = indptr.size > CACHED
    for i in range(count - 1, -1, -1):
        if is_stopped():
            return
        if far:
            _fetch_ahead(
                arcs, queue, numbers, max(i - AHEAD_NEIGHBOURS, 0), max(i - AHEAD_ARCS, 0), max(i - AHEAD_ROWS, 0)
            )  # fmt: skip
        v = vertex(queue, i)
        own, total = peek(tags, 2 * v + 1), 0.0
        if own & _LOW != last:
            for j in range(peek(indptr, v), peek(indptr, v + 1)):
                w = vertex(indices, j)
                share = peek(numbers, 2 * w)
                share = share if _on_path(weights, distance, tags, v, j, w) else 0.0
                if wide and share != 0.0:
                    share = quotient(share, (peek(tags, 2 * w + 1) >> 32) - (own >> 32))
                total += share
        number = peek(numbers, 2 * v)
        dependency = number * total
        put(dependencies, v, dependency)
        put(numbers, 2 * v, (1.0 + dependency) / number)


@part
def _weighted(shares, turn, dependency):
    """The dependency of a source times its weight."""
    return dependency if shares is None else dependency * shares[turn]


@part(inline="always")
def _add(arcs, distance, source, scratch, sums, turn, v):
    """Add a vertex's results to the sums."""
    if v != source:
        sums.vertices[v] += _weighted(sums.shares, turn, scratch.dependency[v])
        if sums.reached.size:
            sums.reached[v] += 1
    if sums.arcs.size:
        number = (1.0 + scratch.dependency[v]) / scratch.numbers[2 * v]
        for j in range(arcs.indptr[v], arcs.indptr[v + 1]):
            w = vertex(arcs.indices, j)
            if _on_path(arcs.data, distance, scratch.tags, v, j, w):
                less = (scratch.tags[2 * w + 1] >> 32) - (scratch.tags[2 * v + 1] >> 32)
                sums.arcs[j] += number * quotient(scratch.numbers[2 * w], less)


@part
def _wait_turn(turns, stretch, turn):
    """Wait until all earlier sources have been added on a range of vertices; False if stopped."""
    while atomic_load(turns, stretch * APART) != turn:
        if is_stopped():
            return False
        yield_core()
    return True


@part
def _add_in_turn(arcs, distance, source, scratch, count, sums, turns, turn):
    """Add the results of a source, after those of the sources before it on each range of vertices."""
    n = sums.vertices.size
    few = count < n // STRETCHES
    for stretch in range(STRETCHES):
        if not _wait_turn(turns, stretch, turn):
            return
        if not few:
            for v in range(n * stretch // STRETCHES, n * (stretch + 1) // STRETCHES):
                # Unvisited vertices have number 0 and contribute nothing.
                if scratch.numbers[2 * v] != 0.0:
                    _add(arcs, distance, source, scratch, sums, turn, v)
            fetch_add(turns, stretch * APART, 1)
    if few:
        for i in range(count):
            _add(arcs, distance, source, scratch, sums, turn, vertex(scratch.queue, i))
        for stretch in range(STRETCHES):
            fetch_add(turns, stretch * APART, 1)


@part
def _run_source(arcs, distance, source, scratch, sums, turns, turn):
    """Run one source; returns whether its paths are free of cycles."""
    if distance is None:
        (count, wide), ended = _count_paths(arcs, source, scratch), True
    else:
        count, wide, ended = _count_weighted(arcs, distance, source, scratch)
    _accumulate(arcs, distance, scratch, count, wide)
    if sums.reach.size:
        sums.reach[turn] = count
    _add_in_turn(arcs, distance, source, scratch, count, sums, turns, turn)
    for i in range(count):
        v = vertex(scratch.queue, i)
        scratch.numbers[2 * v] = 0.0
        scratch.tags[2 * v + 1] = _BLANK
    return ended


@part
def _rows(distances, i):
    return None if distances is None else distances[i]


@part
def _run_sources(worker, arcs, distances, sources, scratches, sums, counter, turns, failures):
    scratch = Scratch(
        scratches.numbers[worker], scratches.tags[worker], scratches.dependency[worker], scratches.queue[worker]
    )  # fmt: skip
    # No deadlock: earlier sources are held by running threads.
    for i in tasks(counter, sources.size):
        if not _run_source(arcs, _rows(distances, i), sources[i], scratch, sums, turns, i):
            failures[0] = 1


@njit(cache=True, nogil=True)
def run_singly(arcs, distances, sources, scratches, sums):
    """Add the dependencies of each source; returns whether the paths of all are free of cycles.

    `distances` has a row for each source, or is None: then lengths are numbers of arcs.
    """
    counter, failures = np.zeros(1, np.int64), np.zeros(1, np.int64)
    turns = np.zeros(STRETCHES * APART, np.int64)
    in_parallel(
        scratches.tags.shape[0], _run_sources, (arcs, distances, sources, scratches, sums, counter, turns, failures)
    )
    return failures[0] == 0
