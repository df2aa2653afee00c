"""Matrix Market files (Boisvert, Pozo & Remington, NIST IR 5935, 1996), read and written by SciPy's C++ parser.

An entry (i, j) is the arc i - 1 -> j - 1. A file whose header says ``symmetric`` is an undirected graph.
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from hpgraph.errors import FileFormatError
from hpgraph.io.arcs import Arcs
from hpgraph.io.stream import count_lines, line_of, open_bytes

if TYPE_CHECKING:
    from hpgraph.graph import Graph

# "1 1\n": no entry is shorter. Deflate cannot shrink by more than 1032 : 1 (RFC 1951: 258 bytes in 2 bits).
_SHORTEST_ENTRY = 4
_GZIP_LIMIT = 1032


class _ReadOnly:
    """A stream that can only be read.

    SciPy's parser seeks back over what it took and did not need, once when it closes the stream and again when it
    forgets it; the second seek can lead to before the start, and an exception in a C++ destructor ends the process.
    """

    def __init__(self, content: BinaryIO) -> None:
        self.read = content.read


def read_matrix_market(path: Path, progress: bool | None) -> Arcs:
    """The arcs of a Matrix Market file.

    Parameters
    ----------
    path : pathlib.Path
        A ``.mtx`` file, plain or gzip.
    progress : bool, optional
        As for `hpgraph.read`.

    Returns
    -------
    Arcs
        Symmetric and skew-symmetric files with both arcs of each pair; weights int64, uint64 or float64 as the
        header's field says, None for ``pattern``.

    Raises
    ------
    FileFormatError
        With the line number where there is one.
    """
    from scipy.io import mminfo, mmread

    try:
        with open_bytes(path) as content:
            rows, columns, entries, layout, field, symmetry = mminfo(_ReadOnly(content))
        _check_header(path, rows, columns, entries, layout, field, symmetry)
        with open_bytes(path, progress) as content:
            matrix = mmread(_ReadOnly(content))
    except FileFormatError:
        raise
    except (ValueError, OverflowError) as error:
        raise _located(path, str(error)) from None
    if layout == "array":
        row, col = np.nonzero(matrix)
        data = matrix[row, col]
    else:
        row, col, data = matrix.row, matrix.col, matrix.data
    return Arcs(row, col, None if field == "pattern" else data, n_vertices=rows, directed=symmetry != "symmetric")


def write_matrix_market(graph: Graph, path: Path) -> None:
    """Write a graph as a Matrix Market file; ``symmetric`` where it is undirected, ``pattern`` where unweighted.

    Parameters
    ----------
    graph : Graph
        On the CPU. Its names are not written: the format has no place for them.
    path : pathlib.Path
        Where to; a name that ends in ``.gz`` is compressed.
    """
    if path.suffix == ".gz":
        with gzip.open(path, "wb", compresslevel=6) as target:
            _write(graph, target)  # type: ignore[arg-type]
    else:
        with path.open("wb") as target:
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
        # Without an entry SciPy cannot tell a pattern from values.
        size = f"{arcs.n_vertices} {arcs.n_vertices} 0"
        target.write(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n{size}\n".encode())
        return
    matrix = coo_array((values, (arcs.source, arcs.target)), shape=(arcs.n_vertices, arcs.n_vertices))
    mmwrite(target, matrix, field=field, symmetry=symmetry)


def _check_header(path: Path, rows: int, columns: int, entries: int, layout: str, field: str, symmetry: str) -> None:
    """What SciPy would accept and no graph can be made of."""
    if field == "complex" or symmetry == "hermitian":
        raise FileFormatError(path, "complex entries; a weight must be a real number", line=1)
    if rows != columns:
        raise FileFormatError(
            path, f"a {rows} x {columns} matrix; the adjacency matrix of a graph is square", line=_size_line(path)
        )
    with open_bytes(path) as content:
        room = path.stat().st_size * (_GZIP_LIMIT if isinstance(content, gzip.GzipFile) else 1)
    if layout == "coordinate" and entries * _SHORTEST_ENTRY > room:
        raise FileFormatError(
            path, f"{entries} entries announced, more than a file of this size can hold", line=_size_line(path)
        )


def _size_line(path: Path) -> int | None:
    with open_bytes(path) as content:
        for number, line in enumerate(content, start=1):
            if line.strip() and not line.startswith(b"%"):
                return number
    return None


def _located(path: Path, message: str) -> FileFormatError:
    """SciPy's complaint, ``Line 5: Invalid integer value.``, in our words and with the line it is about."""
    reason: Any = re.match(r"Line (\d+): (.*)", message, re.DOTALL)
    if reason is None:
        truncated = re.match(r"Truncated file\. Expected another (\d+) lines", message)
        if truncated is None:
            return FileFormatError(path, message)
        return FileFormatError(path, f"the file ends here, {truncated[1]} entries too early", line=count_lines(path))
    number, text = int(reason[1]), reason[2].rstrip(".")
    shown = line_of(path, number)
    if "banner" in text:
        text = "not a Matrix Market file: the first line must begin with %%MatrixMarket"
    return FileFormatError(path, f"{text[0].lower()}{text[1:]}: {shown!r}" if shown else text, line=number)
