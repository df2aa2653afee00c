"""Depth-first search on one thread: of a whole graph, with low-links, or from one vertex; and strong components.

R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1 (1972). Depth-first order is
sequential by nature (J. H. Reif, "Depth-first search is inherently sequential", Inf. Process. Lett. 20, 1985). Strong
components are found in the form of D. J. Pearce, "A space-efficient algorithm for finding strongly connected
components", Inf. Process. Lett. 116 (2016): one number a vertex, and only vertices that are no root of a component wait
on the stack.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.formats import CSR, index_dtype
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, part, peek, put, vertex
from hpgraph.kernels.structure.cpu_stored import interruptible_beyond, is_column, is_row, within

# A depth-first forest: vertices in discovery order, the position of each in it, its parent, and its low-link. A root's
# parent is itself; the low-link is the least number reached from a subtree by one arc that is not of the forest.
DepthFirst = namedtuple("DepthFirst", "order number parent low")


def depth_first(arcs: CSR) -> DepthFirst:
    """Depth-first search from the least undiscovered vertex, until all are discovered.

    Arcs are followed in the order of their rows, which need not be sorted.
    """
    n, ids = arcs.shape[0], arcs.indices.dtype
    forest = DepthFirst(np.empty(n, ids), np.full(n, -1, ids), np.empty(n, ids), np.empty(n, ids))
    with interruptible():
        _search(arcs.indptr, arcs.indices, arcs.indptr[:-1].copy(), *forest)
    return forest


def depth_first_order(rows: CSR, start: int, missing: int) -> tuple[Any, Any]:
    """Depth-first order from a vertex, neighbours in the order of their rows, and predecessors, or `missing`.

    Rows need not have been checked, as for `hpgraph.kernels.structure.cpu_fifo.fifo_order`.
    """
    n, ids = rows.shape[0], index_dtype(rows.shape[0])
    order, predecessors, path, following = (np.empty(n, kind) for kind in (ids, ids, ids, rows.indptr.dtype))
    predecessors.fill(missing)
    with interruptible_beyond(rows.nnz):
        count = _follow(rows.indptr, rows.indices, start, missing, path, following, order, predecessors)
    return order[: within(rows, count)], predecessors


def postorder(order: Any, parent: Any) -> Any:
    """The vertices of a depth-first forest in the order in which the search leaves them; a root is its own parent."""
    left = np.empty_like(order)
    _leave(order, parent, np.empty_like(order), left)
    return left


@njit(cache=True, nogil=True)
def _leave(order, parent, path, left):
    depth, count = 0, 0
    for i in range(order.size):
        v = order[i]
        while depth > 0 and (parent[v] == v or path[depth - 1] != parent[v]):
            depth -= 1
            left[count] = path[depth]
            count += 1
        path[depth] = v
        depth += 1
    left[count:] = path[:depth][::-1]


def number_down(forest: DepthFirst, begins: Any) -> Any:
    """For each vertex the number of the nearest of the roots in ``begins`` above it, itself included, or -1.

    The roots of subtrees are numbered in the order in which they were met.
    """
    number = np.full(len(forest.order), -2)
    number[begins] = -1
    _number(forest.order, forest.parent, number)
    return number


@njit(cache=True, nogil=True)
def _number(order, parent, number):
    count = 0
    for i in range(order.size):
        v = order[i]
        if number[v] == -1:
            number[v] = count
            count += 1
        else:
            above = parent[v]
            number[v] = number[above] if above != v else -1


@njit(cache=True, nogil=True, counts_references=False)
def _follow(indptr, indices, start, missing, path, following, order, predecessors):
    """`path`: the vertices on the path to the current one that have arcs to be looked at, `following` the next ones."""
    order[0], predecessors[start] = start, start
    count, depth, v, n = np.int64(1), np.int64(0), np.int64(start), order.size
    at, end = np.int64(peek(indptr, v)), np.int64(peek(indptr, v + 1))
    if not is_row(at, end, indices.size):
        return -1
    while count < n:
        child = np.int64(-1)
        while at < end:
            u = vertex(indices, at)
            if not is_column(u, n):
                return -1
            at += 1
            if peek(predecessors, u) == missing:
                child = np.int64(u)
                break
        if child >= 0:
            put(path, depth, v)
            put(following, depth, at)
            depth += at < end
            put(predecessors, child, v)
            put(order, count, child)
            count += 1
            v = child
            at, end = np.int64(peek(indptr, v)), np.int64(peek(indptr, v + 1))
            if not is_row(at, end, indices.size):
                return -1
        elif depth == 0 or is_stopped():
            break
        else:
            depth -= 1
            v = np.int64(vertex(path, depth))
            at, end = np.int64(peek(following, depth)), np.int64(peek(indptr, v + 1))
    predecessors[start] = missing
    return count


@njit(cache=True, nogil=True)
def _search(indptr, indices, following, order, number, parent, low):
    """`following`: the next arc of each vertex to be looked at. The path to a vertex is that of its parents."""
    count = 0
    for root in range(number.size):
        if number[root] >= 0:
            continue
        order[count], number[root], low[root], parent[root] = root, count, count, root
        count += 1
        v = root
        while not is_stopped():
            at = peek(following, v)
            end = peek(indptr, v + 1)
            child = -1
            lowest = np.int64(low[v])
            above = vertex(parent, v)
            while at < end:
                u = vertex(indices, at)
                at += 1
                known = np.int64(number[u])
                if known < 0:
                    child = u
                    break
                if u != above:
                    lowest = min(lowest, known)
            following[v] = at
            low[v] = lowest
            if child >= 0:
                order[count], number[child], low[child], parent[child] = child, count, count, v
                count += 1
                v = child
                continue
            if v == root:
                break
            low[above] = min(low[above], low[v])
            v = above
        if is_stopped():
            break


def strong_components(arcs: CSR, part: Any, smallest: Any) -> Any:
    """Write the smallest vertex of each vertex's strong component into ``smallest``.

    Returns these in the order in which components are completed: successors of a component precede it. No component
    has vertices in two parts of ``part``, if any; a vertex of a negative part is left as it is.
    """
    n, ids = arcs.shape[0], arcs.indices.dtype
    low = np.zeros(n, ids) if part is None else np.where(part < 0, n, 0).astype(ids)
    complete = np.empty(n, ids)
    return complete[: _strong(arcs, part, low, None, (smallest, complete))]


def strong_numbers(arcs: CSR) -> tuple[int, Any]:
    """Number of strong components, and each vertex's component, numbered in the order in which they are completed.

    Columns need not have been checked: one beyond the shape is an IndexError.
    """
    n, ids = arcs.shape[0], arcs.indices.dtype
    number = np.empty(n, ids)
    return within(arcs, _strong(arcs, None, np.zeros(n, ids), number, None)), number


def _strong(arcs: CSR, part: Any, low: Any, number: Any, found: Any) -> int:
    n, ids = arcs.shape[0], arcs.indices.dtype
    work = np.empty(n, ids), np.empty(n, ids), np.empty(n, ids), np.empty(n, arcs.indptr.dtype)
    with interruptible_beyond(arcs.nnz + n):
        return int(_search_strong(arcs.indptr, arcs.indices, part, low, work, number, found))


@part(counts_references=False)
def _complete(low, v, stack, waiting, number, found, component):
    """Pop a root's component, the vertices found since the root, off the stack; returns the height of the stack."""
    below, least, own = waiting, v, np.int64(low[v])
    while below > 0 and low[stack[below - 1]] >= own:
        below -= 1
        least = min(least, np.int64(stack[below]))
    for i in range(below, waiting):
        u = stack[i]
        low[u] = low.size
        if number is None:
            found[0][u] = least
        else:
            number[u] = component
    low[v] = low.size
    if number is None:
        found[0][v], found[1][component] = least, least
    else:
        number[v] = component
    return below


