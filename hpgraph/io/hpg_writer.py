"""Writing ``.hpg`` files, section after section; the header comes last."""

import dataclasses
import itertools
import tempfile
import zlib
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from hpgraph.containers.graph import Graph, one_of
from hpgraph.containers.name_arrays import as_array, text_or_numbers
from hpgraph.containers.streamed_graph import StreamedGraph
from hpgraph.core.config import config
from hpgraph.core.placements import not_served
from hpgraph.formats import CSR, Pages
from hpgraph.formats.file_stretch import FileStretch
from hpgraph.formats.pages import ENCODINGS, crc32, cut_points
from hpgraph.io.arcs import Array, mixed_names
from hpgraph.io.hpg_layout import ALIGNMENT, PAGE, Header, Section
from hpgraph.io.packed_columns import packed
from hpgraph.io.replace import replacing
from hpgraph.kernels.pages import ARCS_PER_PAGE, content, encode

# Bytes of one write outside of pages.
_PIECE = 1 << 22
# Weights that are copied to their section at a time.
_WEIGHTS = 1 << 20
# Pages that each thread encodes ahead of the writer.
_AHEAD = 2


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

    def names(self, names: Array | list[Any], path: Path) -> None:
        """The names of vertices, as an array or as a list."""
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            self._text(names)
            return
        names = as_array(names)
        known = text_or_numbers(names) if names.dtype.hasobject else names
        if known is None and all(isinstance(name, str) for name in names):
            # Text that no array of text holds: lone surrogates, NULs at the end.
            self._text(names.tolist())
            return
        if known is None:
            raise mixed_names(path)
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
        """Write the header, which makes the file valid."""
        self._write(bytes(-self._at % ALIGNMENT))
        header = dataclasses.replace(self.header, sections=self._sections, file_bytes=self._at)
        self._file.seek(0)
        self._file.write(header.to_bytes())


class Page(NamedTuple):
    """The rows that a page touches, its ids, and its weights for their checksum."""

    first_row: int
    last_row: int
    ids: Array
    weights: Array | None


class PageWriter:
    """The ids of one side of a graph, page after page; weights are the caller's to write, apart."""

    def __init__(self, writer: GraphWriter, side: str) -> None:
        self._writer = writer
        self._side = side
        self._rows: list[tuple[int, ...]] = []
        self._arcs = self._offset = 0
        writer.begin(f"{side}.ids")

    def add(self, pages: Iterable[Page]) -> None:
        """The next pages: threads encode some while others are written."""
        waiting: deque[Future[tuple[Array, tuple[int, ...]]]] = deque()
        with ThreadPoolExecutor(config.threads) as threads:
            for page in pages:
                waiting.append(threads.submit(self._encoded, page))
                if len(waiting) > _AHEAD * config.threads:
                    self._put(*waiting.popleft().result())
            while waiting:
                self._put(*waiting.popleft().result())

    def _encoded(self, page: Page) -> tuple[Array, tuple[int, ...]]:
        """The bytes of a page, and its entry in the table except its place."""
        header = self._writer.header
        stored = encode(np.ascontiguousarray(page.ids), header.n_vertices, header.encoding)
        checksum = 0 if page.weights is None else crc32(np.ascontiguousarray(page.weights))
        return stored, (page.first_row, page.last_row, len(page.ids), crc32(stored), checksum)

    def _put(self, stored: Array, page: tuple[int, ...]) -> None:
        first_row, last_row, count, *checksums = page
        self._writer.add(stored)
        self._rows.append((first_row, last_row, self._arcs, count, self._offset, len(stored), *checksums))
        self._arcs += count
        self._offset += len(stored)

    def finish(self, indptr: Array) -> None:
        """Write the table of pages and the offsets of rows."""
        self._writer.whole(f"{self._side}.pages", np.array(self._rows, dtype=PAGE))
        self._writer.whole(f"{self._side}.offsets", indptr)


