"""NumPy archives in the layout of `scipy.sparse.save_npz`, with further arrays of hpgraph.

A file written here is read by `scipy.sparse.load_npz` too, which ignores the arrays it does not know. SciPy's own
kernels trust offsets and indices; they are checked here before any of them runs. An archive of a few kilobytes can hold
gigabytes, and pickled objects, which run code when they are loaded: type, shape and size of each array are therefore
checked first, and only numbers and text are read.
"""

import contextlib
import lzma
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.errors import DeviceMemoryError, FileFormatError
from hpgraph.formats.checks import as_ids, as_offsets
from hpgraph.io.arc_stream import ArcStream, Block, distinct, of_arcs
from hpgraph.io.arcs import Arcs, Array, plain_names
from hpgraph.io.memory import Budget
from hpgraph.io.packed_columns import NAMES, packed, unpacked
from hpgraph.io.replace import replacing
from hpgraph.io.stream import open_bytes, shortened

_DIRECTED, _PATTERN, _NAMES = "hpgraph_directed", "hpgraph_pattern", "hpgraph_names"
# Arrays of each format beside the values, and their dimensions; those of the values.
_ARRAYS = {
    "csr": ({"indices": 1, "indptr": 1}, 1),
    "csc": ({"indices": 1, "indptr": 1}, 1),
    "bsr": ({"indices": 1, "indptr": 1}, 3),
    "dia": ({"offsets": 1}, 2),
    "coo": ({"row": 1, "col": 1}, 1),
}
# Bytes at the peak of an entry that was read, as measured: an arc, and in the graph; and of a row.
_ENTRY_BYTES, _ROW_BYTES = 40, 32
# NumPy's own limit of what it parses as Python's literals.
_LONGEST_HEADER = 10_000
# Entries at a time.
_PIECE = 1 << 16
# Errors of zipfile, its decompressors and NumPy for a damaged archive.
_DAMAGE = (
    ValueError, TypeError, LookupError, OSError, EOFError, OverflowError, RuntimeError, SyntaxError, struct.error,
    tokenize.TokenError, zipfile.BadZipFile, zlib.error, lzma.LZMAError,
)  # fmt: skip


@dataclass(frozen=True)
class _Member:
    """An array in an archive, by its header."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


class _Archive:
    """An ``.npz`` file opened for reading."""

    def __init__(self, path: Path, content: BinaryIO) -> None:
        self._path, self._zip = path, zipfile.ZipFile(content)
        members = self._zip.infolist()
        self._info = {one.filename.removesuffix(".npy"): one for one in members}
        if len(self._info) < len(members):
            names = [one.filename.removesuffix(".npy") for one in members]
            twice = next(name for name in names if names.count(name) > 1)
            raise FileFormatError(path, f"two arrays are called {twice!r}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._info)

    def __contains__(self, name: str) -> bool:
        return name in self._info

    def member(self, name: str) -> _Member:
        """Header of an array, checked."""
        if name not in self._info:
            raise FileFormatError(self._path, f"the array {name!r} is missing")
        with self._zip.open(self._info[name]) as stream:
            version = np.lib.format.read_magic(stream)
            if version not in ((1, 0), (2, 0)):
                raise FileFormatError(self._path, f"{name}.npy is of version {version}; arrays of numbers have (1, 0)")
            parse = getattr(np.lib.format, f"read_array_header_{version[0]}_0")
            shape, _, dtype = parse(stream, max_header_size=_LONGEST_HEADER)
            taken = stream.tell()
        member = _Member(shape, dtype)
        if dtype.hasobject or dtype.kind not in "biufcSU":
            held = shortened(str(dtype))
            raise FileFormatError(self._path, f"{name}.npy is an array of {held}, not of numbers or text")
        if min(shape, default=0) < 0 or taken + member.nbytes != self._info[name].file_size:
            raise FileFormatError(self._path, f"{name}.npy does not have the size that its shape {shape} says")
        return member

    def pieces(self, name: str) -> Iterator[Array]:
        """A one-dimensional array in blocks, in native byte order; `member` has been read before."""
        member = self.member(name)
        with self._zip.open(self._info[name]) as stream:
            stream.read(self._info[name].file_size - member.nbytes)
            for begin in range(0, member.shape[0], _PIECE):
                nbytes = min(_PIECE, member.shape[0] - begin) * member.dtype.itemsize
                content = stream.read(nbytes)
                if len(content) < nbytes:
                    raise EOFError(f"{name}.npy ends early")
                piece = np.frombuffer(content, dtype=member.dtype)
                yield piece.astype(member.dtype.newbyteorder("="), copy=False)

    def read(self, name: str) -> Array:
        """An array in native byte order; `member` has been read before."""
        with self._zip.open(self._info[name]) as stream:
            array: Array = np.lib.format.read_array(stream, allow_pickle=False, max_header_size=_LONGEST_HEADER)
        return array.astype(array.dtype.newbyteorder("="), copy=False)


@contextlib.contextmanager
def _opened(path: Path, progress: bool | None = False) -> Iterator[_Archive]:
    """The archive in a file; damage that is met while it is open is a `FileFormatError`."""
    with open_bytes(path, progress) as content:
        try:
            if content.read(len(np.lib.format.MAGIC_PREFIX)) == np.lib.format.MAGIC_PREFIX:
                raise FileFormatError(path, "a single NumPy array; save a sparse array with scipy.sparse.save_npz")
            content.seek(0)
            yield _Archive(path, content)
        except (FileFormatError, DeviceMemoryError):
            raise
        except _DAMAGE as error:
            raise FileFormatError(path, f"not a whole NumPy archive of a sparse array ({error})") from None


@dataclass(frozen=True)
class _Inside:
    """The checked contents of an archive: SciPy's format name, rows, its arrays, and those of `hpgraph.write`."""

    layout: str
    n: int
    members: dict[str, _Member]
    own: dict[str, _Member]


