"""Symmetric patterns of triangles, or of edges in any order, in NumPy: for few of them."""

from typing import Any

import numpy as np

from hpgraph.core.device import prefix_sum
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.duplicates import run_starts


def mirrored(triangle: CSR) -> CSR:
    """`hpgraph.kernels.structure.Structure.mirrored` in NumPy."""
    return _of_keys(triangle.shape[0], *_both_ways(triangle.shape[0], triangle.expand_rows(), triangle.indices))


def undirected(n: int, source: Any, target: Any) -> CSR:
    """`hpgraph.kernels.structure.Structure.undirected` in NumPy."""
    key, below = _both_ways(n, source, target)
    stays = run_starts(key)
    stays &= key >> below != key & ((1 << below) - 1)
    return _of_keys(n, key[stays], below)


def _both_ways(n: int, source: Any, target: Any) -> tuple[Any, int]:
    """Ascending words of arcs and their reverses, rows above columns; and how many bits of them are the column's."""
    below, m = max(n - 1, 1).bit_length(), len(source)
    key = np.empty(2 * m, np.int64)
    for part, row, column in ((key[:m], source, target), (key[m:], target, source)):
        part[...] = row
        part <<= below
        part |= column
    key.sort()
    return key, below


def _of_keys(n: int, key: Any, below: int) -> CSR:
    begins = prefix_sum(np.bincount(key >> below, minlength=n))
    key &= (1 << below) - 1
    return CSR((n, n), begins, key.astype(index_dtype(n)), validate=False)
