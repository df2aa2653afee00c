"""Bidirectional search for one shortest path, on one CPU thread.

The two searches visit a small part of the graph, too little to parallelize, in less time than filling arrays of length
n takes: so memory is zero-initialized lazily by the operating system. On a GPU, where a step of one thread takes a
hundred times as long, `hpgraph.algorithms.shortest_path` uses supersteps.
"""

import numpy as np


def joined(ahead: list[int], back: list[int]) -> np.ndarray:
    """Join two halves of a path, without repeated vertices."""
    way = ahead + back[-2::-1]
    last = {vertex: place for place, vertex in enumerate(way)}
    path, place = [], 0
    while place < len(way):
        path.append(way[place])
        place = last[way[place]] + 1
    return np.array(path, np.int64)
