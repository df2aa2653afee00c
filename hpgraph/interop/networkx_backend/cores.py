"""Cores and trusses: the dense parts of a graph, by peeling; and other parts, as graphs."""

from collections.abc import Callable
from copy import deepcopy
from itertools import chain
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.algorithms import cores as _cores
from hpgraph.algorithms import triangles as _triangles
from hpgraph.core.device import to_device
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.returned import graph_of_edges, spanned, subgraph
from hpgraph.interop.networkx_backend.searches import by_steps, by_weights
from hpgraph.interop.networkx_backend.serving import family


def _refuse_loops(G: ConvertedGraph, what: str = "has") -> None:
    if G.has_loops:
        raise nx.NetworkXNotImplemented(
            f"Input graph {what} self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )


def _core_number(G: ConvertedGraph) -> dict[Any, int]:
    _refuse_loops(G)
    return G.by_node(_cores.core_number(G.graph())) if len(G) else {}


def _onion_layers(G: ConvertedGraph) -> dict[Any, int]:
    _refuse_loops(G, "contains")
    if len(G) == 0:
        return {}
    _, layer = np.unique(to_device(_cores.peeling_round(G.graph()), "cpu"), return_inverse=True)
    # NetworkX takes the nodes of a layer by the neighbours that are left to them.
    left = np.bincount(G.rows[layer[G.indices] >= layer[G.rows]], minlength=len(G))
    order = np.lexsort((left, layer))
    return dict(zip(G.named(order), (layer[order] + 1).tolist(), strict=True))


def _part(belongs: Callable[..., Any], default: Callable[..., Any] = max) -> Callable[..., Any]:
    """The graph of the nodes selected by `belongs`, a function of the core numbers, k and the graph."""

    def run(G: ConvertedGraph, k: Any, core_number: Any) -> Any:
        found = _core_number(G) if core_number is None else core_number
        if k is None:
            k = default(found.values())
        core = np.array([found[node] for node in G])
        return subgraph(G, np.flatnonzero(belongs(core, k, G)) if len(G) else np.zeros(0, np.int64))

    return run


def _is_corona(core: np.ndarray, k: int, G: ConvertedGraph) -> np.ndarray:
    inside = np.bincount(G.rows[core[G.indices] >= k], minlength=len(G))
    return (core == k) & (inside == k)


def _k_truss(G: ConvertedGraph, k: int) -> Any:
    _refuse_loops(G)
    if len(G) == 0 or len(G.indices) == 0:
        return subgraph(G, np.zeros(0, np.int64))
    number = np.empty(len(G.indices), np.int64)
    number[np.lexsort((G.indices, G.rows))] = to_device(_triangles.truss_number(G.graph()), "cpu")
    arcs = number >= k
    members = np.unique(G.rows[arcs])
    return spanned(G, G.named(members), members, arcs)


def _ego_graph(G: ConvertedGraph, n: Any, radius: float, distance: str | None) -> Any:
    found = by_steps(G, G.number(n), radius) if distance is None else by_weights(G, [n], distance, radius)
    return subgraph(G, found.order)


def _complement(G: ConvertedGraph) -> Any:
    n = len(G)
    missing = np.ones((n, n), bool)
    missing[G.rows, G.indices] = False
    np.fill_diagonal(missing, False)
    source, target = np.nonzero(missing)
    return graph_of_edges(G.nodes, source, target, directed=G.is_directed())


def _reverse(G: ConvertedGraph) -> Any:
    if not G.is_directed():
        raise nx.NetworkXError("Cannot reverse an undirected graph.")
    return graph_of_edges(G.nodes, G.indices, G.rows, directed=True, graph_data=deepcopy(G.graph_data))


def _attributed(call: Any) -> str | None:
    # NetworkX has no attributes converted for this function.
    graph = call["G"]
    plain = isinstance(graph, ConvertedGraph) or not (
        any(graph._node.values()) or any(chain.from_iterable(row.values() for row in graph._adj.values()))
    )
    return None if plain else "attributes of nodes and edges would be lost"


def _too_large(call: Any) -> str | None:
    n = len(call["G"])
    return f"a matrix of {n:,} x {n:,} bits and more would be made" if n > 1 << 14 else None


globals().update(
    family({"core_number": _core_number, "onion_layers": _onion_layers, "k_truss": _k_truss})
    | family(
        {
            "k_core": _part(lambda core, k, G: core >= k),
            "k_shell": _part(lambda core, k, G: core == k),
            "k_crust": _part(lambda core, k, G: core <= k, lambda values: max(values) - 1),
            "k_corona": _part(_is_corona),
        }
    )
    | family({"ego_graph": _ego_graph})
    | family({"complement": _complement}, unless=_too_large)
    | family({"reverse": _reverse}, unless=_attributed)
)
