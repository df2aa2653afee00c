"""Queries of a contraction hierarchy, whose vertices are numbered from the most important one on.

R. Geisberger, P. Sanders, D. Schultes, C. Vetter, "Exact routing in large road networks using contraction hierarchies",
Transportation Science 46(3), 2012: searches from both ends that go up alone, and stall where a vertex above is nearer.
"""

from collections import namedtuple

import numpy as np

from hpgraph.kernels.runtime.cpu import heap
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.search import lower_bound
from hpgraph.semiring.stop import is_stopped

# The two halves of a query: distances, inf between queries, where each vertex is reached by, and a heap; each of two.
Query = namedtuple("Query", "distance before touched keys heads")


def query_space(n: int, arcs: int) -> Query:
    """Room for one query at a time."""
    before, touched = np.empty((2, 2, n), np.int64)
    heads = np.empty((2, arcs + 1), np.int64)
    return Query(np.full((2, n), np.inf), before, touched, np.empty((2, arcs + 1)), heads)


@part
def _stalled(opposite, distance, u, key):
    """Whether a vertex above leads to u on a shorter way, so that no shortest path goes up from u by what is known."""
    for at in range(opposite.indptr[u], opposite.indptr[u + 1]):
        if distance[opposite.head[at]] + opposite.length[at] < key:
            return True
    return False


@njit(cache=True, nogil=True)
def meet(up, down, query, source, target):
    """The length of a shortest path, and the vertex where its halves meet, -1 if there is none.

    Searches go up alone, from both ends, each until its least key is no less than the best length.
    """
    distance, before, touched, keys, heads = query
    size, reached = np.zeros(2, np.int64), np.zeros(2, np.int64)
    for side, start in ((0, source), (1, target)):
        distance[side, start], before[side, start], touched[side, 0] = 0.0, -1, start
        size[side] = heap.push(keys[side], heads[side], 0, 0.0, start)
        reached[side] = 1
    best, middle = np.inf, np.int64(-1)
    while size[0] + size[1] > 0:
        side = 0 if size[1] == 0 or (size[0] > 0 and keys[0, 0] <= keys[1, 0]) else 1
        key, u = keys[side, 0], heads[side, 0]
        if key >= best:
            break
        size[side] = heap.pop(keys[side], heads[side], size[side])
        if key > distance[side, u]:
            continue
        if key + distance[1 - side, u] < best:
            best, middle = key + distance[1 - side, u], u
        arcs, opposite = (up, down) if side == 0 else (down, up)
        if _stalled(opposite, distance[side], u, key):
            continue
        for at in range(arcs.indptr[u], arcs.indptr[u + 1]):
            v = np.int64(arcs.head[at])
            there = key + arcs.length[at]
            if there < distance[side, v]:
                if distance[side, v] == np.inf:
                    touched[side, reached[side]] = v
                    reached[side] += 1
                distance[side, v], before[side, v] = there, at
                size[side] = heap.push(keys[side], heads[side], size[side], there, v)
    for side in range(2):
        for k in range(reached[side]):
            distance[side, touched[side, k]] = np.inf
    return best, middle


@njit(cache=True, nogil=True)
def meet_each(up, down, query, sources, targets, found):
    """The length of a shortest path of each pair."""
    for i in range(sources.size):
        if is_stopped():
            break
        found[i] = meet(up, down, query, sources[i], targets[i])[0]


@njit(cache=True, nogil=True)
def sweep(up, down, query, source, distance):
    """Distances from a vertex to all: a search upwards, then all vertices from the top down (PHAST)."""
    distance[:] = np.inf
    distance[source] = 0.0
    keys, heads = query.keys[0], query.heads[0]
    size = heap.push(keys, heads, 0, 0.0, source)
    while size > 0:
        key, u = keys[0], heads[0]
        size = heap.pop(keys, heads, size)
        if key > distance[u]:
            continue
        for at in range(up.indptr[u], up.indptr[u + 1]):
            v = np.int64(up.head[at])
            if key + up.length[at] < distance[v]:
                distance[v] = key + up.length[at]
                size = heap.push(keys, heads, size, distance[v], v)
    for w in range(distance.size):
        least = distance[w]
        for at in range(down.indptr[w], down.indptr[w + 1]):
            least = min(least, distance[down.head[at]] + down.length[at])
        distance[w] = least


@part
def _row_of(indptr, at):
    return lower_bound(indptr, 0, indptr.size, at + 1) - 1


@part
def _middle_of(arcs, v, u):
    """What the arc between a vertex and one above it leads over."""
    for at in range(arcs.indptr[v], arcs.indptr[v + 1]):
        if arcs.head[at] == u:
            return np.int64(arcs.middle[at])
    return np.int64(-1)


@part
def _unpack(up, down, stack, u, v, over, path, count):
    """Append the vertices behind u on the way to v, the end of an arc over some vertex; returns how many there are.

    -1 where there is no more room in the first half of `path`, or in `stack`.
    """
    if count < 0:
        return -1
    stack[0, 0], stack[1, 0], stack[2, 0] = u, v, over
    depth = 1
    while depth > 0:
        depth -= 1
        u, v, over = stack[0, depth], stack[1, depth], stack[2, depth]
        if 2 * count >= path.size or depth + 2 >= stack.shape[1]:
            return -1
        if over < 0:
            path[count] = v
            count += 1
            continue
        stack[0, depth], stack[1, depth], stack[2, depth] = over, v, _middle_of(up, over, v)
        depth += 1
        stack[0, depth], stack[1, depth], stack[2, depth] = u, over, _middle_of(down, over, u)
        depth += 1
    return count


@njit(cache=True, nogil=True)
def path_by(up, down, before, source, middle, path, stack):
    """Write the path that a query found, by the vertex where its halves meet; returns how many vertices it has.

    -1 where there is no room for it.
    """
    path[0] = source
    # Arcs from the source up come last first: they wait in the second half.
    count, above = 1, 0
    at = before[0, middle]
    while at >= 0:
        if 2 * above + 2 >= path.size:
            return -1
        path[path.size - 1 - above] = at
        above += 1
        at = before[0, _row_of(up.indptr, at)]
    for k in range(path.size - above, path.size):
        at = path[k]
        u, v, over = _row_of(up.indptr, at), np.int64(up.head[at]), np.int64(up.middle[at])
        count = _unpack(up, down, stack, u, v, over, path, count)
    at = before[1, middle]
    while at >= 0:
        v = _row_of(down.indptr, at)
        u, over = np.int64(down.head[at]), np.int64(down.middle[at])
        count = _unpack(up, down, stack, u, v, over, path, count)
        at = before[1, v]
    return count
