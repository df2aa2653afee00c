"""Reading ``.hpg`` files: the header and the tables at once, the rest on use."""

import io
import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.containers.name_arrays import as_array
from hpgraph.containers.names import as_names
from hpgraph.containers.row_blocks import joined
from hpgraph.core.errors import FileFormatError
from hpgraph.formats import Pages
from hpgraph.formats.file_stretch import FileStretch
from hpgraph.formats.pages import crc32
from hpgraph.io.arcs import Array
from hpgraph.io.hpg_layout import ALIGNMENT, PAGE, dtype_of, read_header
from hpgraph.io.memory import Budget
from hpgraph.io.packed_columns import NAMES, unpacked


class _File(io.FileIO):
    """Closed once nothing refers to it, without a `ResourceWarning`: a graph in pages holds it."""

    def __del__(self) -> None:
        self.close()


class GraphFile:
    """An ``.hpg`` file, open until nothing refers to it any more; if replaced, this remains the former one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = _File(path)
        size = os.fstat(self._file.fileno()).st_size
        self.header = read_header(path, FileStretch(self._file, 0, min(size, ALIGNMENT), _BYTE)[:].tobytes(), size)

    def _stretch(self, name: str, dtype: Any) -> FileStretch:
        section, dtype = self.header.sections[name], np.dtype(dtype)
        return FileStretch(self._file, section.at, section.nbytes // dtype.itemsize, dtype)

    def _whole(self, name: str, dtype: Any) -> Array:
        """A section, and whether it has its checksum."""
        section = self.header.sections[name]
        array = self._stretch(name, _BYTE)[:]
        if len(array) != section.nbytes:
            raise FileFormatError(self.path, f"section {name} ends early: the file was cut short while it was open")
        if crc32(array) != section.checksum:
            raise FileFormatError(self.path, f"section {name} does not have its checksum: the file is damaged")
        return array.view(dtype)

    def pages(self, side: str) -> Pages:
        """The arcs of one side; of these nothing but the table of pages is read."""
        header, name = self.header, f"{side}.pages"
        table = self._whole(name, PAGE)
        n, arcs = header.n_vertices, header.n_arcs
        first_arc, offset = np.append(table["first_arc"], arcs), np.append(table["offset"], 0)
        stored = self._stretch(f"{side}.ids", _BYTE)
        offset[-1] = len(stored)
        first_row, last_row = np.append(table["first_row"], n), table["last_row"].copy()
        fits = np.array_equal(np.diff(first_arc), table["arcs"]) and np.array_equal(np.diff(offset), table["nbytes"])
        # A row that continues on the next page is the last of one page and the first of the other.
        in_order = (first_row[:-1] <= last_row).all() and (last_row <= first_row[1:]).all() and (first_row >= 0).all()
        if not fits or not in_order or (len(table) and int(last_row[-1]) >= n):
            raise FileFormatError(self.path, f"section {name} is no table of {arcs} arcs of {n} vertices")
        weights = None
        if header.weight_dtype is not None:
            weights = self._stretch(f"{side}.weights", header.weight_dtype)
        try:
            return Pages(
                (n, n), lambda: self._whole(f"{side}.offsets", np.int64), first_arc, offset, stored,
                table["checksum"].copy(), header.id_dtype, header.encoding, weights,
                None if weights is None else table["weight_checksum"].copy(), first_row, last_row,
                f"{self.path}, {side}-arcs",
            )  # fmt: skip
        except ValueError as error:
            raise FileFormatError(self.path, f"section {name} is invalid: {error}") from None

    @property
    def named(self) -> bool:
        """Whether vertices have names."""
        return "names.text" in self.header.sections or "names.values" in self.header.sections

    def names(self) -> Array:
        """The names of the vertices."""
        n, sections = self.header.n_vertices, self.header.sections
        try:
            if "names.text" in sections:
                ends, text = self._whole("names.ends", np.int64), self._whole("names.text", _BYTE).tobytes()
                if len(ends) != n + 1 or ends[0] != 0 or ends[-1] != len(text) or (np.diff(ends) < 0).any():
                    raise ValueError("their ends are not in order")
                places = ends.tolist()
                listed = [text[a:b].decode("utf-8", "surrogatepass") for a, b in itertools.pairwise(places)]
                return as_array(listed) if listed else np.empty(0, np.str_)
            dtype = dtype_of(self._whole("names.type", "S32")[0].decode("ascii"))
            values = self._whole("names.values", dtype)
            if values.shape != (n,):
                raise ValueError(f"{len(values)} of them")
            return values
        except FileFormatError:
            raise
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise FileFormatError(self.path, f"no names of {n} vertices ({error})") from None

    def require_simple(self, where: str) -> None:
        """Refuse a file that keeps parallel edges."""
        if "parallel.counts" in self.header.sections:
            raise ValueError(
                f"{self.path} keeps parallel edges, and {where} has each edge once: hpgraph.read reads them into "
                "memory, and G.simple(weight) has each once"
            )

    def with_parallel(self, graph: Graph, budget: Budget) -> Graph:
        """The graph of the file with its parallel edges; itself if none were kept."""
        if "parallel.counts" not in self.header.sections:
            return graph
        counts, (source, target, _) = self._whole("parallel.counts", np.int64), graph.edges()
        if counts.shape != source.shape or (counts < 1).any():
            raise FileFormatError(self.path, f"no numbers of parallel edges for each of {len(source)} edges")
        width, dtype = self.header.id_dtype.itemsize, self.header.weight_dtype
        budget.check(int(counts.sum(dtype=np.float64)) * (32 + 4 * width), f"the parallel edges in {self.path}")
        weights = None if dtype is None else self._whole("parallel.weights", dtype)
        ends = source.repeat(counts), target.repeat(counts)
        if weights is not None and weights.shape != ends[0].shape:
            raise FileFormatError(self.path, f"no weights of {len(ends[0])} edges")
        made = type(graph).from_edges(*ends, weights, len(graph), graph.directed, duplicates="keep")
        return graph._from_csr(made.out_csr, graph.directed, graph._names, True)

    def with_columns(self, graph: Graph) -> Graph:
        """The graph of the file with its columns, which are stored once an edge."""
        if not set(NAMES) <= self.header.sections.keys():
            return graph
        once = graph.n_edges if graph.directed else int(graph._each_once().sum())
        try:
            index, values = (self._whole(name, _BYTE) for name in NAMES)
            edges, vertices = unpacked(index, values, once, graph.n_vertices)
            return graph.with_columns(edges=edges, vertices=vertices)
        except FileFormatError:
            raise
        except (ValueError, TypeError) as error:
            raise FileFormatError(self.path, str(error)) from None


_BYTE = np.dtype(np.uint8)
# Bytes a name, in addition to its characters, during the conversion to an array.
_NAME_BYTES = 100


def read_hpg(path: Path, budget: Budget) -> Graph:
    """The whole graph of a file, in memory."""
    file = GraphFile(path)
    header = file.header
    width = header.id_dtype.itemsize + (0 if header.weight_dtype is None else header.weight_dtype.itemsize)
    names = sum(section.nbytes for name, section in header.sections.items() if name.startswith(("names.", "columns.")))
    of_vertex = 16 + (_NAME_BYTES if "names.text" in header.sections else 0)
    budget.check(header.n_arcs * width + of_vertex * (header.n_vertices + 1) + 8 * names, f"the graph in {path}")
    names_of = as_names(file.names() if file.named else None, header.n_vertices)
    graph = Graph._from_csr(joined(file.pages("out"), symmetric=not header.directed), header.directed, names_of)
    return file.with_columns(file.with_parallel(graph, budget))
