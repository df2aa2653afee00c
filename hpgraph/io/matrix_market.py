"""Matrix Market files (Boisvert, Pozo & Remington, NIST IR 5935, 1996), read and written by SciPy's C++ parser.

An entry (i, j) is the arc i - 1 -> j - 1. A file whose header has ``symmetric`` is an undirected graph. The header is
read here: its sizes are checked before anything is allocated. Content that SciPy's parser cannot handle is kept from
it: a NUL byte, a last line without an end, an array that is symmetric, not square or empty. Entries that must not all
be in memory are read in batches: each time the parser gets a small file.
"""

import gzip
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.errors import DeviceMemoryError, FileFormatError
from hpgraph.io.arc_stream import ArcStream, Block
from hpgraph.io.arcs import Arcs, Array
from hpgraph.io.memory import NO_LIMIT, Budget
from hpgraph.io.replace import replacing
from hpgraph.io.stream import LONGEST_LINE, LineBound, count_lines, line_at, line_of, open_bytes, shortened

# Bytes given to SciPy's parser at a time: it asks for 1,024, a call to Python each.
_BODY_PIECE = 1 << 16
# Lines of the header that SciPy's parser sees.
_HEADER_LINES = 2
# Bytes of a file that become one small file; a call of the parser costs as much as some thousand lines.
_STREAM_PIECE = 1 << 22
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
class _Header:
    """The description of a Matrix Market file in its header.

    ``layout`` ({"coordinate", "array"}): whether entries come with their places, or all of them in order of columns;
    ``field`` ({"real", "integer", "unsigned-integer", "pattern"}): type of the entries; ``symmetry`` ({"general",
    "symmetric", "skew-symmetric"}): whether entries imply their mirror images; ``n`` (int): rows and columns;
    ``entries`` (int): their number; ``lines`` (int): length of the header.
    """

    layout: str
    field: str
    symmetry: str
    n: int
    entries: int
    lines: int


def _read_header(path: Path, content: BinaryIO, budget: Budget) -> _Header:
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
    return _Header(layout, field, symmetry, rows, entries, number)


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


class _Body:
    """Input of SciPy's parser: a header that fits it, then the entries of the file.

    It can only be read. The parser seeks back over bytes that it read and did not need, once when it closes the stream
    and again when it is freed; the second seek can lead to before the start, and an exception in a C++ destructor ends
    the process.
    """

    def __init__(self, path: Path, header: bytes, content: BinaryIO) -> None:
        self._path = path
        self._header = header
        self._content = content
        self._bound = LineBound(path, (b"\n",), content.tell())
        self._ended = True

    def read(self, size: int) -> bytes:
        if self._header:
            header, self._header = self._header, b""
            return header
        piece = self._content.read(_BODY_PIECE)
        if not piece:
            # The parser looks for the end of each line, and reads beyond the buffer if the last has none.
            self._ended, ended = True, self._ended
            return b"" if ended else b"\n"
        # The parser would take a NUL byte for the end of the file.
        if (at := piece.find(b"\0")) >= 0:
            line = line_at(self._path, self._bound.taken + at)
            raise FileFormatError(self._path, "a NUL byte, which no text file holds", line)
        self._bound.check(piece)
        self._ended = piece.endswith(b"\n")
        return piece


def read_matrix_market(path: Path, progress: bool | None, budget: Budget) -> Arcs:
    """A `Reader`: both arcs of each pair of a symmetric file; weights of the type that the header says."""
    with open_bytes(path, progress) as content:
        header = _read_header(path, content, budget)
        try:
            matrix = _parsed(_Body(path, _announced(header), content))
        except FileFormatError:
            raise
        except (ValueError, OverflowError) as error:
            raise _located(path, str(error), header.lines - _HEADER_LINES) from None
    row, col, data = (matrix.row, matrix.col, matrix.data) if header.layout == "coordinate" else _places(matrix, header)
    weight = None if header.field == "pattern" else data
    return Arcs(row, col, weight, header.n, header.symmetry != "symmetric", mirrored=True)


def _parsed(source: Any) -> Any:
    from scipy.io import mmread

    return mmread(source, spmatrix=False)


def _announced(header: _Header) -> bytes:
    """The header for SciPy's parser."""
    layout, symmetry, size = header.layout, header.symmetry, f"{header.n} {header.n} {header.entries}"
    if layout == "array":
        # As one column: the parser does not count the values of a triangle, nor check their places. Of no rows, which
        # it divides by, no entry.
        symmetry, size = "general", f"{header.entries} 1"
        if header.entries == 0:
            layout, size = "coordinate", "0 0 0"
    return f"%%MatrixMarket matrix {layout} {header.field} {symmetry}\n{size}\n".encode()


