"""Graphs of one shape each, which searches may stumble on."""

import numpy as np
import scipy.sparse

MANY = 100_000
ENDS = {
    "one vertex": ([], [], 1),
    "a loop": ([0], [0], 1),
    "a vertex alone": ([0, 1], [1, 0], 3),
    "loops and arcs twice": ([0, 0, 0, 1, 1, 2], [0, 1, 1, 1, 2, 0], 3),
    "two cycles": ([0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3], 6),
    "a star": (np.r_[np.zeros(MANY, int), 1 : MANY + 1], np.r_[1 : MANY + 1, np.zeros(MANY, int)], MANY + 1),
    "a path": (np.arange(MANY - 1), np.arange(1, MANY), MANY),
    "complete": (*(np.indices((300, 300)).reshape(2, -1)), 300),
}


def shape(name: str) -> scipy.sparse.csr_array:
    """The graph, with whole weights; of arcs given twice the lightest is left."""
    source, target, n = ENDS[name]
    weight = np.random.default_rng(3).integers(1, 99, len(source)).astype(np.float64)
    order = np.lexsort((weight, target, source)).astype(int)
    source, target, weight = (np.asarray(array)[order] for array in (source, target, weight))
    first = np.r_[True, (np.diff(source) != 0) | (np.diff(target) != 0)][: len(source)]
    ends = tuple(array[first].astype(np.int32) for array in (source, target))
    return scipy.sparse.csr_array((weight[first], ends), shape=(n, n))


def from_and_to(name: str) -> list[int]:
    """The first vertex, the second where there is one, and the last."""
    n = ENDS[name][2]
    return sorted({0, min(1, n - 1), n - 1})
