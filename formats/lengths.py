"""Counts: the lengths of rows, and occurrences of ids."""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.formats.storage import backend

# Lengths below this are counted; those of longer rows, which are few relative to the entries, are listed.
_FEW = 1 << 12


class Lengths(NamedTuple):
    """The distinct lengths of rows, ascending, and the number of rows of each.

    Attributes
    ----------
    length, rows : int64 arrays, in NumPy
    """

    length: np.ndarray
    rows: np.ndarray


def lengths_of(indptr: Any) -> Lengths:
    """Count rows by length, from `indptr` of shape (rows + 1,); on CUDA this synchronizes the stream.

    Examples
    --------
    >>> lengths = lengths_of(np.array([0, 2, 2, 5, 7]))
    >>> lengths.length.tolist(), lengths.rows.tolist()
    ([0, 2, 3], [1, 2, 1])
    """
    counts, longer = backend(indptr).count_lengths(indptr, _FEW)
    short = np.flatnonzero(counts)
    long, many = np.unique(longer, return_counts=True)
    return Lengths(np.concatenate((short, long)), np.concatenate((counts[short], many)))


def occurrences(ids: Any, n: int, weights: Any = None) -> Any:
    """Number of occurrences of 0, ..., n - 1 in `ids`, which are not checked: int64, shape (n,), on their device.

    With `weights` of shape (ids,) their sums instead, float64. ``cupy.bincount`` first checks for negative numbers, by
    a template that NVRTC takes 4 s to compile.

    Examples
    --------
    >>> occurrences(np.array([2, 0, 2]), 4).tolist()
    [1, 0, 2, 0]
    >>> occurrences(np.array([2, 0, 2]), 4, np.array([0.5, 1, 2])).tolist()
    [1.0, 0.0, 2.5, 0.0]
    """
    return backend("convert", ids).occurrences(ids, n, weights)