class PageCutter:
    """One side of a graph on its way into a file; weights wait in an unnamed file, since they follow all ids."""

    def __init__(
        self, writer: GraphWriter, side: str, arcs_per_page: int, folder: Path, weight_dtype: np.dtype[Any] | None
    ) -> None:
        self._writer, self._side, self._most = writer, side, arcs_per_page
        self._pages = PageWriter(writer, side)
        self._folder = folder
        self._degrees = np.zeros(writer.header.n_vertices + 1, dtype=np.int64)
        self._waiting: list[tuple[Array, Array, Array | None]] = []
        self._held = 0
        self._weights: BinaryIO | None = None
        self._weight_type = weight_dtype
        self.count = 0

    def add(self, row: Array, col: Array, weight: Array | None) -> None:
        """Go on with arcs in order of rows, and of columns in each row."""
        if not len(row):
            return
        first, last = int(row[0]), int(row[-1])
        self._degrees[first + 1 : last + 2] += np.bincount(row - first, minlength=last - first + 1)
        self.count += len(row)
        ids = self._writer.header.id_dtype
        self._waiting.append((row.astype(ids), col.astype(ids), weight))
        self._held += len(row)
        # Half as many again, so that the rest is not moved for each page.
        if self._held > self._most + self._most // 2:
            self._cut(final=False)

    def _cut(self, final: bool) -> None:
        if not self._waiting:
            return
        row, col = (np.concatenate([piece[k] for piece in self._waiting]) for k in (0, 1))
        held = [piece[2] for piece in self._waiting if piece[2] is not None]
        weight, at, entries = np.concatenate(held) if held else None, 0, len(row)
        # Starts of rows, and the end of the last one, which is known only at the end.
        bounds = np.append(np.flatnonzero(row[1:] != row[:-1]) + 1, [entries] if final else []).astype(np.int64)
        while at < entries and (final or entries - at > self._most):
            most = min(at + self._most, entries)
            place = int(np.searchsorted(bounds, most, side="right"))
            row_end = int(bounds[place - 1]) if place else 0
            end = row_end if row_end > at and most - row_end <= self._most // 8 else most
            self._page(row[at:end], col[at:end], None if weight is None else weight[at:end])
            at = end
        self._waiting = [(row[at:].copy(), col[at:].copy(), None if weight is None else weight[at:].copy())]
        self._held = entries - at

    def _page(self, row: Array, ids: Array, weights: Array | None) -> None:
        self._pages.add([Page(int(row[0]), int(row[-1]), ids, weights)])
        if weights is not None:
            if self._weights is None:
                # Open until the weights are at their places.
                self._weights = cast(BinaryIO, tempfile.TemporaryFile(dir=self._folder))  # noqa: SIM115
                self._weight_type = weights.dtype
            self._weights.write(weights.view(np.uint8).data)

    def finish(self) -> np.dtype[Any] | None:
        """Write what is left, the weights and the tables; the type of the weights, or None."""
        self._cut(final=True)
        if self._weights is None and self.count:
            self._weight_type = None
        if self._weight_type is not None:
            self._writer.begin(f"{self._side}.weights")
        if self._weights is not None and self._weight_type is not None:
            self._weights.flush()
            held = FileStretch(self._weights, 0, self.count, self._weight_type)
            for begin in range(0, self.count, _WEIGHTS):
                self._writer.add(held[begin : begin + _WEIGHTS])
            self._weights.close()
        np.cumsum(self._degrees, out=self._degrees)
        self._pages.finish(self._degrees)
        return self._weight_type


def check_compression(compression: Any, n_vertices: int | None = None) -> str:
    """Encoding of the ids: `compression`, by default gaps if ids fit 32 bits."""
    wide = n_vertices is not None and n_vertices >= 2**31
    if compression is None:
        return "none" if wide else "gaps"
    one_of(compression, "compression", ENCODINGS)
    if compression == "gaps" and wide:
        raise ValueError('compression="gaps" is for fewer than 2**31 vertices: choose "none"')
    return str(compression)


def write_hpg(graph: Graph, path: Path, *, compression: str | None = None, arcs_per_page: int = ARCS_PER_PAGE) -> None:
    """Write a graph as an ``.hpg`` file; of a multigraph each edge once, and beside it what its parallel edges are."""
    given, graph = graph, graph.simple()
    encoding = check_compression(compression, graph.n_vertices)
    header = Header(graph.n_vertices, graph.n_edges, graph.directed, graph.dtype, encoding)
    with replacing(path) as file:
        writer = GraphWriter(file, header)
        for side in header.sides:
            _write_side(writer, side, graph.out_csr if side == "out" else graph.in_csr, arcs_per_page)
        if graph.names is not None:
            writer.names(graph.names, path)
        if given.multigraph:
            writer.whole("parallel.counts", given.simple("count").edges().weight)
            if given.weighted:
                writer.whole("parallel.weights", given.edges().weight)
        of_edges = {title: given.edge_column(title) for title in given.edge_columns}
        of_vertices = {title: given.vertex_column(title) for title in given.vertex_columns}
        for name, array in packed(of_edges, of_vertices).items():
            writer.whole(name, array)
        writer.finish()


def write_pages(graph: StreamedGraph, path: Path, *, compression: str | None = None) -> None:
    """Write a graph in pages as an ``.hpg`` file, page by page; it may be the file that they lie in."""
    header = Header(
        graph.n_vertices, graph.n_edges, graph.directed, graph.dtype, check_compression(compression, graph.n_vertices)
    )
    sides = {side: graph.pages(side == "in") for side in header.sides}
    if None in sides.values():
        raise not_served("in pages", "an .hpg file has pages by target too", where="has pages by source alone")
    with replacing(path) as file:
        writer = GraphWriter(file, header)
        for side, pages in sides.items():
            _copy_side(writer, side, cast(Any, pages))
        if graph.names is not None:
            writer.names(graph.names, path)
        writer.finish()


def _copy_side(writer: GraphWriter, side: str, pages: Pages) -> None:
    copy, numbers = PageWriter(writer, side), range(pages.n_pages)
    copy.add(Page(int(pages.first_row[page]), int(pages.last_row[page]), *content(pages, page)) for page in numbers)
    if pages.dtype is not None:
        writer.begin(f"{side}.weights")
        for page in numbers:
            writer.add(cast(Any, pages.values_of(page)))
    copy.finish(pages.indptr)


def _write_side(writer: GraphWriter, side: str, csr: CSR, arcs_per_page: int) -> None:
    pages = PageWriter(writer, side)
    cuts = cut_points(csr.indptr, arcs_per_page)
    first = np.searchsorted(csr.indptr, cuts[:-1], side="right") - 1
    last = np.searchsorted(csr.indptr, cuts[1:] - 1, side="right") - 1
    stretches = [slice(*ends) for ends in itertools.pairwise(cuts.tolist())]
    pages.add(
        Page(begin, end, csr.indices[arcs], None if csr.data is None else csr.data[arcs])
        for begin, end, arcs in zip(first.tolist(), last.tolist(), stretches, strict=True)
    )
    if csr.data is not None:
        writer.begin(f"{side}.weights")
        for arcs in stretches:
            writer.add(csr.data[arcs])
    pages.finish(csr.indptr)
