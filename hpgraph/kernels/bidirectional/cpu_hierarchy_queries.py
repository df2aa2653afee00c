"""Queries of a contraction hierarchy, whose vertices are numbered from the most important one on.

R. Geisberger, P. Sanders, D. Schultes, C. Vetter, "Exact routing in large road networks using contraction hierarchies",
Transportation Science 46(3), 2012: upward searches from both ends, which stall where a higher vertex is nearer.
They end below the most important vertices (the core), whose distances are in a table (P. Sanders, D. Schultes,
"Engineering highway hierarchies", ESA'06).
"""

from collections import namedtuple

import numpy as np

from hpgraph.kernels.runtime.cpu import heap
from hpgraph.kernels.runtime.cpu.kernel import is_stopped, njit, part, peek, prefetch, put, vertex
from hpgraph.kernels.runtime.cpu.rows import lower_bound

# One half of a query: distances, inf between queries; the arc by which each vertex is reached; their list; a heap.
Half = namedtuple("Half", "distance before touched keys heads")


def query_space(n: int, arcs: int) -> tuple[Half, Half]:
    """Work space of one query."""
    keys, heads = np.empty((2, arcs + 1)), np.empty((2, arcs + 1), np.int64)
    before, touched = np.empty((2, 2, n), np.int64)
    halves = (Half(np.full(n, np.inf), before[k], touched[k], keys[k], heads[k]) for k in range(2))
    return next(halves), next(halves)


@part(counts_references=False)
def _start(half, v, core):
    half.distance[v], half.before[v], half.touched[0] = 0.0, -1, v
    return heap.push(half.keys, half.heads, 0, 0.0, v) if v >= core else 0


@part(counts_references=False)
def _clear(half, reached):
    for k in range(reached):
        put(half.distance, vertex(half.touched, k), np.inf)


@part(counts_references=False)
def _stalled(opposite, distance, u, key):
    """Stall-on-demand: whether a higher vertex gives u a shorter distance than its tentative one."""
    for at in range(peek(opposite.indptr, u), peek(opposite.indptr, u + 1)):
        if peek(distance, vertex(opposite.head, at)) + peek(opposite.length, at) < key:
            return True
    return False


@part(counts_references=False)
def _settle(arcs, opposite, core, half, other, size, reached, best, middle):
    """Settle the next vertex of a half outside the first `core` vertices; returns the last four arguments updated."""
    key, u = peek(half.keys, 0), vertex(half.heads, 0)
    size = heap.pop(half.keys, half.heads, size)
    # Arcs of the likely next vertex; stale, and harmless, if the heap is empty.
    following = peek(arcs.indptr, vertex(half.heads, 0))
    prefetch(arcs.head, following)
    prefetch(arcs.length, following)
    if key > peek(half.distance, u):
        return size, reached, best, middle
    if key + peek(other.distance, u) < best:
        best, middle = key + peek(other.distance, u), u
    if _stalled(opposite, half.distance, u, key):
        return size, reached, best, middle
    for at in range(peek(arcs.indptr, u), peek(arcs.indptr, u + 1)):
        v = vertex(arcs.head, at)
        tentative, known = key + peek(arcs.length, at), peek(half.distance, v)
        if tentative < known and tentative < best:
            if known == np.inf:
                put(half.touched, reached, v)
                reached += 1
            put(half.distance, v, tentative)
            put(half.before, v, np.int64(at))
            if v >= core:
                prefetch(arcs.indptr, v)
                prefetch(other.distance, v)
                size = heap.push(half.keys, half.heads, size, tentative, v)
    return size, reached, best, middle


@part(counts_references=False)
def _core_entries(opposite, core, half, reached):
    """List core entries of a search in `half.heads`, with distances in `half.keys`; returns their number."""
    count = 0
    for k in range(reached):
        v = vertex(half.touched, k)
        if v < core and not _stalled(opposite, half.distance, v, peek(half.distance, v)):
            put(half.heads, count, v)
            put(half.keys, count, peek(half.distance, v))
            count += 1
    return count


@part(counts_references=False)
def _distance_through_core(table, forward, count, backward, back_count, best):
    """The smaller of `best` and the length of a shortest path through the core."""
    nearest = np.inf
    for k in range(back_count):
        nearest = min(nearest, peek(backward.keys, k))
    for i in range(count):
        dist, row = peek(forward.keys, i), table[vertex(forward.heads, i)]
        if dist + nearest < best:
            for k in range(back_count):
                best = min(best, dist + peek(row, vertex(backward.heads, k)) + peek(backward.keys, k))
    return best


