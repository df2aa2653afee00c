"""Small graphs on which the NetworkX backend is set beside NetworkX, and nodes of them."""

import math
from typing import Any

import networkx as nx


def graphs() -> dict[str, Any]:
    """Small graphs whose nodes are not in order, in two parts, and with weights."""
    one = nx.gnm_random_graph(40, 90, seed=3)
    whole = nx.Graph()
    # Neighbours are added in another order than nodes.
    whole.add_nodes_from(f"v{u}" for u in [7, 3, *range(40)])
    for k, (u, v) in enumerate(sorted(one.edges, key=lambda edge: (edge[1] * 17 % 40, edge[0]))):
        whole.add_edge(f"v{u}", f"v{v}", weight=k % 5 + 1)
    whole.add_edge("v1", "v7")  # has no weight: counts 1
    connected = whole.subgraph(max(nx.connected_components(whole), key=len)).copy()
    directed = nx.DiGraph()
    directed.add_nodes_from(connected)
    directed.add_weighted_edges_from((u, v, w + 1) for u, v, w in connected.edges(data="weight", default=1))
    directed.add_weighted_edges_from((v, u, 2) for u, v in list(connected.edges)[::2])
    strong = directed.subgraph(max(nx.strongly_connected_components(directed), key=len)).copy()
    halves = nx.Graph((u, v, {"weight": w / 2}) for u, v, w in connected.edges(data="weight", default=1))
    arcs = nx.DiGraph((u, v, {"weight": w / 2}) for u, v, w in directed.edges(data="weight"))
    order = {node: place for place, node in enumerate(directed)}
    acyclic = nx.DiGraph()
    acyclic.add_nodes_from(list(directed)[::-1])
    acyclic.add_weighted_edges_from(
        (u, v, (order[u] * 7919 + order[v] * 104729) % 9973 - 2000) for u, v in directed.edges if order[u] < order[v]
    )
    # Shortest paths are unique here.
    single = nx.Graph((u, v, {"weight": 1 + math.sqrt(k)}) for k, (u, v) in enumerate(connected.edges))
    tree = nx.minimum_spanning_tree(single)
    colored = whole.copy()
    colored.graph["name"] = "colored"
    for k, node in enumerate(colored):
        colored.nodes[node].update(color="rgb"[k % 3], size=k % 4)
    colored.edges["v1", "v7"]["label"] = "x"
    blocks = nx.Graph([("c", "a"), ("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f"), ("f", "d"), ("z", "y")])
    blocks.add_node("alone")
    return {
        "whole": whole, "connected": connected, "directed": directed, "strong": strong, "halves": halves, "arcs": arcs,
        "acyclic": acyclic, "single": single, "tree": tree, "colored": colored, "blocks": blocks,
        "several": nx.MultiGraph([*connected.edges, *list(connected.edges)[::3]]), "null": nx.Graph(),
        "null digraph": nx.DiGraph(), "path": nx.path_graph(4, create_using=nx.DiGraph),
    }  # fmt: skip


GRAPHS = graphs()
NODES = list(GRAPHS["connected"])[:2]
STRONG = list(GRAPHS["strong"])[:2]
PAIRS = [(u, v) for u in list(GRAPHS["connected"])[:5] for v in list(GRAPHS["connected"])[5:9]]
