"""Similarity of nodes, and Weisfeiler-Lehman hashes of graphs."""

from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.algorithms import simrank as _simrank
from hpgraph.algorithms import weisfeiler_lehman as _hashes
from hpgraph.core.device import to_device
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.serving import family


def _similarity(
    G: ConvertedGraph, source: Any, target: Any, importance_factor: float, max_iterations: int, tolerance: float
) -> Any:
    at = [
        None if node is None else G.number(node, f"{name} node {{}} not in G")
        for node, name in ((source, "Source"), (target, "Target"))
    ]
    found, _, rounds = _simrank.similarities(
        G.graph(), False, float(importance_factor), max_iterations, float(tolerance)
    )
    # NetworkX raises it as well where the last round changed no more.
    if rounds == max_iterations:
        raise nx.ExceededMaxIterations(f"simrank did not converge after {max_iterations} iterations.")
    if at[0] is not None:
        return G.by_node(found[at[0]]) if at[1] is None else float(found[at[0], at[1]])
    return {node: dict(zip(G, row, strict=True)) for node, row in zip(G, to_device(found, "cpu").tolist(), strict=True)}


def _out_of_range(call: Mapping[str, Any]) -> str | None:
    if not (0 <= call["importance_factor"] <= 1 and call["tolerance"] >= 0 and call["max_iterations"] >= 1):
        return "importance_factor, tolerance or max_iterations is out of range"
    graph = call["G"]
    if isinstance(graph, ConvertedGraph):
        held = iter(graph.arc_data or ())
    else:
        held = (cell for row in graph._adj.values() for cell in row.values())
    # NetworkX does not have them converted.
    return "NetworkX goes by the attribute 'weight'" if any("weight" in cell for cell in held) else None


def _coded(texts: list[str]) -> tuple[np.ndarray, list[str]]:
    """Numbers of the different texts, and these."""
    if not all(map(str.isascii, texts)):
        raise NotImplementedError("NetworkX hashes nothing but ASCII")
    known = dict[str, int]()
    return np.array([known.setdefault(text, len(known)) for text in texts], np.int64), list(known)


def _labels(G: ConvertedGraph, edge_attr: Any, node_attr: Any, iterations: int, size: int) -> tuple[Any, Any, int]:
    """The first labels, their rounds of refinement, and how many hashes of a node are of its first label."""
    if iterations <= 0:
        raise ValueError("The WL algorithm requires that `iterations` be positive")
    plain, kinds, graph = not (edge_attr or node_attr), None, G.graph()
    if node_attr:
        data = G.node_data or {}
        texts = [str(data.get(node, {})[node_attr]) for node in G]
    elif edge_attr:
        texts = [""] * len(G)
    elif G.is_directed():
        texts = list(map("{}_{}".format, G.degree("in").tolist(), G.degree("out").tolist()))
    else:
        texts = list(map(str, G.degree().tolist()))
    codes, known = _coded(texts)
    if edge_attr is not None:
        numbers, labels = _coded([str(G.attributes(arc)[edge_attr]) for arc in range(len(G.indices))])
        kinds = to_device(numbers[np.lexsort((G.indices, G.rows))], graph.device), labels
    first = to_device(codes, graph.device), known
    return first, _hashes.refined_labels(graph, first, kinds, iterations - plain, size), int(plain)


def _graph_hash(G: ConvertedGraph, edge_attr: Any, node_attr: Any, iterations: int, digest_size: int) -> str:
    _, steps, _ = _labels(G, edge_attr, node_attr, iterations, digest_size)
    return _hashes.hash_of_steps(steps, digest_size)


def _node_hashes(
    G: ConvertedGraph, edge_attr: Any, node_attr: Any, iterations: int, digest_size: int, include_initial_labels: bool
) -> dict[Any, list[str]]:
    first, steps, plain = _labels(G, edge_attr, node_attr, iterations, digest_size)
    if len(G) == 0:
        return {}
    initial = bool(include_initial_labels) + plain
    return dict(zip(G, _hashes.hashes_of_steps(first, steps, digest_size, initial).tolist(), strict=True))


globals().update(
    family({"simrank_similarity": _similarity}, unless=_out_of_range)
    | family({"weisfeiler_lehman_graph_hash": _graph_hash, "weisfeiler_lehman_subgraph_hashes": _node_hashes})
)
