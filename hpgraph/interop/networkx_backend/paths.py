"""Shortest paths from some nodes, and what a search reaches."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import networkx as nx
import numpy as np
from scipy.sparse.csgraph import breadth_first_order

from hpgraph.algorithms.all_pairs import all_pairs_shortest_path_length as _blocks
from hpgraph.algorithms.bfs import bfs
from hpgraph.algorithms.sssp import sssp
from hpgraph.containers.vertices import id
from hpgraph.core.device import to_device
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.serving import serves


def _queue(G: ConvertedGraph, source: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The nodes in the order in which a queue meets them, NetworkX's; their steps; and from which it meets each node.

    The last goes by the nodes' numbers, the steps by the order. The engine searches in parallel and keeps no such
    order; SciPy's search, which is sequential, goes by the order of neighbours as ours are given.
    """
    order, before = breadth_first_order(
        G.outgoing_in_order, source, directed=True, return_predecessors=True
    )
    place = np.empty(len(G), order.dtype)
    place[order] = np.arange(len(order), dtype=order.dtype)
    # Where the queue ends once it has met what the first of its nodes meet. A level ends where the one before does so.
    met = np.bincount(place[before[order[1:]]], minlength=len(order))
    ends, bounds = (1 + np.cumsum(met)).data, [0, 1]
    while bounds[-1] < len(order):
        bounds.append(ends[bounds[-1] - 1])
    return order, np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)), before


def _levels(G: ConvertedGraph, source: int, incoming: bool = False) -> np.ndarray:
    graph = G.graph().T if incoming and G.is_directed() else G.graph()
    level: np.ndarray = to_device(bfs(graph, id(source), parents=False).level, "cpu")
    return level


def _limit(cutoff: float | None) -> float:
    """The last level that NetworkX still enters: it compares the level before with `cutoff`."""
    return math.inf if cutoff is None or cutoff == math.inf else max(0, math.ceil(cutoff))


def _by_steps(G: ConvertedGraph, source: int, cutoff: float | None) -> dict[Any, int]:
    order, level, _ = _queue(G, source)
    inside = int(np.searchsorted(level, _limit(cutoff), "right"))
    return dict(zip(G.named(order[:inside]), level[:inside].tolist(), strict=True))


def _by_weights(G: ConvertedGraph, distance: np.ndarray, weight: str | None, source: int) -> dict[Any, float]:
    # Where nothing has weights distances are levels: -1 is as far as inf.
    reached = np.flatnonzero((distance >= 0) & (distance < math.inf))
    order = reached[np.argsort(distance[reached], kind="stable")]
    G.check_exact(weight, distance[order[-1]])
    values = distance[order].astype(np.int64) if G.whole(weight) else distance[order]
    found = dict(zip(G.named(order), values.tolist(), strict=True))
    found[G.nodes[source]] = 0
    return found


def _distances(
    G: ConvertedGraph, source: int, weight: str | None, cutoff: float | None = None, incoming: bool = False
) -> np.ndarray:
    graph = G.lengths(weight)
    graph = graph.T if incoming and G.is_directed() else graph
    distance: np.ndarray = to_device(sssp(graph, id(source), cutoff=cutoff).distance, "cpu")
    return distance


def _source(G: ConvertedGraph, node: Any) -> int:
    if not G.holds(node):
        raise nx.NodeNotFound(f"Node {node} not found in graph")
    return G.index[node]


@serves(parallel=True)
def single_source_shortest_path_length(G: ConvertedGraph, source: Any, cutoff: float | None = None) -> dict[Any, int]:
    """As `networkx.single_source_shortest_path_length`."""
    return _by_steps(G, G.number(source), cutoff)


def _by_predecessors(call: Mapping[str, Any]) -> str | None:
    return "the order of predecessors is not converted" if call["G"].is_directed() else None


@serves(parallel=True, unless=_by_predecessors)
def single_target_shortest_path_length(G: ConvertedGraph, target: Any, cutoff: float | None = None) -> dict[Any, int]:
    """As `networkx.single_target_shortest_path_length`."""
    return _by_steps(G, G.number(target, "Target {} is not in G"), cutoff)


@serves(parallel=True)
def all_pairs_shortest_path_length(
    G: ConvertedGraph, cutoff: float | None = None
) -> Iterator[tuple[Any, dict[Any, int]]]:
    """As `networkx.all_pairs_shortest_path_length`."""
    for source, node in enumerate(G):
        yield node, _by_steps(G, source, cutoff)


