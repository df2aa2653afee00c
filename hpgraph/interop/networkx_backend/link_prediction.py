"""Link prediction by common neighbours."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.algorithms import similarity as _similarity
from hpgraph.core.device import to_device
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.serving import family

# Nodes of whose pairs the scores are found at a time.
_BLOCK = 64
Scored = Iterator[tuple[Any, Any, float]]


def _pairs(G: ConvertedGraph, ebunch: Any) -> Iterator[list[tuple[Any, Any]]]:
    """The pairs to score, or all that are no edges in the order of `networkx.non_edges`, a block after the other."""
    if ebunch is not None:
        yield ebunch
        return
    nodes, block = set(G), list[tuple[Any, Any]]()
    while nodes:
        u = nodes.pop()
        begin, end = G.indptr[G.index[u] : G.index[u] + 2]
        block += [(u, v) for v in nodes - set(G.named(G.indices[begin:end]))]
        if len(nodes) % _BLOCK == 0:
            yield block
            block = []


def _checked(G: ConvertedGraph, ebunch: Any) -> Any:
    if ebunch is None:
        return None
    pairs = list(ebunch)
    for node in (node for u, v in pairs for node in (u, v)):
        if node not in G:
            raise nx.NodeNotFound(f"Node {node} not in G.")
    return pairs


def _numbers(G: ConvertedGraph, pairs: list[tuple[Any, Any]]) -> np.ndarray:
    return np.array([(G.index[u], G.index[v]) for u, v in pairs], np.int64).reshape(-1, 2)


def _scores(G: ConvertedGraph, measure: Callable[..., Any], ebunch: Any) -> Scored:
    for pairs in _pairs(G, ebunch):
        scores = to_device(measure(G.graph(), _numbers(G, pairs)), "cpu").tolist() if pairs else []
        yield from ((u, v, score or 0) for (u, v), score in zip(pairs, scores, strict=True))


def _by(measure: Callable[..., Any], finish: Callable[[ConvertedGraph, Scored], Scored]) -> Callable[..., Scored]:
    def run(G: ConvertedGraph, ebunch: Any) -> Scored:
        pairs = _checked(G, ebunch)
        if G.has_loops:
            raise NotImplementedError("a node is its own neighbour")
        return finish(G, _scores(G, measure, pairs))

    return run


def _whole_if_isolated(G: ConvertedGraph, scored: Scored) -> Scored:
    """Without neighbours on either side NetworkX has the whole number 0, and else a float."""
    degree = np.diff(G.indptr)
    return ((u, v, score if score or not degree[G.index[u]] + degree[G.index[v]] else 0.0) for u, v, score in scored)


def _finite(G: ConvertedGraph, scored: Scored) -> Scored:
    for found in scored:
        if found[2] == math.inf:
            # A node with itself, where a neighbour has no other: NetworkX divides by the logarithm of 1.
            raise ZeroDivisionError("float division by zero")
        yield found


def _preferential(G: ConvertedGraph, ebunch: Any) -> Scored:
    checked, degree = _checked(G, ebunch), G.degree()
    return (
        (u, v, score)
        for pairs in _pairs(G, checked)
        for (u, v), score in zip(pairs, degree[_numbers(G, pairs)].prod(axis=1).tolist(), strict=True)
    )


globals().update(
    family(
        {
            "jaccard_coefficient": _by(_similarity.jaccard_coefficient, _whole_if_isolated),
            "adamic_adar_index": _by(_similarity.adamic_adar_index, _finite),
            "resource_allocation_index": _by(_similarity.resource_allocation_index, lambda G, scored: scored),
            "preferential_attachment": _preferential,
        }
    )
)
