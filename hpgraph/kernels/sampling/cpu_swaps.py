"""Edge swaps on the CPU, and the graph of given degrees that they begin with: sequential, edge after edge."""

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, part, vertex
from hpgraph.kernels.sampling.cpu_random import GOLDEN, mixed, unit


def swap_ends(source: Any, target: Any, n: int, wanted: int, tries: int, seed: int) -> int:
    """Edges u-x and v-y become u-y and v-x if that makes no loop and repeats none; returns the number of such pairs.

    ``source, target``: the edges, each once, without loops; changed in place.
    """
    # Linear probing, at most half full: D. E. Knuth, "The Art of Computer Programming" 3, section 6.4.
    table = np.full(1 << (2 * len(source)).bit_length(), -1, np.int64)
    with interruptible():
        return int(_swap(source, target, np.int64(n), table, np.int64(wanted), np.int64(tries), np.uint64(seed)))


def realized(degree: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges of a simple graph with these int64 degrees, of which there is one, by Havel's and Hakimi's algorithm."""
    source, target = np.empty((2, int(degree.sum()) // 2), np.int64)
    with interruptible():
        _realize(degree.copy(), np.argsort(-degree, kind="stable"), source, target)
    return source, target


@part
def _first_below(degree, order, begin, bound):
    """The first place from `begin` of a vertex with a degree below `bound`; degrees fall in the order."""
    end = order.size
    while begin < end:
        middle = (begin + end) >> 1
        if degree[vertex(order, middle)] < bound:
            end = middle
        else:
            begin = middle + 1
    return begin


@njit(cache=True, nogil=True)
def _realize(degree, order, source, target):
    """Join the vertex of the largest degree to those of the next ones; of equal ones to the last, which keeps order."""
    edge = 0
    for head in range(order.size):
        v = vertex(order, head)
        count = degree[v]
        if count == 0 or is_stopped():
            break
        least = degree[vertex(order, head + count)]
        begin = _first_below(degree, order, head + 1, least + 1)
        end = _first_below(degree, order, begin, least)
        skipped = end - (head + count + 1)
        for i in range(count):
            place = head + 1 + i
            u = vertex(order, place if place < begin else place + skipped)
            degree[u] -= 1
            source[edge], target[edge] = v, u
            edge += 1


@part
def _key(n, u, v):
    return min(u, v) * n + max(u, v)


@part
def _slot(table, key):
    """Slot of a key, or the free slot for it."""
    mask = table.size - 1
    at = np.int64(mixed(np.uint64(key) + GOLDEN)) & mask
    while table[at] != -1 and table[at] != key:
        at = (at + 1) & mask
    return at


@part
def _remove(table, key):
    """Remove a key; later keys of its cluster move up."""
    mask = table.size - 1
    hole = _slot(table, key)
    at = hole
    while True:
        at = (at + 1) & mask
        if table[at] == -1:
            break
        home = np.int64(mixed(np.uint64(table[at]) + GOLDEN)) & mask
        if ((at - home) & mask) >= ((at - hole) & mask):
            table[hole] = table[at]
            hole = at
    table[hole] = -1


@njit(cache=True, nogil=True)
def _swap(source, target, n, table, wanted, tries, key):
    for e in range(source.size):
        code = _key(n, source[e], target[e])
        table[_slot(table, code)] = code
    done = 0
    for _ in range(tries):
        if done == wanted or is_stopped():
            break
        key += GOLDEN
        one = np.int64(unit(mixed(key)) * source.size)
        key += GOLDEN
        # Twice as many: an edge in either direction.
        other = np.int64(unit(mixed(key)) * (2 * source.size))
        turned, other = other & 1, other >> 1
        u, x, v, y = source[one], target[one], source[other], target[other]
        if turned:
            v, y = y, v
        if u in (v, y) or x in (v, y):
            continue
        first, second = _key(n, u, y), _key(n, v, x)
        if table[_slot(table, first)] == first or table[_slot(table, second)] == second:
            continue
        _remove(table, _key(n, u, x))
        _remove(table, _key(n, v, y))
        table[_slot(table, first)] = first
        table[_slot(table, second)] = second
        target[one], source[other], target[other] = y, v, x
        done += 1
    return done
