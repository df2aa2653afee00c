"""Shortest paths and their lengths."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.algorithms.shortest_path import shortest_path as _shortest_path
from hpgraph.algorithms.simple_paths import lists_of
from hpgraph.algorithms.simple_paths import shortest_simple_paths as _simple_paths
from hpgraph.algorithms.sssp import sssp
from hpgraph.containers.vertices import id
from hpgraph.core.device import to_device
from hpgraph.core.errors import NegativeCycleError, NoPathError
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.searches import (
    Search,
    by_any_weights,
    by_steps,
    by_weights,
    from_each,
    length_of,
    with_start,
)
from hpgraph.interop.networkx_backend.serving import NETWORKX, family
from hpgraph.kernels.bidirectional.cpu_all_paths import simple_paths

_METHODS = ("dijkstra", "bellman-ford", *(("unweighted",) if NETWORKX >= (3, 7) else ()))
_FROM = "Source {} is not in G"


def _by_predecessors(call: Mapping[str, Any]) -> str | None:
    return "the order of predecessors is not converted" if call["G"].is_directed() else None


def _generic(call: Mapping[str, Any]) -> str | None:
    to_target = call["source"] is None and call["target"] is not None
    return _by_predecessors(call) if to_target and call["weight"] is None else None


def _search(G: ConvertedGraph, node: Any, weight: str | None, method: str, incoming: bool, missing: str) -> Search:
    """The search of a method of `networkx.shortest_path`."""
    if method == "unweighted":
        return by_steps(G, G.number(node, missing), incoming=incoming)
    if method == "dijkstra":
        return by_weights(G, [node], weight, incoming=incoming)
    return by_any_weights(G, node, weight, incoming=incoming)


def _searches(G: ConvertedGraph, weight: str | None, method: str, cutoff: float | None = None) -> Iterator[Search]:
    if method == "dijkstra":
        return from_each(G, weight, cutoff)
    if method == "unweighted":
        return (by_steps(G, source, cutoff) for source in range(len(G)))
    return (by_any_weights(G, source, weight) for source in G)


def _each(G: ConvertedGraph, what: str, weight: str | None, method: str, cutoff: float | None = None) -> Iterator[Any]:
    """Something that a search finds, from each node."""
    for node, search in zip(G, _searches(G, weight, method, cutoff), strict=True):
        yield node, getattr(search, what)


def _reached(search: Search, target: Any, complaint: str) -> Search:
    if not (search.G.holds(target) and (search.order == search.G.index[target]).any()):
        raise nx.NetworkXNoPath(complaint)
    return search


def _between(G: ConvertedGraph, source: Any, target: Any, weight: str | None) -> list[Any]:
    """A shortest path between two nodes, by searches from both."""
    begin, end = G.number(source), G.number(target, "Target {} is not in G")
    graph = G.lengths(weight)
    try:
        numbers = _shortest_path(graph, id(begin), id(end), weight=graph.weighted or None)
    except NoPathError as error:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.") from error
    return [G.nodes[number] for number in numbers]


def _by_length(G: ConvertedGraph, source: Any, target: Any, weight: str | None) -> Iterator[list[Any]]:
    """As `networkx.shortest_simple_paths`, ties in another order."""
    begin, end = G.number(source, "source node {} not in graph"), G.number(target, "target node {} not in graph")
    graph = G.lengths(weight)
    try:
        found = _simple_paths(graph, id(begin), id(end), weight=graph.weighted or None)
    except NoPathError as error:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.") from error
    return (G.named(path) for path in found)


def _simple(G: ConvertedGraph, source: Any, target: Any, cutoff: int | None) -> Iterator[list[Any]]:
    """As `networkx.all_simple_paths`, in its order."""
    begin = G.number(source, "source node {} not in graph")
    try:
        targets = {target} if target in G else set(target)
    except TypeError as error:
        raise nx.NodeNotFound(f"target node {target} not in graph") from error
    # Others are never reached, and NetworkX seeks them to the end.
    is_target = np.zeros(len(G), bool)
    is_target[numbers := [G.index[node] for node in targets if node in G]] = True
    if numbers:
        left = by_steps(G, numbers, incoming=True).distance
        most = len(G) if cutoff is None else math.floor(min(cutoff, len(G)))
        yield from map(G.named, lists_of(simple_paths(G.rows_in_order, begin, is_target, left, most)))


def _length(G: ConvertedGraph, path: list[Any], weight: str | None) -> float:
    """The length of a path between nodes, which must be exact."""
    total = length_of(G, G.numbers(path).tolist(), weight)
    G.check_exact(weight, total)
    return total


def _shortest(what: str, missing: str, **by_method: Callable[..., Any]) -> Callable[..., Any]:
    """As `networkx.shortest_path`: what searches find, or between two nodes what the function of the method does."""

    def run(G: ConvertedGraph, source: Any, target: Any, weight: str | None, method: str) -> Any:
        if method not in _METHODS:
            raise ValueError(f"method not supported: {method}")
        method = "unweighted" if weight is None else method
        if source is None and target is None:
            found = _each(G, what, weight, method)
            return dict(found) if what == "paths" and NETWORKX < (3, 5) else found
        if source is None or target is None:
            one = target if source is None else source
            return getattr(_search(G, one, weight, method, source is None, missing), what)
        return by_method[method.replace("-", "_")](G, source, target, weight)

    return run


def _dijkstra_length(G: ConvertedGraph, source: Any, target: Any, weight: str | None) -> float:
    G.number(source, "Node {} not found in graph")
    if source == target:
        return 0
    try:
        if G.holds(target):
            return _length(G, _between(G, source, target, weight), weight)
    except nx.NetworkXNoPath:
        pass
    raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")


def _directed_search(
    G: ConvertedGraph, source: Any, target: Any, weight: str | None, cutoff: float | None
) -> list[Any]:
    try:
        path = _between(G, source, target, weight)
    except nx.NetworkXNoPath:
        path = []
    if not path or (cutoff and _length(G, path, weight) > cutoff):
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return path


def _directed_length(G: ConvertedGraph, source: Any, target: Any, weight: str | None, cutoff: float | None) -> float:
    if source not in G or target not in G:
        raise nx.NodeNotFound(f"Either source {source} or target {target} is not in G")
    return _length(G, _directed_search(G, source, target, weight, cutoff), weight)


def _bounded(call: Mapping[str, Any]) -> str | None:
    unread = call["heuristic"] is None or call["cutoff"] is None
    return None if unread else "a heuristic decides what is beyond the cutoff"


def _one_pair(
    G: ConvertedGraph, source: Any, target: Any, weight: str | None,
    complaint: str = "Target {1} cannot be reached from given sources",
    missing: str = "Node {} is not found in the graph",
) -> tuple[float, list[Any]]:  # fmt: skip
    """Length and path between two nodes, where lengths may be negative."""
    if source == target:
        G.number(source, missing)
        return 0, [source]
    found = _reached(by_any_weights(G, source, weight), target, complaint.format(source, target))
    return found.distance[G.index[target]].item(), found.path(target)


def _nearest(
    G: ConvertedGraph, sources: Iterable[Any], target: Any, cutoff: float | None, weight: str | None
) -> tuple[Any, Any]:
    if not sources:
        raise ValueError("sources must not be empty")
    found = by_weights(G, sources, weight, cutoff)
    if target is None:
        return found.lengths, found.paths
    if target in sources:
        return 0, [target]
    _reached(found, target, f"No path to {target}.")
    return found.distance[G.index[target]].item(), found.path(target)


def _predecessors(G: ConvertedGraph, source: Any, cutoff: float | None, weight: str | None) -> tuple[Any, Any]:
    G.number(source, "Node {} is not found in the graph", hashed=True)
    found = by_weights(G, [source], weight, cutoff)
    return found.predecessors, found.lengths


def _any_predecessors(G: ConvertedGraph, source: Any, weight: str | None) -> Search:
    values = G.column(weight)
    number = G.number(source, "Node {} is not found in the graph")
    if values is not None and (values[G.rows == G.indices] < 0).any():
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    if len(G) == 1:
        return Search(G, np.array([number]), np.zeros(1, np.int64), np.array([-1]), None, False)
    return by_any_weights(G, source, weight)


def _tree(search: Search) -> tuple[dict[Any, Any], dict[Any, float]]:
    """As `networkx.goldberg_radzik`: the node before each, and how far they are."""
    return dict.fromkeys(search.G.named(search.order[:1])) | {v: u for u, v in search.edges()}, search.lengths


def _predecessor(G: ConvertedGraph, source: Any, target: Any, cutoff: float | None, return_seen: bool | None) -> Any:
    found = by_steps(G, G.number(source, "Source {} not in G"), cutoff or None)
    before, seen = found.predecessors, found.lengths
    if target is not None:
        return (before.get(target, []), seen.get(target, -1)) if return_seen else before.get(target, [])
    return (before, seen) if return_seen else before


def _single_target(what: str, complaint: str) -> Callable[..., Any]:
    def run(G: ConvertedGraph, target: Any, cutoff: float | None) -> Any:
        return getattr(by_steps(G, G.number(target, complaint), cutoff, incoming=True), what)

    return run


def _table(G: ConvertedGraph, nodelist: Any, weight: str | None) -> np.ndarray:
    """As `networkx.floyd_warshall_numpy`, for lengths that are not negative."""
    if nodelist is not None and not len(nodelist) == len(G) == len(set(nodelist)):
        raise nx.NetworkXError(
            "nodelist must contain every node in G with no repeats."
            "If you wanted a subgraph of G use G.subgraph(nodelist)"
        )
    if nodelist is not None and (missing := set(nodelist) - set(G)):
        raise nx.NetworkXError(f"Nodes {missing} in nodelist is not in G")
    order = G.numbers(G if nodelist is None else nodelist)
    table = np.full((len(G), len(G)), np.inf)
    for row, search in enumerate(from_each(G, weight)):
        table[row, search.order] = search.distance[search.order]
    return table[np.ix_(order, order)]


def _all_lengths(G: ConvertedGraph, weight: str | None) -> dict[Any, dict[Any, float]]:
    """As `networkx.floyd_warshall`: a dict for each node, infinite where there is no path."""
    whole = G.column(weight) is not None and G.whole(weight)
    found: dict[Any, dict[Any, float]] = {}
    for node, row in zip(G, _table(G, None, weight).tolist(), strict=True):
        found[node] = defaultdict(lambda: float("inf"))
        values = [int(value) if whole and value != np.inf else value for value in row]
        found[node].update(zip(G.nodes, values, strict=True))
        found[node][node] = 0
    return found


def _negative_cycle(G: ConvertedGraph, weight: str | None) -> bool:
    values = G.column(weight)
    if values is None or not len(values) or values.min() >= 0:
        return False
    if not np.isfinite(values).all():
        raise NotImplementedError(f"{weight!r} is not finite somewhere")
    if not G.is_directed() or (values[G.rows == G.indices] < 0).any():
        return True
    graph = with_start(G.graph(weight), range(len(G)))
    try:
        to_device(sssp(graph, id(len(G))).distance, "cpu")
    except NegativeCycleError:
        return True
    return False


globals().update(
    family(
        {
            "single_source_shortest_path_length": lambda G, source, cutoff: (
                by_steps(G, G.number(source, _FROM), cutoff).lengths
            ),
            "single_source_shortest_path": lambda G, source, cutoff: (
                by_steps(G, G.number(source, "Source {} not in G"), cutoff).paths
            ),
            "all_pairs_shortest_path_length": lambda G, cutoff: _each(G, "lengths", None, "unweighted", cutoff),
            "all_pairs_shortest_path": lambda G, cutoff: _each(G, "paths", None, "unweighted", cutoff),
            "bidirectional_shortest_path": lambda G, source, target: _between(G, source, target, None),
            "has_path": lambda G, source, target: bool(
                by_steps(G, G.number(source)).distance[G.number(target, "Target {} is not in G")] >= 0
            ),
            "predecessor": _predecessor,
        },
        parallel=True,
    )
    | family(
        {
            "single_target_shortest_path_length": _single_target("lengths", "Target {} is not in G"),
            "single_target_shortest_path": _single_target("paths", "Target {} not in G"),
        },
        parallel=True,
        unless=_by_predecessors,
    )
    | family(
        {
            "shortest_path": _shortest(
                "paths",
                "Source {} not in G",
                dijkstra=_between,
                unweighted=lambda G, source, target, weight: _between(G, source, target, None),
                bellman_ford=lambda *pair: _one_pair(*pair)[1],
            ),
            "shortest_path_length": _shortest(
                "lengths",
                _FROM,
                dijkstra=_dijkstra_length,
                unweighted=lambda G, source, target, weight: len(_between(G, source, target, None)) - 1,
                bellman_ford=lambda *pair: _one_pair(*pair)[0],
            ),
        },
        unless=_generic,
    )
    | family(
        {
            "dijkstra_path_length": _dijkstra_length,
            "multi_source_dijkstra": _nearest,
            "multi_source_dijkstra_path_length": lambda G, sources, cutoff, weight: _nearest(
                G, sources, None, cutoff, weight
            )[0],
            "dijkstra_predecessor_and_distance": _predecessors,
            "all_pairs_dijkstra": lambda G, cutoff, weight: (
                (node, (found.lengths, found.paths))
                for node, found in zip(G, from_each(G, weight, cutoff), strict=True)
            ),
            "all_pairs_dijkstra_path": lambda G, cutoff, weight: _each(G, "paths", weight, "dijkstra", cutoff),
            "all_pairs_dijkstra_path_length": lambda G, cutoff, weight: _each(G, "lengths", weight, "dijkstra", cutoff),
            "johnson": lambda G, weight: dict(_each(G, "paths", weight, "dijkstra", None)),
            "bidirectional_dijkstra": lambda G, source, target, weight: (
                _length(G, path := _between(G, source, target, weight), weight),
                path,
            ),
            "bellman_ford_path_length": lambda G, source, target, weight: _one_pair(
                G, source, target, weight, "node {1} not reachable from {0}", "Node {} not found in graph"
            )[0],
            "single_source_bellman_ford_path_length": lambda G, source, weight: (
                by_any_weights(G, source, weight).lengths
            ),
            "single_source_bellman_ford": lambda G, source, target, weight: (
                _one_pair(G, source, target, weight)
                if target is not None
                else ((found := by_any_weights(G, source, weight)).lengths, found.paths)
            ),
            "bellman_ford_predecessor_and_distance": lambda G, source, weight: (
                (found := _any_predecessors(G, source, weight)).predecessors,
                found.lengths,
            ),
            "goldberg_radzik": lambda G, source, weight: _tree(_any_predecessors(G, source, weight)),
            "negative_edge_cycle": _negative_cycle,
            "floyd_warshall_numpy": _table,
            "floyd_warshall": _all_lengths,
        },
        unread=("heuristic",),
    )
    | family(
        {
            "shortest_simple_paths": _by_length,
            "all_simple_paths": _simple,
            "all_simple_edge_paths": lambda G, source, target, cutoff: (
                list(pairwise(path)) for path in _simple(G, source, target, cutoff)
            ),
        }
    )
    | family(
        {"astar_path": _directed_search, "astar_path_length": _directed_length}, unless=_bounded, unread=("heuristic",)
    )
    | family("""
        all_shortest_paths single_source_all_shortest_paths all_pairs_all_shortest_paths dijkstra_path
        single_source_dijkstra single_source_dijkstra_path single_source_dijkstra_path_length multi_source_dijkstra_path
        bellman_ford_path single_source_bellman_ford_path all_pairs_bellman_ford_path all_pairs_bellman_ford_path_length
        voronoi_cells
    """)
)
