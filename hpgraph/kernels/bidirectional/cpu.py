"""Bidirectional breadth-first search and bidirectional Dijkstra (I. Pohl, "Bi-directional search", 1971)."""

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.bidirectional import joined, way_along
from hpgraph.kernels.runtime.cpu.heap import pop, push
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, part

_INITIAL_CAPACITY = 1024


def fewest_arcs(out: CSR, in_: CSR, source: int, target: int) -> np.ndarray | None:
    """The vertices of a path of fewest arcs, int64; None if there is no path."""
    n = out.shape[0]
    if source == target:
        return np.array([source])
    # Levels count from 1 in the search from the source, down from -1 in that from the target; 0 is unvisited.
    level, before = np.zeros(n, np.int32), np.empty(n, out.indices.dtype)
    queues = np.empty((2, n), out.indices.dtype)
    with interruptible():
        u, v = _meet(out.indptr, out.indices, in_.indptr, in_.indices, source, target, level, before, queues)
    return None if u < 0 else np.array(way_along(before, source, u) + way_along(before, target, v)[::-1], np.int64)


def least_weight(out: CSR, in_: CSR, source: int, target: int) -> tuple[np.ndarray, float] | None:
    """The vertices of a path of least weight, and that weight in double precision; None if there is none."""
    n = out.shape[0]
    if source == target:
        return np.array([source]), 0.0
    # If an entry of `seen` is 0, those of the others are undefined.
    seen, distance, before = np.zeros((2, n), np.int8), np.empty((2, n)), np.empty((2, n), out.indices.dtype)
    sides = ((out.indptr, out.indices, out.data), (in_.indptr, in_.indices, in_.data))
    with interruptible():
        vertex, length = _dijkstra(sides, source, target, seen, distance, before)
    if vertex < 0:
        return None
    return joined(way_along(before[0], source, vertex), way_along(before[1], target, vertex)), length


@njit(cache=True)
def _meet(out_indptr, out_indices, in_indptr, in_indices, source, target, level, before, queues):
    """The arc between the two searches on a shortest path: its end in the search from the source, and in the other."""
    level[source], level[target] = 1, -1
    queues[0, 0], queues[1, 0] = source, target
    taken, count = np.zeros(2, np.int64), np.ones(2, np.int64)
    # Arcs of the frontiers: the search with fewer continues.
    arcs = np.array([out_indptr[source + 1] - out_indptr[source], in_indptr[target + 1] - in_indptr[target]])
    while taken[0] < count[0] and taken[1] < count[1] and not is_stopped():
        if arcs[0] <= arcs[1]:
            u, v = _expand_level(out_indptr, out_indices, 1, level, before, queues[0], taken, count, arcs)
        else:
            v, u = _expand_level(in_indptr, in_indices, -1, level, before, queues[1], taken, count, arcs)
        # The two balls are disjoint before this step and one arc apart: no path is shorter.
        if u >= 0:
            return u, v
    return -1, -1


@part
def _expand_level(indptr, indices, sign, level, before, queue, taken, count, arcs):
    """Expand one more level of one search; returns an arc to a vertex of the other search, else -1."""
    side = 0 if sign > 0 else 1
    begin, end, tail, sent = taken[side], count[side], count[side], 0
    for at in range(begin, end):
        u = queue[at]
        for place in range(indptr[u], indptr[u + 1]):
            v = indices[place]
            known = level[v]
            if known == 0:
                level[v] = level[u] + sign
                before[v] = u
                queue[tail] = v
                tail += 1
                sent += indptr[v + 1] - indptr[v]
            elif (known > 0) != (sign > 0):
                return u, v
    taken[side], count[side], arcs[side] = end, tail, sent
    return -1, -1


@njit(cache=True)
def _dijkstra(sides, source, target, seen, distance, before):
    """The middle vertex of a lightest path, and the path's weight; -1 if there is none."""
    keys = [np.empty(_INITIAL_CAPACITY), np.empty(_INITIAL_CAPACITY)]
    vertices = [np.empty(_INITIAL_CAPACITY, np.int64), np.empty(_INITIAL_CAPACITY, np.int64)]
    sizes = np.ones(2, np.int64)
    for side in range(2):
        start = source if side == 0 else target
        keys[side][0], vertices[side][0] = 0.0, start
        seen[side, start], distance[side, start] = 1, 0.0
    best, middle = np.inf, -1
    while sizes[0] > 0 and sizes[1] > 0 and keys[0][0] + keys[1][0] < best and not is_stopped():
        # The search with the nearer frontier continues: both balls grow by the same radius.
        side = 0 if keys[0][0] <= keys[1][0] else 1
        other = 1 - side
        indptr, indices, weights = sides[0] if side == 0 else sides[1]
        key, u = keys[side][0], vertices[side][0]
        sizes[side] = pop(keys[side], vertices[side], sizes[side])
        if key > distance[side, u]:
            continue
        for place in range(indptr[u], indptr[u + 1]):
            v = indices[place]
            tentative = key + weights[place]
            if seen[side, v] != 0 and tentative >= distance[side, v]:
                continue
            is_seen = seen[other, v] != 0
            # A vertex that the other search has not visited is at least as far from its end as that search's next
            # vertex. An arc of infinite length leads nowhere.
            if tentative == np.inf or (not is_seen and tentative + keys[other][0] >= best):
                continue
            seen[side, v], distance[side, v], before[side, v] = 1, tentative, u
            if is_seen and tentative + distance[other, v] < best:
                best, middle = tentative + distance[other, v], v
            if sizes[side] == len(keys[side]):
                keys[side] = np.concatenate((keys[side], np.empty(len(keys[side]))))
                vertices[side] = np.concatenate((vertices[side], np.empty(len(vertices[side]), np.int64)))
            sizes[side] = push(keys[side], vertices[side], sizes[side], tentative, v)
    return middle, best
