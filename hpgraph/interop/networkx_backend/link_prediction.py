"""How much two nodes' neighbours have in common."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.algorithms import similarity as _similarity
from hpgraph.core.device import to_device
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.serving import serves


def _listed(call: Mapping[str, Any]) -> str | None:
    return "pairs must be listed" if call["ebunch"] is None else None


def _scores(G: ConvertedGraph, measure: Callable[..., Any], ebunch: Any) -> Iterator[tuple[Any, Any, float]]:
    pairs = list(ebunch)
    for node in (node for u, v in pairs for node in (u, v)):
        if node not in G:
            raise nx.NodeNotFound(f"Node {node} not in G.")
    if G.has_loops:
        raise NotImplementedError("a node is its own neighbour")
    numbers = np.array([(G.index[u], G.index[v]) for u, v in pairs], np.int64).reshape(-1, 2)
    scores = to_device(measure(G.graph(), numbers), "cpu").tolist() if pairs else []
    return ((u, v, score or 0) for (u, v), score in zip(pairs, scores, strict=True))


@serves(unless=_listed)
def jaccard_coefficient(G: ConvertedGraph, ebunch: Any = None) -> Iterator[tuple[Any, Any, float]]:
    """As `networkx.jaccard_coefficient`."""
    # Without neighbours on either side NetworkX has the whole number 0, as `_scores`, and else a float.
    degree = np.diff(G.indptr)
    return (
        (u, v, score if score or not degree[G.index[u]] + degree[G.index[v]] else 0.0)
        for u, v, score in _scores(G, _similarity.jaccard_coefficient, ebunch)
    )


@serves(unless=_listed)
def adamic_adar_index(G: ConvertedGraph, ebunch: Any = None) -> Iterator[tuple[Any, Any, float]]:
    """As `networkx.adamic_adar_index`."""
    return (_finite(scored) for scored in _scores(G, _similarity.adamic_adar_index, ebunch))


def _finite(scored: tuple[Any, Any, float]) -> tuple[Any, Any, float]:
    if scored[2] == math.inf:
        # A node with itself, where a neighbour has no other: NetworkX divides by the logarithm of 1.
        raise ZeroDivisionError("float division by zero")
    return scored


@serves(unless=_listed)
def resource_allocation_index(G: ConvertedGraph, ebunch: Any = None) -> Iterator[tuple[Any, Any, float]]:
    """As `networkx.resource_allocation_index`."""
    return _scores(G, _similarity.resource_allocation_index, ebunch)
