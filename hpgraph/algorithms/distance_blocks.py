"""Distances from several vertices to all, a block of sources at a time, and what they add up to."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hpgraph.algorithms.levels import levels_from
from hpgraph.algorithms.sources import sources_of
from hpgraph.algorithms.sssp import sssp
from hpgraph.containers.graph import Graph
from hpgraph.containers.vertices import id
from hpgraph.core.device import array_module, sources_within, to_device
from hpgraph.engine.grouping import groups
from hpgraph.engine.multi_source_totals import survey

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


class DistanceSums(NamedTuple):
    """One value for each of k vertices, in arrays on the graph's device."""

    reached: Any  # int64: how many vertices have a path, the vertex itself included
    total: Any  # sum of the distances
    inverse: Any  # sum of 1 / distance; vertices at distance 0 are left out
    farthest: Any  # the largest distance


def distance_sums(
    graph: Graph, sources: Any = None, *, incoming: bool = False, weighted: bool = False, seed: Any = None
) -> DistanceSums:
    """Sums over the distances of some vertices."""
    vertices = sources_of(graph, sources, seed)
    if weighted:
        return _weighted(graph, vertices, incoming)
    found = survey(graph, vertices, incoming=incoming)
    return DistanceSums(*(to_device(part, graph.device) for part in found[:4]))


def _weighted(graph: Graph, vertices: np.ndarray, incoming: bool) -> DistanceSums:
    xp = array_module(graph.device)
    k = len(vertices)
    found = DistanceSums(xp.zeros(k, np.int64), xp.zeros(k), xp.zeros(k), xp.zeros(k))
    for part, block in blocks_from(graph, vertices, incoming=incoming, weighted=True):
        there = block < np.inf
        distance = xp.where(there, block, 0)
        found.reached[part] = there.sum(axis=1)
        found.total[part] = distance.sum(axis=1, dtype=np.float64)
        found.farthest[part] = distance.max(axis=1)
        # An inverse of infinity is 0, as of vertices that are not reached.
        away = xp.where(distance > 0, block, np.inf).astype(np.float64)
        found.inverse[part] = (1 / away).sum(axis=1)
    return found
