"""Distances of pairs of vertices: for many pairs at once from one side, or pair by pair from both ends."""

import time
from typing import Any

import numpy as np

from hpgraph.algorithms.distance_blocks import block_size, distances_from
from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module, to_device

# What the choice on the CPU rests on: so many pairs, spread over all, and so many starts together. First calls may
# compile, and are not timed; a start alone would not be together with any.
_PAIRS, _STARTS, _UNTIMED = 32, 16, 2


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
    found = upper.copy()

    def from_both_ends(pairs: Any) -> float:
        took = []
        for pair in pairs.tolist():
            began = time.perf_counter()
            found[pair] = _between(graph, int(source[pair]), int(target[pair]), weighted)
            took.append(time.perf_counter() - began)
        return float(np.median(took))

    def together(count: int) -> float:
        began = time.perf_counter()
        vertices, pairs, rows, need = queue.take(count)
        # A path of as many arcs as the upper bound says is known already.
        limit = None if need == np.inf else need if weighted else need - 1
        block = distances_from(graph, vertices, incoming=incoming, weighted=weighted, limit=limit)
        distance = block[rows, others[pairs]].astype(np.float64)
        if not weighted:
            distance = xp.where(distance < 0, np.inf, distance)
        found[pairs] = xp.minimum(upper[pairs], distance)
        return (time.perf_counter() - began) / len(vertices)

    if graph.device == "cpu" and queue.left > _STARTS:
        tried = np.linspace(0, len(source) - 1, _PAIRS).astype(np.int64)
        from_both_ends(tried[:1])
        pair = from_both_ends(tried)
        together(_UNTIMED)
        if pair * queue.pairs_left < together(_STARTS) * queue.left:
            from_both_ends(queue.take(queue.left)[1])
    size = block_size(graph)
    while queue.left:
        together(size)
    return found


class _Queue:
    """Pairs that wait to be searched for, those of a start together, and starts that need not go far first."""

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
        """Starts that wait."""
        return len(self._vertices) - self._at

    def take(self, count: int) -> tuple[np.ndarray, Any, Any, float]:
        """So many starts, the numbers of their pairs, which of the starts is each pair's, and how far to search."""
        begin, stop = self._at, min(self._at + count, len(self._vertices))
        part = slice(int(self._first[begin]), int(self._first[stop]))
        self._at = stop
        return self._vertices[begin:stop], self._pairs[part], self._ranks[part] - begin, float(self._needs[stop - 1])

    @property
    def pairs_left(self) -> int:
        """Pairs that wait."""
        return int(self._first[-1] - self._first[self._at])


def _between(graph: Graph, source: int, target: int, weighted: bool) -> float:
    """The length of one path, by the CPU's bidirectional searches; inf where there is none."""
    from hpgraph.kernels.bidirectional import cpu

    if weighted:
        found = cpu.least_weight(graph.out_csr, graph.in_csr, source, target)
        return np.inf if found is None else found[1]
    path = cpu.fewest_arcs(graph.out_csr, graph.in_csr, source, target)
    return np.inf if path is None else len(path) - 1
