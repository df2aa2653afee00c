"""Cliques on the CPU, vertex by vertex of a degeneracy order, among the later neighbours of each as rows of bits.

D. Eppstein, M. Löffler, D. Strash, "Listing all maximal cliques in large sparse graphs in near-optimal time", Journal
of Experimental Algorithmics 18 (2013), with the pivots of E. Tomita, A. Tanaka, H. Takahashi, "The worst-case time
complexity for generating all maximal cliques and computational experiments", TCS 363 (2006). Cliques of a number of
vertices are counted as in M. Danisch, O. Balalau, M. Sozio, "Listing k-cliques in sparse real-world graphs", WWW'18.
"""

from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.bits import lowest_bit, popcount
from hpgraph.kernels.runtime.cpu.kernel import (
    LOOPS,
    copy_items,
    interruptible,
    is_stopped,
    njit,
    part,
    prange,
    team,
    vertex,
)
from hpgraph.kernels.structure.cpu_peeling import peel

# The graph with its vertices in degeneracy order; `later`: where the neighbours of each that follow it begin.
Ordered = namedtuple("Ordered", "indptr indices later")
# The search below one vertex: rows of bits, which of its later neighbours each of these, and then each of the earlier
# ones, is joined to; the order of the earlier ones. By depth: candidates, vertices done, candidates to branch at, how
# many of the earlier ones are joined to all of the clique, and the vertex that was chosen.
Search = namedtuple("Search", "rows earlier candidates done branches joined chosen mark")
_BLOCK = 1 << 16
_CHUNK = 64


def ordered(arcs: CSR) -> tuple[Ordered, Any]:
    """An undirected graph, without loops, in degeneracy order, and that order."""
    order = np.argsort(peel(arcs)[1], kind="stable")
    indptr, rank = np.zeros(len(order) + 1, np.int64), np.empty(len(order), arcs.indices.dtype)
    np.cumsum(arcs.degrees[order], out=indptr[1:])
    rank[order] = np.arange(len(order))
    indices, later = np.empty_like(arcs.indices), np.empty(len(order), np.int64)
    with interruptible():
        _in_order(arcs.indptr, arcs.indices, order, rank, indptr, indices, later)
    return Ordered(indptr, indices, later), order


@njit(cache=True, nogil=True)
def _in_order(indptr, indices, order, rank, begins, turned, later):
    """Rows of a symmetric graph in another order; ascending, since vertices are appended in that order."""
    ends = begins.copy()
    for i in range(order.size):
        if is_stopped():
            break
        # All preceding neighbours have been appended.
        later[i] = ends[i]
        for at in range(indptr[order[i]], indptr[order[i] + 1]):
            r = rank[vertex(indices, at)]
            turned[ends[r]] = i
            ends[r] += 1


