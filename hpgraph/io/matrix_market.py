"""Matrix Market files (Boisvert, Pozo & Remington, NIST IR 5935, 1996), read and written by SciPy's C++ parser.

An entry (i, j) is the arc i - 1 -> j - 1. A file whose header says ``symmetric`` is an undirected graph. The header is
read here, and what SciPy's parser cannot stand is kept from it: a NUL byte, a last line without an end, an array that
is symmetric, not square or empty.
"""

from __future__ import annotations

import re
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from hpgraph.core.errors import FileFormatError
from hpgraph.io.arcs import Arcs, Array
from hpgraph.io.matrix_market_header import Header, read_header
from hpgraph.io.memory import Budget
from hpgraph.io.replace import replacing
from hpgraph.io.stream import LineBound, count_lines, line_at, line_of, open_bytes

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph

# Bytes given to SciPy's parser at a time, however many it asks for: it asks for 1,024, a call to Python each.
_PIECE = 1 << 16
# Lines of the header that SciPy's parser sees.
_HEADER_LINES = 2


class _Body:
    """What SciPy's parser reads: a header that fits it, then the entries of the file.

    It can only be read. The parser seeks back over what it took and did not need, once when it closes the stream and
    again when it forgets it; the second seek can lead to before the start, and an exception in a C++ destructor ends
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
        piece = self._content.read(_PIECE)
        if not piece:
            # The parser looks for the end of each line, and where the last has none it looks on into other memory.
            self._ended, ended = True, self._ended
            return b"" if ended else b"\n"
        # It takes a NUL byte for the end of all lines, and does the same.
        if (at := piece.find(b"\0")) >= 0:
            line = line_at(self._path, self._bound.taken + at)
            raise FileFormatError(self._path, "a NUL byte, which no text file holds", line)
        self._bound.check(piece)
        self._ended = piece.endswith(b"\n")
        return piece


def read_matrix_market(path: Path, progress: bool | None, budget: Budget) -> Arcs:
    """A `Reader`: symmetric and skew-symmetric files with both arcs of each pair.

    Weights are int64, uint64 or float64 as the header's field says; there are none for ``pattern``.
    """
    from scipy.io import mmread

    with open_bytes(path, progress) as content:
        header = read_header(path, content, budget)
        try:
            # Releases that can be asked for an array warn where they are not.
            arrays = {"spmatrix": False} if "spmatrix" in signature(mmread).parameters else {}
            matrix = mmread(_Body(path, _announced(header), content), **arrays)
        except FileFormatError:
            raise
        except (ValueError, OverflowError) as error:
            raise _located(path, str(error), header.lines - _HEADER_LINES) from None
    row, col, data = (matrix.row, matrix.col, matrix.data) if header.layout == "coordinate" else _places(matrix, header)
    weight = None if header.field == "pattern" else data
    return Arcs(row, col, weight, header.n, header.symmetry != "symmetric", mirrored=True)


def _announced(header: Header) -> bytes:
    """The header for SciPy's parser."""
    layout, symmetry, size = header.layout, header.symmetry, f"{header.n} {header.n} {header.entries}"
    if layout == "array":
        # As one column: of a triangle the parser neither counts the values nor minds where it puts them. Of no rows,
        # which it divides by, no entry.
        symmetry, size = "general", f"{header.entries} 1"
        if header.entries == 0:
            layout, size = "coordinate", "0 0 0"
    return f"%%MatrixMarket matrix {layout} {header.field} {symmetry}\n{size}\n".encode()


def _places(values: Any, header: Header) -> tuple[Array, Array, Array]:
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
    """A `Writer`: ``symmetric`` where the graph is undirected, ``pattern`` where it is unweighted.

    Names are not written: the format has no place for them.
    """
    with replacing(path) as target:
        _write(graph, target)


def _write(graph: Graph, target: BinaryIO) -> None:
    from scipy.io import mmwrite
    from scipy.sparse import coo_array

    arcs = Arcs.of(graph)
    weight = arcs.weight
    if weight is None:
        field, values = "pattern", np.ones(arcs.source.size, np.int8)
    elif weight.dtype.kind in "biu":
        field, values = "integer", weight.astype(np.uint64 if weight.dtype == np.uint64 else np.int64)
        field = "unsigned-integer" if weight.dtype == np.uint64 else "integer"
    else:
        field, values = "real", weight
    symmetry = "general" if arcs.directed else "symmetric"
    if arcs.source.size == 0:
        # Without entries SciPy cannot distinguish a pattern from values.
        size = f"{arcs.n_vertices} {arcs.n_vertices} 0"
        target.write(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n{size}\n".encode())
        return
    matrix = coo_array((values, (arcs.source, arcs.target)), shape=(arcs.n_vertices, arcs.n_vertices))
    mmwrite(target, matrix, field=field, symmetry=symmetry)


def _located(path: Path, message: str, shift: int) -> FileFormatError:
    """SciPy's complaint, ``Line 5: Invalid integer value.``, in our words and with the line it is about.

    `shift` is by how many lines the file's header is longer than the one SciPy saw.
    """
    reason: Any = re.match(r"Line (\d+): (.*)", message, re.DOTALL)
    if reason is None:
        truncated = re.match(r"Truncated file\. Expected another (\d+) lines", message)
        if truncated is None:
            return FileFormatError(path, message)
        return FileFormatError(path, f"the file ends here, {truncated[1]} entries too early", line=count_lines(path))
    number, text = int(reason[1]) + shift, reason[2].rstrip(".")
    shown = line_of(path, number)
    return FileFormatError(path, f"{text[0].lower()}{text[1:]}: {shown!r}" if shown else text, line=number)
