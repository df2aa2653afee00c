"""Detection of an edge list's format from its first lines: delimiter, header, columns, kind of ids."""

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from hpgraph.core.errors import FileFormatError
from hpgraph.io.arcs import Array
from hpgraph.io.stream import open_text, shortened

# Data lines read: mostly enough to distinguish integer weights from floats.
_SAMPLE = 64

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_SOURCE_NAMES = frozenset({"source", "src", "from", "fromnodeid"})
_TARGET_NAMES = frozenset({"target", "dst", "dest", "destination", "to", "tonodeid"})
_WEIGHT_NAMES = frozenset({"weight", "weights", "w", "distance", "length", "cost", "value"})

# First comment of edge lists by `hpgraph.write`, with facts that their lines cannot express: it identifies truncated
# files, vertices without an edge, and names that look like titles or numbers. Other readers skip it as a comment.
_FORM = re.compile(
    r"\W*hpgraph: ([0-9]{1,18}) vertices, ([0-9]{1,18}) edges, (un)?directed(?: by (name|number))?"
    r"(?:, (bool|u?int(?:8|16|32|64)|float(?:32|64)) weights)?",
    re.ASCII,
)
_DAMAGED = re.compile(r"\W*hpgraph:.* vertices,.* edges,.*directed")
TITLES = ("source", "target", "weight")
"""Titles that `write` puts over the columns of a .csv, and over no others; the last where there are weights."""

Line = tuple[int, str]


@dataclass(frozen=True)
class OwnComment:
    """The description of an edge list in the comment that `hpgraph.write` puts first.

    ``n_vertices, n_lines`` (int): number of vertices, and of lines with an edge; ``directed`` (bool): whether edges are
    arcs; ``ids`` ({"index", "name", "number"}): how vertices are written; "number" is a name that is a whole number;
    ``dtype`` (numpy.dtype or None): of the weights; None in files of earlier versions.
    """

    n_vertices: int
    n_lines: int
    directed: bool
    ids: str
    dtype: np.dtype[Any] | None

    @classmethod
    def of(cls, line: str) -> "OwnComment | None":
        """Parse the first line of a file; None if it is no such comment."""
        found = _FORM.match(line)
        if found is None:
            return None
        vertices, lines, undirected, ids, dtype = found.groups()
        return cls(int(vertices), int(lines), undirected is None, ids or "index", np.dtype(dtype) if dtype else None)

    def __str__(self) -> str:
        directed = "directed" if self.directed else "undirected"
        by = "" if self.ids == "index" else f" by {self.ids}"
        weights = "" if self.dtype is None else f", {self.dtype} weights"
        return f"# hpgraph: {self.n_vertices} vertices, {self.n_lines} edges, {directed}{by}{weights}"

    def has_titles(self, delimiter: str | None, fields: list[str]) -> bool:
        """Whether a first line below the comment is that of the titles, rather than an edge between such names."""
        return delimiter == "," and fields in (list(TITLES[:2]), list(TITLES))


@dataclass(frozen=True)
class LineFormat:
    """The layout of an edge list.

    ``delimiter`` (str or None): one character, or None for any run of blanks and tabs; ``columns`` (int): fields of
    every line; 0 if there is no line with data; ``source, target`` (int): columns of the two ends; ``weight`` (int or
    None): column of the weight; ``start`` (int): number of the first line that holds data; 1 is the first of the file;
    ``numbered`` (bool): whether ids are whole numbers; ``whole`` (bool): whether the weights seen are whole numbers;
    ``own`` (OwnComment or None): the comment of `hpgraph.write`, if there is one.
    """

    delimiter: str | None = None
    columns: int = 0
    source: int = 0
    target: int = 1
    weight: int | None = None
    start: int = 1
    numbered: bool = True
    whole: bool = True
    own: OwnComment | None = None


def is_whole(text: str) -> bool:
    """Whether a field is a whole number."""
    return _INTEGER.fullmatch(text) is not None


