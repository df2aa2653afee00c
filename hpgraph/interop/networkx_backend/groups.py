"""Centralities of groups of nodes."""

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.algorithms import components as _components
from hpgraph.algorithms import group_centralities as _groups
from hpgraph.containers.vertices import id
from hpgraph.core.device import to_device
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.searches import by_weights
from hpgraph.interop.networkx_backend.serving import NETWORKX, family


def _joined(incoming: bool) -> Callable[..., float]:
    """As `networkx.group_degree_centrality`, or along arcs into the group."""

    def run(G: ConvertedGraph, S: Any) -> float:
        inside = np.zeros(len(G), bool)
        for node in S:
            if not G.holds(node):
                raise nx.NetworkXError(f"The node {node} is not in the {'digraph' if G.is_directed() else 'graph'}.")
            inside[G.index[node]] = True
        ends, others = (G.indices, G.rows) if incoming else (G.rows, G.indices)
        beside = np.unique(others[inside[ends]])
        return int((~inside[beside]).sum()) / (len(G) - len(S))

    return run


def _closeness(G: ConvertedGraph, S: Any, weight: str | None) -> float:
    S = set(S)
    if not S:
        raise ValueError("sources must not be empty")
    for node in S:
        if node not in G:
            raise nx.NodeNotFound(f"Node {node} not found in graph")
    found = by_weights(G, S, weight, incoming=True)
    total = found.distance[found.order].sum().item()
    return (len(G) - len(S)) / total if total else 0


def _betweenness(G: ConvertedGraph, C: Any, normalized: bool, endpoints: bool) -> Any:
    single = any(node in G for node in C)
    groups = [set(group) for group in ([C] if single else C)]
    if missing := set().union(*groups) - G.index.keys():
        raise nx.NodeNotFound(f"The node(s) {missing} are in C but not in G.")
    if not groups:
        return []
    graph, n = G.graph(), len(G)
    parts = to_device(_components.connected_components(graph, connection="strong"), "cpu")
    if G.is_directed() and parts.max() > 0:
        raise NotImplementedError("of a directed graph that is not strongly connected NetworkX counts pairs otherwise")
    values: list[float] = []
    for group in groups:
        numbers = G.numbers(group)
        value = _groups.group_betweenness_centrality(graph, id(numbers), normalized=False)
        value = value if G.is_directed() else 2 * value
        if endpoints:
            # Pairs of which one, or both, are in the group.
            within, sizes = np.bincount(parts[numbers], minlength=n), np.bincount(parts, minlength=n)
            value += int((within * (2 * sizes - within - 1)).sum())
        left = n if endpoints and NETWORKX >= (3, 7) else n - len(group)
        if normalized:
            # For no pairs earlier versions divide an integer: the error's text differs.
            pairs = left * (left - 1)
            values.append(value / pairs if NETWORKX >= (3, 7) else value * (1 / pairs))
        else:
            values.append(value if G.is_directed() else value / 2)
    return values[0] if single else values


globals().update(
    family(
        {
            "group_degree_centrality": _joined(incoming=False),
            "group_out_degree_centrality": _joined(incoming=False),
            "group_in_degree_centrality": _joined(incoming=True),
        },
        parallel=True,
    )
    | family({"group_closeness_centrality": _closeness, "group_betweenness_centrality": _betweenness})
)
