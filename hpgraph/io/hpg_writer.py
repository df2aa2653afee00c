"""Writing ``.hpg`` files, section after section; the header comes last."""

from __future__ import annotations

import dataclasses
import itertools
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from hpgraph.containers.name_arrays import text_or_numbers
from hpgraph.formats.pages import ENCODINGS, crc32, cut_points
from hpgraph.io.arcs import Array
from hpgraph.io.hpg_layout import ALIGNMENT, PAGE, Header, Section
from hpgraph.io.replace import replacing
from hpgraph.kernels.pages import ARCS_PER_PAGE, encode

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph
    from hpgraph.formats import CSR

# Bytes written at a time of what is not written by pages.
_PIECE = 1 << 22


class GraphWriter:
    """An ``.hpg`` file that is being written."""

    def __init__(self, file: BinaryIO, header: Header) -> None:
        self.header = header
        self._file = file
        self._at = 0
        self._sections: dict[str, Section] = {}
        self._write(bytes(ALIGNMENT))

    def _write(self, content: Any) -> None:
        self._file.write(content)
        self._at += len(content)

    def begin(self, name: str) -> None:
        """Begin a section whose parts come with `add`; the one before ends here."""
        self._write(bytes(-self._at % ALIGNMENT))
        self._sections[name] = Section(self._at, 0)
        self._last = name

    def add(self, array: Array) -> None:
        """Go on with the section that was begun."""
        section = self._sections[self._last]
        little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        self._write(little.view(np.uint8).data)
        self._sections[self._last] = dataclasses.replace(section, nbytes=section.nbytes + little.nbytes)

    def whole(self, name: str, array: Array) -> None:
        """A section that is one array, with a checksum of its own."""
        self.begin(name)
        checksum = 0
        for begin in range(0, len(array), step := max(1, _PIECE // array.itemsize)):
            piece = array[begin : begin + step]
            checksum = zlib.crc32(piece.astype(piece.dtype.newbyteorder("<"), copy=False).view(np.uint8).data, checksum)
            self.add(piece)
        self._sections[name] = dataclasses.replace(self._sections[name], checksum=checksum)

    def names(self, names: Array | list[str], path: Path) -> None:
        """The names of vertices: as an array, or text as a list."""
        if isinstance(names, list):
            self._text(names)
            return
        known = text_or_numbers(names) if names.dtype.hasobject else names
        if known is None and all(isinstance(name, str) for name in names):
            # Text that no array of text holds: lone surrogates, NULs at the end.
            self._text(names.tolist())
            return
        if known is None:
            raise ValueError(
                f"{path}: .hpg holds names that are all text or all numbers, and some are neither; pickle holds any"
            )
        if known.dtype.kind in "UT":
            self._text(known.tolist())
            return
        code = known.dtype.newbyteorder("<").str.encode().ljust(32, b"\0")
        self.whole("names.type", np.frombuffer(code, dtype=np.uint8))
        self.whole("names.values", known.view(np.int64) if known.dtype.kind in "mM" else known)

    def _text(self, names: list[str]) -> None:
        """Names one after the other: in an array of text all would be as long as the longest."""
        encoded = [name.encode("utf-8", "surrogatepass") for name in names]
        self.whole("names.ends", np.cumsum([0, *map(len, encoded)], dtype=np.int64))
        self.whole("names.text", np.frombuffer(b"".join(encoded), dtype=np.uint8))

    def finish(self) -> None:
        """Write the header, which makes the file one."""
        self._write(bytes(-self._at % ALIGNMENT))
        header = dataclasses.replace(self.header, sections=self._sections, file_bytes=self._at)
        self._file.seek(0)
        self._file.write(header.to_bytes())


class PageWriter:
    """The ids of one side of a graph, page after page; weights are the caller's to write, apart."""

    def __init__(self, writer: GraphWriter, side: str) -> None:
        self._writer = writer
        self._side = side
        self._rows: list[tuple[int, ...]] = []
        self._arcs = self._offset = 0
        writer.begin(f"{side}.ids")

    def add(self, first_row: int, last_row: int, ids: Array, weights: Array | None) -> None:
        """The next page: the rows that it touches, its ids, and its weights for their checksum."""
        header = self._writer.header
        stored = encode(np.ascontiguousarray(ids), header.n_vertices, header.encoding)
        self._writer.add(stored)
        checksum = 0 if weights is None else crc32(np.ascontiguousarray(weights))
        self._rows.append(
            (first_row, last_row, self._arcs, len(ids), self._offset, len(stored), crc32(stored), checksum)
        )
        self._arcs += len(ids)
        self._offset += len(stored)

    def finish(self, indptr: Array) -> None:
        """Write the table of pages and the offsets of rows."""
        self._writer.whole(f"{self._side}.pages", np.array(self._rows, dtype=PAGE))
        self._writer.whole(f"{self._side}.offsets", indptr)


def check_compression(compression: Any, n_vertices: int | None = None) -> str:
    """Encoding of the ids: `compression`, by default gaps if ids fit 32 bits."""
    wide = n_vertices is not None and n_vertices >= 2**31
    if compression is None:
        return "none" if wide else "gaps"
    if compression not in ENCODINGS:
        raise ValueError(f'compression must be "gaps", "none" or None, not {compression!r}')
    if compression == "gaps" and wide:
        raise ValueError('compression="gaps" is for fewer than 2**31 vertices: choose "none"')
    return str(compression)


def write_hpg(graph: Graph, path: Path, *, compression: str | None = None, arcs_per_page: int = ARCS_PER_PAGE) -> None:
    """Write a graph as an ``.hpg`` file."""
    encoding = check_compression(compression, graph.n_vertices)
    header = Header(graph.n_vertices, graph.n_edges, graph.directed, graph.dtype, encoding)
    with replacing(path) as file:
        writer = GraphWriter(file, header)
        for side in header.sides:
            _write_side(writer, side, graph.out_csr if side == "out" else graph.in_csr, arcs_per_page)
        if graph.names is not None:
            writer.names(graph.names, path)
        writer.finish()


def _write_side(writer: GraphWriter, side: str, csr: CSR, arcs_per_page: int) -> None:
    pages = PageWriter(writer, side)
    cuts = cut_points(csr.indptr, arcs_per_page)
    first = np.searchsorted(csr.indptr, cuts[:-1], side="right") - 1
    last = np.searchsorted(csr.indptr, cuts[1:] - 1, side="right") - 1
    stretches = [slice(*ends) for ends in itertools.pairwise(cuts.tolist())]
    for page, arcs in enumerate(stretches):
        weights = None if csr.data is None else csr.data[arcs]
        pages.add(int(first[page]), int(last[page]), csr.indices[arcs], weights)
    if csr.data is not None:
        writer.begin(f"{side}.weights")
        for arcs in stretches:
            writer.add(csr.data[arcs])
    pages.finish(csr.indptr)
