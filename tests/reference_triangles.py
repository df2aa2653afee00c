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
    """Triangles at each vertex by linear algebra: half the row sums of A ⊗ A², A symmetric with zero diagonal."""
    pattern = scipy.sparse.csr_array((np.ones(matrix.nnz, np.int64), matrix.nonzero()), shape=matrix.shape)
    both = pattern + pattern.T
    both = scipy.sparse.csr_array(both - scipy.sparse.diags_array(both.diagonal(), dtype=np.int64))
    both.eliminate_zeros()
    both.data[:] = 1
    return np.asarray((both @ both).multiply(both).sum(axis=1)).ravel() // 2
