"""Connectivity of nodes: components, biconnected components, bridges."""

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.algorithms import biconnected as _biconnected
from hpgraph.algorithms import bipartite as _bipartite
from hpgraph.algorithms.bfs import bfs
from hpgraph.algorithms.components import connected_components as _components
from hpgraph.containers.vertices import id
from hpgraph.core.device import to_device
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.returned import graph_of_edges
from hpgraph.interop.networkx_backend.serving import family
from hpgraph.kernels.structure.cpu_depth_first import depth_first, number_down, postorder


def _sets(G: ConvertedGraph) -> Iterator[set[Any]]:
    if len(G) == 0:
        return
    # Components are numbered by their first node: NetworkX's order.
    found = _components(G.graph())
    yield from sets_by_label(G, to_device(found.label, "cpu"), found.count)


def sets_by_label(G: ConvertedGraph, label: np.ndarray, count: int) -> Iterator[set[Any]]:
    """The nodes of each label from 0 to `count`."""
    return map(set, G.groups(np.argsort(label, kind="stable"), np.bincount(label, minlength=count)))


def _count(G: ConvertedGraph, connection: Any = "weak") -> int:
    return int(_components(G.graph(), connection=connection).count) if len(G) else 0


def is_connected_in(G: ConvertedGraph) -> bool:
    """Whether all nodes are connected; in a directed graph strongly."""
    return _is_one(G, "strong" if G.is_directed() else "weak")


def _is_one(G: ConvertedGraph, connection: Any = "weak") -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return _count(G, connection) == 1


def _searched(G: ConvertedGraph) -> tuple[Any, np.ndarray]:
    """A depth-first forest, neighbours in NetworkX's order, and each node's place in the order of leaving."""
    forest = depth_first(G.rows_in_order)
    left = np.empty(len(G), np.int64)
    left[postorder(forest.order, forest.parent)] = np.arange(len(G))
    return forest, left


def _strong(G: ConvertedGraph) -> tuple[np.ndarray, int]:
    """The strong component of each node, numbered in the order in which Tarjan's search completes them."""
    if len(G) == 0:
        return np.zeros(0, np.int64), 0
    found = _components(G.graph(), connection="strong")
    label, last = to_device(found.label, "cpu"), np.full(found.count, -1)
    # A component is complete when the search leaves the node by which it came.
    np.maximum.at(last, label, _searched(G)[1])
    place = np.empty(found.count, np.int64)
    place[np.argsort(last)] = np.arange(found.count)
    return place[label], found.count


def _attracting(G: ConvertedGraph) -> list[set[Any]]:
    label, count = _strong(G)
    source, target = label[G.rows], label[G.indices]
    leaves = np.bincount(source[source != target], minlength=count) > 0
    return [found for number, found in enumerate(sets_by_label(G, label, count)) if not leaves[number]]


def _is_semiconnected(G: ConvertedGraph) -> bool:
    """Whether the graph is semiconnected: each strong component has an arc to the one completed before it."""
    if not _is_one(G):
        return False
    label, count = _strong(G)
    source, target = label[G.rows], label[G.indices]
    return len(np.unique(source[source == target + 1])) == count - 1


def _condensation(G: ConvertedGraph, scc: Any) -> Any:
    if len(G) == 0:
        return graph_of_edges([], [], [], directed=True, graph_data={"mapping": {}})
    parts = list(sets_by_label(G, *_strong(G)) if scc is None else scc)
    mapping = {node: number for number, part in enumerate(parts) for node in part}
    label = np.fromiter((mapping[node] for node in G), np.int64, len(G))
    source, target = label[G.rows], label[G.indices]
    between = source != target
    members = {number: {"members": part} for number, part in enumerate(parts)}
    return graph_of_edges(
        range(len(parts)), source[between], target[between], directed=True, node_data=members,
        graph_data={"mapping": mapping},
    )  # fmt: skip


