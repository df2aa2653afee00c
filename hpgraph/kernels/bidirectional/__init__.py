"""Bidirectional search for one shortest path, on one CPU thread.

The two searches visit a small part of the graph, too little to parallelize, in less time than filling arrays of length
n takes: so memory is zero-initialized lazily by the operating system. On a GPU, where a step of one thread takes a
hundred times as long, `hpgraph.algorithms.shortest_path` uses supersteps.
"""

from typing import Any

import numpy as np


def without_cycles(way: list[int]) -> list[int]:
    """The walk with its cycles removed: a path from its first to its last vertex."""
    if len(set(way)) == len(way):
        return way
    last = {vertex: place for place, vertex in enumerate(way)}
    path, place = [], 0
    while place < len(way):
        path.append(way[place])
        place = last[way[place]] + 1
    return path


def joined(ahead: list[int], back: list[int]) -> np.ndarray:
    """Join two halves of a path, without repeated vertices."""
    return np.array(without_cycles(ahead + back[-2::-1]), np.int64)


def way_along(before: Any, start: int, vertex: int) -> list[int]:
    """The path from the start of a search to a vertex."""
    way = [int(vertex)]
    while way[-1] != start:
        way.append(int(before[way[-1]]))
    return way[::-1]
