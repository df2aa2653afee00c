"""Distances from several vertices to all: a block of sources at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hpgraph.algorithms.levels import levels_from
from hpgraph.algorithms.sssp import sssp
from hpgraph.containers.graph import Graph
from hpgraph.containers.vertices import id
from hpgraph.core.device import sources_within
from hpgraph.engine.grouping import groups

# Sources of a block at the most: a word of bits a vertex.
_WORD = 64
# Bytes that a block takes a vertex and source: distances, and what a reduction of them makes on the way.
_BYTES = 32


def block_size(graph: Graph) -> int:
    """Sources of a block: as many as the memory for them holds, at most 64."""
    return sources_within(_WORD, lambda count: count * _BYTES * graph.n_vertices, graph.device)


def distances_from(
    graph: Graph, vertices: np.ndarray, *, incoming: bool = False, weighted: bool = False, limit: float | None = None
) -> Any:
    """Distances from some vertices to every vertex, an array of shape (b, n) on the graph's device.

    Of the smallest integer type that holds them, -1 where there is no path; or floats, inf where there is none.
    """
    if weighted:
        turned = graph.reverse() if incoming else graph
        return sssp(turned, sources=id(vertices), cutoff=limit).distance
    depth = None if limit is None else int(limit)
    return levels_from(graph, vertices, incoming=incoming, max_depth=depth).level


def blocks_from(
    graph: Graph, vertices: np.ndarray, *, incoming: bool = False, weighted: bool = False, limit: float | None = None
) -> Iterator[tuple[slice, Any]]:
    """The same for any number of vertices, a block after the other."""
    for part in groups(np.arange(len(vertices)), block_size(graph), "distances"):
        block = distances_from(graph, vertices[part], incoming=incoming, weighted=weighted, limit=limit)
        yield slice(int(part[0]), int(part[-1]) + 1), block
