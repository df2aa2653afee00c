"""One source after the other, each by one thread: for graphs on which searches hardly meet, and for weights.

A thread works in memory of its own and needs nobody. What its source adds to the sums, it adds when the sources before
have done so, a stretch of the vertices at a time, so that threads follow each other closely and the order of additions
is that of the sources.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from hpgraph.kernels.betweenness import LIMIT
from hpgraph.kernels.betweenness.cpu_scaled import ONE_LESS, quotient
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, prefetch, put, vertex
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.tasks import next_task
from hpgraph.kernels.runtime.cpu.work_stealing import make_way
from hpgraph.semiring.atomics import atomic_load, fetch_add
from hpgraph.semiring.stop import is_stopped

# Stretches of the vertices, and how far apart the words of their turns lie: two cache lines.
STRETCHES, APART = 64, 16
# How far ahead in the queue row pointers, first arcs and what the first neighbours have are fetched; how many of these.
AHEAD_ROWS, AHEAD_ARCS, AHEAD_NEIGHBOURS, NEIGHBOURS = 16, 8, 4, 4
# Of a tag, the bits of the level.
_LOW = (1 << 32) - 1
_BLANK = -1


class Bench(NamedTuple):
    """What one thread works with; arrays of shape (threads, ...) for several.

    `numbers` and `tags` are the same memory, two words a vertex, so that all that a search asks of a neighbour lies in
    one cache line. The first, a float, is σ, and on the way back (1 + δ) / σ in its place. The second, an int64, is the
    level, above it by 32 bits the exponent of σ, or -1 where the search has not been; of weighted searches the level
    is how many arcs are still to bring paths.
    """

    numbers: Any
    tags: Any
    dependency: Any
    queue: Any


def benches(workers: int, n: int, ids: Any) -> Bench:
    """Blank work space."""
    tags = np.zeros((workers, 2 * n), np.int64)
    tags[:, 1::2] = _BLANK
    return Bench(tags.view(np.float64), tags, np.zeros((workers, n)), np.empty((workers, n + 1), ids))


@part(inline="always")
def _on_path(weights, distance, tags, v, j, w):
    """Whether a shortest path takes arc j, from v to w."""
    if distance is None:
        return peek(tags, 2 * w + 1) & _LOW == (peek(tags, 2 * v + 1) & _LOW) + 1
    return distance[w] < np.inf and distance[v] + peek(weights, j) == distance[w]


@part(inline="always")
def _fetch_ahead(arcs, queue, numbers, soon, later, last):
    """Fetch what the vertices at places further on in the queue will ask for."""
    prefetch(arcs.indptr, vertex(queue, last))
    prefetch(arcs.indices, peek(arcs.indptr, vertex(queue, later)))
    near = vertex(queue, soon)
    first = peek(arcs.indptr, near)
    for j in range(first, min(first + NEIGHBOURS, peek(arcs.indptr, near + 1))):
        prefetch(numbers, 2 * vertex(arcs.indices, j))


@part(inline="always")
def _add_scaled(numbers, tags, v, number, exponent):
    """Add a number to that of v, where 0 stands for nothing yet."""
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
    """Bring the number of v below the limit again; returns it and its exponent."""
    number, tag = peek(numbers, 2 * v), peek(tags, 2 * v + 1)
    if number >= LIMIT:
        number *= ONE_LESS
        tag += 1 << 32
        put(numbers, 2 * v, number)
        put(tags, 2 * v + 1, tag)
    return number, tag >> 32


@part
def _count(arcs, source, bench):
    """Forwards by levels; returns how many vertices are reached, and whether numbers carry exponents."""
    numbers, tags, queue, indptr, indices = bench.numbers, bench.tags, bench.queue, arcs.indptr, arcs.indices
    put(numbers, 2 * source, 1.0)
    put(tags, 2 * source + 1, 0)
    queue[0] = source
    head, tail, wide = 0, 1, False
    while head < tail and not is_stopped():
        end = tail - 1
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
                # Who is the first of several to bring paths no processor foresees: so that makes no branch.
                put(queue, tail, queue.dtype.type(v))
                tail += fresh
                put(tags, 2 * v + 1, tag)
                if wide and tag != tag_below:
                    _add_scaled(numbers, tags, v, number, exponent)
                else:
                    put(numbers, 2 * v, peek(numbers, 2 * v) + number)
    return tail, wide


@part
def _count_weighted(arcs, distance, source, bench):
    """Forwards by distances, each vertex once all arcs that bring paths have done so (A. Kahn, CACM 5(11), 1962)."""
    numbers, tags, queue = bench.numbers, bench.tags, bench.queue
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
def _depend(arcs, distance, bench, count, wide):
    """Backwards: the dependency on each vertex of the queue."""
    numbers, tags, queue, dependencies = bench.numbers, bench.tags, bench.queue, bench.dependency
    indptr, indices, weights = arcs.indptr, arcs.indices, arcs.data
    last = tags[2 * queue[count - 1] + 1] & _LOW if distance is None else -1
    for i in range(count - 1, -1, -1):
        if is_stopped():
            return
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


@part(inline="always")
def _add(arcs, distance, source, bench, sums, v):
    """Add what a vertex has come to."""
    if v != source:
        sums.vertices[v] += bench.dependency[v]
        if sums.reached.size:
            sums.reached[v] += 1
    if sums.arcs.size:
        number = (1.0 + bench.dependency[v]) / bench.numbers[2 * v]
        for j in range(arcs.indptr[v], arcs.indptr[v + 1]):
            w = vertex(arcs.indices, j)
            if _on_path(arcs.data, distance, bench.tags, v, j, w):
                less = (bench.tags[2 * w + 1] >> 32) - (bench.tags[2 * v + 1] >> 32)
                sums.arcs[j] += number * quotient(bench.numbers[2 * w], less)


@part
def _await(turns, stretch, turn):
    """Wait until it is the turn of a source on a stretch; False if it never will be."""
    while atomic_load(turns, stretch * APART) != turn:
        if is_stopped():
            return False
        make_way()
    return True


@part
def _add_in_turn(arcs, distance, source, bench, count, sums, turns, turn):
    """Add what a source has come to, after the sources before it on each stretch of the vertices."""
    n = sums.vertices.size
    few = count < n // STRETCHES
    for stretch in range(STRETCHES):
        if not _await(turns, stretch, turn):
            return
        if not few:
            for v in range(n * stretch // STRETCHES, n * (stretch + 1) // STRETCHES):
                # The share of nobody whom the search has met is 0.
                if bench.numbers[2 * v] != 0.0:
                    _add(arcs, distance, source, bench, sums, v)
            fetch_add(turns, stretch * APART, 1)
    if few:
        for i in range(count):
            _add(arcs, distance, source, bench, sums, vertex(bench.queue, i))
        for stretch in range(STRETCHES):
            fetch_add(turns, stretch * APART, 1)


@part
def _run_one(arcs, distance, source, bench, sums, turns, turn):
    """All of one source; whether its paths came to an end."""
    if distance is None:
        (count, wide), ended = _count(arcs, source, bench), True
    else:
        count, wide, ended = _count_weighted(arcs, distance, source, bench)
    _depend(arcs, distance, bench, count, wide)
    if sums.reach.size:
        sums.reach[turn] = count
    _add_in_turn(arcs, distance, source, bench, count, sums, turns, turn)
    for i in range(count):
        v = vertex(bench.queue, i)
        bench.numbers[2 * v] = 0.0
        bench.tags[2 * v + 1] = _BLANK
    return ended


@part
def _rows(distances, i):
    return None if distances is None else distances[i]


@njit(parallel=LOOPS, cache=True, nogil=True)
def run_singly(arcs, distances, sources, benches, sums):
    """Add the dependencies of each source; whether the paths of all came to an end.

    `distances` has a row for each source, or is None: then paths are as short as they have few arcs.
    """
    counter, failures = np.zeros(1, np.int64), np.zeros(1, np.int64)
    turns = np.zeros(STRETCHES * APART, np.int64)
    for worker in prange(benches.tags.shape[0]):
        bench = Bench(
            benches.numbers[worker], benches.tags[worker], benches.dependency[worker], benches.queue[worker]
        )  # fmt: skip
        while True:
            # Whoever waits for an earlier source waits for a thread that is at work on it.
            i = next_task(counter)
            if i >= sources.size:
                break
            if not _run_one(arcs, _rows(distances, i), sources[i], bench, sums, turns, i):
                failures[0] = 1
    return failures[0] == 0