@njit(cache=True, nogil=True)
def _search_strong(indptr, indices, part, low, work, number, found):
    """`low`: 0 where not met, n where done. Beside each vertex on the `path`: its number, and its next arc.

    The `number` of each vertex's component is written, or what is `found`: its smallest vertex, and these in order.
    Returns how many components there are, -1 if a column is beyond the shape.
    """
    stack, path, start, following = work
    n, components = low.size, 0
    count, waiting = 0, 0
    for root in range(n):
        if peek(low, root) != 0:
            continue
        depth, v = np.int64(0), np.int64(root)
        count += 1
        at, end = np.int64(peek(indptr, v)), np.int64(peek(indptr, v + 1))
        own, lowest = np.int64(count), np.int64(count)
        low[v] = count
        while not is_stopped():
            child = np.int64(-1)
            while at < end:
                u = vertex(indices, at)
                if u >= n:
                    return -1
                at += 1
                if part is not None and peek(part, u) != peek(part, v):
                    continue
                known = np.int64(peek(low, u))
                if known == 0:
                    child = np.int64(u)
                    break
                lowest = np.int64(min(lowest, known))
            if child >= 0:
                path[depth], start[depth], following[depth], low[v] = v, own, at, lowest
                depth += 1
                count += 1
                v, own, lowest = child, np.int64(count), np.int64(count)
                low[v] = count
                at, end = np.int64(peek(indptr, v)), np.int64(peek(indptr, v + 1))
                continue
            if lowest < own:
                stack[waiting], low[v] = v, lowest
                waiting += 1
            else:
                waiting = _complete(low, v, stack, waiting, number, found, components)
                components += 1
            if depth == 0:
                break
            depth -= 1
            inherited = lowest if peek(low, v) != n else np.int64(n)
            v = np.int64(vertex(path, depth))
            at, end, own = np.int64(peek(following, depth)), np.int64(peek(indptr, v + 1)), np.int64(peek(start, depth))
            lowest = np.int64(min(np.int64(peek(low, v)), inherited))
        if is_stopped():
            break
    return components
