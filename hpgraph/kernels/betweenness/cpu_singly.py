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
from hpgraph.kernels.betweenness.cpu_scaled import add_scaled, normalize, quotient
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
# How far ahead in the queue row pointers are fetched.
AHEAD = 8


class Bench(NamedTuple):
    """What one thread works with, arrays of length n; a row a thread in arrays of shape (threads, n).

    `level` is -1, `paths` and `exponent` are 0 for whom the search has not met; of weighted searches `level` is
    how many arcs are still to bring paths. `share` is (1 + δ) / σ, of which the exponent is that of `paths`, negated.
    """

    level: Any
    paths: Any
    exponent: Any
    share: Any
    dependency: Any
    queue: Any


def benches(workers: int, n: int, ids: Any) -> Bench:
    """Blank work space.

    Parameters
    ----------
    workers, n : int
    ids : dtype
        Of vertices.

    Returns
    -------
    Bench
    """
    shape = (workers, n)
    return Bench(
        np.full(shape, -1, np.int32), np.zeros(shape), np.zeros(shape, np.int32), np.empty(shape), np.empty(shape),
        np.empty(shape, ids),
    )  # fmt: skip


@part(inline="always")
def _on_path(arcs, distance, level, v, j, w):
    """Whether a shortest path takes arc j, from v to w."""
    if distance is None:
        return peek(level, w) == peek(level, v) + 1
    return distance[w] < np.inf and distance[v] + peek(arcs.data, j) == distance[w]


@part
def _count(arcs, source, bench):
    """Forwards by levels; returns how many vertices are reached, and whether numbers carry exponents."""
    level, paths, queue = bench.level, bench.paths, bench.queue
    level[source], paths[source], queue[0] = 0, 1.0, source
    head, tail, wide = 0, 1, False
    while head < tail and not is_stopped():
        prefetch(arcs.indptr, vertex(queue, min(head + AHEAD, tail - 1)))
        u = vertex(queue, head)
        head += 1
        wide = wide or peek(paths, u) >= LIMIT
        if wide:
            normalize(paths, bench.exponent, u)
        number, below = peek(paths, u), peek(level, u) + 1
        for j in range(peek(arcs.indptr, u), peek(arcs.indptr, u + 1)):
            v = vertex(arcs.indices, j)
            found = peek(level, v)
            if found < 0:
                found = below
                level[v] = below
                queue[tail] = v
                tail += 1
            if found == below:
                if wide:
                    add_scaled(paths, bench.exponent, v, number, bench.exponent[u])
                else:
                    put(paths, v, peek(paths, v) + number)
    return tail, wide


@part
def _count_weighted(arcs, distance, source, bench):
    """Forwards by distances, each vertex once all arcs that bring paths have done so (A. Kahn, CACM 5(11), 1962)."""
    level, paths, queue = bench.level, bench.paths, bench.queue
    reached = 0
    for u in range(level.size):
        if distance[u] < np.inf:
            reached += 1
            for j in range(arcs.indptr[u], arcs.indptr[u + 1]):
                v = vertex(arcs.indices, j)
                if _on_path(arcs, distance, level, u, j, v):
                    level[v] += 1
    paths[source], queue[0] = 1.0, source
    head, tail, wide = 0, 1, False
    while head < tail and not is_stopped():
        u = vertex(queue, head)
        head += 1
        wide = wide or paths[u] >= LIMIT
        if wide:
            normalize(paths, bench.exponent, u)
        for j in range(arcs.indptr[u], arcs.indptr[u + 1]):
            v = vertex(arcs.indices, j)
            if _on_path(arcs, distance, level, u, j, v):
                add_scaled(paths, bench.exponent, v, paths[u], bench.exponent[u])
                level[v] -= 1
                if level[v] < 0:
                    queue[tail] = v
                    tail += 1
    return tail, wide, tail == reached


@part
def _depend(arcs, distance, bench, count, wide):
    """Backwards: the dependency on each vertex of the queue."""
    level, paths, share, queue = bench.level, bench.paths, bench.share, bench.queue
    last = level[queue[count - 1]] if distance is None else np.int32(0)
    for i in range(count - 1, -1, -1):
        if is_stopped():
            return
        v = vertex(queue, i)
        total = 0.0
        if distance is not None or peek(level, v) < last:
            for j in range(peek(arcs.indptr, v), peek(arcs.indptr, v + 1)):
                w = vertex(arcs.indices, j)
                if _on_path(arcs, distance, level, v, j, w):
                    if wide:
                        total += quotient(share[w], bench.exponent[w] - bench.exponent[v])
                    else:
                        total += peek(share, w)
        number = peek(paths, v)
        dependency = number * total
        put(bench.dependency, v, dependency)
        put(share, v, (1.0 + dependency) / number)


@part(inline="always")
def _add(arcs, distance, source, bench, wide, sums, v):
    """Add what a vertex has come to."""
    if v != source:
        sums.vertices[v] += bench.dependency[v]
        if sums.reached.size:
            sums.reached[v] += 1
    if sums.arcs.size:
        for j in range(arcs.indptr[v], arcs.indptr[v + 1]):
            w = vertex(arcs.indices, j)
            if _on_path(arcs, distance, bench.level, v, j, w):
                less = bench.exponent[w] - bench.exponent[v] if wide else np.int32(0)
                sums.arcs[j] += bench.paths[v] * quotient(bench.share[w], less)


@part
def _await(turns, stretch, turn):
    """Wait until it is the turn of a source on a stretch; False if it never will be."""
    while atomic_load(turns, stretch * APART) != turn:
        if is_stopped():
            return False
        make_way()
    return True


@part
def _add_in_turn(arcs, distance, source, bench, count, wide, sums, turns, turn):
    """Add what a source has come to, after the sources before it on each stretch of the vertices."""
    n = sums.vertices.size
    few = count < n // STRETCHES
    for stretch in range(STRETCHES):
        if not _await(turns, stretch, turn):
            return
        if not few:
            for v in range(n * stretch // STRETCHES, n * (stretch + 1) // STRETCHES):
                # Nobody has paths whom the search has not met.
                if bench.paths[v] != 0.0:
                    _add(arcs, distance, source, bench, wide, sums, v)
            fetch_add(turns, stretch * APART, 1)
    if few:
        for i in range(count):
            _add(arcs, distance, source, bench, wide, sums, vertex(bench.queue, i))
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
    _add_in_turn(arcs, distance, source, bench, count, wide, sums, turns, turn)
    for i in range(count):
        v = vertex(bench.queue, i)
        bench.level[v], bench.paths[v] = -1, 0.0
        if wide:
            bench.exponent[v] = 0
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
    for worker in prange(benches.level.shape[0]):
        bench = Bench(
            benches.level[worker], benches.paths[worker], benches.exponent[worker], benches.share[worker],
            benches.dependency[worker], benches.queue[worker],
        )  # fmt: skip
        while True:
            # Whoever waits for an earlier source waits for a thread that is at work on it.
            i = next_task(counter)
            if i >= sources.size:
                break
            if not _run_one(arcs, _rows(distances, i), sources[i], bench, sums, turns, i):
                failures[0] = 1
    return failures[0] == 0
