"""Distances from several vertices to all: a block of lanes at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hpgraph.algorithms.levels import levels_from
from hpgraph.algorithms.sssp import sssp
from hpgraph.containers.graph import Graph
from hpgraph.containers.vertices import id
from hpgraph.core.device import lanes_within
from hpgraph.engine.grouping import groups

# Lanes of a block at the most: a word of bits a vertex.
_WORD = 64
# Bytes that a block takes a vertex and lane: distances, and what a reduction of them makes on the way.
_BYTES = 32


def block_size(graph: Graph) -> int:
    """Lanes of a block: as many as the memory for them holds, at most 64."""
    return lanes_within(_WORD, lambda lanes: lanes * _BYTES * graph.n_vertices, graph.device)


def distances_from(
    graph: Graph, vertices: np.ndarray, *, incoming: bool = False, weighted: bool = False, limit: float | None = None
) -> Any:
    """Distances from some vertices to every vertex.

    Parameters
    ----------
    graph : Graph
    vertices : integer array of shape (b,)
        Indices, in NumPy.
    incoming : bool
        Whether distances lead to the vertices rather than from them.
    weighted : bool
        Whether they are sums of weights, not numbers of arcs.
    limit : float, optional
        Beyond it is not searched.

    Returns
    -------
    array of shape (b, n)
        On the graph's device: the least integers that hold them, -1 where there is no path; or floats, inf where there
        is none.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 1], [1, 2])
    >>> distances_from(G, np.array([0, 2])).tolist(), distances_from(G, np.array([2]), incoming=True).tolist()
    ([[0, 1, 2], [-1, -1, 0]], [[2, 1, 0]])
    """
    if weighted:
        turned = graph.reverse() if incoming else graph
        return sssp(turned, sources=id(vertices), cutoff=limit).distance
    depth = None if limit is None else int(limit)
    return levels_from(graph, vertices, incoming=incoming, max_depth=depth).level


def blocks_from(
    graph: Graph, vertices: np.ndarray, *, incoming: bool = False, weighted: bool = False, limit: float | None = None
) -> Iterator[tuple[slice, Any]]:
    """The same for any number of vertices, a block after the other.

    Parameters
    ----------
    graph, vertices, incoming, weighted, limit
        As for `distances_from`.

    Yields
    ------
    slice
        Which of the vertices.
    array of shape (b, n)
        Their distances.
    """
    for part in groups(np.arange(len(vertices)), block_size(graph), "distances"):
        block = distances_from(graph, vertices[part], incoming=incoming, weighted=weighted, limit=limit)
        yield slice(int(part[0]), int(part[-1]) + 1), block
