"""Disjoint paths, connectivity and minimum cuts (K. Menger, 1927)."""

import math
from collections.abc import Callable, Iterator
from itertools import combinations, permutations
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.algorithms import cuts as _cuts
from hpgraph.algorithms import disjoint_paths as _paths
from hpgraph.core.device import to_device
from hpgraph.formats import CSR
from hpgraph.interop.networkx_backend.components import is_connected_in
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.flows import Flow, check_ends, check_whole, of_two, undirected_or_two
from hpgraph.interop.networkx_backend.serving import NETWORKX, family


def _arcs(G: ConvertedGraph) -> CSR:
    return G.graph().out_csr.to("cpu").with_data(None)


def _split(G: ConvertedGraph) -> _paths.VerticesAsArcs:
    return _paths.VerticesAsArcs(_arcs(G))


def _flow(G: ConvertedGraph, s: Any, t: Any) -> int:
    return _split(G).flow(G.index[s], G.index[t])[0]


def _minimum_node_cut(G: ConvertedGraph, s: Any, t: Any) -> set[Any]:
    """A minimum vertex cut between two nodes: of several, the one nearest to the second."""
    arcs, n = _arcs(G), len(G)
    split = _paths.VerticesAsArcs(arcs)
    _, net = split.flow(G.index[s], G.index[t])
    far = _cuts.far_side(split.both, split.capacity, net, G.index[t])
    rows, columns = arcs.expand_rows(), arcs.indices
    across = ~far[rows + n] & far[columns]
    divided = np.concatenate([np.flatnonzero(~far[:n] & far[n:]), rows[across], columns[across]])
    return set(G.named(divided)) - {s, t}


def _connectivity(G: ConvertedGraph, s: Any, t: Any) -> int:
    if of_two(s, t):
        check_ends(G, s, t)
        return _flow(G, s, t)
    if not is_connected_in(G):
        return 0
    check_whole(G)
    return _paths.node_connectivity(G.graph())


def _of_all_pairs(G: ConvertedGraph, nbunch: Any) -> dict[Any, dict[Any, int]]:
    nodes, split = list(G if nbunch is None else set(nbunch)), _split(G)
    found: dict[Any, dict[Any, int]] = {node: {} for node in nodes}
    for u, v in (permutations if G.is_directed() else combinations)(nodes, 2):
        found[u][v], _ = split.flow(G.index[u], G.index[v])
        if not G.is_directed():
            found[v][u] = found[u][v]
    return found


def _average(G: ConvertedGraph) -> float:
    pairs = len(G) * (len(G) - 1)
    return sum(sum(row.values()) for row in _of_all_pairs(G, None).values()) / pairs if pairs else 0


def _cut_between(G: ConvertedGraph, s: Any, t: Any) -> set[Any]:
    joined = [(s, t)] if NETWORKX >= (3, 7) else [(s, t), (t, s)]
    for u, v in joined:
        if u in G and v in G and (G.indices[G.indptr[G.index[u]] : G.indptr[G.index[u] + 1]] == G.index[v]).any():
            return set()
    return _minimum_node_cut(G, s, t)


def _cut(G: ConvertedGraph, s: Any, t: Any) -> set[Any]:
    if of_two(s, t):
        check_ends(G, s, t)
        return _cut_between(G, s, t)
    if not is_connected_in(G):
        raise nx.NetworkXError("Input graph is not connected")
    check_whole(G)
    arcs, fewest = _arcs(G), int(G.degree().argmin())
    _, pair = _paths.least_separation(arcs, _paths.separated(arcs, False), int(G.degree()[fewest]))
    if pair is None:
        return set(G.named(G.indices[G.indptr[fewest] : G.indptr[fewest + 1]]))
    return _minimum_node_cut(G, *G.named(pair))


def _first_paths(paths: list[list[Any]], cutoff: float | None) -> list[list[Any]]:
    """The first `cutoff` paths; NetworkX's error if there are none."""
    paths = paths if cutoff is None else paths[: max(0, math.ceil(min(cutoff, len(paths))))]
    if not paths:
        raise nx.NetworkXNoPath
    return paths


def _disjoint(find: Callable[..., list[list[Any]]]) -> Callable[..., Iterator[list[Any]]]:
    """Disjoint paths between two nodes, found by a function of hpgraph."""

    def run(G: ConvertedGraph, s: Any, t: Any, cutoff: float | None) -> Iterator[list[Any]]:
        check_ends(G, s, t)
        if s == t:
            raise NotImplementedError("source and sink are the same node")
        yield from map(G.named, _first_paths(find(G, s, t), cutoff))

    return run


def _by_edges(G: ConvertedGraph, s: Any, t: Any) -> list[list[Any]]:
    flow = Flow(G, s, t)
    arcs, net = flow.both.out_csr.to("cpu"), to_device(flow.net, "cpu")
    return _paths.walks_of(arcs, net, G.index[s], G.index[t], flow.value)


globals().update(
    family(
        {"node_connectivity": _connectivity, "minimum_node_cut": _cut},
        parallel=True,
        unless=undirected_or_two,
        unread=("flow_func",),
    )
    | family(
        {
            "local_node_connectivity": _flow,
            "all_pairs_node_connectivity": _of_all_pairs,
            "average_node_connectivity": _average,
            "minimum_st_node_cut": _cut_between,
            "node_disjoint_paths": _disjoint(lambda G, s, t: _split(G).paths(G.index[s], G.index[t])),
            "edge_disjoint_paths": _disjoint(_by_edges),
        },
        parallel=True,
        unread=("flow_func",),
    )
)
