"""What an arc counts: 1, or its weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.algorithms.distances import facts_of
from hpgraph.containers.graph import Graph, as_graph
from hpgraph.containers.networkx_edges import edges_of_networkx, is_networkx
from hpgraph.formats.duplicates import Duplicates


def with_weights(G: Any, weight: Any, duplicates: Duplicates | None = None) -> tuple[Graph, bool]:
    """The graph that a user gave, and whether its weights are asked for and differ from ones.

    Parameters
    ----------
    G, weight
        As for `with_lengths`.
    duplicates : {"min", "max", "sum", "first", "error"}, optional
        As for `Graph`, where one is made.

    Returns
    -------
    Graph, bool

    Raises
    ------
    TypeError
        If `weight` is neither None nor a bool nor a str.
    ValueError
        If `weight` is the name of an attribute, and `G` has none of that name.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> with_weights(hpg.Graph.from_edges([0, 1], [1, 2]), True)[1]
    False
    """
    if not (weight is None or isinstance(weight, bool | str)):
        raise TypeError(f"weight must be True, the name of an edge attribute or None, not {weight!r}")
    if is_networkx(G):
        attribute = weight if isinstance(weight, str) else "weight" if weight else None
        graph = Graph.from_edges(**edges_of_networkx(G, attribute), duplicates=duplicates)
    elif isinstance(G, Graph):
        if isinstance(weight, str) and weight != "weight":
            raise ValueError(f"weight={weight!r}: a Graph has weights without a name, which weight=True reads")
        graph = as_graph(G)
    else:
        graph = Graph(G, weight=weight if isinstance(weight, str) and weight != "weight" else None,
                      duplicates=duplicates)  # fmt: skip
    return graph, graph.weighted and weight is not None and weight is not False


def with_lengths(G: Any, weight: Any) -> tuple[Graph, bool]:
    """The graph that a user gave, and whether distances are sums of its weights; else they are numbers of arcs.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph.
    weight : None, bool or str
        None or False counts arcs, True reads the weights. A string names the attribute where `G` is a NetworkX graph,
        the column where it is a table; "weight" says the same as True elsewhere. A graph without weights has arcs of
        length 1 either way.

    Returns
    -------
    Graph, bool

    Raises
    ------
    TypeError
        If `weight` is anything else.
    ValueError
        If a weight is negative or NaN.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 1], [1, 2], [0.5, 2.0])
    >>> with_lengths(G, None)[1], with_lengths(G, True)[1]
    (False, True)
    """
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
