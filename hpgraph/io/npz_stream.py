"""The entries of a sparse array in an ``.npz`` archive, some at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hpgraph.core.errors import DeviceMemoryError, FileFormatError
from hpgraph.formats.checks import as_ids, as_offsets
from hpgraph.io.arcs import Array
from hpgraph.io.memory import Budget
from hpgraph.io.npz import DAMAGE, DIRECTED, NAMES, PATTERN, inspect_npz
from hpgraph.io.npz_archive import Archive
from hpgraph.io.stream import open_bytes

# Entries at a time.
_PIECE = 1 << 16

Block = tuple[Array, Array, Array | None]


@dataclass(frozen=True)
class NpzEntries:
    """A sparse array whose entries are read some at a time.

    ``path`` (pathlib.Path); ``progress`` (bool or None); ``layout`` ({"csr", "csc", "coo"}); ``n`` (int): rows and
    columns; ``directed`` (bool or None): as the file says; None if it does not; ``pattern`` (bool): whether its values
    mean nothing; ``names`` (numpy.ndarray or None).
    """

    path: Path
    progress: bool | None
    layout: str
    n: int
    directed: bool | None
    pattern: bool
    names: Array | None

    @classmethod
    def of(cls, path: Path, progress: bool | None, budget: Budget) -> NpzEntries | None:
        """The entries of an archive; None for BSR, DIA, and COO with one array of both ids, which are read whole."""
        with open_bytes(path) as content, _in_our_words(path):
            archive = Archive(path, content)
            inside = inspect_npz(path, archive)
            if inside.layout in ("bsr", "dia") or "coords" in inside.members:
                return None
            rows = inside.members["indptr"].nbytes if "indptr" in inside.members else 0
            held = 2 * rows + sum(member.nbytes for member in inside.own.values())
            budget.check(held, f"the offsets and names in {path}")
            own = {name: archive.read(name) for name in inside.own}
        directed = bool(own[DIRECTED]) if DIRECTED in own else None
        pattern = PATTERN in own and bool(own[PATTERN])
        return cls(path, progress, inside.layout, inside.n, directed, pattern, own.get(NAMES))

    def blocks(self) -> Iterator[Block]:
        """Rows, columns and values."""
        with open_bytes(self.path, self.progress) as content, _in_our_words(self.path):
            archive = Archive(self.path, content)
            ends = self._by_entry(archive) if self.layout == "coo" else self._by_row(archive)
            values, none = archive.pieces("data", _PIECE), np.empty(0, np.int64)
            # Even no values have a type.
            yield none, none, None if self.pattern else np.empty(0, archive.member("data").dtype.newbyteorder("="))
            for row, col in ends:
                value = next(values)[: len(row)]
                first, second = (col, row) if self.layout == "csc" else (row, col)
                yield first, second, None if self.pattern else value

    def _by_entry(self, archive: Archive) -> Iterator[tuple[Array, Array]]:
        for row, col in zip(archive.pieces("row", _PIECE), archive.pieces("col", _PIECE), strict=True):
            yield as_ids(row, "row", self.n, "row"), as_ids(col, "col", self.n, "column")

    def _by_row(self, archive: Archive) -> Iterator[tuple[Array, Array]]:
        indptr = archive.read("indptr")
        # SciPy allows arrays longer than the last offset says.
        used = max(0, min(int(indptr[-1]), archive.member("indices").shape[0]))
        indptr = as_offsets(indptr, "indptr", self.n, used)
        begin = 0
        for piece in archive.pieces("indices", _PIECE):
            ids = as_ids(piece[: max(0, used - begin)], "indices", self.n, "column")
            first = int(np.searchsorted(indptr, begin, side="right")) - 1
            last = int(np.searchsorted(indptr, begin + len(ids), side="left"))
            lengths = np.diff(indptr[first : last + 1].clip(begin, begin + len(ids)))
            yield np.repeat(np.arange(first, first + len(lengths)), lengths), ids
            begin += len(ids)


@contextlib.contextmanager
def _in_our_words(path: Path) -> Iterator[None]:
    try:
        yield
    except (FileFormatError, DeviceMemoryError):
        raise
    except DAMAGE as error:
        raise FileFormatError(path, f"not a whole NumPy archive of a sparse array ({error})") from None