def _inspected(path: Path, archive: _Archive) -> _Inside:
    """Look at the arrays of an archive without reading them."""
    layout, n = _layout_and_size(path, archive)
    beside, data_dimensions = _ARRAYS[layout]
    if layout == "coo" and "coords" in archive:
        beside = {"coords": 2}
    members = {name: archive.member(name) for name in [*beside, "data"]}
    _check_members(path, layout, n, members, {**beside, "data": data_dimensions})
    columns = NAMES if set(NAMES) <= set(archive) else ()
    own = {name: archive.member(name) for name in (_DIRECTED, _PATTERN, _NAMES, *columns) if name in archive}
    for name in columns:
        if len(own[name].shape) != 1 or own[name].dtype != np.uint8:
            raise FileFormatError(path, f"{name} holds bytes, not {own[name].dtype} of shape {own[name].shape}")
    for name in own.keys() - {_NAMES, *NAMES}:
        if own[name].shape != () or own[name].dtype.kind != "b":
            raise FileFormatError(path, f"{name} is True or False, not {own[name].dtype} of shape {own[name].shape}")
    if _NAMES in own and (own[_NAMES].shape != (n,) or own[_NAMES].dtype.kind not in "iuU"):
        names = own[_NAMES]
        raise FileFormatError(path, f"{math.prod(names.shape)} names of type {names.dtype} for {n} vertices")
    return _Inside(layout, n, members, own)


def read_npz(path: Path, progress: bool | None, budget: Budget) -> Arcs:
    """A `Reader`, of a sparse array saved by SciPy or by `write_npz`: each entry stored is an arc, also a zero."""
    with _opened(path, progress) as archive:
        inside = _inspected(path, archive)
        n, members, own = inside.n, inside.members, inside.own
        held = sum(member.nbytes for member in (*members.values(), *own.values()))
        needed = held + _ENTRY_BYTES * math.prod(members["data"].shape) + _ROW_BYTES * n
        budget.check(needed, f"the array of {n} rows in {path}")
        row, col, data = _entries(inside.layout, n, {name: archive.read(name) for name in members})
        fields = {name: archive.read(name) for name in own}
        edges, vertices = unpacked(fields[NAMES[0]], fields[NAMES[1]], len(row), n) if NAMES[0] in fields else ({}, {})
        weight, directed = (
            None if fields.get(_PATTERN) else data,
            bool(fields[_DIRECTED]) if _DIRECTED in fields else None,
        )
        what = n, directed, fields.get(_NAMES)
        return Arcs(row, col, weight, *what, mirrored=True, columns=edges, vertex_columns=vertices)


