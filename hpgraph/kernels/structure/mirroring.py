"""Symmetric patterns of triangles, or of edges in any order, in NumPy: for few of them."""

from typing import Any

import numpy as np

from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.duplicates import run_starts


def mirrored(triangle: CSR) -> CSR:
    """`hpgraph.kernels.structure.Structure.mirrored` in NumPy."""
    n, m = triangle.shape[0], triangle.nnz
    row, column = triangle.expand_rows(), triangle.indices
    # Entries of the transpose precede each row.
    key, below = _keys(n, column, row)
    key.sort()
    begins = _row_starts(key, n, below)
    found, place = np.empty(2 * m, column.dtype), np.arange(m)
    found[place + begins[1:][row]] = column
    found[place + triangle.indptr[key >> below]] = key & ((1 << below) - 1)
    return CSR((n, n), triangle.indptr + begins, found, validate=False)


def undirected(n: int, source: Any, target: Any) -> CSR:
    """`hpgraph.kernels.structure.Structure.undirected` in NumPy."""
    key, below = _keys(n, np.minimum(source, target), np.maximum(source, target))
    key.sort()
    mask = (1 << below) - 1
    stays = run_starts(key)
    stays &= key >> below != key & mask
    key = key[stays]
    del stays
    begins = _row_starts(key, n, below)
    key &= mask
    return mirrored(CSR((n, n), begins, key.astype(index_dtype(n)), validate=False))


def _keys(n: int, row: Any, column: Any) -> tuple[Any, int]:
    """Words that rise with rows and, in each, columns; and how many bits of them are the column's."""
    below = max(n - 1, 1).bit_length()
    key = row.astype(np.int64)
    key <<= below
    key |= column
    return key, below


def _row_starts(key: Any, n: int, below: int) -> Any:
    return np.searchsorted(key, np.arange(n + 1, dtype=np.int64) << below).astype(np.int64)
