"""Trees: whether a graph is one, and spanning trees of least and greatest weight."""

from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.algorithms import spanning_forest as _forests
from hpgraph.algorithms import steiner_tree as _steiner_trees
from hpgraph.containers.graph import Graph, id
from hpgraph.core.config import config
from hpgraph.core.device import to_device
from hpgraph.core.errors import NoPathError
from hpgraph.interop.networkx_backend.components import _count
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.returned import graph_of_edges, subgraph
from hpgraph.interop.networkx_backend.serving import family, undirected


def _of_trees(single: bool, branching: bool = False) -> Callable[[ConvertedGraph], bool]:
    """Whether a graph is a forest, or a single tree, and its arcs lead away from roots."""

    def run(G: ConvertedGraph) -> bool:
        if len(G) == 0:
            raise nx.NetworkXPointlessConcept("G has no nodes.")
        count = _count(G)
        if (single and count > 1) or len(G.edges) != len(G) - count:
            return False
        return not branching or int(G.degree("in").max()) <= 1

    return run


def _spanning(G: ConvertedGraph, weight: str, minimum: bool, ignore_nan: bool) -> np.ndarray:
    """The arcs of the tree that Kruskal's algorithm finds, in its order: of equal weights by that of the edges."""
    values, edges = G.column(weight), G.edges
    values = np.ones(len(edges), np.int64) if values is None else values[edges]
    if values.dtype.kind == "f" and np.isnan(values).any():
        if not ignore_nan:
            arc = int(edges[np.isnan(values)][0])
            edge = (G.nodes[G.rows[arc]], G.nodes[G.indices[arc]], G.attributes(arc))
            raise ValueError(f"NaN found as an edge weight. Edge {edge}")
        edges, values = edges[~np.isnan(values)], values[~np.isnan(values)]
    order = np.argsort(values if minimum else -values, kind="stable")
    rank = np.empty(len(edges), np.int64)
    rank[order] = np.arange(len(edges))
    graph = Graph.from_edges(G.rows[edges], G.indices[edges], rank, n_vertices=len(G), directed=False)
    chosen = to_device(_forests.minimum_spanning_forest(graph.to(config.networkx_device)).weight, "cpu")
    return edges[order[np.sort(chosen)]]


def _edges(minimum: bool) -> Callable[..., Iterator[Any]]:
    def run(G: ConvertedGraph, weight: str, data: bool, ignore_nan: bool) -> Iterator[Any]:
        return _listed(G, weight, minimum, ignore_nan, data)

    return run


def _listed(G: ConvertedGraph, weight: str, minimum: bool, ignore_nan: bool, data: bool) -> Iterator[Any]:
    if len(G.indices) == 0:
        return
    arcs = _spanning(G, weight, minimum, ignore_nan)
    ends = G.pairs(G.rows[arcs], G.indices[arcs])
    if not data:
        yield from ends
    else:
        yield from ((u, v, G.attributes(arc)) for (u, v), arc in zip(ends, arcs.tolist(), strict=True))


def _tree(minimum: bool) -> Callable[..., Any]:
    def run(G: ConvertedGraph, weight: str, ignore_nan: bool) -> Any:
        arcs = _spanning(G, weight, minimum, ignore_nan) if len(G.indices) else np.zeros(0, np.int64)
        data = None if G.arc_data is None else [G.arc_data[arc] for arc in arcs.tolist()]
        return graph_of_edges(
            G.nodes, G.rows[arcs], G.indices[arcs], directed=False, edge_data=data,
            node_data=G.copied_node_data(G.nodes), graph_data=G.graph_data,
        )  # fmt: skip

    return run


def _random(G: ConvertedGraph, weight: str | None, seed: Any) -> Any:
    values = G.column(weight, np.nan)
    if len(G) > 1 and weight is not None and (values is None or np.isnan(values).any()):
        raise KeyError(weight)
    tree = _forests.random_spanning_tree(G.lengths(weight), weight is not None, seed=seed.getrandbits(31))
    if len(tree.source) != len(G) - 1 or len(G) < 2:
        raise NotImplementedError("of a graph that has no spanning tree, or no edge, NetworkX says what is wrong")
    return graph_of_edges(G.nodes, tree.source, tree.target, directed=False)


def _steiner(G: ConvertedGraph, terminal_nodes: Any, weight: str | None) -> Any:
    terminals = list(terminal_nodes)
    if not terminals:
        raise ValueError("sources must not be empty")
    numbers = np.unique([G.number(node, "Node {} not found in graph") for node in terminals])
    graph = G.lengths(weight)
    G.check_ties(weight)
    try:
        tree = _steiner_trees.steiner_tree(graph, id(numbers), weight=graph.weighted)
    except NoPathError as error:
        raise NotImplementedError("no path joins two of the nodes") from error
    ends = [to_device(end, "cpu").astype(np.int64) for end in (tree.source, tree.target)]
    low, high = np.minimum(G.rows, G.indices).astype(np.int64), np.maximum(G.rows, G.indices)
    chosen = np.isin(low * len(G) + high, np.minimum(*ends) * len(G) + np.maximum(*ends))
    return subgraph(G, np.unique(np.concatenate(ends)), chosen)


globals().update(
    family(
        {
            "is_tree": _of_trees(single=True),
            "is_forest": _of_trees(single=False),
            "is_arborescence": _of_trees(single=True, branching=True),
            "is_branching": _of_trees(single=False, branching=True),
        }
    )
    | family(
        {"minimum_spanning_edges": _edges(minimum=True), "maximum_spanning_edges": _edges(minimum=False)},
        unread=("keys",),
    )
    # By Kruskal's algorithm, the default: the others' order of edges, and choice among equal weights, is their own.
    | family(
        {"minimum_spanning_tree": _tree(minimum=True), "maximum_spanning_tree": _tree(minimum=False)}, unless=undirected
    )
    | family({"kruskal_mst_edges": _listed}, unless=undirected, unread=("keys",))
    | family({"random_spanning_tree": _random}, unless=undirected)
    | family({"steiner_tree": _steiner}, only={"method": (None, "mehlhorn")})
)
