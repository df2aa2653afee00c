"""Breadth-first and depth-first searches, what they reach, and graphs without cycles."""

from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.algorithms import acyclic as _acyclic
from hpgraph.algorithms.bfs import bfs
from hpgraph.containers.vertices import id
from hpgraph.core.device import to_device
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.returned import graph_of_edges
from hpgraph.interop.networkx_backend.searches import Search, by_steps, length_of, searched_graph
from hpgraph.interop.networkx_backend.serving import family
from hpgraph.kernels.structure.cpu_depth_first import depth_first, depth_first_order, postorder
from hpgraph.kernels.structure.cpu_fifo import topological_order


def _missing(G: ConvertedGraph, node: Any) -> nx.NetworkXError:
    return nx.NetworkXError(f"The node {node} is not in the {'digraph' if G.is_directed() else 'graph'}.")


def _breadth_first(G: ConvertedGraph, source: Any, depth_limit: float | None, incoming: bool = False) -> Search:
    if not G.holds(source):
        raise _missing(G, source)
    return by_steps(G, G.index[source], depth_limit, incoming)


def _breadth_first_edges(
    G: ConvertedGraph, source: Any, reverse: bool, depth_limit: float | None
) -> Iterator[tuple[Any, Any]]:
    yield from _breadth_first(G, source, depth_limit, reverse).edges()


def _tree(G: ConvertedGraph, order: np.ndarray, before: np.ndarray, nodes: list[Any] | None = None) -> Any:
    """The directed graph of a search, nodes in its order unless they are given by `nodes`."""
    place = np.empty(len(G), np.int64)
    kept = order if nodes is None else np.arange(len(G))
    place[kept] = np.arange(len(kept))
    found = order[(before[order] >= 0) & (before[order] != order)]
    return graph_of_edges(nodes or G.named(order), place[before[found]], place[found], directed=True)


def _layers(G: ConvertedGraph, sources: Any) -> Iterator[list[Any]]:
    nodes = list({sources} if sources in G else set(sources))
    for node in nodes:
        if node not in G:
            raise nx.NetworkXError(f"The node {node} is not in the graph.")
    if not nodes:
        return
    found = by_steps(G, [G.index[node] for node in nodes])
    yield from G.groups(found.order, np.bincount(found.distance[found.order]))


def _depth_first(G: ConvertedGraph, source: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """The order of a search of all, or from one node, and the parents; a root is its own."""
    if source is None:
        forest = depth_first(G.rows_in_order)
        return forest.order, forest.parent
    if not G.holds(source):
        raise _missing(G, source)
    root = G.index[source]
    order, parent = depth_first_order(G.rows_in_order, root, -1)
    parent[root] = root
    return order, parent


def _depth_first_edges(G: ConvertedGraph, source: Any) -> Iterator[tuple[Any, Any]]:
    order, parent = _depth_first(G, source)
    found = order[parent[order] != order]
    yield from G.pairs(parent[found], found)


def _levels(G: ConvertedGraph, source: int, incoming: bool = False) -> np.ndarray:
    return to_device(bfs(searched_graph(G, G.graph(), incoming), id(source), parents=False).level, "cpu")


def _reached(incoming: bool) -> Callable[..., set[Any]]:
    def run(G: ConvertedGraph, source: Any) -> set[Any]:
        if not G.holds(source):
            raise _missing(G, source)
        return set(G.named(np.flatnonzero(_levels(G, G.index[source], incoming) > 0)))

    return run


def _at_distance(G: ConvertedGraph, source: Any, distance: int) -> set[Any]:
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    level = _levels(G, G.index[source])
    return set(G.named(np.flatnonzero(level == distance))) if distance >= 0 else set()


def _generations(G: ConvertedGraph) -> Iterator[list[Any]]:
    if not G.is_directed():
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    order, generation = topological_order(G.indptr, G.indices)
    yield from G.groups(order, np.bincount(generation))
    if len(order) < len(G):
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")


def _is_acyclic(G: ConvertedGraph) -> bool:
    return G.is_directed() and (len(G) == 0 or bool(_acyclic.is_directed_acyclic_graph(G.graph())))


def _has_cycle(G: ConvertedGraph) -> bool:
    if not G.is_directed():
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    return not _is_acyclic(G)


def _longest_path(G: ConvertedGraph, weight: str | None) -> list[int]:
    if len(G) == 0:
        return []
    if not _is_acyclic(G):
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")
    graph = G.graph(weight)
    numbers: list[int] = to_device(
        _acyclic.dag_longest_path(graph, "weight" if graph.weighted else None), "cpu"
    ).tolist()
    return numbers


def _is_aperiodic(G: ConvertedGraph) -> bool:
    if not G.is_directed():
        raise nx.NetworkXError("is_aperiodic not defined for undirected graphs")
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Graph has no nodes.")
    level = _levels(G, 0)
    if (level < 0).any() or (_levels(G, 0, incoming=True) < 0).any():
        raise nx.NetworkXError("Graph is not strongly connected.")
    return int(np.gcd.reduce(np.abs(level[G.rows] - level[G.indices] + 1), initial=0)) == 1


globals().update(
    family(
        {
            "bfs_edges": _breadth_first_edges,
            "bfs_tree": lambda G, source, reverse, depth_limit: _tree(
                G, (found := _breadth_first(G, source, depth_limit, reverse)).order, found.before
            ),
            "bfs_layers": _layers,
            "dfs_edges": _depth_first_edges,
            "dfs_tree": lambda G, source: _tree(G, *_depth_first(G, source), G.nodes if source is None else None),
            "dfs_preorder_nodes": lambda G, source: iter(G.named(_depth_first(G, source)[0])),
            "dfs_postorder_nodes": lambda G, source: iter(G.named(postorder(*_depth_first(G, source)))),
            "descendants": _reached(incoming=False),
            "ancestors": _reached(incoming=True),
            "descendants_at_distance": _at_distance,
            "topological_generations": _generations,
            "is_directed_acyclic_graph": _is_acyclic,
            "has_cycle": _has_cycle,
            "is_aperiodic": _is_aperiodic,
        },
        parallel=True,
    )
    | family("topological_sort", parallel=True)
    | family(
        "bfs_predecessors bfs_successors dfs_predecessors dfs_successors", parallel=True, without=("sort_neighbors",)
    )
    | family(
        {
            "dag_longest_path": lambda G, weight: G.named(np.array(_longest_path(G, weight), np.int64)),
            "dag_longest_path_length": lambda G, weight: length_of(G, _longest_path(G, weight), weight),
        }
    )
)
