"""Distances between any two vertices, from tables of the distances of a few hubs.

The triangle inequality bounds all other distances: d(s, t) is at most d(s, h) + d(h, t) for every hub h, and at least
d(h, t) - d(h, s) and d(s, h) - d(t, h). Hubs lie on many shortest paths, so bounds are often equal (M. Potamias et al.,
"Fast shortest path distance estimation in large networks", CIKM'09; A. Goldberg, C. Harrelson, "Computing the shortest
path: A* search meets graph theory", SODA'05). Where they do not, searches from many sources settle the pairs, no
farther than the upper bound.

Searches for pairs go for many pairs at once from one side, or pair by pair from both ends.
"""

import time
from typing import Any

import numpy as np

from hpgraph.algorithms.distance_blocks import block_size, blocks_from, distances_from
from hpgraph.algorithms.distances import with_lengths
from hpgraph.containers.graph import Graph, id, named, naming_arguments, whole
from hpgraph.containers.result_table import ResultTable
from hpgraph.core.device import array_module, check_memory, to_device

# Pairs per block of `_bounds` on the CPU.
_PAIRS = 1 << 14


@naming_arguments
def landmarks(G: Graph | Any, k: Any = 16, *, weight: Any = None) -> "Landmarks":
    """Tables of the distances of k hubs, for the distances of any pairs of vertices.

    Parameters
    ----------
    k : int, or sequence of vertices, names or hpgraph.id
        Number of hubs, the vertices of largest degree; or the vertices to use.
    weight : None, bool or str
        Length of an arc, as for `hpgraph.closeness_centrality`.

    References
    ----------
    M. Potamias, F. Bonchi, C. Castillo, A. Gionis, "Fast shortest path distance estimation in large networks", CIKM'09.

    Examples
    --------
    >>> G = hpg.datasets.grid(30, removed=0)
    >>> L = hpg.landmarks(G, [0, 29])
    >>> L.distance([0, 31, 5], [899, 868, 5]).tolist()
    [58, 54, 0]
    >>> L.lower(31, 868), L.upper(31, 868)
    (54.0, 58.0)
    """
    graph, weighted = with_lengths(G, weight)
    return Landmarks(graph, _hubs(graph, k), weighted)


