"""One shortest path, searched from both ends by one thread of the CPU.

The two searches together meet a small part of the graph, too little to share among threads, and are over in less time
than arrays of length n take to fill: so memory is taken as the operating system gives it, zero, a page when it is first
touched. On a GPU, where a step of one thread takes a hundred times as long, `hpgraph.algorithms.shortest_path` goes
superstep by superstep.
"""

from __future__ import annotations

import numpy as np


def joined(ahead: list[int], back: list[int]) -> np.ndarray:
    """A path of two halves, each vertex once."""
    way = ahead + back[-2::-1]
    last = {vertex: place for place, vertex in enumerate(way)}
    path, place = [], 0
    while place < len(way):
        path.append(way[place])
        place = last[way[place]] + 1
    return np.array(path, np.int64)
