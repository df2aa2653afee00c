"""The first lines of a Matrix Market file: what it holds and how much, checked before anything is allocated."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from hpgraph.core.errors import FileFormatError
from hpgraph.io.memory import Budget
from hpgraph.io.stream import LONGEST_LINE, shortened

# "1 1\n" and "1\n": no entry is shorter. Deflate cannot shrink by more than 1032 : 1 (RFC 1951: 258 bytes in 2 bits).
_SHORTEST_ENTRY = {"coordinate": 4, "array": 2}
_GZIP_LIMIT = 1032
# Bytes of an arc at the peak, as measured: two ids and a weight from the parser, again in COO, and in CSR.
_ARC_BYTES = 40

_WORDS = {
    "object": ("matrix",),
    "format": ("coordinate", "array"),
    "field": ("real", "double", "integer", "unsigned-integer", "pattern", "complex"),
    "symmetry": ("general", "symmetric", "skew-symmetric", "hermitian"),
}
_SIZE = re.compile(r"\+?[0-9]{1,30}", re.ASCII)


@dataclass(frozen=True)
class Header:
    """What a Matrix Market file says of itself.

    ``layout`` ({"coordinate", "array"}): whether entries come with their places, or all of them in order of columns;
    ``field`` ({"real", "integer", "unsigned-integer", "pattern"}): what an entry is; ``symmetry`` ({"general",
    "symmetric", "skew-symmetric"}): whether entries stand for their mirror images too; ``n`` (int): rows and columns;
    ``entries`` (int): how many follow; ``lines`` (int): lines that the header takes.
    """

    layout: str
    field: str
    symmetry: str
    n: int
    entries: int
    lines: int


def read_header(path: Path, content: BinaryIO, budget: Budget) -> Header:
    """Take the header off a file and check that a graph can be made of what it announces."""
    layout, field, symmetry = _banner(path, _line(path, content, 1))
    number = 2
    while not (line := _line(path, content, number)).strip() or line.lstrip().startswith("%"):
        if not line:
            raise FileFormatError(
                path, "the file ends in its header, before the line with the size of the matrix", number
            )
        number += 1
    sizes = line.split()
    wanted = 3 if layout == "coordinate" else 2
    if len(sizes) != wanted or not all(map(_SIZE.fullmatch, sizes)):
        raise FileFormatError(
            path,
            f"the size of the matrix, {'rows, columns and entries' if wanted == 3 else 'rows and columns'}, expected: "
            f"{shortened(line)!r}",
            number,
        )
    rows, columns, entries = (*map(int, sizes), 0)[:3]
    if rows != columns:
        raise FileFormatError(path, f"a {rows} x {columns} matrix; the adjacency matrix of a graph is square", number)
    if rows >= 1 << 63:
        raise FileFormatError(path, f"a matrix of {rows} rows: their numbers do not fit 64 bits", number)
    if layout == "array":
        entries = {"general": rows * rows, "symmetric": rows * (rows + 1) // 2}.get(symmetry, rows * (rows - 1) // 2)
    room = path.stat().st_size * (_GZIP_LIMIT if isinstance(content, gzip.GzipFile) else 1)
    if entries * _SHORTEST_ENTRY[layout] > room:
        raise FileFormatError(path, f"{entries} entries announced, more than a file of this size can hold", number)
    arcs = entries if symmetry == "general" else 2 * entries
    budget.check(arcs * _ARC_BYTES, f"a matrix of {entries} entries, as {path} announces,")
    return Header(layout, field, symmetry, rows, entries, number)


def _banner(path: Path, line: str) -> tuple[str, str, str]:
    """Format, field and symmetry."""
    mark, *words = line.split() or [""]
    if mark not in ("%%MatrixMarket", "%MatrixMarket"):
        raise FileFormatError(
            path, f"not a Matrix Market file: the first line must begin with %%MatrixMarket: {shortened(line)!r}", 1
        )
    found = [word.lower() for word in words[:4]]
    for at, (what, known) in enumerate(_WORDS.items()):
        if at >= len(found) or found[at] not in known:
            shown = repr(shortened(words[at])) if at < len(words) else "nothing"
            raise FileFormatError(path, f"the {what} in the first line must be {' or '.join(known)}, not {shown}", 1)
    _, layout, field, symmetry = found
    if field == "complex" or symmetry == "hermitian":
        raise FileFormatError(path, "complex entries; a weight must be a real number", 1)
    if layout == "array" and field == "pattern":
        raise FileFormatError(path, "an array without values; a pattern is a matrix by coordinates", 1)
    if symmetry == "skew-symmetric" and field == "unsigned-integer":
        raise FileFormatError(path, "a skew-symmetric matrix has negative entries, and unsigned-integer allows none", 1)
    return layout, "real" if field == "double" else field, symmetry


def _line(path: Path, content: BinaryIO, number: int) -> str:
    """The next line; empty at the end of the file."""
    line = content.readline(LONGEST_LINE + 1)
    if len(line) > LONGEST_LINE:
        raise FileFormatError(path, f"a line of more than {LONGEST_LINE} bytes", number)
    return line.decode("utf-8", "surrogateescape")
