"""What an arc counts: 1, or its weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.algorithms.sssp import weight_facts
from hpgraph.containers.graph import Graph


def reads_weights(graph: Graph, weight: Any) -> bool:
    """Whether distances are sums of the graph's weights; otherwise they are numbers of arcs.

    Parameters
    ----------
    graph : Graph
        The graph.
    weight : None, bool or "weight"
        What the user gave: None or False counts arcs; True, or the name that NetworkX gives weights by default, reads
        the weights. A graph without weights has arcs of length 1 either way.

    Returns
    -------
    bool

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
    >>> reads_weights(G, None), reads_weights(G, "weight")
    (False, True)
    """
    if not (weight is None or isinstance(weight, bool | np.bool_) or (isinstance(weight, str) and weight == "weight")):
        raise TypeError(
            f'weight must be None (every arc counts 1) or True or "weight" (the weights of the graph), not {weight!r}'
        )
    if weight is None or not weight or not graph.weighted:
        return False
    facts = weight_facts(graph.out_csr)
    if facts.has_nan:
        raise ValueError("weights must not be NaN: replace them, or remove those arcs")
    if facts.least < 0:
        raise ValueError(
            f"weights must not be negative here, and one is {facts.least:g}: "
            "hpgraph.sssp and hpgraph.csgraph.johnson take them"
        )
    return True


def in_double_precision(graph: Graph) -> Graph:
    """The graph with its weights in float64 where they are in float32; else itself."""
    arcs = graph.out_csr
    if arcs.dtype != np.float32:
        return graph
    wide = arcs.with_data(arcs.data.astype(np.float64))
    return graph._made(wide, graph._layouts.get("directed"), graph._names)