def is_number(text: str) -> bool:
    """Whether a field is a number; ``nan`` and ``inf`` are."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def data_lines(lines: Iterable[str], comments: tuple[str, ...], start: int = 1) -> Iterator[Line]:
    """Lines that hold data, with their numbers: neither blank nor a comment."""
    for number, line in enumerate(islice(lines, start - 1, None), start):
        text = line.strip()
        if text and not text.startswith(comments):
            yield number, line


def without_comment(line: str, comments: tuple[str, ...]) -> str:
    """A line of a file of numbers up to the first comment mark in it, and the blanks before that."""
    for mark in comments:
        if mark in line:
            line = line.partition(mark)[0].rstrip()
    return line


def split_fields(line: str, delimiter: str | None) -> list[str]:
    """The fields of one line, without the blanks around them; double quotes protect a delimiter."""
    if delimiter is None:
        return line.split()
    if '"' not in line:
        return [field.strip() for field in line.rstrip("\r\n").split(delimiter)]
    try:
        return [field.strip() for field in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))]
    except csv.Error:
        return []  # Longer than csv.field_size_limit: no field that can be used.


def find_line_format(
    path: Path, comments: tuple[str, ...], delimiter: str | None, names: bool | None
) -> LineFormat | None:
    """The format of an edge list, from its first lines; None without data, and without our comment."""
    with open_text(path) as text:
        first = text.readline()
        own = OwnComment.of(first)
        if own is None and _DAMAGED.match(first):
            raise FileFormatError(path, f"the comment of hpgraph.write is damaged: {shortened(first)!r}", 1)
        sample = list(islice(data_lines(chain([first], text), comments, start=2 if own else 1), _SAMPLE))
    default = None if own is None else LineFormat(own=own)
    if not sample:
        return default
    if own is not None and names is None and own.ids != "index":
        names = own.ids == "name"

    # In a file of numbers a comment may end a line; in one of names its mark may be part of a name.
    bare = [(number, without_comment(line, comments)) for number, line in sample]
    for lines in (sample,) if names or bare == sample else (bare, sample):
        mark = _find_delimiter(lines[-1][1], path) if delimiter is None else delimiter
        mark = None if mark is None or (mark.isspace() and mark != "\t") else mark
        rows = [split_fields(line, mark) for _, line in lines]
        if own is None:
            source, target, weight, header = _columns(rows)
        else:
            source, target, weight, header = 0, 1, 2 if len(rows[0]) > 2 else None, own.has_titles(mark, rows[0])
        if _all_whole(rows[header:], source, target):
            break
    if header and len(rows) == 1:
        return default
    number, row = sample[header][0], rows[header]
    needed = 1 + max(source, target, weight or 0)
    if len(row) < needed:
        raise FileFormatError(
            path,
            f"{needed} fields expected ({name_of(mark)} between them), {len(row)} found: "
            f"{shortened(sample[header][1])!r}",
            number,
        )
    if weight is not None and not is_number(row[weight]):
        raise FileFormatError(path, f"the weight, column {weight + 1}, is not a number: {row[weight]!r}", number)
    by_index = own is not None and own.ids == "index"
    return LineFormat(
        delimiter=mark,
        columns=len(row),
        source=source,
        target=target,
        weight=weight,
        start=number,
        numbered=names is not True and (by_index or _all_whole([row], source, target)),
        whole=weight is not None and all(is_whole(row[weight]) for row in rows[header:] if len(row) > weight),
        own=own,
    )


def numbers_of(fields: list[str]) -> Array:
    """Fields as numbers: int64 where all are whole, uint64 where only that holds them, else float64."""
    if all(map(is_whole, fields)):
        for dtype in (np.int64, np.uint64):
            try:
                return np.array(list(map(int, fields)), dtype=dtype)
            # Python converts no more than thousands of digits.
            except (OverflowError, ValueError):
                pass  # float64 comes nearest to whole numbers beyond 64 bits.
    if any("_" in field for field in fields):
        raise ValueError("Python's own way to write a number")
    return np.array(list(map(float, fields)), dtype=np.float64)


def name_of(delimiter: str | None) -> str:
    """A delimiter, in words for messages."""
    return {None: "blanks", "\t": "a tab", ",": "a comma"}.get(delimiter, repr(delimiter))


def _find_delimiter(line: str, path: Path) -> str | None:
    by_suffix = {".csv": ",;\t", ".tsv": "\t,;"}
    kind = next((suffix for suffix in path.suffixes[-2:] if suffix in by_suffix), "")
    mark = next((mark for mark in by_suffix.get(kind, "\t,;") if mark in line), None)
    # Columns of numbers lined up by tabs and blanks together.
    return None if mark == "\t" and "" in line.rstrip("\n").split("\t") and all(map(is_number, line.split())) else mark


def titled_columns(titles: Iterable[str]) -> tuple[int, int, int | None] | None:
    """The columns of source, target and weight by their titles; None without source or target."""
    plain = [title.lower().replace("_", "").replace(" ", "") for title in titles]
    source, target, weight = (
        next((at for at, title in enumerate(plain) if title in known), None)
        for known in (_SOURCE_NAMES, _TARGET_NAMES, _WEIGHT_NAMES)
    )
    return None if source is None or target is None else (source, target, weight)


def arc_columns(what: Path | str, titles: list[str]) -> list[int]:
    """The columns of a table's source, target and weight, if there is one; without known titles the first."""
    places = titled_columns(titles)
    if places is None and len(titles) >= 2:
        places = (0, 1, 2 if len(titles) > 2 else None)
    if places is None:
        raise FileFormatError(what, f"a table of the columns {titles}; source and target are needed")
    return [place for place in places if place is not None]


def _columns(rows: list[list[str]]) -> tuple[int, int, int | None, bool]:
    """Columns of source, target and weight, and whether the first row is a header that says so."""
    titles = rows[0]
    below = rows[1] if len(rows) > 1 else []
    if (named := titled_columns(titles)) is not None:
        source, target, weight = named
        if weight is None and len(titles) == 3 and len(below) == 3 and is_number(below[2]):
            weight = 2
        return source, target, weight, True
    # Unknown titles: a first row without numbers where the second has them.
    header = len(below) == len(titles) and any(
        is_number(under) and not is_number(over) for over, under in zip(titles[:3], below[:3], strict=True)
    )
    if header:
        return 0, 1, 2 if len(below) > 2 and is_number(below[2]) else None, True
    return 0, 1, 2 if len(titles) > 2 else None, False


def _all_whole(rows: list[list[str]], source: int, target: int) -> bool:
    """Whether all ids are whole numbers."""
    last = max(source, target)
    return all(len(row) > last and is_whole(row[source]) and is_whole(row[target]) for row in rows)