def maximal_cliques(arcs: CSR, least: int = 1, largest: bool = False) -> Iterator[tuple[Any, Any]]:
    """Maximal cliques of at least `least` vertices, in blocks: where each begins and ends, and vertices.

    ``largest``: each is larger than the one before, and those that cannot be are not looked for. It begins
    with the last vertices of the order, where the graph is densest; only the last clique is maximal for certain.
    """
    graph, order = ordered(arcs)
    n = len(order)
    most = int((graph.indptr[1:] - graph.later).max()) if n else 0
    words = max((most + 63) // 64, 1)
    earlier = int((graph.later - graph.indptr[:-1]).max()) if n else 0
    sets, counts = np.empty((3, most + 1, words), np.uint64), np.empty((2, most + 1), np.int64)
    rows = np.empty((most + earlier, words), np.uint64)
    at_work = rows, np.empty(earlier, np.int64), sets[0], sets[1], sets[2], counts[0], counts[1]
    search = Search(*at_work, np.full(n, -1, np.int32))
    state = np.array([n - 1 if largest else 0, -1, least, largest])
    while 0 <= state[0] < n:
        found, ends = np.empty(max(_BLOCK, 2 * most + 2), np.int64), np.zeros(_BLOCK // 4 + 1, np.int64)
        with interruptible():
            count = _search(graph, search, state, found, ends)
        yield ends[: count + 1], order[found[: ends[count]]]


@part
def _bits_of(indices, begin, end, among, stop, row):
    """Set bits for the vertices of one range, by their positions in another; both ascend."""
    row[:] = 0
    for i in range(among, stop):
        while begin < end and indices[begin] < indices[i]:
            begin += 1
        if begin < end and indices[begin] == indices[i]:
            row[(i - among) >> 6] |= np.uint64(1) << np.uint64((i - among) & 63)


@part
def _marked_bits(indices, begin, end, mark, row):
    """Set bits for the vertices of a range that are marked, by their marked positions."""
    row[:] = 0
    for at in range(begin, end):
        i = mark[vertex(indices, at)]
        if i >= 0:
            row[i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@part
def _begin(graph, search, v, words, largest):
    """The rows of a vertex's later neighbours, and of its earlier ones where cliques are to be maximal."""
    indptr, indices, later = graph
    among, stop = later[v], indptr[v + 1]
    count = stop - among
    for i in range(count):
        search.mark[indices[among + i]] = i
        search.candidates[0, i >> 6] = 0
    for i in range(count):
        u = indices[among + i]
        _marked_bits(indices, later[u], indptr[u + 1], search.mark, search.rows[i, :words])
    for i in range(count):
        # Rows have later neighbours so far: the others are joined both ways.
        for j in range(i):
            if (search.rows[j, i >> 6] >> np.uint64(i & 63)) & np.uint64(1):
                search.rows[i, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
        search.candidates[0, i >> 6] |= np.uint64(1) << np.uint64(i & 63)
    search.done[0, :words] = 0
    kept = 0
    for at in range(among if largest else indptr[v], among):
        u = indices[at]
        row = search.rows[count + kept, :words]
        _marked_bits(indices, later[u], indptr[u + 1], search.mark, row)
        adjacent = np.uint64(0)
        for w in range(words):
            adjacent |= row[w]
        if adjacent:
            search.earlier[kept] = count + kept
            kept += 1
    search.joined[0] = kept
    for at in range(among, stop):
        search.mark[indices[at]] = -1


@part
def _covers(rows, u, candidates, words):
    found = 0
    for w in range(words):
        found += popcount(rows[u, w] & candidates[w])
    return found


@part
def _branch(search, depth, words):
    """Branch at the candidates that are not joined to the pivot: the vertex that is joined to most of them."""
    candidates, best, pivot = search.candidates[depth], -1, 0
    for w in range(words):
        word = candidates[w] | search.done[depth, w]
        while word:
            u = 64 * w + lowest_bit(word)
            word &= word - np.uint64(1)
            covered = _covers(search.rows, u, candidates, words)
            if covered > best:
                best, pivot = covered, u
    for i in range(search.joined[depth]):
        covered = _covers(search.rows, search.earlier[i], candidates, words)
        if covered > best:
            best, pivot = covered, search.earlier[i]
    for w in range(words):
        search.branches[depth, w] = candidates[w] & ~search.rows[pivot, w]


@part
def _descend(search, depth, q, words):
    """Add a vertex to the clique: the number of candidates left, and whether a done vertex is adjacent to all."""
    left, others = 0, np.uint64(0)
    for w in range(words):
        row = search.rows[q, w]
        search.candidates[depth + 1, w] = search.candidates[depth, w] & row
        search.done[depth + 1, w] = search.done[depth, w] & row
        left += popcount(search.candidates[depth + 1, w])
        others |= search.done[depth + 1, w]
    bit = np.uint64(1) << np.uint64(q & 63)
    search.candidates[depth, q >> 6] &= ~bit
    search.done[depth, q >> 6] |= bit
    # Adjacent vertices move to the front: the sets above, which are prefixes, keep their elements.
    front = 0
    for i in range(search.joined[depth]):
        x = search.earlier[i]
        if search.rows[x, q >> 6] & bit:
            search.earlier[i] = search.earlier[front]
            search.earlier[front] = x
            front += 1
    search.joined[depth + 1] = front
    return left, others != 0 or front > 0


@part
def _next_branch(branches, words):
    for w in range(words):
        if branches[w]:
            q = 64 * w + lowest_bit(branches[w])
            branches[w] &= branches[w] - np.uint64(1)
            return q
    return -1


@njit(cache=True, nogil=True)
def _search(graph, search, state, found, ends):
    """Search until the block is full; `state`: vertex, depth or -1, the minimum size, and whether it grows."""
    indptr, indices, later = graph
    v, depth, least, largest = state[0], state[1], state[2], state[3]
    count, n, step = 0, later.size, -1 if largest else 1
    while 0 <= v < n and count + 1 < ends.size and ends[count] + indptr[v + 1] - later[v] < found.size:
        if is_stopped():
            break
        size = indptr[v + 1] - later[v]
        words = (size + 63) >> 6
        if depth < 0:
            if size + 1 < least or (size == 0 and indptr[v] < indptr[v + 1]):
                v += step
                continue
            if size > 0:
                _begin(graph, search, v, words, largest)
                _branch(search, 0, words)
                depth = 0
        q = _next_branch(search.branches[depth], words) if size > 0 else -1
        if q < 0 and size > 0:
            depth -= 1
            v += step if depth < 0 else 0
            continue
        left, others = _descend(search, depth, q, words) if size > 0 else (0, False)
        if size > 0:
            search.chosen[depth] = q
        if left > 0:
            if depth + 2 + left >= least:
                depth += 1
                _branch(search, depth, words)
        elif not others and depth + 2 >= least:
            at = ends[count]
            found[at] = v
            for i in range(depth + 1):
                found[at + 1 + i] = indices[later[v] + search.chosen[i]]
            count += 1
            ends[count] = at + depth + 2
            least = depth + 3 if largest else least
        v += step if size == 0 else 0
    state[0], state[1], state[2] = v, depth, least
    return count


def cliques_by_size(later: CSR) -> Iterator[Any]:
    """All cliques of one vertex, of two, and so on: an array for each size, a row a clique, in lexicographic order.

    ``later``: the neighbours of each vertex that follow it, ascending.
    """
    cliques = np.arange(later.shape[0])[:, None]
    # For each clique, the later vertices adjacent to all of its vertices.
    indptr, joined = later.indptr, later.indices.astype(np.int64)
    while len(cliques):
        yield cliques
        counts = np.diff(indptr)
        ends = np.repeat(indptr[1:], counts)
        cliques = np.column_stack([np.repeat(cliques, counts, axis=0), joined])
        following = np.zeros(len(joined) + 1, np.int64)
        with interruptible():
            _join(later.indptr, later.indices, joined, ends, following, np.empty(0, np.int64))
        np.cumsum(following, out=following)
        found = np.empty(following[-1], np.int64)
        with interruptible():
            _join(later.indptr, later.indices, joined, ends, following, found)
        indptr, joined = following, found


@njit(cache=True, nogil=True)
def _join(indptr, indices, joined, ends, following, found):
    """The later neighbours of each vertex among those that follow it in its list; counts alone if `found` is empty."""
    for at in range(joined.size):
        if is_stopped():
            break
        few, many = joined[at + 1 : ends[at]], indices[indptr[joined[at]] : indptr[joined[at] + 1]].astype(np.int64)
        if few.size > many.size:
            few, many = many, few
        count = 0
        for v in few:
            place = np.searchsorted(many, v)
            if place < many.size and many[place] == v:
                if found.size:
                    found[following[at] + count] = v
                count += 1
        if not found.size:
            following[at + 1] = count


def count_cliques(arcs: CSR, k: int) -> int:
    """Number of cliques of k >= 3 vertices."""
    graph, order = ordered(arcs)
    n = len(order)
    most = int((graph.indptr[1:] - graph.later).max()) if n else 0
    counts = np.zeros((n + _CHUNK - 1) // _CHUNK, np.int64)
    with team():
        _count(graph, k, most, counts)
    return int(counts.sum())


@part
def _count_at(graph, v, k, rows, sets, branches):
    """Cliques of k vertices whose first is v, by search among its later neighbours."""
    indptr, indices, later = graph
    among, stop = later[v], indptr[v + 1]
    words = (stop - among + 63) >> 6
    sets[0, :words] = 0
    for i in range(stop - among):
        u = indices[among + i]
        _bits_of(indices, later[u], indptr[u + 1], among, stop, rows[i, :words])
        sets[0, i >> 6] |= np.uint64(1) << np.uint64(i & 63)
    total, depth = 0, 0
    copy_items(branches[0], 0, sets[0], 0, words)
    while depth >= 0:
        q = _next_branch(branches[depth], words)
        if q < 0:
            depth -= 1
            continue
        left = 0
        for w in range(words):
            sets[depth + 1, w] = sets[depth, w] & rows[q, w]
            left += popcount(sets[depth + 1, w])
        if depth + 3 == k:
            total += left
        elif left >= k - depth - 2:
            depth += 1
            copy_items(branches[depth], 0, sets[depth], 0, words)
    return total


@njit(cache=True, parallel=LOOPS, heavy=True)
def _count(graph, k, most, counts):
    words = (most + 63) // 64
    for chunk in prange(counts.size):
        rows = np.empty((most, words), np.uint64)
        sets, branches = np.empty((k, words), np.uint64), np.empty((k, words), np.uint64)
        for v in range(chunk * _CHUNK, min((chunk + 1) * _CHUNK, graph.later.size)):
            if graph.indptr[v + 1] - graph.later[v] >= k - 1 and not is_stopped():
                counts[chunk] += _count_at(graph, v, k, rows, sets, branches)
