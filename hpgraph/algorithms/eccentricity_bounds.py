"""Bounds on the eccentricities of all vertices from a few searches.

A search from v bounds every other vertex by the triangle inequality: ecc(w) <= d(w, v) + ecc(v), and ecc(w) is at least
d(w, v) and ecc(v) - d(v, w). Alternating between the vertices of the largest upper and of the smallest lower bound, a
few tens of searches replace all n (F. Takes, W. Kosters, "Determining the diameter of small world networks", CIKM'11;
"Computing the eccentricity distribution of large graphs", Algorithms 6 (2013)). The sum of the distances so far breaks
ties, large sums for upper bounds, small ones for lower; directed graphs are searched in both directions (SumSweep: M.
Borassi et al., "Fast diameter and radius BFS-based computation in (weakly connected) real-world graphs", TCS 586
(2015)). Here a round searches from several vertices at once.

Where such rounds settle few vertices, larger batches of searches keep no distances, and the bounds that follow from
their eccentricities propagate along the arcs: neighbours' eccentricities differ by at most the arc's length
("eliminate" of F-Diam, "Fast exact diameter computation of sparse graphs", ICPP'25). Such searches begin at a set that
dominates many of the vertices that still matter, as greedy sets do.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.algorithms.bfs import begin_levels
from hpgraph.algorithms.distance_blocks import block_size, distance_sums, distances_from
from hpgraph.algorithms.random_choice import random_order
from hpgraph.containers.graph import Graph, id
from hpgraph.core.device import array_module, everywhere, is_cuda, to_device
from hpgraph.engine.program import Property, VertexProgram, run

# Rounds that keep distances end when at most _OPEN_PER_SEARCH open vertices are left per search of the next round, or
# when rounds of _MIN_SEARCHES searches have not halved the open vertices _MAX_STALLED times.
_OPEN_PER_SEARCH, _MIN_SEARCHES, _MAX_STALLED = 8, 8, 2
# Searches of a batch without distances: a share of the open vertices, so that later batches use the results of earlier
# ones. If the spread bounds close fewer vertices than `_WORTH` for each search, they are left out, and batches are
# larger.
_BATCHES, _SMALLEST_BATCH, _LARGEST_BATCH, _WORTH, _LAST_BATCHES = 32, 128, 2048, 0.25, 4
# Distances from all open vertices up to which they are kept to the end. Batches would take fewer rounds, of
# milliseconds, but kernels of their own, which take a GPU's first call half a minute to compile. On the CPU
# the mean is 0.99 of the time without this rule, 0.62 to 1.25 (13 graphs of 1,000 to 16,384 vertices).
_FEW = 1 << 20
# Distances up to which a GPU finds the farthest vertex of each row at once, by a product of all with their numbers:
# longer rows cost more than the launches that it saves.
_SHORT_ROWS = 1 << 22
# Distances per block: few enough for a processor's cache; on a GPU enough to occupy it.
_CHUNK = {"cpu": 1 << 20, "cuda": 1 << 26}


class Lengths(VertexProgram):
    """Propagate upper bounds: a vertex's is at most a neighbour's plus the length of the arc."""

    reduce = "min"
    bound = Property("float64")

    def gather(source, weight, target):  # noqa: D102
        return source.bound + weight


class Hops(VertexProgram):
    """`Lengths` for arcs of length 1."""

    weighted = False
    reduce = "min"
    bound = Property("int32")

    def gather(source, weight, target):  # noqa: D102
        return source.bound + 1


class OpenNear(VertexProgram):
    """How many of a vertex and its neighbours are open: all of their bounds would follow from the vertex's."""

    weighted = False
    reduce = "plus"
    activity = "all"
    max_iteration = 1
    near = Property("int64")

    def gather(source, weight, target):  # noqa: D102
        return source.near

    def update(vertex, message):  # noqa: D102
        return vertex.near + message


class Highest(VertexProgram):
    """The highest key of a vertex's neighbours."""

    weighted = False
    reduce = "max"
    activity = "all"
    max_iteration = 1
    key = Property("int64")

    def gather(source, weight, target):  # noqa: D102
        return source.key

    def update(vertex, message):  # noqa: D102
        return message


class NotConnected(Exception):
    """Some vertex does not reach another."""


