"""Which nodes are connected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.algorithms.bfs import bfs
from hpgraph.algorithms.components import connected_components as _components
from hpgraph.containers.vertices import id
from hpgraph.core.device import to_device
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.serving import serves


def _sets(G: ConvertedGraph) -> Iterator[set[Any]]:
    # Components are numbered by their first node: NetworkX's order.
    found = _components(G.graph())
    label = to_device(found.label, "cpu")
    named = G.named(np.argsort(label, kind="stable"))
    end = 0
    for size in np.bincount(label, minlength=found.count).tolist():
        begin, end = end, end + size
        yield set(named[begin:end])


def _count(G: ConvertedGraph, connection: Any = "weak") -> int:
    return int(_components(G.graph(), connection=connection).count) if len(G) else 0


def _is_one(G: ConvertedGraph, connection: Any = "weak") -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return _count(G, connection) == 1


@serves(parallel=True)
def connected_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    """As `networkx.connected_components` and, of directed graphs, `networkx.weakly_connected_components`."""
    yield from _sets(G) if len(G) else ()


@serves(parallel=True)
def number_connected_components(G: ConvertedGraph) -> int:
    """As `networkx.number_connected_components` and `networkx.number_weakly_connected_components`."""
    return _count(G)


@serves(parallel=True)
def number_strongly_connected_components(G: ConvertedGraph) -> int:
    """As `networkx.number_strongly_connected_components`."""
    return _count(G, "strong")


@serves(parallel=True)
def is_connected(G: ConvertedGraph) -> bool:
    """As `networkx.is_connected` and `networkx.is_weakly_connected`."""
    return _is_one(G)


@serves(parallel=True)
def is_strongly_connected(G: ConvertedGraph) -> bool:
    """As `networkx.is_strongly_connected`."""
    return _is_one(G, "strong")


# NetworkX itself sees to it that directed graphs come by these names, and undirected ones by the others.
weakly_connected_components = connected_components
number_weakly_connected_components = number_connected_components
is_weakly_connected = is_connected


@serves(parallel=True)
def node_connected_component(G: ConvertedGraph, n: Any) -> set[Any]:
    """As `networkx.node_connected_component`."""
    level = to_device(bfs(G.graph(), id(G.index[n]), parents=False).level, "cpu")
    return set(G.named(np.flatnonzero(level >= 0)))