def npz_stream(path: Path, progress: bool | None, budget: Budget) -> ArcStream:
    """The entries of a sparse array; of blocks, diagonals, and COO with one array of both ids, all of them at once."""
    with _opened(path) as archive:
        inside = _inspected(path, archive)
        whole = inside.layout in ("bsr", "dia") or "coords" in inside.members
        if not whole:
            rows = inside.members["indptr"].nbytes if "indptr" in inside.members else 0
            held = 2 * rows + sum(member.nbytes for member in inside.own.values())
            budget.check(held, f"the offsets and names in {path}")
            fields = {name: archive.read(name) for name in inside.own}
    if whole:
        return of_arcs(read_npz(path, progress, budget))
    directed, names = bool(fields[_DIRECTED]) if _DIRECTED in fields else None, fields.get(_NAMES)
    of_file = None if names is None else distinct(lambda: names, inside.n)
    blocks = partial(_blocks, path, progress, inside, bool(fields.get(_PATTERN)))
    return ArcStream(blocks, directed, inside.n, names=of_file, mirrored=True)


def _blocks(path: Path, progress: bool | None, inside: _Inside, pattern: bool) -> Iterator[Block]:
    """Rows, columns and values, some at a time."""
    with _opened(path, progress) as archive:
        ends = (_by_entry if inside.layout == "coo" else _by_row)(archive, inside.n)
        values, none = archive.pieces("data"), np.empty(0, np.int64)
        # An empty block conveys the dtype of the values.
        yield none, none, None if pattern else np.empty(0, archive.member("data").dtype.newbyteorder("="))
        for row, col in ends:
            value = next(values)[: len(row)]
            first, second = (col, row) if inside.layout == "csc" else (row, col)
            yield first, second, None if pattern else value


def _by_entry(archive: _Archive, n: int) -> Iterator[tuple[Array, Array]]:
    for row, col in zip(archive.pieces("row"), archive.pieces("col"), strict=True):
        yield as_ids(row, "row", n, "row"), as_ids(col, "col", n, "column")


def _by_row(archive: _Archive, n: int) -> Iterator[tuple[Array, Array]]:
    indptr = archive.read("indptr")
    # SciPy allows arrays longer than the last offset.
    used = max(0, min(int(indptr[-1]), archive.member("indices").shape[0]))
    indptr = as_offsets(indptr, "indptr", n, used)
    begin = 0
    for piece in archive.pieces("indices"):
        ids = as_ids(piece[: max(0, used - begin)], "indices", n, "column")
        first = int(np.searchsorted(indptr, begin, side="right")) - 1
        last = int(np.searchsorted(indptr, begin + len(ids), side="left"))
        lengths = np.diff(indptr[first : last + 1].clip(begin, begin + len(ids)))
        yield np.repeat(np.arange(first, first + len(lengths)), lengths), ids
        begin += len(ids)