class EccentricityBounds:
    """Lower and upper bounds of every vertex's eccentricity, on the graph's device."""

    def __init__(self, graph: Graph, weighted: bool) -> None:
        if not weighted:
            begin_levels(graph, 2)
        self.graph, self.weighted = graph, weighted
        self.searches = 0
        xp, n = array_module(graph.device), graph.n_vertices
        self._xp = xp
        # Vertices searched from: their bounds are their eccentricities, as where bounds are equal.
        self.searched = xp.zeros(n, bool)
        self.lower = xp.zeros(n, np.float64 if weighted else np.int32)
        self.upper = xp.full(n, np.inf if weighted else np.iinfo(np.int32).max, self.lower.dtype)
        # Whether distances add up without rounding.
        self.exact = not weighted or _sums_are_exact(graph)
        # Sums of n weights are rounded n times: bounds made of them hold up to this factor.
        self.slack = 1.0 if self.exact else 1 + 4 * n * float(np.finfo(np.float64).eps)
        self._sum = xp.zeros(n)
        self._far = np.empty(0, np.int64)
        # Distances to the vertex of the smallest eccentricity among those with distances kept.
        self.middle: Any = None
        self._smallest = np.inf
        degree = graph.out_degree * graph.in_degree if graph.directed else graph.out_degree
        # One central and one peripheral vertex: two, since a single search would compile another kernel.
        self._search_both_ways(np.array([int(degree.argmax()), int(degree.argmin())]))

    def narrow(self, open_: "Callable[[EccentricityBounds], Any]") -> None:
        """Search until no vertex is open: with all distances kept, and, while many are left, in batches without."""
        size, idle, block = 2, 0, block_size(self.graph)
        left = self._open(open_)
        while left.size > _OPEN_PER_SEARCH * size and idle < _MAX_STALLED:
            before, size = left.size, min(size, block)
            self._search_both_ways(self._chosen(left, size))
            left = self._open(open_)
            # Rounds of few searches do not predict the effect of many.
            idle = idle + 1 if size >= min(block, _MIN_SEARCHES) and 2 * left.size > before else 0
            size *= 2
        # Vertices of few neighbours lie far from others, so that a few of them raise the lower bounds; later, the more
        # neighbours, the more bounds follow.
        degree, idle = self.graph.out_degree, -1
        while self._are_many(left):
            if idle < 0:
                batch = left[_smallest(degree[left], min(_SMALLEST_BATCH, left.size))]
            elif idle < _MAX_STALLED:
                batch = self._dominating(left, max(_SMALLEST_BATCH, min(_LARGEST_BATCH, left.size // _BATCHES)))
            else:
                size = max(_SMALLEST_BATCH, left.size // _LAST_BATCHES)
                batch = left[_smallest(-degree[left], min(size, left.size))]
            self._search(batch)
            left = self._open(open_)
            if idle < _MAX_STALLED and self._are_many(left):
                before = left.size
                self._propagate(batch)
                left = self._open(open_)
                idle = idle + 1 if before - left.size < _WORTH * len(batch) else 0
        while left.size:
            self._search_both_ways(to_device(left[_smallest(degree[left], min(block, left.size))], "cpu"))
            left = self._open(open_)

    def _are_many(self, left: Any) -> bool:
        return left.size * self.graph.n_vertices > _FEW

    @property
    def known(self) -> Any:
        """Whether the eccentricity is known, for each vertex: bounds are equal, and neither is rounded."""
        # They cross where a page of an undirected graph lacks an arc's reverse: the search must end all the same.
        return self.lower >= self.upper if self.exact else self.searched

    def _open(self, open_: "Callable[[EccentricityBounds], Any]") -> Any:
        """Vertices that still matter; waits for the GPU."""
        return self._xp.flatnonzero(open_(self) & ~self.known)

    def _chosen(self, left: Any, size: int) -> np.ndarray:
        """Sources of the next round: open vertices, and vertices that bound many, both central and peripheral."""
        xp = self._xp
        unknown = xp.flatnonzero(~self.known)
        # Below one half, so ties are broken but the order of integral bounds is kept.
        share = self._sum / (2 * max(float(self._sum.max()), 1.0))
        # Neighbours have similar bounds; the farthest vertices of the last searches lie elsewhere in the graph.
        turns = [self._far[~to_device(self.known[self._far], "cpu")][: (size + 3) // 4]]
        for candidates in (left, unknown):
            count = min((size + 1) // 2, candidates.size)
            turns.append(candidates[_smallest(-(self.upper[candidates] + share[candidates]), count)])
            turns.append(candidates[_smallest(self.lower[candidates] + share[candidates], count)])
        # Alternate between the kinds, most relevant first, so that a round settles at least one.
        longest = max(len(turn) for turn in turns)
        by_kind = np.full((longest, len(turns)), -1)
        for column, turn in zip((2, 0, 1, 3, 4), turns, strict=True):
            by_kind[: len(turn), column] = to_device(turn, "cpu")
        listed = by_kind[by_kind >= 0]
        _, first = np.unique(listed, return_index=True)
        return listed[np.sort(first)][:size]

    def _dominating(self, left: Any, size: int) -> Any:
        """Vertices with more open neighbours than each of their neighbours, which spreads them over the graph."""
        xp, n = self._xp, self.graph.n_vertices
        near = xp.zeros(n, np.int64)
        near[left] = 1
        near = run(OpenNear, self.graph, near=near).near
        key = near << 32 | random_order(self.graph, self.searches)
        key[self.searched | (near == 0)] = -1
        dominating = xp.flatnonzero(key > run(Highest, self.graph, key=key).key)
        return dominating[_smallest(-key[dominating], min(size, dominating.size))] if dominating.size else left[:size]

    def _search_both_ways(self, vertices: np.ndarray) -> None:
        """Search from some vertices, forwards and backwards, and tighten the bounds of all vertices."""
        graph, xp = self.graph, self._xp
        ahead = distances_from(graph, vertices, weighted=self.weighted)
        back = distances_from(graph, vertices, incoming=True, weighted=self.weighted) if graph.directed else ahead
        if self.searches == 0 and not (_all_reached(ahead) and (back is ahead or _all_reached(back))):
            raise NotConnected
        eccentricity = ahead.max(axis=1).astype(self.lower.dtype)
        ends, step = eccentricity[:, None], max(1, _CHUNK[graph.device] // len(vertices))
        for begin in range(0, graph.n_vertices, step):
            part = slice(begin, begin + step)
            # Distances keep their narrow type where they can; sums take that of the bounds.
            beyond, near = (ends.astype(ahead.dtype) - ahead[:, part]).max(axis=0), back[:, part].max(axis=0)
            low = xp.maximum(beyond, near).astype(self.lower.dtype)
            high = (ends + back[:, part]).min(axis=0)
            if not self.exact:
                low = xp.where(self.searched[part], self.lower[part], low)
                high = xp.where(self.searched[part], self.upper[part], high)
            self.lower[part] = xp.maximum(self.lower[part], low)
            self.upper[part] = xp.minimum(self.upper[part], high)
            self._sum[part] += back[:, part].sum(axis=0)
        self._settle(xp.asarray(vertices), eccentricity)
        row = int(eccentricity.argmin())
        if float(eccentricity[row]) < self._smallest:
            self._smallest, self.middle = float(eccentricity[row]), back[row].copy()
        # A few, so on the host: CuPy would compile further kernels.
        self._far = np.unique(to_device(_farthest(ahead, eccentricity), "cpu"))

    def _search(self, vertices: Any) -> None:
        """Search from each of these vertices, and keep only their eccentricities."""
        sums = distance_sums(self.graph, id(to_device(vertices, "cpu")), weighted=self.weighted)
        self._settle(vertices, sums.farthest.astype(self.lower.dtype))

    def _propagate(self, vertices: Any) -> None:
        """Tighten bounds by propagating those of some vertices along the arcs, in one pass from all of them."""
        program = Lengths if self.weighted else Hops
        # Against an arc an upper bound grows by at most its length; along it a lower bound falls by at most its length.
        for name, graph, sign in (("upper", self.graph.reverse(), 1), ("lower", self.graph, -1)):
            held = getattr(self, name)
            bound = sign * run(program, graph, active=id(vertices), bound=sign * held).bound
            setattr(self, name, bound if self.exact else self._xp.where(self.searched, held, bound))

    def _settle(self, vertices: Any, eccentricity: Any) -> None:
        self.searches += len(vertices)
        self.searched[vertices] = True
        self.lower[vertices] = self.upper[vertices] = eccentricity


def _smallest(values: Any, count: int) -> Any:
    """Indices of the `count` smallest values, in any order."""
    # CuPy sorts by kernels that it ships compiled; NVRTC takes 4 s for those of its argpartition.
    return (values.argsort() if is_cuda(values) else values.argpartition(count - 1))[:count]


def _farthest(distance: Any, eccentricity: Any) -> Any:
    """A vertex at the greatest distance in each row, int64."""
    xp, (k, n) = array_module(distance), distance.shape
    if not is_cuda(distance) or k * n > _SHORT_ROWS:
        return xp.stack([row.argmax() for row in distance])
    far = distance == eccentricity[:, None].astype(distance.dtype)
    return (far * xp.arange(n)).max(axis=1)


def _all_reached(distance: Any) -> bool:
    """Whether every vertex has a path; waits for the GPU."""
    return everywhere(distance >= 0) if distance.dtype.kind in "iu" else everywhere(distance < np.inf)


def _sums_are_exact(graph: Graph) -> bool:
    """Whether weights are whole numbers so small that double precision holds their sum along any path."""
    weights = graph.out_csr.data
    if weights.size == 0:
        return True
    whole = weights.dtype.kind in "iub" or everywhere(weights == array_module(graph.device).floor(weights))
    return whole and float(weights.max()) * graph.n_vertices < 2.0**53
