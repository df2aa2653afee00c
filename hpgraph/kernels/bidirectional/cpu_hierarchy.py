"""Contraction hierarchies on the CPU: vertices are contracted in turn; shortcuts preserve distances among the others.

R. Geisberger, P. Sanders, D. Schultes, C. Vetter, "Exact routing in large road networks using contraction hierarchies",
Transportation Science 46(3), 2012. Independent vertices of least priority are contracted in parallel (C. Vetter,
"Parallel time-dependent contraction hierarchies", 2009): a witness search avoids all vertices of its round.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu import heap
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, interruptible, njit, part, prange, tasks, team

# Arcs of each vertex, by rows: the other end, the length, and the contracted vertex of a shortcut, else -1.
Arcs = namedtuple("Arcs", "indptr head length middle")
# Work space of a witness search: distances, inf between searches; vertices with a finite one; a heap.
_Work = namedtuple("_Work", "distance touched keys heads")
# Maximum number of vertices that a witness search settles, for a priority and for a contraction; its heap's capacity.
_PRIORITY_SETTLED, _CONTRACTION_SETTLED, _CAPACITY = 24, 120, 1 << 14
_CHUNK = 32


def contract(out: Arcs, into: Arcs) -> tuple[Any, list[Any], list[Any]]:
    """The vertices in order of contraction, and the arcs from and to those that each precedes.

    Arcs are blocks of vertices, other ends, lengths and middles. If `into` is `out`, the graph is undirected, and both
    results are the same list. Remaining vertices are renumbered after each round, so a round costs the remaining graph.
    """
    undirected = into is out
    n = len(out.indptr) - 1
    level, stale = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    # Ties are broken at random, which makes the independent sets larger.
    tie_break = np.random.default_rng(0).permutation(n) / max(1000 * n, 1)
    priority, name, numbers = tie_break.copy(), np.arange(n, dtype=out.head.dtype), np.arange(n)
    order, upward, downward = list[Any](), list[Any](), list[Any]()
    _update_priorities(out, into, numbers, level, tie_break, priority)
    while len(name):
        chosen = _select(out, into, numbers[: len(name)], priority)
        # Lazy update: a priority is recomputed after a neighbour's contraction; a vertex that is no longer first waits.
        again = chosen[stale[chosen]]
        _update_priorities(out, into, again, level, tie_break, priority)
        stale[again] = False
        chosen = _select(out, into, chosen, priority)
        if not len(chosen):
            continue
        gone = np.zeros(len(name), np.bool_)
        gone[chosen] = True
        shortcuts = _shortcuts_of(out, into, chosen, gone, name)
        for arcs, blocks in ((out, upward), (into, downward))[: 1 if undirected else 2]:
            rows, at = _rows_of(arcs, chosen)
            heads = arcs.head[at]
            blocks.append((name[rows], name[heads], arcs.length[at], arcs.middle[at]))
            np.maximum.at(level, heads, level[rows] + 1)
            stale[heads] = True
        order.append(name[chosen])
        source, target, length, middle = shortcuts
        left = ~gone
        place = np.cumsum(left) - 1
        out = _rebuilt(out, gone, place, source, target, length, middle)
        into = out if undirected else _rebuilt(into, gone, place, target, source, length, middle)
        level, stale, tie_break, priority, name = level[left], stale[left], tie_break[left], priority[left], name[left]
    return np.concatenate([np.empty(0, np.int64), *order]), upward, upward if undirected else downward


def _rows_of(arcs: Arcs, vertices: Any) -> tuple[Any, Any]:
    """The source and the position of each arc of some vertices."""
    counts = arcs.indptr[vertices + 1] - arcs.indptr[vertices]
    ends = np.cumsum(counts)
    at = np.arange(ends[-1]) + np.repeat(arcs.indptr[vertices] - ends + counts, counts)
    return np.repeat(vertices, counts), at


def _shortcuts_of(out: Arcs, into: Arcs, chosen: Any, gone: Any, name: Any) -> tuple[Any, ...]:
    pairs = (out.indptr[chosen + 1] - out.indptr[chosen]) * (into.indptr[chosen + 1] - into.indptr[chosen])
    begin = np.concatenate([[0], np.cumsum(pairs)])
    ends, length = np.empty((2, begin[-1]), out.head.dtype), np.empty(begin[-1])
    count = np.zeros(len(chosen), np.int64)
    with team() as threads:
        _shortcuts(out, into, into is out, chosen, gone, begin, ends, length, count, threads)
    at = np.arange(count.sum()) + np.repeat(begin[:-1] - np.cumsum(count) + count, count)
    found = ends[0, at], ends[1, at], length[at], np.repeat(name[chosen], count)
    if into is out:
        return tuple(np.concatenate([found[k], found[other]]) for k, other in enumerate((1, 0, 2, 3)))
    return found


@part
def _precedes(priority, v, u):
    return priority[v] < priority[u] or (priority[v] == priority[u] and v <= u)


def _select(out: Arcs, into: Arcs, vertices: Any, priority: Any) -> Any:
    """The independent set of a round: vertices whose priority is below that of each neighbour."""
    chosen = np.zeros(len(vertices), np.bool_)
    with team() as threads:
        _find_first(out, into, into is out, vertices, priority, chosen, threads)
    return vertices[chosen]


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _find_first(out, into, undirected, vertices, priority, chosen, threads):
    following = np.zeros(1, np.int64)
    for _ in prange(threads):
        for chunk in tasks(following, vertices.size, _CHUNK):
            for i in range(chunk, min(chunk + _CHUNK, vertices.size)):
                v = vertices[i]
                chosen[i] = _is_first(out, priority, v) and (undirected or _is_first(into, priority, v))


@part
def _is_first(arcs, priority, v):
    at, end = arcs.indptr[v], arcs.indptr[v + 1]
    while at < end and _precedes(priority, v, arcs.head[at]):
        at += 1
    return at == end


@part
def _search_witness(out, start, without, gone, bound, most, work):
    """Witness search: distances up to `bound` around `without` and `gone`; returns the number of touched vertices."""
    size = heap.push(work.keys, work.heads, 0, 0.0, start)
    work.distance[start], work.touched[0] = 0.0, start
    touched, settled = 1, 0
    while size > 0 and settled < most:
        key, u = work.keys[0], work.heads[0]
        size = heap.pop(work.keys, work.heads, size)
        if key > work.distance[u]:
            continue
        settled += 1
        for at in range(out.indptr[u], out.indptr[u + 1]):
            v = np.int64(out.head[at])
            tentative = key + out.length[at]
            if tentative < work.distance[v] and tentative <= bound and v != without and not gone[v]:
                if size == work.keys.size or touched == work.touched.size:
                    return touched
                if work.distance[v] == np.inf:
                    work.touched[touched] = v
                    touched += 1
                work.distance[v] = tentative
                size = heap.push(work.keys, work.heads, size, tentative, v)
    return touched


@part
def _contract_one(out, into, undirected, v, gone, work, ends, length, at, keeping):
    """The number of shortcuts that contracting v adds; with `keeping`, they are written from `at` on.

    In an undirected graph, each pair of neighbours is tested once.
    """
    furthest, found = 0.0, 0
    for to in range(out.indptr[v], out.indptr[v + 1]):
        furthest = max(furthest, out.length[to])
    for back in range(into.indptr[v], into.indptr[v + 1]):
        u, length_in = np.int64(into.head[back]), into.length[back]
        if out.indptr[v + 1] - out.indptr[v] == 1 and out.head[out.indptr[v]] == u:
            continue
        first = back + 1 if undirected else out.indptr[v]
        if first == out.indptr[v + 1]:
            continue
        most = _CONTRACTION_SETTLED if keeping else _PRIORITY_SETTLED
        touched = _search_witness(out, u, v, gone, length_in + furthest, most, work)
        for to in range(first, out.indptr[v + 1]):
            w = np.int64(out.head[to])
            shortcut = length_in + out.length[to]
            if w != u and work.distance[w] > shortcut:
                if keeping:
                    ends[0, at + found], ends[1, at + found], length[at + found] = u, w, shortcut
                found += 1
        for k in range(touched):
            work.distance[work.touched[k]] = np.inf
    return found


@part
def _new_work(n):
    distance = np.full(n, np.inf)
    return _Work(distance, np.empty(_CAPACITY, np.int64), np.empty(_CAPACITY), np.empty(_CAPACITY, np.int64))


def _update_priorities(out: Arcs, into: Arcs, vertices: Any, level: Any, tie_break: Any, priority: Any) -> None:
    """Priorities: the level, plus twice the edge quotient (shortcuts added over arcs removed)."""
    with team() as threads:
        _update_each(out, into, into is out, vertices, level, tie_break, priority, threads)


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _update_each(out, into, undirected, vertices, level, tie_break, priority, threads):
    following = np.zeros(1, np.int64)
    n = level.size
    for _ in prange(threads):
        work, gone = _new_work(n), np.zeros(n, np.bool_)
        ends, length = np.empty((2, 0), out.head.dtype), np.empty(0)
        for chunk in tasks(following, vertices.size, _CHUNK):
            for i in range(chunk, min(chunk + _CHUNK, vertices.size)):
                v = vertices[i]
                added = _contract_one(out, into, undirected, v, gone, work, ends, length, 0, False)
                added += added if undirected else 0
                removed = out.indptr[v + 1] - out.indptr[v] + into.indptr[v + 1] - into.indptr[v]
                priority[v] = level[v] + 2.0 * added / max(removed, 1) + tie_break[v]


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _shortcuts(out, into, undirected, chosen, gone, begin, ends, length, count, threads):
    following = np.zeros(1, np.int64)
    for _ in prange(threads):
        work = _new_work(gone.size)
        for chunk in tasks(following, chosen.size, _CHUNK):
            for i in range(chunk, min(chunk + _CHUNK, chosen.size)):
                count[i] = _contract_one(out, into, undirected, chosen[i], gone, work, ends, length, begin[i], True)


def _rebuilt(arcs: Arcs, gone: Any, place: Any, source: Any, target: Any, length: Any, middle: Any) -> Arcs:
    n = len(gone)
    ends = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=n))])
    order = np.empty(len(source), np.int64)
    left = int(place[-1]) + 1
    room = len(arcs.head) + len(source)
    made = Arcs(
        np.zeros(left + 1, np.int64), np.empty(room, arcs.head.dtype), np.empty(room), np.empty(room, arcs.middle.dtype)
    )
    with interruptible():
        kept = _merge(arcs, gone, place, (source, target, length, middle), ends, order, np.full(n, -1, np.int64), made)
    return Arcs(made.indptr, *(part[:kept] for part in made[1:]))


@njit(cache=True, nogil=True)
def _merge(arcs, gone, place, shortcuts, ends, order, entry, made):
    """Rows of the remaining vertices, renumbered by `place`, with shortcuts; of parallel arcs, the shorter.

    ``entry``: the arc to each end in the current row.
    """
    source, target, length, middle = shortcuts
    following = ends[:-1].copy()
    for k in range(source.size):
        order[following[source[k]]] = k
        following[source[k]] += 1
    count = 0
    for v in range(gone.size):
        if gone[v]:
            continue
        begin = count
        for at in range(arcs.indptr[v], arcs.indptr[v + 1]):
            u = arcs.head[at]
            if not gone[u]:
                made.head[count], made.length[count], made.middle[count] = place[u], arcs.length[at], arcs.middle[at]
                entry[u] = count
                count += 1
        for k in range(ends[v], ends[v + 1]):
            shortcut = order[k]
            u = target[shortcut]
            to = entry[u]
            if to < begin:
                to = count
                entry[u] = count
                count += 1
            elif made.length[to] <= length[shortcut]:
                continue
            made.head[to], made.length[to], made.middle[to] = place[u], length[shortcut], middle[shortcut]
        made.indptr[place[v] + 1] = count
    return count
