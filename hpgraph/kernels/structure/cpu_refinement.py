"""Colour refinement on the CPU: the largest part of a divided colour keeps its name, and only the others are read.

J. Hopcroft, "An n log n algorithm for minimizing states in a finite automaton" (1971); R. Paige, R. E. Tarjan, "Three
partition refinement algorithms", SIAM Journal on Computing 16(6), 1987. Names are hashes, and each vertex sums those of
its neighbours modulo 2⁶⁴: a round adds what the names of some neighbours have changed.
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, part, peek, vertex
from hpgraph.kernels.structure.cpu_greedy import mixed

# Parts up to this size are sorted by insertion.
_FEW = 24


def refined_colors(sides: list[tuple[int, CSR]], color: Any, limit: int) -> Any:
    """A hash of each vertex's colour after at most `limit` rounds, from colours 0, 1, ..., all of which occur.

    ``sides``: a key, and arcs from each vertex to those that count it as a neighbour, with a hash of each or without.
    """
    n, size = len(color), np.bincount(color)
    parts, names = np.zeros((2, n), np.int64), np.zeros((2, n), np.uint64)
    parts[1, : len(size)] = size
    parts[0, 1 : len(size)] = np.cumsum(size)[:-1]
    group, members, place = color.copy(), np.argsort(color, kind="stable"), np.empty(n, np.int64)
    place[members] = np.arange(n)
    none = np.empty(0, np.uint64)
    arcs = [
        (np.uint64(key), rows.indptr, rows.indices, none if rows.data is None else rows.data) for key, rows in sides
    ]
    with interruptible():
        _refine(arcs[0], arcs[-1], len(arcs), group, members, place, parts, names, len(size), limit)
    return names[0, group]


@njit(cache=True, nogil=True)
def _refine(out, into, sides, group, members, place, parts, names, groups, limit):
    """`parts`: begin and size of each group among the members; `names`: of each group, and before it was divided."""
    n = group.size
    begin, size, name, before = parts[0], parts[1], names[0], names[1]
    for g in range(groups):
        name[g] = mixed(np.uint64(g + 1))
    sums, seen = np.zeros(n, np.uint64), np.zeros(n, np.bool_)
    touched, hit, changed = np.empty(n, np.int64), np.empty(n, np.int64), np.arange(n)
    tail = np.zeros(n, np.int64)
    count = n
    for turn in range(limit):
        if count == 0 or is_stopped():
            break
        found = _add(out, changed[:count], group, name, before, turn == 0, sums, seen, touched, 0)
        if sides == 2:
            found = _add(into, changed[:count], group, name, before, turn == 0, sums, seen, touched, found)
        hits = _move_changed(touched[:found], sums, seen, (group, members, place), parts, tail, hit)
        count = 0
        for i in range(hits):
            g = hit[i]
            low, high = begin[g], begin[g] + size[g]
            middle = high - tail[g]
            tail[g] = 0
            _sort(members[middle:high], place, sums, middle)
            largest, most = low, middle - low
            at = middle
            while at < high:
                end = _run_end(members, sums, at, high)
                if end - at > most:
                    largest, most = at, end - at
                at = end
            at = low
            while at < high and most < high - low:
                end = middle if at < middle else _run_end(members, sums, at, high)
                k = g
                if at != largest:
                    k = groups
                    groups += 1
                    before[k] = name[g]
                    step = sums[members[at]] if at >= middle else np.uint64(0)
                    # A name that is kept is divided again in other rounds.
                    name[k] = mixed(before[k] + mixed(step ^ mixed(np.uint64(turn + 1))))
                    for p in range(at, end):
                        group[members[p]] = k
                        changed[count] = members[p]
                        count += 1
                begin[k], size[k] = at, end - at
                at = end
        for i in range(found):
            sums[touched[i]] = 0


@part
def _move_changed(touched, sums, seen, partition, parts, tail, hit):
    """Move the vertices whose sums have changed to the ends of their groups; returns the number of such groups."""
    group, members, place = partition
    begin, size, hits = parts[0], parts[1], 0
    for v in touched:
        seen[v] = False
        if sums[v] == 0:
            continue
        g = group[v]
        if tail[g] == 0:
            hit[hits] = g
            hits += 1
        tail[g] += 1
        to, at = begin[g] + size[g] - tail[g], place[v]
        other = members[to]
        members[at], members[to] = other, v
        place[other], place[v] = at, to
    return hits


@part
def _add(arcs, changed, group, name, before, is_first, sums, seen, touched, found):
    """Add the changes of neighbours' names to the sums of vertices; returns the number of vertices met."""
    key, indptr, indices, kinds = arcs
    for i in range(changed.size):
        u = changed[i]
        g = group[u]
        new, old = mixed(name[g] ^ key), mixed(before[g] ^ key)
        step = new if is_first else new - old
        for at in range(peek(indptr, u), peek(indptr, u + 1)):
            v = vertex(indices, at)
            if kinds.size:
                step = mixed(kinds[at] ^ new)
                if not is_first:
                    step -= mixed(kinds[at] ^ old)
            sums[v] += step * key
            if not seen[v]:
                seen[v] = True
                touched[found] = v
                found += 1
    return found


@part
def _run_end(members, sums, at, high):
    """The end of the members from one on that have its sum."""
    end = at + 1
    while end < high and sums[members[end]] == sums[members[at]]:
        end += 1
    return end


@part
def _sort(vertices, place, sums, first):
    """Sort members by their sums."""
    if vertices.size > _FEW:
        keys = np.empty(vertices.size, np.uint64)
        for i in range(vertices.size):
            keys[i] = sums[vertices[i]]
        vertices[:] = vertices[np.argsort(keys)]
    else:
        for i in range(1, vertices.size):
            v, j = vertices[i], i
            while j and sums[vertices[j - 1]] > sums[v]:
                vertices[j] = vertices[j - 1]
                j -= 1
            vertices[j] = v
    for i in range(vertices.size):
        place[vertices[i]] = first + i
