"""How many rows of a matrix have which length: all that the choice of a layout asks of the lengths."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hpgraph.formats.storage import backend

# Lengths below this are counted; those of longer rows, of which there are few for the entries, are listed.
_FEW = 1 << 12


class Lengths(NamedTuple):
    """The lengths that rows have, ascending, and how many rows have each.

    Attributes
    ----------
    length, rows : int64 arrays, in NumPy
    """

    length: np.ndarray
    rows: np.ndarray


def lengths_of(indptr: Any) -> Lengths:
    """Count the rows that `indptr` delimits, by length; on CUDA this waits for the stream.

    Parameters
    ----------
    indptr : int64 array, shape (rows + 1,)

    Examples
    --------
    >>> lengths = lengths_of(np.array([0, 2, 2, 5, 7]))
    >>> lengths.length.tolist(), lengths.rows.tolist()
    ([0, 2, 3], [1, 2, 1])
    """
    counts, longer = backend("convert", indptr).count_lengths(indptr, _FEW)
    short = np.flatnonzero(counts)
    long, many = np.unique(longer, return_counts=True)
    return Lengths(np.concatenate((short, long)), np.concatenate((counts[short], many)))
