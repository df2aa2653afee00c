"""A search from some nodes in NetworkX's order, and the dicts and lists that its functions return.

The engine finds the distances in parallel; a pass on one thread finds the order among equal distances, and the path
that NetworkX would return.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
from scipy.sparse import csr_array

from hpgraph.algorithms.distance_blocks import all_pairs_shortest_path_length
from hpgraph.algorithms.sssp import sssp
from hpgraph.containers.graph import Graph, id
from hpgraph.core.device import to_device
from hpgraph.core.errors import NegativeCycleError
from hpgraph.formats import CSR
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.serving import NETWORKX
from hpgraph.kernels.structure.cpu_fifo import fifo_order, settling_order


@dataclass
class Search:
    """A search: `order` of the nodes reached, `distance` of each, and `before` it on the path, negative at a source."""

    G: ConvertedGraph
    order: np.ndarray
    distance: np.ndarray
    before: np.ndarray
    weight: str | None
    incoming: bool
    cutoff: float = math.inf

    @cached_property
    def lengths(self) -> dict[Any, float]:
        """The distance of each node. A source has the integer 0, with any weights."""
        values = self.distance[self.order]
        found = dict(zip(self.G.named(self.order), values.tolist(), strict=True))
        found.update(dict.fromkeys(self.G.named(self.order[self.before[self.order] < 0]), 0))
        return found

    @cached_property
    def paths(self) -> dict[Any, list[Any]]:
        """The path to each node; against the arcs of an incoming search, from each node."""
        nodes, made = self.G.nodes, dict[int, list[Any]]()
        for node, previous in zip(self.order.tolist(), self.before[self.order].tolist(), strict=True):
            if previous < 0:
                made[node] = [nodes[node]]
            else:
                made[node] = [nodes[node], *made[previous]] if self.incoming else [*made[previous], nodes[node]]
        found = {nodes[node]: path for node, path in made.items()}
        # Before 3.6 NetworkX created a path when a node was first discovered.
        return found if NETWORKX >= (3, 6) else {node: found[node] for node in self.predecessors}

    def edges(self) -> Iterator[tuple[Any, Any]]:
        """The edges of the tree, in the order in which the search goes along them."""
        found = self.order[self.before[self.order] >= 0]
        return self.G.pairs(self.before[found], found)

    def path(self, target: Any) -> list[Any]:
        """The path to one node, which is reached."""
        nodes, at = self.G.nodes, self.G.index[target]
        made = [nodes[at]]
        while (at := int(self.before[at])) >= 0:
            made.append(nodes[at])
        return made if self.incoming else made[::-1]

    @cached_property
    def predecessors(self) -> dict[Any, list[Any]]:
        """All predecessors of each node on shortest paths, both in the order of discovery."""
        indptr, indices, weights = _arcs(self.G, self.weight, self.incoming)
        sizes = np.diff(indptr)[self.order]
        tail = np.repeat(self.order, sizes)
        arc = np.arange(len(tail)) + np.repeat(indptr[self.order] - (np.cumsum(sizes) - sizes), sizes)
        head = indices[arc].astype(np.int64)
        step = 1 if weights is None else weights[arc]
        inside = np.isin(head, self.order) & (self.distance[tail] + step <= self.cutoff)
        tail, head, arc = tail[inside], head[inside], arc[inside]
        step = 1 if weights is None else weights[arc]
        sources = self.order[self.before[self.order] < 0]
        _, first = np.unique(np.concatenate([sources, head]), return_index=True)
        reached = np.concatenate([sources, head])[np.sort(first)]
        tight = self.distance[tail] + step == self.distance[head]
        tail, head = tail[tight], head[tight]
        by_head = np.argsort(head, kind="stable")
        named, ends = self.G.named(tail[by_head]), np.searchsorted(head[by_head], np.arange(len(self.G) + 1))
        bounds = ends.tolist()
        return {self.G.nodes[node]: named[bounds[node] : bounds[node + 1]] for node in reached.tolist()}


def _arcs(G: ConvertedGraph, weight: str | None, incoming: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """``indptr, indices, weights`` in NetworkX's order; incoming arcs in the order of the nodes that they leave."""
    values = G.column(weight)
    values = None if values is None else values.astype(np.float64)
    if not (incoming and G.is_directed()):
        return G.indptr, G.indices, values
    indptr, arcs = G.incoming
    return indptr, G.rows[arcs], None if values is None else values[arcs]


def searched_graph(G: ConvertedGraph, graph: Graph, incoming: bool) -> Graph:
    """The graph, or its reverse."""
    return graph.T if incoming and G.is_directed() else graph


def by_steps(G: ConvertedGraph, source: int | list[int], cutoff: float | None = None, incoming: bool = False) -> Search:
    """Breadth-first from a node, or from several at once, as a queue goes."""
    indptr, indices, _ = _arcs(G, None, incoming)
    n, several = len(G), isinstance(source, list)
    if isinstance(source, list):
        # One more node, with the sources as its neighbours.
        indptr, indices = np.append(indptr, len(indices) + len(source)), np.append(indices, source)
    arcs = CSR((n + several, n + several), indptr, indices, validate=False)
    order, before = fifo_order(arcs, n if isinstance(source, list) else source, -1)
    level = _levels_of(order, before)
    if several:
        order, level, before = order[1:], level[:n] - 1, np.where(before[:n] == n, -1, before[:n])
    # The last level that NetworkX still enters: it compares the level before with `cutoff`.
    limit = math.inf if cutoff is None or cutoff == math.inf else max(0, math.ceil(cutoff))
    return Search(G, order[: int(np.searchsorted(level[order], limit, "right"))], level, before, None, incoming)


