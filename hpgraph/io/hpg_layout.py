"""The beginning of an ``.hpg`` file: a header with the contents of the file and their offsets, as in docs/format.md."""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hpgraph.core.errors import FileFormatError
from hpgraph.formats.checks import INT32_MAX, VALUE_DTYPES, index_dtype
from hpgraph.formats.pages import ENCODINGS, crc32

# As PNG's: not text, and damaged by tools that change line ends or drop the eighth bit.
MAGIC = b"\x89hpg\r\n\x1a\n"
VERSION = 1
ALIGNMENT = 4096
"""Sections begin at multiples of this, as reading past the page cache requires."""

_FIXED = np.dtype([
    ("magic", "S8"), ("version", "<u4"), ("directed", "<u4"), ("vertices", "<u8"), ("arcs", "<u8"),
    ("file_bytes", "<u8"), ("ids", "S8"), ("weights", "S8"), ("encoding", "S8"), ("sections", "<u4"), ("zero", "<u4"),
])  # fmt: skip
_SECTION = np.dtype([("name", "S16"), ("at", "<u8"), ("nbytes", "<u8"), ("checksum", "<u4"), ("zero", "<u4")])
_TYPE = re.compile(r"\|[biu]1|<[iuf][248]|<[mM]8(\[[0-9]{0,9}[A-Za-z]{1,2}\])?", re.ASCII)
_SECTIONS_AT = 128
_CHECKSUM_AT = ALIGNMENT - 4
_MAX_SECTIONS = (_CHECKSUM_AT - _SECTIONS_AT) // _SECTION.itemsize

PAGE = np.dtype([
    ("first_row", "<i8"), ("last_row", "<i8"), ("first_arc", "<i8"), ("arcs", "<i8"), ("offset", "<i8"),
    ("nbytes", "<i8"), ("checksum", "<u4"), ("weight_checksum", "<u4"),
])  # fmt: skip
"""A row of a page table."""


@dataclass(frozen=True)
class Section:
    """A section of the file; ``checksum``: CRC-32 of its bytes, 0 for ids and weights, which have one a page."""

    at: int
    nbytes: int
    checksum: int = 0


@dataclass(frozen=True)
class Header:
    """The description of the graph in a file.

    ``n_vertices, n_arcs`` (int); ``directed`` (bool): whether there are arcs by target, too; an undirected graph's are
    those by source; ``weight_dtype`` (numpy.dtype or None); ``encoding`` ({"none", "gaps"}); ``sections`` (dict): by
    name; ``file_bytes`` (int): length of the whole file.
    """

    n_vertices: int
    n_arcs: int
    directed: bool
    weight_dtype: np.dtype[Any] | None
    encoding: str
    sections: dict[str, Section] = field(default_factory=dict)
    file_bytes: int = 0

    @property
    def id_dtype(self) -> np.dtype[Any]:
        """Type of the ids."""
        return index_dtype(self.n_vertices)

    @property
    def sides(self) -> tuple[str, ...]:
        """Prefixes of the sections of arcs."""
        return ("out", "in") if self.directed else ("out",)

    def to_bytes(self) -> bytes:
        """The header as it stands in a file."""
        block = np.zeros(ALIGNMENT, dtype=np.uint8)
        weights = b"" if self.weight_dtype is None else _code(self.weight_dtype)
        fixed = (MAGIC, VERSION, self.directed, self.n_vertices, self.n_arcs, self.file_bytes, _code(self.id_dtype),
                 weights, self.encoding.encode(), len(self.sections), 0)  # fmt: skip
        block[: _FIXED.itemsize].view(_FIXED)[0] = fixed
        rows = [(name.encode(), s.at, s.nbytes, s.checksum, 0) for name, s in self.sections.items()]
        table = np.array(rows, dtype=_SECTION)
        block[_SECTIONS_AT : _SECTIONS_AT + table.nbytes] = table.view(np.uint8)
        block[_CHECKSUM_AT:].view("<u4")[0] = crc32(block[:_CHECKSUM_AT])
        return block.tobytes()


