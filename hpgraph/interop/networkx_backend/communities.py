"""Communities, and how good they are."""

from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.community.quality import NotAPartition

from hpgraph.algorithms import communities as _communities
from hpgraph.algorithms import label_communities as _labels
from hpgraph.algorithms import louvain as _louvain
from hpgraph.algorithms import overlapping_communities as _overlapping
from hpgraph.core.device import to_device
from hpgraph.interop.networkx_backend.components import sets_by_label
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.serving import NETWORKX, family, undirected
from hpgraph.interop.networkx_backend.structures import colors_in_order
from hpgraph.kernels.communities.cpu_labels import semi_synchronous_labels


def _levels(
    G: ConvertedGraph, search: Callable[..., Any], weight: str | None, seed: Any, **options: Any
) -> list[list[set[Any]]]:
    """The communities of each level of a search, from the finest on."""
    graph = G.lengths(weight)
    if graph.n_edges == 0:
        return [[{node} for node in G]]
    draw = 0 if seed is None else seed.getrandbits(31)
    found = search(graph, weight=graph.weighted, seed=draw, **options)
    labels = [to_device(label, "cpu") for label in found.hierarchy]
    return [list(sets_by_label(G, label, int(label.max()) + 1)) for label in labels]


def _leiden_communities(
    G: ConvertedGraph, weight: str | None, resolution: float, max_level: int | None, seed: Any
) -> list[set[Any]]:
    if max_level is not None and max_level <= 0:
        raise ValueError("max_level argument must be a positive integer or None")
    return _levels(G, _louvain.leiden, weight, seed, resolution=resolution)[:max_level][-1]


def _by_colors(G: ConvertedGraph) -> Any:
    """As `networkx.community.label_propagation_communities`: labels of one colour after another, the least first."""
    if len(G) == 0:
        return {}.values()
    order, colors = colors_in_order(G)
    label = semi_synchronous_labels(G.indptr, G.indices, order[np.argsort(colors, kind="stable")])
    _, first, number = np.unique(label, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return dict(enumerate(sets_by_label(G, rank[number], len(first)))).values()


def _by_labels(G: ConvertedGraph, weight: str | None, seed: Any) -> list[set[Any]]:
    return _levels(G, _labels.label_propagation_communities, weight, seed)[-1]


def _checked(G: ConvertedGraph, communities: Any) -> list[Any]:
    communities = communities if isinstance(communities, list) else list(communities)
    members = [node for community in communities for node in community]
    if not len(G) == len(members) == len(G.index.keys() & set(members)):
        raise NotAPartition(G, communities)
    return communities


def _label(G: ConvertedGraph, communities: list[Any]) -> np.ndarray:
    label = np.empty(len(G), np.int64)
    for number, community in enumerate(communities):
        label[[G.index[node] for node in community]] = number
    return label


def _modularity_of(G: ConvertedGraph, communities: Any, weight: str | None, resolution: float) -> float:
    communities = _checked(G, communities)
    graph = G.lengths(weight)
    if graph.n_edges == 0 or (graph.weighted and graph.out_csr.data.sum() == 0):
        if NETWORKX < (3, 7):
            raise ZeroDivisionError("division by zero")
        return 0
    label = _label(G, communities)
    return float(_communities.modularity(graph, label, weight=graph.weighted, resolution=resolution))


def _quality(G: ConvertedGraph, partition: Any) -> tuple[float, float]:
    if len(G.indices) == 0 or len(G) < 2:
        raise ZeroDivisionError("division by zero")
    found = _communities.partition_quality(G.graph(), _label(G, list(partition)))
    return float(found[0]), float(found[1])


def _of_cliques(G: ConvertedGraph, k: int) -> Iterator[frozenset[Any]]:
    if k < 2:
        raise nx.NetworkXError(f"k={k}, k must be greater than 1.")
    if int(k) != k:
        raise NotImplementedError(f"k={k!r} is not a whole number")
    for members in _overlapping.k_clique_communities(G.graph(), int(k)) if len(G) else ():
        yield frozenset(G.named(members))


globals().update(
    family(
        {
            "louvain_partitions": lambda G, weight, resolution, threshold, seed: iter(
                _levels(G, _louvain.louvain, weight, seed, resolution=resolution, threshold=threshold)
            ),
            "fast_label_propagation_communities": lambda G, weight, seed: iter(_by_labels(G, weight, seed)),
            "modularity": _modularity_of,
            "partition_quality": _quality,
        }
    )
    | family("louvain_communities")
    | family({"k_clique_communities": _of_cliques}, parallel=True, unless=undirected)
    | family(
        {
            "asyn_lpa_communities": lambda G, weight, seed: iter(_by_labels(G, weight, seed)),
            "label_propagation_communities": _by_colors,
        },
        unless=undirected,
    )
    | family(
        {
            # A level is what `leiden_partitions` gives: parts that are refined before they are put together.
            "leiden_communities": _leiden_communities,
            "leiden_partitions": lambda G, weight, resolution, seed: iter(
                _levels(G, _louvain.leiden, weight, seed, resolution=resolution)
            ),
        },
        only={"metric": ("modularity",)},
        unread=("theta",),
    )
)
