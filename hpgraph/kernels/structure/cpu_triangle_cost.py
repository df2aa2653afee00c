"""Choice among the three triangle-counting loops on the CPU, by estimated cost.

The GAP Benchmark Suite samples degrees and reorders where they are skewed (Beamer, Asanović & Patterson,
arXiv:1508.03619, WorthRelabelling). The choice rests on the wedges that an order leaves: they are counted for the order
of ids, in a thousandth of the time of counting triangles, and, where they are many, estimated for the order by degree.
"""


from collections import namedtuple

import numpy as np
from numba import prange

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.prefetch import peek, vertex
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.threads import team

WALK, MARK, ORDER = "walk", "mark", "order"
# Costs, with a probe of the bitmap of marks as the unit: 0.45 ns on an AMD EPYC of 2024 (Zen 5).
# A step of walking two rows, every second or third of which is mispredicted: 0.5 to 2 ns while rows are short.
WALK_STEP = 3
# To start a row: its end is mispredicted, and it may miss the cache. 15 to 60 ns.
ROW = 40
# For an arc, to be oriented (12 ns) and to be looked up by rank while counting (12 ns).
ORIENT = 50
# Sample sizes for the estimate of wedges by degree: vertices, and neighbours of each.
SAMPLE, NEIGHBOURS = 4096, 32
# Fibonacci hashing: spreads consecutive numbers (D. E. Knuth, The Art of Computer Programming 3, 6.4).
GOLDEN = 2654435761
# Pairs of neighbours below a vertex; of one below and one above; and arcs upwards from vertices with any below.
Wedges = namedtuple("Wedges", "below across rows")


@njit(cache=True, nogil=True, parallel=LOOPS)
def _degree_squares(indptr):
    total = 0.0
    for v in prange(indptr.size - 1):
        degree = np.float64(peek(indptr, v + 1) - peek(indptr, v))
        total += degree * degree
    return total


@njit(cache=True, nogil=True, parallel=LOOPS)
def _wedges(indptr, indices):
    below, across, rows = 0.0, 0.0, 0.0
    for u in prange(indptr.size - 1):
        begin, end = peek(indptr, u), peek(indptr, u + 1)
        # A vertex of one neighbour is in the middle of no wedge.
        if end - begin < 2:
            continue
        # Branch-free binary search: the branches are unpredictable.
        place, length = begin, end - begin
        while length > 1:
            half = length >> 1
            place += half if vertex(indices, place + half - 1) < u else 0
            length -= half
        place += vertex(indices, place) < u
        smaller = np.float64(place - begin)
        larger = np.float64(end - place)
        below += smaller * (smaller - 1.0) * 0.5
        across += smaller * larger
        rows += larger if smaller > 0 else 0.0
    return below, across, rows


@njit(cache=True, nogil=True)
def _wedges_by_degree(indptr, indices, sample, neighbours):
    """Pairs of neighbours that precede the same vertex in order of falling degree, estimated from a sample."""
    n = indptr.size - 1
    found = 0.0
    for i in range(sample):
        u = i * GOLDEN % n
        begin, degree = peek(indptr, u), peek(indptr, u + 1) - peek(indptr, u)
        looked = min(degree, neighbours)
        before = 0
        for k in range(looked):
            v = vertex(indices, begin + k * degree // looked)
            other = peek(indptr, v + 1) - peek(indptr, v)
            before += other > degree or (other == degree and v < u)
        if looked > 0:
            share = before * degree / looked
            found += max(share * (share - 1.0) * 0.5, 0.0)
    return found * n / sample


@attached
def cheapest(graph: CSR) -> str:
    """The loop, "walk", "mark" or "order", expected to take the least time with its preparation; once a graph."""
    with team():
        # Walking looks at up to Σd² / 2 neighbours, marking starts about half of the arcs' rows: in road networks
        # counting wedges would take as long as counting triangles.
        if WALK_STEP * _degree_squares(graph.indptr) <= ROW * graph.nnz:
            return WALK
        wedges = Wedges(*_wedges(graph.indptr, graph.indices))
    walk = WALK_STEP * (wedges.below + wedges.across)
    mark = wedges.below + ROW * wedges.rows
    way, cost = (WALK, walk) if walk <= mark else (MARK, mark)
    prepared = (ORIENT + ROW / 2) * graph.nnz
    if cost > prepared:
        sample = min(SAMPLE, graph.shape[0])
        if cost > prepared + _wedges_by_degree(graph.indptr, graph.indices, sample, NEIGHBOURS):
            return ORDER
    return way