def _hierarchy(G: ConvertedGraph, weight: str | None) -> float:
    if len(G.indices) == 0:
        raise nx.NetworkXError("flow_hierarchy not applicable to empty graphs")
    if not G.is_directed():
        raise nx.NetworkXError("G must be a digraph in flow_hierarchy")
    label, values = _strong(G)[0], G.column(weight)
    values = np.ones(len(G.indices), np.int64) if values is None else values
    return 1 - values[label[G.rows] == label[G.indices]].sum().item() / values.sum().item()


def _begins(G: ConvertedGraph) -> tuple[Any, np.ndarray, np.ndarray]:
    """A depth-first forest, the places of leaving, and in their order the nodes below which a component begins."""
    forest, left = _searched(G)
    child = forest.parent != np.arange(len(G))
    begins = np.flatnonzero(child & (forest.low >= forest.number[forest.parent]))
    return forest, left, begins[np.argsort(left[begins])]


def _biconnected_sets(G: ConvertedGraph) -> Iterator[set[Any]]:
    if len(G) == 0:
        return
    forest, _, begins = _begins(G)
    label = number_down(forest, begins)
    by_label = np.argsort(label, kind="stable")
    bounds = np.searchsorted(label[by_label], np.arange(label.max(initial=-1) + 2)).tolist()
    named = G.named(by_label)
    for begin, number in zip(begins.tolist(), label[begins].tolist(), strict=True):
        yield {G.nodes[forest.parent[begin]], *named[bounds[number] : bounds[number + 1]]}


def _articulation_points(G: ConvertedGraph) -> Iterator[Any]:
    if len(G) == 0:
        return
    forest, left, begins = _begins(G)
    above = forest.parent[begins]
    root = forest.parent[above] == above
    # A root separates its children if it has several, and is listed when the search leaves it.
    kept = ~root | (np.bincount(above, minlength=len(G))[above] > 1)
    first_seen = np.where(root, left[above], left[begins])
    order = np.argsort(first_seen[kept], kind="stable")
    yield from dict.fromkeys(G.named(above[kept][order]))


def _bridges(G: ConvertedGraph) -> Iterator[tuple[Any, Any]]:
    if len(G) == 0:
        return
    found = to_device(_biconnected.bridges(G.graph()), "cpu").astype(np.int64)
    n, source, target = len(G), G.rows[G.edges], G.indices[G.edges]
    kept = np.isin(source * n + target, found[:, 0] * n + found[:, 1])
    yield from G.pairs(source[kept], target[kept])


# NetworkX checks that graphs of the first functions are directed, and of the others undirected.
globals().update(
    family(
        {
            "connected_components": _sets,
            "weakly_connected_components": _sets,
            "number_connected_components": lambda G: _count(G),
            "number_weakly_connected_components": lambda G: _count(G),
            "number_strongly_connected_components": lambda G: _count(G, "strong"),
            "is_connected": lambda G: _is_one(G),
            "is_weakly_connected": lambda G: _is_one(G),
            "is_strongly_connected": lambda G: _is_one(G, "strong"),
            "node_connected_component": lambda G, n: set(
                G.named(np.flatnonzero(to_device(bfs(G.graph(), id(G.index[n]), parents=False).level, "cpu") >= 0))
            ),
            "strongly_connected_components": lambda G: sets_by_label(G, *_strong(G)),
            "condensation": _condensation,
            "attracting_components": lambda G: iter(_attracting(G)),
            "is_semiconnected": _is_semiconnected,
            "biconnected_components": _biconnected_sets,
            "articulation_points": _articulation_points,
            "is_bipartite": lambda G: bool(_bipartite.is_bipartite(G.graph())) if len(G) else True,
        },
        parallel=True,
    )
    | family("number_attracting_components is_attracting_component is_biconnected", parallel=True)
    | family({"bridges": _bridges, "flow_hierarchy": _hierarchy})
    | family("has_bridges", without=("root",))
)
