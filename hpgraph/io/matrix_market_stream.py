"""The entries of a Matrix Market file some at a time, by SciPy's parser: each time it is shown a small file."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from inspect import signature
from pathlib import Path
from typing import Any, BinaryIO

from hpgraph.core.errors import DeviceMemoryError, FileFormatError
from hpgraph.io.arcs import Array
from hpgraph.io.matrix_market import read_matrix_market
from hpgraph.io.matrix_market_header import Header, read_header
from hpgraph.io.memory import Budget
from hpgraph.io.stream import LONGEST_LINE, open_bytes

# Bytes of the file that become one small file; a call of the parser costs as much as some thousand lines.
_PIECE = 1 << 22

Block = tuple[Array, Array, Array | None]


def matrix_market_blocks(
    path: Path, progress: bool | None, budget: Budget
) -> tuple[Header, Callable[[], Iterator[Block]]]:
    """The header of a file, and a way through its entries: row, column and value, mirrored where it is symmetric."""
    # However many entries there are, they are never all there.
    with open_bytes(path) as content:
        header = read_header(path, content, Budget(1 << 62))
    if header.layout == "array":
        return header, lambda: _of_array(path, progress, budget)
    return header, lambda: _entries(path, progress, budget, header)


def _of_array(path: Path, progress: bool | None, budget: Budget) -> Iterator[Block]:
    arcs = read_matrix_market(path, progress, budget)
    yield arcs.source, arcs.target, arcs.weight


def _entries(path: Path, progress: bool | None, budget: Budget, header: Header) -> Iterator[Block]:
    from scipy.io import mmread

    arrays = {"spmatrix": False} if "spmatrix" in signature(mmread).parameters else {}
    taken = 0
    with open_bytes(path, progress) as content:
        read_header(path, content, Budget(1 << 62))
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
                matrix: Any = mmread(io.BytesIO(top.encode() + lines), **arrays)
            except (ValueError, OverflowError):
                raise _refused(path, budget) from None
            yield matrix.row, matrix.col, None if header.field == "pattern" else matrix.data
    if taken != header.entries:
        raise _refused(path, budget)
    if not taken:
        # Even no weights have a type.
        yield from _of_array(path, False, budget)


def _pieces(content: BinaryIO) -> Iterator[bytes]:
    """Whole lines, some at a time, each with its end."""
    while piece := content.read(_PIECE):
        if not piece.endswith(b"\n"):
            piece += content.readline()
        yield piece if piece.endswith(b"\n") else piece + b"\n"


def _refused(path: Path, budget: Budget) -> FileFormatError:
    """What the reader of whole files says is wrong with one."""
    try:
        read_matrix_market(path, False, budget)
    except FileFormatError as error:
        return error
    except DeviceMemoryError:
        return FileFormatError(path, "an entry is damaged or missing (more memory would find the line)")
    return FileFormatError(path, "lines among the entries that hold nothing")