def _check_members(path: Path, layout: str, n: int, members: dict[str, _Member], dimensions: dict[str, int]) -> None:
    """Types and shapes that fit each other."""
    for name, member in members.items():
        if len(member.shape) != dimensions[name]:
            raise FileFormatError(
                path, f"{name} of {layout} has {dimensions[name]} dimensions, not shape {member.shape}"
            )
        if name != "data" and member.dtype.kind not in "iu":
            raise FileFormatError(path, f"{name} holds {member.dtype}, not whole numbers")
    data = members["data"]
    if data.dtype.kind not in "biuf":
        raise FileFormatError(path, f"entries of type {data.dtype}; a weight must be a real number")
    block = data.shape[1:] if layout == "bsr" else (1, 1)
    if min(block) < 1 or n % block[0] or n % block[1]:
        raise FileFormatError(path, f"blocks of {block} do not divide {n} rows and columns")
    fitting = {"indptr": (n // block[0] + 1,), "coords": (2, data.shape[0])}
    for name in members.keys() - {"data"}:
        if members[name].shape != fitting.get(name, data.shape[:1]):
            raise FileFormatError(
                path, f"{name} of shape {members[name].shape} for {n} rows and data of shape {data.shape}"
            )


def _layout_and_size(path: Path, archive: _Archive) -> tuple[str, int]:
    """SciPy's name of the format, and the number of rows and columns."""
    if "format" not in archive or "shape" not in archive:
        held = shortened(", ".join(list(archive)[:8])) or "nothing"
        raise FileFormatError(path, f"no sparse array, only {held}; scipy.sparse.save_npz saves one")
    named, size = archive.member("format"), archive.member("shape")
    if named.shape != () or named.dtype.kind not in "SU" or named.nbytes > 64:
        raise FileFormatError(path, "format is not a text")
    if size.dtype.kind not in "iu" or len(size.shape) != 1 or size.shape[0] > 8:
        raise FileFormatError(path, "shape is not a few whole numbers")
    word = archive.read("format").item()
    layout = word.decode("ascii") if isinstance(word, bytes) else word
    if layout not in _ARRAYS:
        raise FileFormatError(path, f"a sparse array in the format {layout!r}; known are {', '.join(_ARRAYS)}")
    shape = archive.read("shape").tolist()
    if len(shape) != 2 or shape[0] != shape[1]:
        raise FileFormatError(path, f"a {' x '.join(map(str, shape))} array; the adjacency matrix of a graph is square")
    if shape[0] < 0:
        raise FileFormatError(path, f"a shape of {shape[0]} rows")
    return layout, shape[0]


def _entries(layout: str, n: int, arrays: dict[str, Array]) -> tuple[Array, Array, Array]:
    """Row, column and value of each entry of one of SciPy's formats, all checked before SciPy relies on them."""
    from scipy.sparse import bsr_array, dia_array

    data = arrays["data"]
    if layout == "coo":
        row, col = arrays["coords"] if "coords" in arrays else (arrays["row"], arrays["col"])
        return as_ids(row, "row", n, "row"), as_ids(col, "col", n, "column"), data
    if layout == "dia":
        matrix = dia_array((data, as_ids(arrays["offsets"], "offsets", n, "column", low=-n)), shape=(n, n)).tocoo()
        return matrix.row, matrix.col, matrix.data
    block = data.shape[1:] if layout == "bsr" else (1, 1)
    indptr, indices = arrays["indptr"], arrays["indices"]
    # SciPy allows arrays longer than the last offset.
    used = max(0, min(int(indptr[-1]), indices.size))
    indptr = as_offsets(indptr, "indptr", n // block[0], used)
    indices = as_ids(indices[:used], "indices", n // block[1], "column")
    data = data[:used]
    if layout == "bsr":
        matrix = bsr_array((data, indices, indptr), shape=(n, n)).tocoo()
        return matrix.row, matrix.col, matrix.data
    along = np.repeat(np.arange(n, dtype=indices.dtype), np.diff(indptr))
    return (along, indices, data) if layout == "csr" else (indices, along, data)


def write_npz(graph: Graph, path: Path) -> None:
    """A `Writer` of all of a graph; `scipy.sparse.load_npz` reads the adjacency matrix."""
    csr = graph.out_csr
    arrays: dict[str, Any] = {
        "format": np.array(b"csr"),
        "shape": np.array(csr.shape, dtype=np.int64),
        "indptr": csr.indptr,
        "indices": csr.indices,
        "data": np.ones(csr.nnz, np.int8) if csr.data is None else csr.data,
        "_is_array": np.array(True),
        _DIRECTED: np.array(graph.directed),
        _PATTERN: np.array(csr.data is None),
    }
    if (names := plain_names(graph.names, path)) is not None:
        # Archives have text of fixed width, which loses NULs at its end.
        arrays[_NAMES] = np.array(text := names.tolist()) if names.dtype.kind == "T" else names
        if names.dtype.kind == "T" and arrays[_NAMES].tolist() != text:
            raise ValueError(f"{path}: .npz holds no name that ends in NUL; .hpg and pickle hold any")
    arrays |= packed(graph._columns_held.edges, graph._columns_held.vertices)
    with replacing(path) as target:
        np.savez_compressed(target, **arrays)
