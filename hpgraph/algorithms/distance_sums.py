"""What the distances of a vertex add up to, reduced while they are found: nothing vertices × sources is kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hpgraph.algorithms.distance_blocks import blocks_from
from hpgraph.algorithms.sources import sources_of
from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module, to_device
from hpgraph.engine.multi_source_totals import survey


class DistanceSums(NamedTuple):
    """One value for each of k vertices, in arrays on the graph's device.

    Attributes
    ----------
    reached : int64 array
        How many vertices have a path, the vertex itself included.
    total : int64 or float64 array
        Sum of the distances.
    inverse : float64 array
        Sum of 1 / distance; vertices at distance 0 are left out.
    farthest : int64 or float64 array
        The largest distance.
    """

    reached: Any
    total: Any
    inverse: Any
    farthest: Any


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
