"""Triangles of a graph cut into blocks, on the CPU: those whose three arcs lie in three given blocks.

Arcs lead from lower to higher degree, so each triangle u → w → v, u → v is found once, at its middle vertex w: its
heads v are marked, and for each of its tails u the heads of u above w are looked up, Σ d⁺(d⁺ - 1) / 2 in all, as in
`hpgraph.kernels.structure.cpu_triangles`.
"""

from collections import namedtuple

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, prange, tasks, team

# Middle vertices that a thread takes at a time.
CHUNK = 64
# Middle vertices, with the arcs that reach them and those that leave them. ``begin, tails``: rows of the tails of arcs
# that reach each middle; ``row``: the row of each middle in ``first, heads``, the heads of arcs that leave it, by rank;
# ``above``: the least rank of a head whose degree is above that of each middle.
Middles = namedtuple("Middles", "begin tails row first heads above")
# The arcs that close triangles: rows of each tail's heads, by rank, ascending.
Closing = namedtuple("Closing", "begin heads")
# Triangles to be added to: for each thread at tails and at heads, arrays of shape (threads, n); at middles.
Tallies = namedtuple("Tallies", "tail head middle")


@njit(cache=True, nogil=True)
def _at_middle(middles, closing, w, marked, tail, head, middle):
    """Tally the triangles whose middle vertex is w."""
    first, last = middles.first[middles.row[w]], middles.first[middles.row[w] + 1]
    begin, end = middles.begin[w], middles.begin[w + 1]
    if begin == end or first == last:
        return
    for j in range(first, last):
        marked[middles.heads[j]] = 1
    above, total = middles.above[w], 0
    for i in range(begin, end):
        u = middles.tails[i]
        found = 0
        j = closing.begin[u + 1] - 1
        while j >= closing.begin[u] and closing.heads[j] >= above:
            v = closing.heads[j]
            if marked[v]:
                head[v] += 1
                found += 1
            j -= 1
        tail[u] += found
        total += found
    for j in range(first, last):
        marked[middles.heads[j]] = 0
    middle[w] = total


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _count(middles, closing, tallies):
    # Numba treats an array that is only written to, and came from a tuple, as dead: `tallies` is written in _at_middle.
    following = np.zeros(1, np.int64)
    for thread in prange(tallies.head.shape[0]):
        tail, head = tallies.tail[thread], tallies.head[thread]
        marked = np.zeros(head.size, np.uint8)
        for chunk in tasks(following, middles.row.size, CHUNK):
            for w in range(chunk, min(chunk + CHUNK, middles.row.size)):
                _at_middle(middles, closing, w, marked, tail, head, tallies.middle)


def count_between(middles: Middles, closing: Closing, heads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Triangles at each tail, at each head by rank, and at each middle."""
    middle = np.zeros(len(middles.row), np.int64)
    with team() as threads:
        tallies = Tallies(
            np.zeros((threads, len(closing.begin) - 1), np.int64), np.zeros((threads, heads), np.int64), middle
        )
        _count(middles, closing, tallies)
    return tallies.tail.sum(axis=0), tallies.head.sum(axis=0), middle
