"""Slow, readable triangle counts that share nothing with the library: sets in Python, and a product in SciPy."""

from typing import Any

import numpy as np
import scipy.sparse


def triangles_by_sets(source: Any, target: Any, n: int) -> np.ndarray:
    """Triangles at each vertex: the pairs of its neighbours that are neighbours of each other."""
    neighbours: list[set[int]] = [set() for _ in range(n)]
    for u, v in zip(np.asarray(source).tolist(), np.asarray(target).tolist(), strict=True):
        if u != v:
            neighbours[u].add(v)
            neighbours[v].add(u)
    # A pair (a, b) of neighbours, from either end.
    pairs = [sum(len(neighbours[a] & around) for a in around) for around in neighbours]
    return np.array(pairs, dtype=np.int64) // 2


def triangles_by_product(matrix: Any) -> np.ndarray:
    """Triangles at each vertex by linear algebra, of the entries below the diagonal: ids fall along i, j, k."""
    row, column = matrix.nonzero()
    ends = np.maximum(row, column)[row != column], np.minimum(row, column)[row != column]
    lower = scipy.sparse.csr_array((np.ones(len(ends[0]), np.int64), ends), shape=matrix.shape)
    lower.data[:] = 1
    between, above = (lower @ lower).multiply(lower), (lower.T @ lower).multiply(lower)
    return np.asarray(between.sum(axis=1) + between.sum(axis=0) + above.sum(axis=1)).ravel()
