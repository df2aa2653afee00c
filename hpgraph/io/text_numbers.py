"""Numbers out of lines of text, all at once by NumPy's C parser, and the line that holds something else."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hpgraph.core.errors import FileFormatError
from hpgraph.io.arcs import Array
from hpgraph.io.stream import shortened


def parsed(lines: Sequence[str], dtype: Any, **how: Any) -> Array:
    """Lines of numbers, by `numpy.loadtxt`; what is no whole number is none to any NumPy.

    Parameters
    ----------
    lines : sequence of str
    dtype : dtype
        Of a line, with a field a column.
    **how
        As for `numpy.loadtxt`.

    Returns
    -------
    array of `dtype`
        Empty lines are passed over.

    Raises
    ------
    ValueError
        Where a line holds something else.

    Examples
    --------
    >>> parsed(["1 2 0.5", "3 4 1e3"], "i8,i8,f8")["f2"].tolist()
    [0.5, 1000.0]
    """
    with warnings.catch_warnings():
        # Before 2.4 NumPy takes 1.5 for the whole number 1, and only warns of it.
        warnings.simplefilter("error", DeprecationWarning)
        return np.loadtxt(lines, dtype=dtype, comments=None, ndmin=1, **how)


def columns_of(path: Path, lines: Sequence[str], numbers: Sequence[int], *dtypes: str) -> list[Array]:
    """Lines of so many numbers each, column by column.

    Parameters
    ----------
    path : pathlib.Path
        The file, for messages.
    lines : sequence of str
        What stands in them.
    numbers : sequence of int
        Their line numbers, from 1.
    *dtypes : str
        Types of the columns, ``"i8,i8,f8"``; of several the first that takes all lines.

    Returns
    -------
    list of arrays, one a column

    Raises
    ------
    FileFormatError
        With the number of the first line that has others.

    Examples
    --------
    >>> [column.tolist() for column in columns_of(Path("x"), ["1 2", "3 4"], [1, 2], "i8,i8")]
    [[1, 3], [2, 4]]
    """
    for kind in map(np.dtype, dtypes):
        table = _table(lines, kind)
        if table is not None:
            return [table[name].copy() for name in kind.names or ()]
    # The first line that does not fit, by halves: it is in the first `most` lines from `at`.
    at, most = 0, len(lines)
    while most > 1:
        some = lines[at : at + most // 2]
        at, most = (at, len(some)) if _table(some, kind) is None else (at + len(some), most - len(some))
    columns, found = len(kind.names or ()), len(lines[at].split())
    wrong = "no numbers" if found == columns else f"{columns} numbers expected, {found} found"
    raise FileFormatError(path, f"{wrong}: {shortened(lines[at])!r}", numbers[at])


def _table(lines: Sequence[str], dtype: Any) -> Array | None:
    """Lines, parsed; None where one holds something else."""
    if not any(map(str.strip, lines)):
        return None if lines else np.empty(0, dtype)
    try:
        table = parsed(lines, dtype)
    except ValueError:
        return None
    return table if table.size == len(lines) else None


def edge_columns(
    path: Path, lines: Sequence[str], numbers: Sequence[int], columns: int
) -> tuple[Array, Array, Array | None]:
    """Lines of two ids each and, where there are three columns, a weight.

    Parameters
    ----------
    path, lines, numbers
        As for `columns_of`.
    columns : {2, 3}

    Returns
    -------
    source, target : int64 arrays
    weight : array or None
        int64; float64 where one is no whole number of 64 bits.

    Raises
    ------
    FileFormatError
        As `columns_of`.
    """
    if columns == 2:
        source, target = columns_of(path, lines, numbers, "i8,i8")
        return source, target, None
    source, target, weight = columns_of(path, lines, numbers, "i8,i8,i8", "i8,i8,f8")
    return source, target, weight


def indices_of(path: Path, ids: Array, n: int, lines: Sequence[int] | Array) -> Array:
    """Ids that are counted from 1 as indices.

    Parameters
    ----------
    path : pathlib.Path
    ids : integer array
    n : int
        Number of vertices.
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
    wrong = np.flatnonzero((ids < 1) | (ids > n))
    if wrong.size:
        raise FileFormatError(path, f"vertex {ids[wrong[0]]} is not in 1..{n}", int(lines[int(wrong[0])]))
    return ids - 1
