"""Ingredients of four-vertex graphlet counts on the CPU: triangles of edges, 4-cycles and 4-cliques.

T. Hočevar, J. Demšar, "A combinatorial approach to graphlet counting", Bioinformatics 30(4), 2014; A. Pinar, C.
Seshadhri, V. Vishal, "ESCAPE: efficiently counting all 5-vertex subgraphs", WWW'17. Vertices go by falling degree: each
edge leads from its end of the lower degree, so that no vertex has more than √(2m), and cycles are found at their vertex
of the highest (N. Chiba, T. Nishizeki, "Arboricity and subgraph listing algorithms", SIAM J. Comput. 14(1), 1985).
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.bits import lowest_bit, popcount
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, prange, tasks, team
from hpgraph.kernels.structure.cpu_degree_order import degree_order
from hpgraph.kernels.structure.cpu_truss import support_of

# Vertices that a thread takes at a time.
_CHUNK = 64


def graphlet_parts(arcs: CSR) -> tuple[Any, tuple[Any, Any, Any], Any]:
    """The vertices by falling degree; the ends of each edge, by their places there, and its triangles; and counts.

    Counts are of each place, of shape (3, n): cycles of four, cliques of four, and the other triangles on the edges
    that are opposite in its triangles. ``arcs``: of an undirected graph without loops.
    """
    order = degree_order(arcs)
    n = len(order.order)
    higher = np.repeat(np.arange(n), np.diff(order.indptr))
    support = np.zeros(len(order.indices), np.int64)
    support_of(order.indptr, order.indices, support)
    rows = arcs.permute(order.order)
    most = int(np.diff(order.indptr).max(initial=0))
    with team() as threads:
        tallies = np.zeros((threads, 3, n), np.int64)
        _cycles(rows.indptr, rows.indices, tallies, threads)
        _triangles(order.indptr, order.indices, support, most, tallies, threads)
    return order.order, (higher, order.indices, support), tallies.sum(axis=0)


@part
def _cycles_at(indptr, indices, v, paths, tally):
    """Cycles whose vertex of highest degree is v, from the paths of two edges to each later vertex."""
    for visit in range(3):
        for at in range(indptr[v + 1] - 1, indptr[v] - 1, -1):
            u = indices[at]
            if u <= v:
                break
            for to in range(indptr[u + 1] - 1, indptr[u] - 1, -1):
                w = indices[to]
                if w <= v:
                    break
                if visit == 0:
                    paths[w] += 1
                elif visit == 1:
                    tally[0, u] += paths[w] - 1
                elif paths[w] > 0:
                    pairs = paths[w] * (paths[w] - 1) // 2
                    tally[0, v] += pairs
                    tally[0, w] += pairs
                    paths[w] = 0


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _cycles(indptr, indices, tallies, threads):
    following = np.zeros(1, np.int64)
    n = indptr.size - 1
    for thread in prange(threads):
        paths = np.zeros(n, np.int64)
        for chunk in tasks(following, n, _CHUNK):
            for v in range(chunk, min(chunk + _CHUNK, n)):
                _cycles_at(indptr, indices, v, paths, tallies[thread])


@part
def _triangles_at(indptr, lower, support, v, mark, bits, tally):
    """Triangles whose last vertex is v, and the bits of arcs between its earlier neighbours; returns their number."""
    begin, end = indptr[v], indptr[v + 1]
    found = 0
    for at in range(begin, end):
        mark[lower[at]] = at
    for at in range(begin, end):
        u = lower[at]
        for to in range(indptr[u], indptr[u + 1]):
            w = lower[to]
            third = mark[w]
            if third >= 0:
                found += 1
                tally[2, v] += support[to] - 1
                tally[2, u] += support[third] - 1
                tally[2, w] += support[at] - 1
                i, j = at - begin, third - begin
                bits[i, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
                bits[j, i >> 6] |= np.uint64(1) << np.uint64(i & 63)
    for at in range(begin, end):
        mark[lower[at]] = -1
    return found


@part
def _cliques_at(lower, begin, degree, bits, v, tally):
    """Cliques whose last vertex is v: triangles among its earlier neighbours, whose bits are cleared."""
    words = (degree + 63) >> 6
    total = 0
    for i in range(degree):
        twice = 0
        for word in range(words):
            left = bits[i, word]
            while left:
                j = 64 * word + lowest_bit(left)
                left &= left - np.uint64(1)
                for k in range(words):
                    twice += popcount(bits[i, k] & bits[j, k])
        tally[1, lower[begin + i]] += twice // 2
        total += twice
    bits[:degree, :words] = 0
    tally[1, v] += total // 6


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _triangles(indptr, lower, support, most, tallies, threads):
    following = np.zeros(1, np.int64)
    n = indptr.size - 1
    for thread in prange(threads):
        mark, bits = np.full(n, -1, np.int64), np.zeros((most, (most + 63) // 64), np.uint64)
        tally = tallies[thread]
        for chunk in tasks(following, n, _CHUNK):
            for v in range(chunk, min(chunk + _CHUNK, n)):
                if _triangles_at(indptr, lower, support, v, mark, bits, tally):
                    _cliques_at(lower, indptr[v], indptr[v + 1] - indptr[v], bits, v, tally)