class Landmarks(ResultTable, columns=("ahead", "back")):
    """Distances from and to a few vertices, and bounds for pairs from them; made by `hpgraph.landmarks`.

    As a table, a row for each landmark and each vertex.

    Attributes
    ----------
    graph : Graph
        The graph.
    vertices : int64 array of shape (k,)
        Indices of the landmarks, in NumPy.
    ahead, back : arrays of shape (k, n)
        Distances from and to each landmark, on the graph's device: of arcs in the least integer type that holds them,
        -1 where there is no path; of weights floats, inf where there is none. One array if the graph is undirected.
    weighted : bool
        Whether distances are sums of weights.
    """

    def __init__(self, graph: Graph, vertices: np.ndarray, weighted: bool) -> None:
        self.graph, self.vertices, self.weighted = graph, vertices, weighted
        named(self, graph, vertices)
        entry = graph.out_csr.dtype.itemsize if weighted and graph.out_csr.dtype else 4
        tables = 2 if graph.directed else 1
        check_memory(tables * len(vertices) * graph.n_vertices * entry, "the tables of landmarks", graph.device)
        self.ahead = self._distances(False)
        self.back = self._distances(True) if graph.directed else self.ahead
        # Of arcs: level l is the l-th entry, and no path, -1, the last one.
        deepest = 0 if weighted else max(int(self.ahead.max()), int(self.back.max()))
        levels = np.append(np.arange(deepest + 1, dtype=np.float64), np.inf)
        self._as_length = None if weighted else to_device(levels, graph.device)

    @property
    def nbytes(self) -> int:
        """Bytes of the tables."""
        return int(self.ahead.nbytes) + (0 if self.back is self.ahead else int(self.back.nbytes))

    def lower(self, s: Any, t: Any) -> Any:
        """A lower bound of the distance from s to t.

        Parameters
        ----------
        s, t : vertex, or sequence or array of m vertices
            Pairs; one vertex alone is paired with all of the other side.

        Returns
        -------
        float64 array of shape (m,), or a float for a single pair
            On the graph's device; inf if the bounds rule out a path.

        Examples
        --------
        >>> L = hpg.landmarks(hpg.Graph.from_edges([0, 1], [1, 2], n_vertices=4, directed=False), 1)
        >>> L.lower(0, [0, 2, 3]).tolist()
        [0.0, 1.0, inf]
        """
        source, target, single = self._pairs(s, t)
        return self._as_asked(self._bounds(source, target)[0], single)

    def upper(self, s: Any, t: Any) -> Any:
        """An upper bound of the distance from s to t: the length of a path through a landmark.

        Parameters are those of `lower`.

        Returns
        -------
        float64 array of shape (m,), or a float for a single pair
            On the graph's device; inf if no path leads through a landmark.

        Examples
        --------
        >>> L = hpg.landmarks(hpg.Graph.from_edges([0, 1], [1, 2], n_vertices=4, directed=False), 1)
        >>> L.upper(0, [0, 2, 3]).tolist()
        [0.0, 2.0, inf]
        """
        source, target, single = self._pairs(s, t)
        return self._as_asked(self._bounds(source, target)[1], single)

    def distance(self, s: Any, t: Any) -> Any:
        """The exact distance from s to t.

        Parameters are those of `lower`.

        Returns
        -------
        int64 array of shape (m,), or an int for a single pair
            On the graph's device; -1 where there is no path. With weights float64, inf where there is none; sums by
            way of a landmark may differ from `hpgraph.sssp` by rounding.

        Notes
        -----
        Pairs with equal bounds cost k look-ups. For others, searches start from their sources or targets, whichever are
        fewer, many at once, in ascending order of upper bounds; on the CPU pair by pair, from both ends, if that is
        faster.

        Examples
        --------
        >>> L = hpg.landmarks(hpg.Graph.from_edges([0, 1], [1, 2], n_vertices=4, directed=False), 1)
        >>> L.distance(0, [0, 2, 3]).tolist()
        [0, 2, -1]
        """
        source, target, single = self._pairs(s, t)
        lower, upper = self._bounds(source, target)
        xp = array_module(self.graph.device)
        left = xp.flatnonzero(lower < upper)
        if left.size:
            upper[left] = pair_distances(self.graph, source[left], target[left], upper[left], self.weighted)
        # A lower bound of infinity means that there is no path.
        distance = xp.where(lower == np.inf, np.inf, upper)
        if not self.weighted:
            distance = xp.where(distance < np.inf, distance, -1).astype(np.int64)
        return self._as_asked(distance, single)

    def __len__(self) -> int:
        return len(self.vertices)

    def __repr__(self) -> str:
        names = self.vertices if self.graph.names is None else self.graph.names[self.vertices]
        listed = ", ".join(map(str, names[:3].tolist())) + (", ..." if len(names) > 3 else "")
        kind = "sums of weights" if self.weighted else "numbers of arcs"
        ways = "to and from" if self.graph.directed else "to"
        return (
            f"<Landmarks: {kind} {ways} {len(names)} of {self.graph.n_vertices:,} vertices ({listed}), "
            f"{self.nbytes / 2**20:,.1f} MiB on {self.graph.device}>"
        )

    def _distances(self, incoming: bool) -> Any:
        blocks = blocks_from(self.graph, self.vertices, incoming=incoming, weighted=self.weighted)
        return array_module(self.graph.device).concatenate([block for _, block in blocks])

    def _pairs(self, s: Any, t: Any) -> tuple[Any, Any, bool]:
        """Indices of both ends, one after the other, on the graph's device; and whether it is a single pair."""
        graph = self.graph
        return *graph._pairs(s, t, ("s", "t")), graph._is_one(s) and graph._is_one(t)

    def _as_asked(self, values: Any, single: bool) -> Any:
        return values[0].item() if single else values

    def _bounds(self, source: Any, target: Any) -> tuple[Any, Any]:
        """Lower and upper bounds of pairs."""
        xp = array_module(self.graph.device)
        lower = xp.where(source == target, 0.0, 0.0 if self.weighted else 1.0)
        upper = xp.where(source == target, 0.0, np.inf)
        # On the CPU in blocks that fit the cache.
        step = _PAIRS if xp is np else max(len(source), 1)
        for begin in range(0, len(source), step):
            part = slice(begin, begin + step)
            self._tighten(source[part], target[part], lower[part], upper[part])
        # Rounding may raise the lower bound above the upper one.
        return xp.where(upper < np.inf, xp.minimum(lower, upper), lower), upper

    def _tighten(self, source: Any, target: Any, lower: Any, upper: Any) -> None:
        """Tighten the bounds of some pairs in place."""
        xp = array_module(self.graph.device)
        for ahead, back in zip(self.ahead, self.back, strict=True):
            h_s, h_t = self._lengths(ahead[source]), self._lengths(ahead[target])
            s_h, t_h = (h_s, h_t) if self.back is self.ahead else (
                self._lengths(back[source]), self._lengths(back[target])
            )  # fmt: skip
            xp.minimum(upper, s_h + h_t, out=upper)
            # Triangle inequality: d(s, t) >= d(h, t) - d(h, s) and d(s, h) - d(t, h). fmax ignores inf - inf.
            with np.errstate(invalid="ignore"):
                xp.fmax(lower, h_t - h_s, out=lower)
                xp.fmax(lower, s_h - t_h, out=lower)

    def _lengths(self, distance: Any) -> Any:
        """Distances as floats, inf where there is no path."""
        return distance.astype(np.float64) if self._as_length is None else self._as_length[distance]


