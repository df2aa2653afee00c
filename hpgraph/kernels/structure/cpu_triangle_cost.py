"""Choice among the three triangle-counting loops on the CPU, by estimated cost.

The GAP Benchmark Suite samples degrees and reorders where they are skewed (Beamer, Asanović & Patterson,
arXiv:1508.03619, WorthRelabelling). The choice rests on the wedges that an order leaves, estimated from a sample of
arcs: a vertex is drawn in proportion to its degree, so that hubs, which have most wedges, are not missed.
"""

import numpy as np

from hpgraph.formats import CSR, attached
from hpgraph.kernels.runtime.cpu.kernel import njit, part, peek, vertex
from hpgraph.kernels.runtime.cpu.rows import lower_bound

WALK, MARK, ORDER = "walk", "mark", "order"
# Costs, with a probe of the bitmap of marks as the unit: 0.45 ns on an AMD EPYC of 2024 (Zen 5).
# A step of walking two rows, every second or third of which is mispredicted: 0.5 to 2 ns while rows are short, on an
# Intel Xeon 3 ns where neighbours lie close together and 7 where they are random, of probes of 0.7.
WALK_STEP = 6
# Cost of starting a row: its end is mispredicted, and it may miss the cache. 15 to 60 ns.
ROW = 40
# Cost of orienting an arc (12 ns), and of its look-up by rank while counting (12 ns).
ORIENT = 50
# Sample sizes: arcs, all of a small graph, and neighbours of the vertex that each leaves.
SAMPLE, NEIGHBOURS = 4096, 8
# Fibonacci hashing: spreads consecutive numbers (D. E. Knuth, The Art of Computer Programming 3, 6.4).
GOLDEN = 2654435761
# Rows between two tests of the sum of squared degrees; and the degree that larger ones count as there, as its square
# is above any limit, and so many of them are below 2⁶³.
ROWS, LARGE = 1024, 1 << 26


@attached
def cheapest(graph: CSR) -> str:
    """The loop, "walk", "mark" or "order", expected to take the least time with its preparation; once a graph."""
    nnz, spacing = graph.nnz, max(graph.nnz // SAMPLE, 1)
    numbers = np.arange(min(SAMPLE, nnz))
    # One arc of each stretch, ascending: lookups of successive rows share the cache.
    sample = numbers * nnz // max(numbers.size, 1) + numbers * GOLDEN % spacing
    return (WALK, MARK, ORDER)[_cheapest(graph.indptr, graph.indices, sample)]


@njit(cache=True, nogil=True, counts_references=False)
def _cheapest(indptr, indices, sample):
    """0 to walk, 1 to mark, 2 to order."""
    n, nnz = indptr.size - 1, indices.size
    # Walking looks at up to Σd² / 2 neighbours, marking starts about half of the arcs' rows.
    most = nnz * ROW // WALK_STEP
    if _squares(indptr, n, most) <= most:
        return 0
    # Pairs of neighbours below a vertex; of one below and one above; and arcs upwards from vertices with any below.
    below, across, upwards = 0.0, 0.0, 0.0
    for arc in sample:
        v = _row_of(indptr, n, arc)
        begin, end = peek(indptr, v), peek(indptr, v + 1)
        smaller = lower_bound(indices, begin, end, v) - begin
        larger = end - begin - smaller
        # Arcs of the graph for each of the row's own that is drawn.
        share = nnz / sample.size / (end - begin)
        below += share * smaller * (smaller - 1) / 2
        across += share * smaller * larger
        upwards += share * larger * (smaller > 0)
    walk, mark = WALK_STEP * (below + across), below + ROW * upwards
    prepared = (ORIENT + ROW / 2) * nnz
    if min(walk, mark) > prepared and min(walk, mark) > prepared + _pairs_by_degree(indptr, indices, sample):
        return 2
    return 0 if walk <= mark else 1


@part(counts_references=False)
def _squares(indptr, n, most):
    """The sum of the squared degrees, stopped as soon as it exceeds `most`."""
    squares = 0
    for first in range(0, n, ROWS):
        for v in range(first, min(first + ROWS, n)):
            degree = min(peek(indptr, v + 1) - peek(indptr, v), LARGE)
            squares += degree * degree
        if squares > most:
            break
    return squares


@part(counts_references=False)
def _row_of(indptr, n, arc):
    return lower_bound(indptr, 0, n, arc + 1) - 1


@part(counts_references=False)
def _pairs_by_degree(indptr, indices, sample):
    """Pairs of neighbours that precede the same vertex in order of falling degree, from a few of each."""
    n, nnz, found = indptr.size - 1, indices.size, 0.0
    for arc in sample:
        v = _row_of(indptr, n, arc)
        begin, degree = peek(indptr, v), peek(indptr, v + 1) - peek(indptr, v)
        sampled, before = min(degree, NEIGHBOURS), 0
        for k in range(sampled):
            u = vertex(indices, begin + k * degree // sampled)
            other = peek(indptr, u + 1) - peek(indptr, u)
            before += other > degree or (other == degree and u < v)
        pairs = before * (before - 1) / max(sampled * (sampled - 1), 1)
        found += nnz / sample.size / degree * pairs * (degree * (degree - 1.0) / 2)
    return found
