"""Choice among the three triangle-counting loops on the CPU, by estimated cost.

The GAP Benchmark Suite samples degrees and reorders where they are skewed (Beamer, Asanović & Patterson,
arXiv:1508.03619, WorthRelabelling). The choice rests on the wedges that an order leaves, estimated from a sample of
arcs: a vertex is drawn in proportion to its degree, so that hubs, which have most wedges, are not missed.
"""

from typing import NamedTuple

import numpy as np

from hpgraph.formats import CSR, attached

WALK, MARK, ORDER = "walk", "mark", "order"
# Costs, with a probe of the bitmap of marks as the unit: 0.45 ns on an AMD EPYC of 2024 (Zen 5).
# A step of walking two rows, every second or third of which is mispredicted: 0.5 to 2 ns while rows are short.
WALK_STEP = 3
# To start a row: its end is mispredicted, and it may miss the cache. 15 to 60 ns.
ROW = 40
# For an arc, to be oriented (12 ns) and to be looked up by rank while counting (12 ns).
ORIENT = 50
# Sample sizes: arcs, all of a small graph, and neighbours of the vertex that each leaves.
SAMPLE, NEIGHBOURS = 4096, 8
# Fibonacci hashing: spreads consecutive numbers (D. E. Knuth, The Art of Computer Programming 3, 6.4).
GOLDEN = 2654435761


class Rows(NamedTuple):
    """Rows of the sample: vertices, bounds, and arcs of the graph for each of its own that is drawn."""

    vertex: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    share: np.ndarray

    @classmethod
    def of(cls, graph: CSR) -> "Rows":
        """The rows of arcs spread over the graph."""
        count = min(SAMPLE, graph.nnz)
        arcs = np.arange(count) if count == graph.nnz else np.arange(count) * GOLDEN % graph.nnz
        vertex = np.searchsorted(graph.indptr, arcs, side="right") - 1
        begin, end = graph.indptr[vertex], graph.indptr[vertex + 1]
        return cls(vertex, begin, end, graph.nnz / count / (end - begin))

    def below(self, graph: CSR) -> np.ndarray:
        """How many neighbours of each have a smaller id, by binary search."""
        low, high = self.begin, self.end
        while (is_open := low < high).any():
            middle = np.where(is_open, (low + high) >> 1, self.begin)
            smaller = is_open & (graph.indices[middle] < self.vertex)
            low, high = np.where(smaller, middle + 1, low), np.where(is_open & ~smaller, middle, high)
        return low - self.begin

    def pairs_by_degree(self, graph: CSR) -> float:
        """Pairs of neighbours that precede the same vertex in order of falling degree, from a few of each."""
        degree = self.end - self.begin
        looked, number = np.minimum(degree, NEIGHBOURS), np.arange(NEIGHBOURS)[:, None]
        neighbour = graph.indices[self.begin + np.where(number < looked, number * degree // looked, 0)]
        other = graph.indptr[neighbour + 1] - graph.indptr[neighbour]
        precedes = (other > degree) | ((other == degree) & (neighbour < self.vertex))
        before = (precedes & (number < looked)).sum(axis=0)
        pairs = before * (before - 1) / np.maximum(looked * (looked - 1), 1)
        return float((self.share * pairs * (degree * (degree - 1.0) / 2)).sum())


@attached
def cheapest(graph: CSR) -> str:
    """The loop, "walk", "mark" or "order", expected to take the least time with its preparation; once a graph."""
    # Walking looks at up to Σd² / 2 neighbours, marking starts about half of the arcs' rows.
    degrees = graph.degrees
    # The squares sum to nnz² at most; the product of integers needs no array of them.
    squares = degrees @ degrees if graph.nnz < 1 << 31 else np.square(degrees, dtype=np.float64).sum()
    if WALK_STEP * int(squares) <= ROW * graph.nnz:
        return WALK
    rows = Rows.of(graph)
    smaller = rows.below(graph).astype(np.float64)
    larger = rows.end - rows.begin - smaller
    # Pairs of neighbours below a vertex; of one below and one above; and arcs upwards from vertices with any below.
    below = float((rows.share * smaller * (smaller - 1) / 2).sum())
    across = float((rows.share * smaller * larger).sum())
    upwards = float((rows.share * larger * (smaller > 0)).sum())
    walk = WALK_STEP * (below + across)
    mark = below + ROW * upwards
    way, cost = (WALK, walk) if walk <= mark else (MARK, mark)
    prepared = (ORIENT + ROW / 2) * graph.nnz
    if cost > prepared and cost > prepared + rows.pairs_by_degree(graph):
        return ORDER
    return way
