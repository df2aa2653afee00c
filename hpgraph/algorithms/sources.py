"""Vertices to search from: all, a sample, or a list of the user."""

from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, whole
from hpgraph.containers.temporal import TemporalGraph
from hpgraph.core.device import native
from hpgraph.core.number import generator


def sources_of(
    graph: Graph | TemporalGraph, sources: Any, seed: int | None = None, argument: str = "sources"
) -> np.ndarray:
    """Sources as int64 indices: None is every vertex, a number draws as many, ascending, a list keeps its order."""
    n = graph.n_vertices
    if sources is None:
        return np.arange(n, dtype=np.int64)
    if isinstance(sources, int | np.integer) and not isinstance(sources, bool):
        number = whole(sources, argument, "None, a number of vertices to draw, or a list of vertices")
        if not 0 < number <= n:
            raise ValueError(
                f"{argument}={number}: so many vertices cannot be drawn from {n}. One vertex is listed as [{number}]"
            )
        return np.sort(generator(seed).choice(n, number, replace=False)).astype(np.int64)
    listed = native(graph.indices_of(sources, argument))
    return np.asarray(listed if isinstance(listed, np.ndarray) else listed.get(), np.int64).reshape(-1)