def _hubs(graph: Graph, k: Any) -> np.ndarray:
    """Indices of the landmarks."""
    if not isinstance(k, int | np.integer | str) and (hasattr(k, "__len__") or isinstance(k, id)):
        listed = np.asarray(to_device(graph.indices_of(k, "k"), "cpu"), np.int64)
        if listed.size == 0:
            raise ValueError("k holds no vertices: give one at least")
        return listed
    count = whole(k, "k", "a number of landmarks, or a list of vertices", least=1, most=graph.n_vertices)
    degree = graph.out_degree + graph.in_degree if graph.directed else graph.out_degree
    return np.argsort(-to_device(degree, "cpu"), kind="stable")[:count]


# Timed trials on the CPU: sampled pairs, and starts searched together. First calls may compile, and are not timed.
_TRIED, _STARTS, _UNTIMED = 32, 16, 2


def pair_distances(graph: Graph, source: Any, target: Any, upper: Any, weighted: bool) -> Any:
    """Distances of pairs by searches, which need not look beyond upper bounds.

    A search from one side answers for all pairs of its start; one from both ends for a single pair, after a small part
    of the graph. The faster one is chosen from timings of a few of each.

    ``source, target`` (integer arrays of shape (m,)): indices, on the graph's device; ``upper`` (float64 array of shape
    (m,)): no distance is larger; inf where nothing is known. Returns float64 array of shape (m,): inf where there is no
    path.
    """
    xp = array_module(graph.device)
    sides = [(v, *xp.unique(v, return_inverse=True)) for v in (source, target)]
    incoming = len(sides[1][1]) < len(sides[0][1])
    (_, starts, of_pair), (others, _, _) = sides[::-1] if incoming else sides
    queue = _Queue(graph, starts, of_pair.reshape(-1), upper)
    distances = upper.copy()

    def from_both_ends(pairs: Any) -> float:
        seconds = []
        for pair in pairs.tolist():
            began = time.perf_counter()
            distances[pair] = _between(graph, int(source[pair]), int(target[pair]), weighted)
            seconds.append(time.perf_counter() - began)
        return float(np.median(seconds))

    def together(count: int) -> float:
        began = time.perf_counter()
        vertices, pairs, rows, need = queue.take(count)
        # A path of the upper bound's length exists, so only shorter ones are sought.
        limit = None if need == np.inf else need if weighted else need - 1
        block = distances_from(graph, vertices, incoming=incoming, weighted=weighted, limit=limit)
        distance = block[rows, others[pairs]].astype(np.float64)
        if not weighted:
            distance = xp.where(distance < 0, np.inf, distance)
        distances[pairs] = xp.minimum(upper[pairs], distance)
        return (time.perf_counter() - began) / len(vertices)

    if graph.device == "cpu" and queue.left > _STARTS:
        tried = np.linspace(0, len(source) - 1, _TRIED).astype(np.int64)
        from_both_ends(tried[:1])
        pair = from_both_ends(tried)
        together(_UNTIMED)
        if pair * queue.pairs_left < together(_STARTS) * queue.left:
            from_both_ends(queue.take(queue.left)[1])
    size = block_size(graph)
    while queue.left:
        together(size)
    return distances


class _Queue:
    """Pairs not searched yet, grouped by start, starts with the smallest bounds first."""

    def __init__(self, graph: Graph, starts: Any, of_pair: Any, upper: Any) -> None:
        xp = array_module(graph.device)
        # How far each start has to search; those of a block go equally far.
        order = xp.lexsort(xp.stack([upper, of_pair.astype(np.float64)]))
        last = xp.searchsorted(of_pair[order], xp.arange(len(starts)), side="right") - 1
        farthest = upper[order[last]]
        by_need = xp.argsort(farthest)
        rank = xp.empty_like(by_need)
        rank[by_need] = xp.arange(len(starts))
        self._pairs = xp.argsort(rank[of_pair])
        self._ranks = rank[of_pair][self._pairs]
        self._needs = to_device(farthest[by_need], "cpu")
        self._vertices = to_device(starts[by_need], "cpu")
        # Where the pairs of each start begin.
        self._first = to_device(xp.searchsorted(self._ranks, xp.arange(len(starts) + 1)), "cpu")
        self._at = 0

    @property
    def left(self) -> int:
        """Number of starts left."""
        return len(self._vertices) - self._at

    def take(self, count: int) -> tuple[np.ndarray, Any, Any, float]:
        """Starts, the numbers of their pairs, the start of each pair, and a bound on the search."""
        begin, stop = self._at, min(self._at + count, len(self._vertices))
        part = slice(int(self._first[begin]), int(self._first[stop]))
        self._at = stop
        return self._vertices[begin:stop], self._pairs[part], self._ranks[part] - begin, float(self._needs[stop - 1])

    @property
    def pairs_left(self) -> int:
        """Number of pairs left."""
        return int(self._first[-1] - self._first[self._at])


def _between(graph: Graph, source: int, target: int, weighted: bool) -> float:
    """The length of one path, by the CPU's bidirectional searches; inf where there is none."""
    from hpgraph.kernels.bidirectional import cpu

    if weighted:
        distance = cpu.least_weight(graph.out_csr, graph.in_csr, source, target)
        return np.inf if distance is None else distance[1]
    path = cpu.fewest_arcs(graph.out_csr, graph.in_csr, source, target)
    return np.inf if path is None else len(path) - 1