def _levels_of(order: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The level of each node, -1 if not reached, from the order of the queue and the predecessors."""
    place = np.empty(len(before), order.dtype)
    place[order] = np.arange(len(order), dtype=order.dtype)
    # Length of the queue after each of its nodes was expanded: a level ends where the last node of the one before
    # ends.
    children = np.bincount(place[before[order[1:]]], minlength=len(order))
    ends, bounds = (1 + np.cumsum(children)).data, [0, 1]
    while bounds[-1] < len(order):
        bounds.append(ends[bounds[-1] - 1])
    level = np.full(len(before), -1)
    level[order] = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    return level


def by_weights(
    G: ConvertedGraph, sources: Iterable[Any], weight: str | None, cutoff: float | None = None, incoming: bool = False,
) -> Search:  # fmt: skip
    """Dijkstra's search from the nearest of some nodes; lengths are not negative."""
    numbers = [G.number(source, "Node {} not found in graph", hashed=True) for source in sources]
    graph = searched_graph(G, G.lengths(weight), incoming)
    if len(numbers) == 1:
        distance = sssp(graph, id(numbers[0]), cutoff=cutoff).distance
    else:
        distance = sssp(with_start(graph, numbers), id(len(G)), cutoff=cutoff).distance[: len(G)]
    return _settled(G, numbers, to_device(distance, "cpu"), weight, incoming, cutoff)


def from_each(G: ConvertedGraph, weight: str | None, cutoff: float | None = None) -> Iterator[Search]:
    """The search from each node; a block of them runs together."""
    if len(G) == 0:
        return
    for sources, distances in all_pairs_shortest_path_length(G.lengths(weight), cutoff, weight=True):
        for source, distance in zip(sources.tolist(), to_device(distances, "cpu"), strict=True):
            yield _settled(G, [source], distance, weight, False, cutoff)


def _settled(
    G: ConvertedGraph, sources: list[int], distance: np.ndarray, weight: str | None, incoming: bool,
    cutoff: float | None,
) -> Search:  # fmt: skip
    distance = distance.astype(np.float64)
    # Where nothing has weights distances may be levels: -1 is as far as inf.
    distance[distance < 0] = np.inf
    G.check_exact(weight, distance[distance < np.inf].max(initial=0))
    indptr, indices, weights = _arcs(G, weight, incoming)
    weights = np.ones(len(indices)) if weights is None else weights
    order, before = settling_order((indptr, indices, weights), distance, sources)
    limit = math.inf if cutoff is None else cutoff
    return Search(G, order, _typed(G, distance, weight, order), before, weight, incoming, limit)


def _typed(G: ConvertedGraph, distance: np.ndarray, weight: str | None, order: np.ndarray) -> np.ndarray:
    if not G.whole(weight):
        return distance
    whole = np.zeros(len(distance), np.int64)
    whole[order] = distance[order]
    return whole


def with_start(graph: Graph, numbers: Iterable[int]) -> Graph:
    """The graph with one vertex more, at no distance from each of some."""
    csr = graph.to("cpu").out_csr
    n = csr.shape[0]
    data = np.ones(csr.nnz) if csr.data is None else csr.data.astype(np.float64)
    starts = np.unique(list(numbers))
    indptr = np.append(csr.indptr, csr.nnz + len(starts))
    indices, data = np.append(csr.indices, starts), np.append(data, np.zeros(len(starts)))
    made = CSR.from_scipy(csr_array((data, indices, indptr), shape=(n + 1, n + 1)))
    return Graph(made, directed=True).to(graph.device)


def by_any_weights(G: ConvertedGraph, source: Any, weight: str | None, incoming: bool = False) -> Search:
    """Bellman and Ford's search: weights may be negative. Nodes are in the order of a search along its tree."""
    number = G.number(source, "Source {} not in G")
    values = G.column(weight)
    if values is not None and not np.isfinite(values).all():
        raise NotImplementedError(f"{weight!r} is not finite somewhere")
    if values is None or not len(values) or values.min() >= 0:
        return by_weights(G, [source], weight, incoming=incoming)
    if not G.is_directed():
        # An edge of negative length, back and forth, is a cycle, if it is reached at all.
        if np.isin(G.rows[values < 0], by_steps(G, number).order).any():
            raise nx.NetworkXUnbounded("Negative cycle detected.")
        raise NotImplementedError(f"{weight!r} is negative somewhere that the search does not reach")
    try:
        distance = sssp(searched_graph(G, G.graph(weight), incoming), id(number)).distance
        found = to_device(distance, "cpu").astype(np.float64)
    except NegativeCycleError as error:
        raise nx.NetworkXUnbounded("Negative cycle detected.") from error
    G.check_exact(weight, np.abs(found[found < np.inf]).max())
    indptr, indices, weights = _arcs(G, weight, incoming)
    rows = np.repeat(np.arange(len(G)), np.diff(indptr))
    with np.errstate(invalid="ignore"):
        tight = (found[rows] < np.inf) & (found[rows] + weights == found[indices])
    n = len(G)
    tree = csr_array((np.ones(int(tight.sum())), (rows[tight], indices[tight])), shape=(n, n))
    order, before = fifo_order(CSR(tree.shape, tree.indptr, tree.indices, validate=False), number, -1)
    return Search(G, order, _typed(G, found, weight, order), before, weight, incoming)


def length_of(G: ConvertedGraph, path: list[int], weight: str | None) -> float:
    """The length of a path, with the weights added up from its beginning, as Dijkstra's search adds them."""
    values, total = G.column(weight), 0
    if values is None:
        return max(len(path) - 1, 0)
    for u, v in pairwise(path):
        begin, end = G.indptr[u : u + 2]
        total += values[begin + int(np.flatnonzero(G.indices[begin:end] == v)[0])].item()
    return total
