"""Numbers from lines of text by NumPy's C parser, and the line that is not numeric."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hpgraph.core.errors import FileFormatError
from hpgraph.io.arcs import Array
from hpgraph.io.stream import shortened


def parsed(lines: Sequence[str], dtype: Any, **options: Any) -> Array:
    """Lines of numbers, by `numpy.loadtxt`; what is no whole number is none to any NumPy."""
    with warnings.catch_warnings():
        # Before 2.4 NumPy takes 1.5 for the whole number 1, and only warns of it.
        warnings.simplefilter("error", DeprecationWarning)
        return np.loadtxt(lines, dtype=dtype, comments=None, ndmin=1, **options)


def columns_of(path: Path, lines: Sequence[str], numbers: Sequence[int], *dtypes: str) -> list[Array]:
    """Lines of a given number of numbers each, column by column."""
    for kind in map(np.dtype, dtypes):
        table = _table(lines, kind)
        if table is not None:
            return [table[name].copy() for name in kind.names or ()]
    # Bisection for the first invalid line: it is in the first `most` lines from `at`.
    at, most = 0, len(lines)
    while most > 1:
        chunk = lines[at : at + most // 2]
        at, most = (at, len(chunk)) if _table(chunk, kind) is None else (at + len(chunk), most - len(chunk))
    columns, found = len(kind.names or ()), len(lines[at].split())
    wrong = "no numbers" if found == columns else f"{columns} numbers expected, {found} found"
    raise FileFormatError(path, f"{wrong}: {shortened(lines[at])!r}", numbers[at])


def _table(lines: Sequence[str], dtype: Any) -> Array | None:
    """Lines, parsed; None if one is not numeric."""
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
    """Source, target and, of three columns, weight, from lines; weights are float64 if one is no int64."""
    if columns == 2:
        source, target = columns_of(path, lines, numbers, "i8,i8")
        return source, target, None
    source, target, weight = columns_of(path, lines, numbers, "i8,i8,i8", "i8,i8,f8")
    return source, target, weight


def indices_of(path: Path, ids: Array, n: int, lines: Sequence[int] | Array) -> Array:
    """Ids that are counted from 1 as indices."""
    wrong = np.flatnonzero((ids < 1) | (ids > n))
    if wrong.size:
        raise FileFormatError(path, f"vertex {ids[wrong[0]]} is not in 1..{n}", int(lines[int(wrong[0])]))
    return ids - 1
