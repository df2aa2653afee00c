"""The vertex a traversal starts from, as users name it."""

from __future__ import annotations

import operator
from typing import Any

from hpgraph.graph import Graph


def source_id(graph: Graph, source: Any) -> int:
    """Id of a source given as a vertex id, or as a name where the graph has names.

    Parameters
    ----------
    graph : Graph
    source : int or str

    Returns
    -------
    int

    Raises
    ------
    TypeError
        If it is neither.
    IndexError
        If the graph has no such vertex.
    ValueError
        If the graph has no such name.
    """
    n = graph.n_vertices
    if isinstance(source, str):
        return graph.index_of(source)
    try:
        if isinstance(source, bool):
            raise TypeError
        vertex = operator.index(source)
    except TypeError:
        kind = type(source).__name__
        raise TypeError(f"source must be a vertex id, a whole number, not {kind} {source!r}") from None
    if not 0 <= vertex < n:
        where = f"0..{n - 1}" if n else "the graph, which has no vertices"
        raise IndexError(f"source {vertex} is not in {where}")
    return vertex
