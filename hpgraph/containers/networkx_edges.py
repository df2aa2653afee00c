"""The edges of a NetworkX graph, as `Graph.from_edges` takes them; nothing here imports NetworkX."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np


def is_networkx(source: Any) -> bool:
    """Whether something is a NetworkX graph, judged by where its classes come from.

    Examples
    --------
    >>> is_networkx([])
    False
    """
    return any(kind.__module__.partition(".")[0] == "networkx" for kind in type(source).__mro__)


def edges_of_networkx(graph: Any, weight: str | None = "weight") -> dict[str, Any]:
    """What `Graph.from_edges` is to be given.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
    weight : str or None, optional
        As for `hpgraph.from_networkx`.

    Returns
    -------
    dict
        Its arguments by name.

    Raises
    ------
    TypeError
        When a weight is not a real number.
    """
    nodes = list(graph)
    number_of = {node: number for number, node in enumerate(nodes)}
    source: list[int] = []
    target: list[int] = []
    weights: list[Any] = []
    edges = graph.edges(data=weight) if weight is not None else ((u, v, None) for u, v in graph.edges())
    for u, v, value in edges:
        if value is not None and not isinstance(value, Real):
            raise TypeError(f"{weight!r} of edge ({u!r}, {v!r}) must be a real number, not {value!r}")
        source.append(number_of[u])
        target.append(number_of[v])
        weights.append(value)
    return {
        "source": np.array(source, dtype=np.int64),
        "target": np.array(target, dtype=np.int64),
        "weight": _as_array(weights),
        "n_vertices": len(nodes),
        "directed": graph.is_directed(),
        "names": nodes,
    }


def _as_array(weights: list[Any]) -> np.ndarray[Any, np.dtype[Any]] | None:
    given = [value is not None for value in weights]
    if not any(given):
        return None
    filled = [value if there else 1 for value, there in zip(weights, given, strict=True)]
    if all(isinstance(value, Integral) for value in filled):
        try:
            return np.array(filled, dtype=np.int64)
        except OverflowError:
            pass  # float64 comes nearest to whole numbers beyond 64 bits.
    return np.array(filled, dtype=np.float64)
