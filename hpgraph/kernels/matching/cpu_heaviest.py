"""The heaviest matching of any graph, on one thread, by shortest augmenting paths through blossoms.

Z. Galil, S. Micali, H. Gabow, "An O(EV log V) algorithm for finding a maximal weighted matching in general graphs",
SIAM Journal on Computing 15(1), 1986: events of a tree wait in a heap, keyed by the change of the duals at which each
happens. Here one tree is grown at a time, from a free vertex of positive dual, and only duals in it change.

Weights are float64, or complex128 for pairs that are compared by their first parts first.
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.matching.cpu_blossoms import (
    EVENTS,
    INNER,
    INNERS,
    NEAR,
    NONE,
    OUTER,
    QUEUED,
    SCANNED,
    STAMP,
    Forest,
    Search,
    expand,
    label_inner,
    label_outer,
    rebase,
    shift,
    shrink,
    top,
)  # fmt: skip
from hpgraph.kernels.runtime.cpu.heap import pop, precedes, push
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, part, peek, vertex
from hpgraph.kernels.runtime.cpu.rows import lower_bound

# Initial bids for each vertex.
_LOOKS = 16


def heaviest(arcs: CSR, weight: Any) -> Any:
    """Each vertex's mate in a matching of most weight, -1 for none, of a symmetric matrix; loops are passed over.

    ``weight``: of each arc, finite float64, or complex128 for pairs.
    """
    n = arcs.shape[0]
    rooms, kind, alone = n + n // 2 + 1, weight.dtype, np.arange(n)
    first, last, parent, child, base, sibling = (np.full(rooms, -1, np.int64) for _ in range(6))
    first[:n], last[:n], base[:n] = alone, alone, alone
    forest = Forest(
        np.full(n, -1, np.int64), np.zeros(n, kind), alone.copy(), np.full(n, -1, np.int64), alone.copy(),
        np.zeros(rooms, kind), first, last, np.ones(rooms, np.int64), parent, child, base, sibling,
        np.empty((2, rooms), np.int64), np.arange(n, rooms), np.array([rooms - n]),
    )  # fmt: skip
    events = arcs.nnz + 3 * rooms
    search = Search(
        np.zeros(rooms, np.int8), np.empty((2, rooms), np.int64), np.zeros(rooms, np.int64), np.full(n, np.inf, kind),
        np.full(n, -1, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(rooms, np.int64),
        np.empty(events, kind), np.empty(events, np.int64), np.zeros(6, np.int64), np.empty(1, kind),
        np.empty(2, np.int64), np.empty((2, rooms), np.int64),
    )  # fmt: skip
    with interruptible():
        _match(arcs.indptr, arcs.indices, weight, forest, search)
    return forest.mate


@njit(cache=True, nogil=True)
def _match(indptr, indices, weight, forest, search):
    zero = forest.price.dtype.type(0)
    _bid(indptr, indices, weight, forest.mate, forest.price, search.queue)
    for root in range(forest.mate.size):
        if is_stopped():
            break
        if forest.mate[root] < 0 and precedes(zero, forest.price[root]):
            _grow(indptr, indices, weight, forest, search, root)
            _settle(forest, search)
            _augment(forest, search)


@part
def _bid(indptr, indices, weight, mate, price, free):
    """Begin with duals of half the heaviest edges, then lower those of free vertices, and match along tight edges.

    A vertex takes the neighbour where its dual becomes highest, and raises that one's until its second choice is as
    good: the augmenting row reduction of Jonker and Volgenant, of vertices that are rows and columns.
    """
    n, zero = mate.size, price.dtype.type(0)
    for v in range(n):
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            if precedes(price[v], weight[at] * 0.5) and indices[at] != v:
                price[v] = weight[at] * 0.5
        free[n - 1 - v] = v
    waiting, max_examined = n, _LOOKS * n
    while waiting > 0:
        waiting -= 1
        max_examined -= 1
        v = free[waiting]
        if mate[v] >= 0:
            continue
        most, second, best = zero, zero, np.int64(-1)
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            needed = weight[at] - price[u]
            if u == v or precedes(needed, second):
                continue
            if precedes(most, needed) or (not precedes(needed, most) and (best < 0 or mate[best] >= 0)):
                most, second, best = needed, most, u
            else:
                second = needed
        price[v] = most
        if best < 0 or (mate[best] >= 0 and (max_examined < 0 or not precedes(second, most))):
            continue
        displaced = mate[best]
        if displaced >= 0:
            mate[displaced] = -1
            free[waiting] = displaced
            waiting += 1
            price[best] += most - second
            price[v] = second
        mate[v], mate[best] = best, v


@part
def _grow(indptr, indices, weight, forest, search, root):
    """Grow a tree from a free vertex until an augmenting path ends in `search.end`."""
    n, rooms, count = forest.mate.size, forest.base.size, search.count
    now = forest.price.dtype.type(0)
    count[:STAMP] = 0
    search.bound[0] = np.inf
    label_outer(forest, search, top(forest, root), now)
    while not is_stopped():
        while count[SCANNED] < count[QUEUED]:
            v = search.queue[count[SCANNED]]
            count[SCANNED] += 1
            _scan(indptr, indices, weight, forest, search, v, now)
        if count[EVENTS] == 0 or not precedes(search.keys[0], search.bound[0]):
            break
        now, event = search.keys[0], search.events[0]
        count[EVENTS] = pop(search.keys, search.events, count[EVENTS])
        if event < n:
            b = top(forest, event)
            if search.label[b] == NONE and search.nearest[event] == now:
                label_inner(forest, search, b, now, search.before[event], event)
                label_outer(forest, search, top(forest, forest.mate[forest.base[b]]), now)
        elif event < rooms:
            if search.label[event] == INNER:
                expand(forest, search, event, now)
                _find_near(indptr, indices, weight, forest, search, event, now)
        else:
            at = event - rooms
            v, u = np.int64(lower_bound(indptr, 0, indptr.size, at + 1) - 1), vertex(indices, at)
            if top(forest, v) != top(forest, u):
                shrink(forest, search, v, u, now)


@part
def _scan(indptr, indices, weight, forest, search, v, now):
    """Note when the edges of an outer vertex become tight."""
    price, label, bound, count = forest.price, search.label, search.bound, search.count
    own = top(forest, v)
    for at in range(peek(indptr, v), peek(indptr, v + 1)):
        u = vertex(indices, at)
        b = top(forest, u)
        if b == own or label[b] == INNER:
            continue
        key = price[v] + price[u] - weight[at]
        if label[b] == OUTER:
            # Both duals fall.
            key = key * 0.5
        if precedes(key, now):
            # Due to rounding.
            key = now
        if not precedes(key, bound[0]):
            continue
        if label[b] == OUTER:
            count[EVENTS] = push(search.keys, search.events, count[EVENTS], key, forest.base.size + at)
        elif precedes(key, search.nearest[u]):
            _approach(search, u, v, key)
            if forest.mate[forest.base[b]] < 0:
                bound[0], search.end[0], search.end[1] = key, v, u
            else:
                count[EVENTS] = push(search.keys, search.events, count[EVENTS], key, u)


@part
def _approach(search, u, v, key):
    if search.before[u] < 0:
        search.near[search.count[NEAR]] = u
        search.count[NEAR] += 1
    search.nearest[u], search.before[u] = key, v


@part
def _find_near(indptr, indices, weight, forest, search, b, now):
    """Note when edges lead from the tree to those children of an expanded blossom that left it."""
    x = forest.child[b]
    while True:
        if search.label[x] == NONE:
            least, nearest, v = search.bound[0], np.int64(-1), forest.first[x]
            while True:
                search.nearest[v] = np.inf
                for at in range(peek(indptr, v), peek(indptr, v + 1)):
                    u = vertex(indices, at)
                    if search.label[top(forest, u)] != OUTER:
                        continue
                    key = forest.price[v] + forest.price[u] - weight[at]
                    if precedes(key, now):
                        key = now
                    if precedes(key, search.nearest[v]):
                        _approach(search, v, u, key)
                        if precedes(key, least):
                            least, nearest = key, v
                if v == forest.last[x]:
                    break
                v = forest.following[v]
            if nearest >= 0:
                search.count[EVENTS] = push(search.keys, search.events, search.count[EVENTS], least, nearest)
        x = forest.sibling[x]
        if x == forest.child[b]:
            break


@part
def _settle(forest, search):
    """Apply the pending dual changes of labelled vertices and blossoms, and clear the search."""
    now, count = search.bound[0], search.count
    for i in range(count[QUEUED]):
        v = search.queue[i]
        forest.price[v] -= now
        b = top(forest, v)
        if search.label[b] == OUTER:
            search.label[b] = NONE
            forest.dual[b] += now * 2
    for i in range(count[INNERS]):
        b = search.inner[i]
        if search.label[b] == INNER:
            search.label[b] = NONE
            forest.dual[b] -= now * 2
            shift(forest, b, now)
    for i in range(count[NEAR]):
        search.nearest[search.near[i]], search.before[search.near[i]] = np.inf, -1


@part
def _augment(forest, search):
    """Match along the path from the end of a search to its root."""
    v, other = search.end[0], search.end[1]
    if other >= 0:
        rebase(forest, search.stack, top(forest, other), other)
        forest.mate[other] = v
    while True:
        b = top(forest, v)
        matched = forest.mate[forest.base[b]]
        rebase(forest, search.stack, b, v)
        forest.mate[v] = other
        if matched < 0:
            break
        b = top(forest, matched)
        v, other = search.entry[0, b], search.entry[1, b]
        rebase(forest, search.stack, b, other)
        forest.mate[other] = v
