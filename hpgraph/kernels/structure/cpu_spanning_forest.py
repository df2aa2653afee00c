"""Spanning forests of least weight: by Borůvka's rounds in parallel, and by Kruskal's order on one thread.

O. Borůvka, "O jistém problému minimálním", 1926: every tree takes its lightest arc to another. Arcs are in one order,
by weight, of equal ones by their lower end, then by the other, so that no cycle can close and the forest is unique. A
vertex keeps its lightest arc to another tree until both ends are in one; only then is its row read again. One tree may
leave the choice to the others: the one with most vertices does, which spares most arcs of many graphs.

J. B. Kruskal, "On the shortest spanning subtree of a graph and the traveling salesman problem", Proc. AMS 7 (1956):
arcs by rising weight.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, interruptible, is_stopped, njit, part, prange, team
from hpgraph.kernels.runtime.cpu.prefetch import peek, put, vertex
from hpgraph.kernels.runtime.cpu.union_find import root_of
from hpgraph.kernels.runtime.sampling import most_frequent

# Vertices that one thread takes at a time.
CHUNK = 1024
# Lightest arc of a vertex not yet scanned, and of one whose arcs all lie inside its tree.
UNKNOWN, NONE = -1, -2
# The lightest arc of each vertex to another tree: its position, its target, and its weight, if any.
Lightest = namedtuple("Lightest", "arc target weight")
# The trees so far: the root of each vertex, the parent of a root, and the arc by which a root was hooked.
Forest = namedtuple("Forest", "root above source arc")


def spanning_forest(arcs: CSR) -> tuple[Any, Any, Any]:
    """One end of each edge of a forest of least weight, its position in that end's row, and the root of each vertex.

    ``arcs``: symmetric, rows ascending, no arc twice; loops are passed over. Without values all weigh the same; NaN is
    heavier than all others. The order means nothing, but is the same at every call. A root is any vertex of its tree.
    """
    n, ids = arcs.shape[0], arcs.indices.dtype
    # Without weights none is read, whatever its type.
    data = np.empty(0, np.float32) if arcs.data is None else arcs.data
    lightest = Lightest(np.full(n, UNKNOWN), np.empty(n, ids), np.empty(n if data.size else 0, data.dtype))
    forest = Forest(np.arange(n, dtype=ids), np.arange(n, dtype=ids), np.empty(n, ids), np.full(n, UNKNOWN))
    champion, roots = np.full(n, -1, ids), np.empty(n, ids)
    active = np.arange(n, dtype=ids)
    left_out = -1
    with team():
        while len(active):
            _find_lightest(arcs.indptr, arcs.indices, data, forest.root, active, lightest)
            joined, kept = _join(lightest, active, champion, roots, forest)
            if not joined:
                break
            active = active[:kept]
            _flatten(forest.above, forest.root)
            if left_out < 0:
                left_out = _most_vertices(forest.root)
            if left_out >= 0:
                active = active[forest.root[active] != left_out]
    kept = np.flatnonzero(forest.arc >= 0)
    return forest.source[kept], forest.arc[kept], forest.root


def _most_vertices(root: Any) -> int:
    """The root of a tree that has more than half of the vertices, by a sample; else -1."""
    most = most_frequent(root)
    return most if np.count_nonzero(root == most) * 2 > len(root) else -1


@part(whole=True)
def _lighter(a, b):
    """Whether one weight is less than another; NaN is not less than any."""
    return a < b or (a == a and b != b)


@njit(cache=True, parallel=LOOPS)
def _find_lightest(indptr, indices, data, root, active, lightest):
    arc, target, weight = lightest
    count = active.size
    for chunk in prange((count + CHUNK - 1) // CHUNK):
        for i in range(chunk * CHUNK, chunk * CHUNK if is_stopped() else min(count, (chunk + 1) * CHUNK)):
            v = vertex(active, i)
            own_root, known = peek(root, v), peek(arc, v)
            if known == NONE or (known >= 0 and peek(root, vertex(target, v)) != own_root):
                continue
            found = NONE
            for at in range(peek(indptr, v), peek(indptr, v + 1)):
                # Rows ascend, so that of equal weights the first is the least in the order of arcs.
                if data.size == 0:
                    if peek(root, vertex(indices, at)) != own_root:
                        found = at
                        break
                elif (found < 0 or _lighter(peek(data, at), peek(data, found))) and (
                    peek(root, vertex(indices, at)) != own_root
                ):
                    found = at
            arc[v] = found
            if found >= 0:
                target[v] = indices[found]
                if data.size > 0:
                    weight[v] = data[found]


@part(whole=True)
def _comes_first(lightest, u, v):
    """Whether the lightest arc of u comes before that of v."""
    if lightest.weight.size > 0:
        if _lighter(peek(lightest.weight, u), peek(lightest.weight, v)):
            return True
        if _lighter(peek(lightest.weight, v), peek(lightest.weight, u)):
            return False
    s, t = vertex(lightest.target, u), vertex(lightest.target, v)
    low, other_low = min(u, s), min(v, t)
    return low < other_low or (low == other_low and max(u, s) < max(v, t))


@njit(cache=True, nogil=True)
def _join(lightest, active, champion, roots, forest):
    """Hook each tree under the other end of its lightest arc, which its root keeps; returns how many.

    Vertices that have an arc to another tree move to the front of `active`: how many is the second result. `champion`,
    all -1 before and after, is the vertex with a tree's lightest arc, by root; `roots` is work space.
    """
    found = kept = 0
    for i in range(active.size):
        v = vertex(active, i)
        if peek(lightest.arc, v) >= 0:
            active[kept] = v
            kept += 1
            c = vertex(forest.root, v)
            if champion[c] < 0:
                roots[found] = c
                found += 1
                champion[c] = v
            elif _comes_first(lightest, v, vertex(champion, c)):
                champion[c] = v
    joined = 0
    for i in range(found):
        c = vertex(roots, i)
        v = vertex(champion, c)
        u = vertex(lightest.target, v)
        d = vertex(forest.root, u)
        if c < d and champion[d] == u and lightest.target[u] == v:
            continue  # both chose this arc: the larger root is hooked
        forest.above[c] = d
        forest.source[c], forest.arc[c] = v, lightest.arc[v]
        joined += 1
    for i in range(found):
        c = vertex(roots, i)
        champion[c] = -1
        root = c
        while forest.above[root] != root:
            root = vertex(forest.above, root)
        while forest.above[c] != root:
            following = vertex(forest.above, c)
            forest.above[c] = root
            c = following
    return joined, kept


@njit(cache=True, parallel=LOOPS)
def _flatten(above, root):
    n = root.size
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        for v in range(chunk * CHUNK, chunk * CHUNK if is_stopped() else min(n, (chunk + 1) * CHUNK)):
            root[v] = peek(above, vertex(root, v))


def lightest_forest(arcs: CSR) -> CSR:
    """The arcs of a spanning forest of least weight, whatever their direction, but for those of weight 0.

    Of equal ones the first is in it. Rows need neither be sorted nor free of duplicates.
    """
    rows, n = arcs.expand_rows(), arcs.shape[0]
    chosen, ends = np.zeros(arcs.nnz, np.bool_), np.zeros(n + 1, np.int64)
    indices, data = np.empty(n, arcs.indices.dtype), np.empty(n)
    with interruptible():
        order = stable_order(arcs.data)
        _choose(rows, arcs.indices, order, np.arange(n, dtype=rows.dtype), chosen)
        count = _keep(arcs.indptr, arcs.indices, arcs.data, chosen, ends, indices, data)
    return CSR(arcs.shape, ends, indices[:count], data[:count], validate=False)


@njit(cache=True, nogil=True, counts_references=False)
def _keep(indptr, indices, data, chosen, ends, kept_indices, kept_data):
    count = 0
    for v in range(ends.size - 1):
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            if chosen[at] and data[at] != 0:
                kept_indices[count], kept_data[count] = indices[at], data[at]
                count += 1
        ends[v + 1] = count
    return count


# Bits of a digit.
DIGIT = 11
_SIGN = np.int64(-(1 << 63))
# Places, for each value, by which all together may be moved when the leading digits are in order.
_MOVES = 4


def stable_order(values: Any) -> Any:
    """Stable argsort of float64 values, NaN last; by radix sort.

    Keys move with their positions. Enough leading digits are sorted that few values are equal in all of them;
    those are sorted by insertion, or where that takes long by all digits. Digits that are alike in all values are
    passed over: whole numbers have few that are not.
    """
    count = len(values)
    keys, ids = np.empty(count, np.uint64), np.int32 if count <= np.iinfo(np.int32).max else np.int64
    varying = np.uint64(_as_integers(values, values.view(np.int64), keys))
    order = np.arange(count, dtype=ids)
    work = keys.copy(), np.empty_like(keys), order.copy(), np.empty_like(order)
    for low in (64 - DIGIT * (2 + -(-count.bit_length() // (2 * DIGIT))), 0):
        work[0][:], work[2][:] = keys, order
        current = _sort(*work, varying, low)
        ordered, found = work[current], work[2 + current]
        if low <= 0 or _insert(ordered, found, _MOVES * count):
            break
    return found


@njit(cache=True, nogil=True)
def _as_integers(values, bits, keys):
    """Integers without sign in the order of floats: negative ones inverted. Returns the bits that are not all alike."""
    varying = np.uint64(0)
    for i in range(keys.size):
        value, number = values[i], bits[i]
        if value == 0:
            number = 0
        elif value != value:
            number = ~_SIGN
        keys[i] = np.uint64(number ^ ((number >> 63) | _SIGN))
        varying |= keys[i] ^ keys[0]
    return varying


@njit(cache=True, nogil=True)
def _sort(keys, other_keys, order, other, varying, low):
    """Sort by the digits from a bit on; returns whether keys and order are in the others in the end."""
    mask, begins, current = np.uint64((1 << DIGIT) - 1), np.empty(1 << DIGIT, np.int64), 0
    for bit in range(low, 64, DIGIT):
        shift = np.uint64(bit)
        if (varying >> shift) & mask == 0 or is_stopped():
            continue
        begins[:] = 0
        for key in keys:
            begins[(key >> shift) & mask] += 1
        total = 0
        for value in range(begins.size):
            count = begins[value]
            begins[value] = total
            total += count
        for i in range(keys.size):
            key = peek(keys, i)
            digit = np.int64((key >> shift) & mask)
            at = peek(begins, digit)
            put(begins, digit, at + 1)
            put(other_keys, at, key)
            put(other, at, peek(order, i))
        keys, other_keys, order, other, current = other_keys, keys, other, order, 1 - current
    return current


@njit(cache=True, nogil=True, counts_references=False)
def _insert(keys, order, moves):
    """Insertion sort of nearly sorted values; returns whether it finished within `moves` moves."""
    for i in range(1, keys.size):
        key, at, to = peek(keys, i), peek(order, i), np.int64(i)
        while to > 0 and peek(keys, to - 1) > key and moves > 0:
            put(keys, to, peek(keys, to - 1))
            put(order, to, peek(order, to - 1))
            to -= 1
            moves -= 1
        put(keys, to, key)
        put(order, to, at)
        if moves == 0:
            return False
    return True


@njit(cache=True, nogil=True)
def _choose(rows, columns, order, above, chosen):
    left = above.size - 1
    for i in range(order.size):
        if i % CHUNK == 0 and is_stopped():
            break
        at = peek(order, i)
        u, v = root_of(above, vertex(rows, at)), root_of(above, vertex(columns, at))
        if u != v:
            above[max(u, v)] = min(u, v)
            chosen[at] = True
            left -= 1
            if left == 0:
                break
