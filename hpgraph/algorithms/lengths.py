"""What an arc counts: 1, or its weight."""

from typing import Any

import numpy as np

from hpgraph.algorithms.distances import facts_of
from hpgraph.containers.graph import Graph, as_graph
from hpgraph.containers.networkx_edges import edges_of_networkx, is_networkx
from hpgraph.formats.duplicates import Duplicates


def with_weights(G: Any, weight: Any, duplicates: Duplicates | None = None) -> tuple[Graph, bool]:
    """The graph that a user gave, and whether its weights are asked for and differ from ones."""
    if not (weight is None or isinstance(weight, bool | str)):
        raise TypeError(f"weight must be True, the name of an edge attribute or None, not {weight!r}")
    if isinstance(G, Graph):
        if isinstance(weight, str) and weight != "weight":
            raise ValueError(f"weight={weight!r}: a Graph has weights without a name, which weight=True reads")
        graph = as_graph(G)
    elif is_networkx(G):
        attribute = weight if isinstance(weight, str) else "weight" if weight else None
        graph = Graph.from_edges(**edges_of_networkx(G, attribute), duplicates=duplicates)
    else:
        graph = Graph(G, weight=weight if isinstance(weight, str) and weight != "weight" else None,
                      duplicates=duplicates)  # fmt: skip
    return graph, graph.weighted and weight is not None and weight is not False


def with_lengths(G: Any, weight: Any) -> tuple[Graph, bool]:
    """The graph that a user gave, and whether distances are sums of its weights; else they are numbers of arcs."""
    # Of parallel edges the shortest counts.
    graph, weighted = with_weights(G, weight, "min")
    if not weighted:
        return graph, False
    facts = facts_of(graph)
    if facts.has_nan or facts.least < 0:
        held = "NaN" if facts.has_nan else f"{facts.least:g}"
        raise ValueError(
            f"weight: a length must not be negative here, and there is {held}: hpgraph.sssp and "
            "hpgraph.csgraph.johnson take negative weights"
        )
    return graph, True


def in_double_precision(graph: Graph) -> Graph:
    """The graph with its weights in float64 where they are in float32; else itself."""
    arcs = graph.out_csr
    if arcs.dtype != np.float32:
        return graph
    wide = arcs.with_data(arcs.data.astype(np.float64))
    return graph._made(wide, graph._layouts.get("directed"), graph._names)
