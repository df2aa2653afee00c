"""Cores, bridges and shapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.algorithms import acyclic as _acyclic
from hpgraph.algorithms import biconnected as _biconnected
from hpgraph.algorithms import bipartite as _bipartite
from hpgraph.algorithms import cores as _cores
from hpgraph.core.device import to_device
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.serving import given, serves


@serves()
def core_number(G: ConvertedGraph) -> dict[Any, int]:
    """As `networkx.core_number`."""
    if G.has_loops:
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return G.by_node(_cores.core_number(G.graph())) if len(G) else {}


def _bridges(G: ConvertedGraph) -> tuple[np.ndarray, np.ndarray]:
    if len(G) == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    found = to_device(_biconnected.bridges(G.graph()), "cpu").astype(np.int64)
    n = len(G)
    once = G.rows < G.indices
    source, target = G.rows[once], G.indices[once]
    kept = np.isin(source * n + target, found[:, 0] * n + found[:, 1])
    return source[kept], target[kept]


@serves(unless=given("root"))
def bridges(G: ConvertedGraph, root: Any = None) -> Iterator[tuple[Any, Any]]:
    """As `networkx.bridges`."""
    source, target = _bridges(G)
    yield from zip(G.named(source), G.named(target), strict=True)


@serves(unless=given("root"))
def has_bridges(G: ConvertedGraph, root: Any = None) -> bool:
    """As `networkx.has_bridges`."""
    return len(_bridges(G)[0]) > 0


@serves(parallel=True)
def is_bipartite(G: ConvertedGraph) -> bool:
    """As `networkx.is_bipartite`."""
    return bool(_bipartite.is_bipartite(G.graph())) if len(G) else True


@serves(parallel=True)
def is_directed_acyclic_graph(G: ConvertedGraph) -> bool:
    """As `networkx.is_directed_acyclic_graph`."""
    return G.is_directed() and (len(G) == 0 or bool(_acyclic.is_directed_acyclic_graph(G.graph())))
