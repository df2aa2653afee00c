"""Communities, and how good they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from networkx.algorithms.community.quality import NotAPartition

from hpgraph.algorithms import leiden as _leiden
from hpgraph.algorithms import louvain as _louvain
from hpgraph.algorithms import modularity as _modularity
from hpgraph.core.device import to_device
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.serving import NETWORKX, serves


def _found(
    G: ConvertedGraph, search: Callable[..., Any], weight: str | None, resolution: float, max_level: int | None,
    seed: Any, **options: Any,
) -> list[set[Any]]:  # fmt: skip
    if max_level is not None and max_level <= 0:
        raise ValueError("max_level argument must be a positive integer or None")
    if len(G) == 0:
        return []
    graph = G.lengths(weight)
    if graph.n_edges == 0:
        return [{node} for node in G]
    found = search(
        graph, weight=graph.weighted, resolution=resolution, max_level=max_level, seed=seed.getrandbits(31), **options
    )
    label = to_device(found.label, "cpu")
    named = G.named(np.argsort(label, kind="stable"))
    ends = np.cumsum(np.bincount(label, minlength=found.count)).tolist()
    return [set(named[begin:end]) for begin, end in zip([0, *ends], ends, strict=False)]


@serves()
def louvain_communities(
    G: ConvertedGraph, weight: str | None = "weight", resolution: float = 1, threshold: float = 0.0000001,
    max_level: int | None = None, seed: Any = None,
) -> list[set[Any]]:  # fmt: skip
    """As `networkx.community.louvain_communities`."""
    return _found(G, _louvain.louvain, weight, resolution, max_level, seed, threshold=threshold)


@serves(unless=lambda call: None if call["metric"] == "modularity" else "only the metric 'modularity' is taken")
def leiden_communities(
    G: ConvertedGraph, weight: str | None = "weight", resolution: float = 1, max_level: int | None = None,
    seed: Any = None, *, metric: str = "cpm" if NETWORKX >= (3, 7) else "modularity", theta: float = 0.01,
) -> list[set[Any]]:  # fmt: skip
    """As `networkx.community.leiden_communities`, which before 3.7 NetworkX left to backends."""
    return _found(G, _leiden.leiden, weight, resolution, max_level, seed)


@serves()
def modularity(G: ConvertedGraph, communities: Any, weight: str | None = "weight", resolution: float = 1) -> float:
    """As `networkx.community.modularity`."""
    communities = communities if isinstance(communities, list) else list(communities)
    members = [node for community in communities for node in community]
    if not len(G) == len(members) == len(G.index.keys() & set(members)):
        raise NotAPartition(G, communities)
    graph = G.lengths(weight)
    if graph.n_edges == 0 or (graph.weighted and graph.out_csr.data.sum() == 0):
        if NETWORKX < (3, 7):
            raise ZeroDivisionError("division by zero")
        return 0
    label = np.empty(len(G), np.int64)
    for number, community in enumerate(communities):
        label[[G.index[node] for node in community]] = number
    return float(_modularity.modularity(graph, label, weight=graph.weighted, resolution=resolution))