@serves(parallel=True)
def single_source_shortest_path(G: ConvertedGraph, source: Any, cutoff: float | None = None) -> dict[Any, list[Any]]:
    """As `networkx.single_source_shortest_path`."""
    number = G.number(source, "Source {} not in G")
    order, level, before = _queue(G, number)
    inside = order[: int(np.searchsorted(level, _limit(cutoff), "right"))]
    paths = {number: [source]}
    for node, previous in zip(inside[1:].tolist(), before[inside[1:]].tolist(), strict=True):
        paths[node] = [*paths[previous], G.nodes[node]]
    return {G.nodes[node]: path for node, path in paths.items()}


@serves()
def single_source_dijkstra_path_length(
    G: ConvertedGraph, source: Any, cutoff: float | None = None, weight: str | None = "weight"
) -> dict[Any, float]:
    """As `networkx.single_source_dijkstra_path_length`."""
    number = _source(G, source)
    return _by_weights(G, _distances(G, number, weight, cutoff), weight, number)


@serves()
def dijkstra_path_length(G: ConvertedGraph, source: Any, target: Any, weight: str | None = "weight") -> float:
    """As `networkx.dijkstra_path_length`."""
    number = G.number(source, "Node {} not found in graph")
    if source == target:
        return 0
    distance = _distances(G, number, weight)[G.index[target]] if G.holds(target) else math.inf
    if distance == math.inf:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    G.check_exact(weight, distance)
    return int(distance) if G.whole(weight) else float(distance)


@serves()
def all_pairs_dijkstra_path_length(
    G: ConvertedGraph, cutoff: float | None = None, weight: str | None = "weight"
) -> Iterator[tuple[Any, dict[Any, float]]]:
    """As `networkx.all_pairs_dijkstra_path_length`."""
    if len(G) == 0:
        return
    for sources, distances in _blocks(G.lengths(weight), cutoff, weight=True):
        for source, distance in zip(sources.tolist(), to_device(distances, "cpu"), strict=True):
            yield G.nodes[source], _by_weights(G, distance, weight, source)


def _one_end(call: Mapping[str, Any]) -> str | None:
    if call["method"] != "dijkstra":
        return "only the default method is taken"
    if call["source"] is None and call["target"] is None:
        return "all pairs are NetworkX's"
    return _by_predecessors(call) if call["source"] is None and call["weight"] is None else None


@serves(unless=_one_end)
def shortest_path_length(
    G: ConvertedGraph, source: Any = None, target: Any = None, weight: str | None = None, method: str = "dijkstra"
) -> Any:
    """As `networkx.shortest_path_length`."""
    if source is not None and target is not None:
        if weight is not None:
            return dijkstra_path_length(G, source, target, weight)
        steps = int(_levels(G, G.number(source))[G.number(target, "Target {} is not in G")])
        if steps < 0:
            raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
        return steps
    incoming = source is None
    end = target if incoming else source
    if weight is None:
        return _by_steps(G, G.number(end), None)
    number = _source(G, end)
    return _by_weights(G, _distances(G, number, weight, incoming=incoming), weight, number)


@serves(parallel=True)
def has_path(G: ConvertedGraph, source: Any, target: Any) -> bool:
    """As `networkx.has_path`."""
    return bool(_levels(G, G.number(source))[G.number(target, "Target {} is not in G")] >= 0)


def _in_graph(G: ConvertedGraph, node: Any) -> int:
    if node not in G:
        raise nx.NetworkXError(f"The node {node} is not in the graph.")
    return G.index[node]


def _reached(G: ConvertedGraph, source: Any, incoming: bool) -> set[Any]:
    if not G.holds(source):
        raise nx.NetworkXError(f"The node {source} is not in the {'digraph' if G.is_directed() else 'graph'}.")
    return set(G.named(np.flatnonzero(_levels(G, G.index[source], incoming) > 0)))


@serves(parallel=True)
def descendants(G: ConvertedGraph, source: Any) -> set[Any]:
    """As `networkx.descendants`."""
    return _reached(G, source, incoming=False)


@serves(parallel=True)
def ancestors(G: ConvertedGraph, source: Any) -> set[Any]:
    """As `networkx.ancestors`."""
    return _reached(G, source, incoming=True)


@serves(parallel=True)
def descendants_at_distance(G: ConvertedGraph, source: Any, distance: int) -> set[Any]:
    """As `networkx.descendants_at_distance`."""
    level = _levels(G, _in_graph(G, source))
    return set(G.named(np.flatnonzero(level == distance))) if distance >= 0 else set()


@serves(parallel=True, unless=lambda call: None if call["sources"] in call["G"] else "only one source is taken")
def bfs_layers(G: ConvertedGraph, sources: Any) -> Iterator[list[Any]]:
    """As `networkx.bfs_layers`."""
    order, level, _ = _queue(G, G.index[sources])
    named, ends = G.named(order), np.cumsum(np.bincount(level)).tolist()
    for begin, end in zip([0, *ends], ends, strict=False):
        yield named[begin:end]