def read_header(path: Path, content: bytes, file_bytes: int) -> Header:
    """The header of a file, from its first `ALIGNMENT` bytes, or fewer, checked against the length of the file."""
    if content[: len(MAGIC)] != MAGIC:
        reason = "no .hpg file" if content else "an empty file"
        if content[1:4] == MAGIC[1:4]:
            reason = "an .hpg file whose first bytes were changed, as copying it as text does"
        raise FileFormatError(path, f"{reason}; hpgraph.convert makes one of other formats")
    if len(content) < ALIGNMENT:
        raise FileFormatError(path, f"cut short within its header: {file_bytes} of {ALIGNMENT} bytes")
    block = np.frombuffer(content, dtype=np.uint8)
    fixed = block[: _FIXED.itemsize].view(_FIXED)[0]
    if fixed["version"] != VERSION:
        raise FileFormatError(
            path, f"of version {fixed['version']} of the format, and this release of hpgraph reads version {VERSION}"
        )
    if crc32(block[:_CHECKSUM_AT]) != int(block[_CHECKSUM_AT:].view("<u4")[0]):
        raise FileFormatError(path, "the header does not have its checksum: the file is damaged")
    if sys.byteorder != "little":
        raise FileFormatError(path, "numbers of an .hpg file are little-endian, and this machine's are not")
    if file_bytes != fixed["file_bytes"]:
        what = "cut short" if file_bytes < fixed["file_bytes"] else "longer than it was"
        raise FileFormatError(path, f"{what}: {file_bytes} bytes of {fixed['file_bytes']}")
    try:
        header = _header(fixed, block)
    except (ValueError, TypeError, UnicodeDecodeError) as error:
        raise FileFormatError(path, f"an invalid header ({error})") from None
    return header


def _header(fixed: Any, block: Any) -> Header:
    n, arcs, count = int(fixed["vertices"]), int(fixed["arcs"]), int(fixed["sections"])
    weights, encoding = bytes(fixed["weights"]).decode("ascii"), bytes(fixed["encoding"]).decode("ascii")
    if encoding not in ENCODINGS:
        raise ValueError(f"ids encoded as {encoding!r}")
    dtype = dtype_of(weights) if weights else None
    if dtype is not None and dtype not in VALUE_DTYPES:
        raise ValueError(f"weights of type {weights!r}")
    if bytes(fixed["ids"]) != _code(index_dtype(n)) or (encoding == "gaps" and n > INT32_MAX):
        raise ValueError(f"ids of type {fixed['ids']!r} for {n} vertices")
    if fixed["directed"] > 1 or count > _MAX_SECTIONS:
        raise ValueError("flags or sections that there are not")
    table = block[_SECTIONS_AT : _SECTIONS_AT + count * _SECTION.itemsize].view(_SECTION)
    sections = {
        bytes(row["name"]).decode("ascii"): Section(int(row["at"]), int(row["nbytes"]), int(row["checksum"]))
        for row in table
    }
    header = Header(n, arcs, bool(fixed["directed"]), dtype, encoding, sections, int(fixed["file_bytes"]))
    for name, section in sections.items():
        if section.at % ALIGNMENT or section.at < ALIGNMENT or section.at + section.nbytes > header.file_bytes:
            raise ValueError(f"section {name} is not within the file")
    for side in header.sides:
        sized = {f"{side}.offsets": 8 * (n + 1)}
        if dtype is not None:
            sized[f"{side}.weights"] = arcs * dtype.itemsize
        if encoding == "none":
            sized[f"{side}.ids"] = arcs * header.id_dtype.itemsize
        for name, nbytes in sized.items():
            if name not in sections or sections[name].nbytes != nbytes:
                raise ValueError(f"section {name} has not the {nbytes} bytes of {n} vertices and {arcs} arcs")
        for name in (f"{side}.ids", f"{side}.pages"):
            if name not in sections:
                raise ValueError(f"section {name} is missing")
        if sections[f"{side}.pages"].nbytes % PAGE.itemsize:
            raise ValueError(f"section {side}.pages is no table of pages")
    return header


def dtype_of(code: str) -> np.dtype[Any]:
    """The dtype of numbers or dates that a file names; NumPy's own parser accepts far more than names of types."""
    if not _TYPE.fullmatch(code):
        raise ValueError(f"a type {code!r}")
    return np.dtype(code)


def _code(dtype: np.dtype[Any]) -> bytes:
    """A type as NumPy writes it, little-endian: "<i4"."""
    return dtype.newbyteorder("<").str.encode()
