"""Whole numbers out of lines of text, all at once, and the line that holds something else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hpgraph.core.errors import FileFormatError
from hpgraph.io.arcs import Array
from hpgraph.io.stream import shortened


def number_table(
    path: Path, lines: Sequence[str], numbers: Sequence[int], columns: int, dtype: type = np.int64
) -> Array:
    """Lines of so many numbers each as an array.

    Parameters
    ----------
    path : pathlib.Path
        The file, for messages.
    lines : sequence of str
        What stands in them.
    numbers : sequence of int
        Their line numbers, from 1.
    columns : int
        How many numbers there are in each.
    dtype : type, default numpy.int64

    Returns
    -------
    array of shape (lines, columns)

    Raises
    ------
    FileFormatError
        With the number of the first line that has others.

    Examples
    --------
    >>> number_table(Path("x"), ["1 2", "3 4"], [1, 2], 2).tolist()
    [[1, 2], [3, 4]]
    """
    fields = [line.split() for line in lines]
    for at, parts in enumerate(fields):
        if len(parts) != columns:
            raise FileFormatError(
                path, f"{columns} numbers expected, {len(parts)} found: {shortened(lines[at])!r}", numbers[at]
            )
    try:
        return np.array(fields, dtype=dtype).reshape(-1, columns)
    except (ValueError, OverflowError):
        for at, parts in enumerate(fields):
            try:
                np.array(parts, dtype=dtype)
            except (ValueError, OverflowError):
                raise FileFormatError(path, f"no numbers: {shortened(lines[at])!r}", numbers[at]) from None
        raise


def ends_of(path: Path, ids: Array, n: int, first: int, lines: Sequence[int]) -> Array:
    """Ids that are counted from `first` as indices.

    Parameters
    ----------
    path : pathlib.Path
    ids : integer array
    n : int
        Number of vertices.
    first : int
        The first id.
    lines : sequence of int
        Line numbers of the ids.

    Returns
    -------
    integer array

    Raises
    ------
    FileFormatError
        With the line of an id beyond them.
    """
    wrong = np.flatnonzero((ids < first) | (ids >= n + first))
    if wrong.size:
        raise FileFormatError(
            path, f"vertex {ids[wrong[0]]} is not in {first}..{n + first - 1}", lines[int(wrong[0])]
        )
    return ids - first
