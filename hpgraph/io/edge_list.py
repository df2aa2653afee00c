"""Edge lists: one edge a line, two ids and perhaps a weight. Numbers go through NumPy's C parser, names a table.

When the C parser refuses a file, a second pass in Python finds the line and says what is wrong with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count, product
from pathlib import Path

import numpy as np

from hpgraph.errors import FileFormatError
from hpgraph.io.arcs import Arcs, Array
from hpgraph.io.layout import Layout, data_lines, find_layout, is_number, is_whole, name_of, split_fields
from hpgraph.io.stream import open_text, shortened

_INT64_MAX = 2**63 - 1


def read_edge_list(
    path: Path,
    progress: bool | None,
    *,
    comments: tuple[str, ...],
    delimiter: str | None,
    n_vertices: int | None,
    names: bool | None,
) -> Arcs:
    """The arcs of an edge list.

    Parameters
    ----------
    path : pathlib.Path
        A text file, plain or gzip.
    progress, comments, delimiter, n_vertices, names
        As for `hpgraph.read`.

    Returns
    -------
    Arcs
        Weights are int64 where all are whole numbers, else float64.

    Raises
    ------
    FileFormatError
        With the line number.
    """
    layout = find_layout(path, comments, delimiter, names)
    if layout is None or layout.columns == 0:
        known = n_vertices if layout is None or n_vertices is not None else layout.n_vertices
        if known is None:
            raise FileFormatError(path, "no edge in the file; n_vertices=... makes a graph without edges of it")
        none = np.empty(0, np.int64)
        return Arcs(none, none, None, known, directed=layout is None or layout.directed is not False)
    directed = layout.directed is not False
    if not layout.numbered:
        if names is False:
            raise _fault(path, replace(layout, numbered=True), comments)
        if n_vertices is not None:
            raise ValueError(
                f"n_vertices is for ids that are vertex numbers, and those of {path} are names: leave it out, "
                "as many vertices are made as there are names"
            )
        return _read_names(path, progress, layout, comments, directed)
    if n_vertices is None:
        n_vertices = layout.n_vertices
    table = _parse(path, progress, layout, comments)
    source, target = np.ascontiguousarray(table["source"]), np.ascontiguousarray(table["target"])
    weight = None if layout.weight is None else np.ascontiguousarray(table["weight"])
    if min(source.min(), target.min()) < 0 and (not layout.relabel or names is False or n_vertices is not None):
        raise _fault(path, layout, comments)
    largest = int(max(source.max(), target.max()))
    if n_vertices is not None:
        if largest >= n_vertices:
            raise _fault(path, layout, comments, n_vertices)
    elif names is False or not (layout.relabel or _is_sparse(source, target, largest)):
        n_vertices = largest + 1
    else:
        ids, position = np.unique(np.concatenate([source, target]), return_inverse=True)
        source, target = position[: source.size], position[source.size :]
        return Arcs(source, target, weight, ids.size, directed, ids)
    return Arcs(source, target, weight, n_vertices, directed)


def _parse(path: Path, progress: bool | None, layout: Layout, comments: tuple[str, ...]) -> Array:
    """Ids and weights as a structured array."""
    columns = [layout.source, layout.target, *([] if layout.weight is None else [layout.weight])]
    kinds = ["i8", "f8"] if layout.whole else ["f8"]
    # Most files have no comment after their first line, and NumPy is several times as fast if it need not look for one.
    for commented, kind in product((False, True), kinds):
        fields = [("source", "i8"), ("target", "i8"), ("weight", kind)][: len(columns)]
        try:
            with open_text(path, progress) as text:
                return np.loadtxt(
                    _bare_lines(text, layout, comments) if commented else text,
                    dtype=np.dtype(fields),
                    comments=None,
                    delimiter=layout.delimiter,
                    skiprows=0 if commented else layout.start - 1,
                    usecols=None if columns == list(range(layout.columns)) else columns,
                    ndmin=1,
                    quotechar=None if layout.delimiter is None else '"',
                )
        except FileFormatError:
            raise
        except ValueError as error:
            reason = str(error)
    raise _fault(path, replace(layout, numbered=True), comments, reason=reason)


def _bare_lines(text: Iterable[str], layout: Layout, comments: tuple[str, ...]) -> Iterator[str]:
    """Lines of a file of numbers without comments."""
    for _, line in data_lines(text, comments, layout.start):
        for mark in comments:
            line = line.partition(mark)[0]
        yield line


def _is_sparse(source: Array, target: Array, largest: int) -> bool:
    """Whether ids leave more than half of 0 .. largest unused."""
    if largest + 1 > 4 * source.size:
        return True
    used = np.zeros(largest + 1, np.bool_)
    used[source] = True
    used[target] = True
    return 2 * int(np.count_nonzero(used)) < largest + 1


def _read_names(path: Path, progress: bool | None, layout: Layout, comments: tuple[str, ...], directed: bool) -> Arcs:
    """Ids as names, numbered in the order in which they first come."""
    # Numbers a name when it is first looked up.
    number_of: defaultdict[str, int] = defaultdict(count().__next__)
    source: list[int] = []
    target: list[int] = []
    weights: list[str] = []
    with open_text(path, progress) as text:
        for _, line in data_lines(text, comments, layout.start):
            fields = split_fields(line, layout.delimiter)
            if len(fields) != layout.columns:
                raise _fault(path, layout, comments)
            source.append(number_of[fields[layout.source]])
            target.append(number_of[fields[layout.target]])
            if layout.weight is not None:
                weights.append(fields[layout.weight])
    if any(_unfit_name(name) for name in number_of):
        raise _fault(path, layout, comments)
    weight = None
    if layout.weight is not None:
        try:
            weight = _numbers(weights)
        except ValueError:
            raise _fault(path, layout, comments) from None
    ends = np.array(source, dtype=np.int64), np.array(target, dtype=np.int64)
    return Arcs(*ends, weight, len(number_of), directed, list(number_of))


def _numbers(fields: list[str]) -> Array:
    if all(map(is_whole, fields)):
        try:
            return np.array(list(map(int, fields)), dtype=np.int64)
        except OverflowError:
            pass  # float64 comes nearest to whole numbers beyond 64 bits.
    if any("_" in field for field in fields):
        raise ValueError("Python's own way to write a number")
    return np.array(list(map(float, fields)), dtype=np.float64)


def _fault(
    path: Path,
    layout: Layout,
    comments: tuple[str, ...],
    n_vertices: int | None = None,
    reason: str = "not an edge list",
) -> FileFormatError:
    """The first line that is wrong, found slowly."""
    with open_text(path) as text:
        for number, line in data_lines(text, comments, layout.start):
            bare = next(_bare_lines([line], replace(layout, start=1), comments)) if layout.numbered else line
            found = _reason(split_fields(bare, layout.delimiter), layout, n_vertices)
            if found is not None:
                return FileFormatError(path, f"{found}: {shortened(line)!r}", number)
    return FileFormatError(path, reason)


def _unfit_name(name: str) -> str | None:
    if not name:
        return "a vertex without a name"
    # What open_text makes of bytes that are not UTF-8; nothing else gives lone surrogates.
    if not name.isascii() and any("\udc80" <= letter <= "\udcff" for letter in name):
        return "a name that is not UTF-8"
    return None


def _reason(fields: list[str], layout: Layout, n_vertices: int | None) -> str | None:
    """What is wrong with the fields of one line, if anything."""
    if len(fields) != layout.columns:
        return f"{layout.columns} fields expected ({name_of(layout.delimiter)} between them), {len(fields)} found"
    for field in (fields[layout.source], fields[layout.target]):
        if not layout.numbered:
            if unfit := _unfit_name(field):
                return unfit
        elif not is_whole(field):
            return f"vertex id {field!r} is not a whole number (names=True reads all ids as names)"
        # 30 digits settle it, and Python refuses to convert thousands.
        elif (value := int(field[:30])) < 0:
            return f"vertex id {field} is negative (names=True reads all ids as names)"
        elif value > _INT64_MAX:
            return f"vertex id {field[:40]} does not fit 64 bits (names=True reads all ids as names)"
        elif n_vertices is not None and value >= n_vertices:
            return f"vertex id {field} is not below n_vertices={n_vertices}"
    if layout.weight is not None and not is_number(fields[layout.weight]):
        return f"weight {fields[layout.weight]!r} is not a number"
    return None