@njit(cache=True, nogil=True, counts_references=False)
def meet(up, down, table, query, source, target):
    """The length of a shortest path, and the vertex where its halves meet; -1 if there is none, or in the core.

    Upward searches from both ends, each until its least key is at least the best length. ``table``: distances
    among the first vertices, the core; it may be empty.
    """
    forward, backward = query
    core = len(table)
    size, back_size = _start(forward, source, core), _start(backward, target, core)
    reached, back_reached, best, middle = 1, 1, np.inf, np.int64(-1)
    while True:
        key = forward.keys[0] if size > 0 else np.inf
        back_key = backward.keys[0] if back_size > 0 else np.inf
        if min(key, back_key) >= best:
            break
        if key <= back_key:
            size, reached, best, middle = _settle(up, down, core, forward, backward, size, reached, best, middle)
        else:
            back_size, back_reached, best, middle = _settle(
                down, up, core, backward, forward, back_size, back_reached, best, middle
            )
    if core > 0:
        count, back_count = _core_entries(down, core, forward, reached), _core_entries(up, core, backward, back_reached)
        best = _distance_through_core(table, forward, count, backward, back_count, best)
    _clear(forward, reached)
    _clear(backward, back_reached)
    return best, middle


@njit(cache=True, nogil=True, counts_references=False)
def meet_each(up, down, table, query, sources, targets, found):
    """The length of a shortest path of each pair."""
    for i in range(sources.size):
        if is_stopped():
            break
        found[i] = meet(up, down, table, query, sources[i], targets[i])[0]


@njit(cache=True, nogil=True)
def sweep(up, down, query, source, distance):
    """Distances from a vertex to all: an upward search, then a sweep over all vertices from the top down (PHAST)."""
    distance[:] = np.inf
    distance[source] = 0.0
    keys, heads = query[0].keys, query[0].heads
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


@njit(cache=True, nogil=True)
def sweep_each(up, down, query, table):
    """Distances between the first vertices."""
    for v in range(len(table)):
        if is_stopped():
            break
        sweep(up, down, query, v, table[v])


@part
def _row_of(indptr, at):
    return lower_bound(indptr, 0, indptr.size, at + 1) - 1


@part
def _find_middle(arcs, v, u):
    """The middle vertex of the shortcut between a vertex and a higher one."""
    for at in range(arcs.indptr[v], arcs.indptr[v + 1]):
        if arcs.head[at] == u:
            return np.int64(arcs.middle[at])
    return np.int64(-1)


@part
def _unpack(up, down, stack, u, v, over, path, count):
    """Unpack the shortcut from u to v: append its vertices after u; returns their number.

    Returns -1 if the first half of `path`, or `stack`, is full.
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
        stack[0, depth], stack[1, depth], stack[2, depth] = over, v, _find_middle(up, over, v)
        depth += 1
        stack[0, depth], stack[1, depth], stack[2, depth] = u, over, _find_middle(down, over, u)
        depth += 1
    return count


@njit(cache=True, nogil=True)
def path_by(up, down, query, source, middle, path, stack):
    """Write the path of a query from the vertex where its halves meet; returns its number of vertices.

    Returns -1 if it does not fit.
    """
    forward, backward = query
    path[0] = source
    # Upward arcs from the source are found in reverse order: they are kept in the second half.
    count, above = 1, 0
    at = forward.before[middle]
    while at >= 0:
        if 2 * above + 2 >= path.size:
            return -1
        path[path.size - 1 - above] = at
        above += 1
        at = forward.before[_row_of(up.indptr, at)]
    for k in range(path.size - above, path.size):
        at = path[k]
        u, v, over = _row_of(up.indptr, at), np.int64(up.head[at]), np.int64(up.middle[at])
        count = _unpack(up, down, stack, u, v, over, path, count)
    at = backward.before[middle]
    while at >= 0:
        v = _row_of(down.indptr, at)
        u, over = np.int64(down.head[at]), np.int64(down.middle[at])
        count = _unpack(up, down, stack, u, v, over, path, count)
        at = backward.before[v]
    return count
