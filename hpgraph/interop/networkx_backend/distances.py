"""Distances between nodes, and measures that follow from them."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.algorithms import eccentricity as _eccentricity
from hpgraph.algorithms.distance_blocks import all_pairs_shortest_path_length as _blocks
from hpgraph.algorithms.reach import reach
from hpgraph.containers.graph import Graph, id
from hpgraph.core.device import to_device
from hpgraph.interop.networkx_backend.components import is_connected_in
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.serving import NETWORKX, family

_NULL = "Cannot compute eccentricity of a null graph."


def _require_connected(G: ConvertedGraph, bounds: bool = False) -> None:
    if not is_connected_in(G):
        raise _not_connected(G, bounds)


def _require_nodes(G: ConvertedGraph, bounds: bool, which: Any) -> None:
    if len(G) == 0:
        bounds = bounds and not G.is_directed()
        if not bounds and NETWORKX >= (3, 7):
            raise nx.NetworkXPointlessConcept(_NULL)
        (max if bounds else which)(())  # NetworkX's error


def _not_connected(G: ConvertedGraph, bounds: bool = False) -> nx.NetworkXError:
    if bounds and not G.is_directed():
        return nx.NetworkXError("Cannot compute metric because graph is not connected.")
    return nx.NetworkXError(
        "Found infinite path length because the "
        + ("digraph is not strongly connected" if G.is_directed() else "graph is not connected")
    )


def _eccentricities(G: ConvertedGraph, v: Any, weight: str | None) -> Any:
    if len(G) == 0 and NETWORKX >= (3, 7):
        raise nx.NetworkXPointlessConcept(_NULL)
    wanted = list(G.nbunch_iter(v))
    if not wanted:
        return {}
    graph = G.lengths(weight)
    numbers = None if v is None else id(G.numbers(wanted))
    # The nodes in `v` may reach all others even if the graph is not connected.
    if not is_connected_in(G) and (numbers is None or (reach(G.graph(), numbers) < len(G)).any()):
        raise _not_connected(G)
    values = _values(G, graph, weight, wanted, numbers)
    return values[v] if v in G else values


def _values(G: ConvertedGraph, graph: Graph, weight: str | None, nodes: list[Any], numbers: Any = None) -> dict:
    """Eccentricities of nodes that reach all others; `numbers`: their vertices, None for all."""
    found = to_device(_eccentricity.eccentricity(graph, numbers, weight=graph.weighted or None), "cpu")
    G.check_exact(weight, found.max())
    # A node's distance to itself is the int 0, which NetworkX returns if no other is larger.
    values = (int(value) if G.whole(weight) else value or 0 for value in found.tolist())
    return dict(zip(nodes, values, strict=True))


def _extreme(G: ConvertedGraph, weight: str | None, bounds: bool, find: Any, which: Any) -> float:
    _require_nodes(G, bounds, which)
    graph = G.lengths(weight)
    _require_connected(G, bounds)
    value = find(graph, weight=graph.weighted or None)
    G.check_exact(weight, value)
    return int(value) if G.whole(weight) else float(value) or 0


def _where(G: ConvertedGraph, weight: str | None, bounds: bool, which: Any) -> list[Any]:
    _require_nodes(G, bounds, which)
    _require_connected(G, bounds)
    values = _values(G, G.lengths(weight), weight, list(G.nbunch_iter(None)))
    bound = which(values.values())
    return [node for node, value in values.items() if value == bound]


def _center(G: ConvertedGraph, usebounds: bool, weight: str | None) -> list[Any]:
    if len(G) == 0 and weight is None and not G.is_directed() and not usebounds and NETWORKX >= (3, 5):
        # NetworkX checks whether it is a tree.
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    found = _where(G, weight, usebounds, min)
    if len(found) == 2 and not G.is_directed() and len(G.indices) == 2 * (len(G) - 1):
        raise NotImplementedError("the order of a tree's two centers follows from how NetworkX takes off its leaves")
    return found


def _average_length(G: ConvertedGraph, weight: str | None, method: str | None) -> float:
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept("the null graph has no paths, thus there is no average shortest path length")
    if n == 1:
        return 0
    if method == "unweighted":
        weight = None
    graph = G.lengths(weight)
    if not is_connected_in(G):
        raise nx.NetworkXError("Graph is not strongly connected." if G.is_directed() else "Graph is not connected.")
    total: float = sum(lengths.sum().item() for _, lengths in _blocks(graph, weight=graph.weighted or None))
    return total / (n * (n - 1))


def _inverse_distances(G: ConvertedGraph, weight: str | None = None) -> float:
    """The sum of 1 / distance over all pairs that are connected and not in one place."""
    total = 0.0
    for _, lengths in _blocks(G.lengths(weight), weight=G.column(weight) is not None or None) if len(G) else ():
        found = to_device(lengths, "cpu")
        total += float((1 / found[(found > 0) & np.isfinite(found)]).sum())
    return total


def _global_efficiency(G: ConvertedGraph) -> float:
    pairs = len(G) * (len(G) - 1)
    return _inverse_distances(G) / pairs if pairs else 0


def _harmonic_diameter(G: ConvertedGraph, weight: str | None = None) -> float:
    total, n = _inverse_distances(G, weight), len(G)
    return n * (n - 1) / total if total else math.inf if n > 1 else math.nan


def _sums(G: ConvertedGraph, weight: str | None) -> np.ndarray:
    """For each node the sum of its distances to all others, all of which are reachable."""
    blocks = _blocks(G.lengths(weight), weight=G.column(weight) is not None or None)
    total = np.concatenate([to_device(lengths.sum(axis=1, dtype=np.float64), "cpu") for _, lengths in blocks])
    G.check_exact(weight, float(total.sum()))
    return total


def _wiener_index(G: ConvertedGraph, weight: str | None) -> float:
    if not is_connected_in(G):
        return math.inf
    total = _sums(G, weight).sum().item()
    if not G.is_directed():
        return total / 2
    return int(total) if G.whole(weight) else total


def _over_pairs(of: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]) -> Callable[..., float]:
    """Half the sum over all pairs of a function of their distances and of the degrees of either end."""

    def run(G: ConvertedGraph, weight: str | None) -> float:
        if not is_connected_in(G):
            return math.inf
        degree, begin, total = G.degree().astype(np.float64), 0, 0.0
        for _, lengths in _blocks(G.lengths(weight), weight=G.column(weight) is not None or None):
            found = to_device(lengths, "cpu").astype(np.float64)
            total += of(found, degree[begin : begin + len(found), None], degree).sum().item()
            begin += len(found)
        return total / 2

    return run


def _reaching(G: ConvertedGraph, nodes: list[Any] | None = None) -> np.ndarray:
    """The share of other nodes that each node reaches; in undirected graphs each counts 1 / distance."""
    if len(G.indices) == 0:
        raise nx.NetworkXError("Size of G must be positive")
    if len(G) == 1:
        raise nx.NetworkXError("local_reaching_centrality of a single node with self-loop not well-defined")
    sources = None if nodes is None else id(np.array([G.number(v, "Source {} not in G") for v in nodes], np.int64))
    total = []
    for _, lengths in _blocks(G.graph(), sources=sources):
        found = to_device(lengths, "cpu").astype(np.float64)
        found = np.where(found > 0, found, np.inf)
        total.append((np.isfinite(found) if G.is_directed() else 1 / found).sum(axis=1))
    return np.concatenate(total) / (len(G) - 1)


def _global_reaching(G: ConvertedGraph) -> float:
    found = _reaching(G)
    return float((found.max() - found).sum() / (len(G) - 1))


def _local_reaching(G: ConvertedGraph, v: Any) -> float:
    return float(_reaching(G, [v])[0])


def _barycenter(G: ConvertedGraph, weight: str | None) -> list[Any]:
    if len(G) == 0:
        return []
    if not is_connected_in(G):
        raise nx.NetworkXNoPath(
            f"Input graph {G} is disconnected, so every induced subgraph has infinite barycentricity."
        )
    total = _sums(G, weight)
    return G.named(np.flatnonzero(total == total.min()))


def _no_tree(call: Mapping[str, Any]) -> str | None:
    graph = call["G"]
    tree = call["weight"] is None and not graph.is_directed() and graph.number_of_edges() == len(graph) - 1
    return "of a tree NetworkX finds the centroid" if tree else None


globals().update(
    family(
        {
            "eccentricity": _eccentricities,
            "diameter": lambda G, usebounds, weight: _extreme(G, weight, usebounds, _eccentricity.diameter, max),
            "radius": lambda G, usebounds, weight: _extreme(G, weight, usebounds, _eccentricity.radius, min),
            "periphery": lambda G, usebounds, weight: _where(G, weight, usebounds, max),
            "center": _center,
        }
    )
    | family({"average_shortest_path_length": _average_length}, only={"method": (None, "unweighted", "dijkstra")})
    | family({"global_efficiency": _global_efficiency}, parallel=True)
    | family({"harmonic_diameter": _harmonic_diameter, "wiener_index": _wiener_index})
    | family({"barycenter": _barycenter}, unless=_no_tree)
    | family(
        {
            "hyper_wiener_index": _over_pairs(lambda lengths, one, other: lengths + lengths**2),
            "schultz_index": _over_pairs(lambda lengths, one, other: lengths * (one + other)),
            "gutman_index": _over_pairs(lambda lengths, one, other: lengths * one * other),
        }
    )
    | family(
        {"global_reaching_centrality": _global_reaching, "local_reaching_centrality": _local_reaching},
        unread=("normalized",),
    )
)