def _places(values: Any, header: _Header) -> tuple[Array, Array, Array]:
    """Row, column and value of each entry of an array that is not zero."""
    if header.entries == 0:
        none = np.empty(0, np.int64)
        return none, none, np.empty(0, values.dtype)
    values = values[:, 0]
    kept = np.flatnonzero(values)
    data = values[kept]
    if header.symmetry == "general":
        return kept % header.n, kept // header.n, data
    # The lower triangle by columns is the upper one by rows.
    col, row = (ends[kept] for ends in np.triu_indices(header.n, k=header.symmetry == "skew-symmetric"))
    below = row != col
    mirrored = data[below] if header.symmetry == "symmetric" else -data[below]
    return np.concatenate((row, col[below])), np.concatenate((col, row[below])), np.concatenate((data, mirrored))


def write_matrix_market(graph: Graph, path: Path) -> None:
    """A `Writer`, without names: ``symmetric`` where the graph is undirected, ``pattern`` where it is unweighted."""
    from scipy.io import mmwrite
    from scipy.sparse import coo_array

    arcs = Arcs.of(graph)
    weight = arcs.weight
    if weight is None:
        field, values = "pattern", np.ones(arcs.source.size, np.int8)
    elif weight.dtype.kind in "biu":
        field = "unsigned-integer" if weight.dtype == np.uint64 else "integer"
        values = weight.astype(np.uint64 if weight.dtype == np.uint64 else np.int64)
    else:
        field, values = "real", weight
    symmetry = "general" if arcs.directed else "symmetric"
    with replacing(path) as target:
        if arcs.source.size == 0:
            # Without entries SciPy cannot distinguish a pattern from values.
            size = f"{arcs.n_vertices} {arcs.n_vertices} 0"
            target.write(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n{size}\n".encode())
            return
        matrix = coo_array((values, (arcs.source, arcs.target)), shape=(arcs.n_vertices, arcs.n_vertices))
        mmwrite(target, matrix, field=field, symmetry=symmetry)


def _located(path: Path, message: str, shift: int) -> FileFormatError:
    """SciPy's message in our terms, with its line; `shift`: by how many lines our header is longer than SciPy's."""
    reason: Any = re.match(r"Line (\d+): (.*)", message, re.DOTALL)
    if reason is None:
        truncated = re.match(r"Truncated file\. Expected another (\d+) lines", message)
        if truncated is None:
            return FileFormatError(path, message)
        return FileFormatError(path, f"the file ends here, {truncated[1]} entries too early", line=count_lines(path))
    number, text = int(reason[1]) + shift, reason[2].rstrip(".")
    shown = line_of(path, number)
    return FileFormatError(path, f"{text[0].lower()}{text[1:]}: {shown!r}" if shown else text, line=number)


def matrix_market_stream(path: Path, progress: bool | None, budget: Budget) -> ArcStream:
    """The entries of a file, mirrored where it is symmetric; of an array, all of them at once."""
    # The entries are never all in memory, so that their number is not limited.
    with open_bytes(path) as content:
        header = _read_header(path, content, NO_LIMIT)
    blocks = _of_array if header.layout == "array" else partial(_entries, header=header)
    read_blocks = partial(blocks, path, progress, budget)
    return ArcStream(read_blocks, header.symmetry != "symmetric", header.n, mirrored=True)


def _of_array(path: Path, progress: bool | None, budget: Budget) -> Iterator[Block]:
    arcs = read_matrix_market(path, progress, budget)
    yield arcs.source, arcs.target, arcs.weight


def _entries(path: Path, progress: bool | None, budget: Budget, header: _Header) -> Iterator[Block]:
    taken = 0
    with open_bytes(path, progress) as content:
        _read_header(path, content, NO_LIMIT)
        for lines in _pieces(content):
            rows = lines.split(b"\n")
            # SciPy's parser passes over lines of spaces, tabs and carriage returns.
            count = len(rows) - rows.count(b"") - sum(map(bytes.isspace, rows))
            if not count:
                continue
            taken += count
            if taken > header.entries or b"\0" in lines or max(map(len, rows)) > LONGEST_LINE:
                raise _refused(path, budget)
            top = f"%%MatrixMarket matrix coordinate {header.field} {header.symmetry}\n{header.n} {header.n} {count}\n"
            try:
                matrix = _parsed(io.BytesIO(top.encode() + lines))
            except (ValueError, OverflowError):
                raise _refused(path, budget) from None
            yield matrix.row, matrix.col, None if header.field == "pattern" else matrix.data
    if taken != header.entries:
        raise _refused(path, budget)
    if not taken:
        # An empty block conveys the dtype of the weights.
        yield from _of_array(path, False, budget)


def _pieces(content: BinaryIO) -> Iterator[bytes]:
    """Whole lines, some at a time, each with its end."""
    while piece := content.read(_STREAM_PIECE):
        if not piece.endswith(b"\n"):
            piece += content.readline()
        yield piece if piece.endswith(b"\n") else piece + b"\n"


def _refused(path: Path, budget: Budget) -> FileFormatError:
    """The error that `read_matrix_market` raises for the file, with the line."""
    try:
        read_matrix_market(path, False, budget)
    except FileFormatError as error:
        return error
    except DeviceMemoryError:
        return FileFormatError(path, "an entry is damaged or missing (more memory would find the line)")
    return FileFormatError(path, "lines among the entries that hold nothing")
