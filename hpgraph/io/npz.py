"""NumPy archives as `scipy.sparse.save_npz` makes them, with three arrays of ours beside SciPy's.

A file written here is read by `scipy.sparse.load_npz` too, which passes over the arrays it does not know. SciPy's own
kernels trust offsets and indices; they are checked here before any of them runs.
"""

from __future__ import annotations

import lzma
import math
import struct
import tokenize
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.containers.name_arrays import text_or_numbers
from hpgraph.core.errors import FileFormatError
from hpgraph.formats.checks import as_ids, as_offsets
from hpgraph.io.arcs import Arcs, Array
from hpgraph.io.memory import Budget
from hpgraph.io.npz_archive import Archive, Member
from hpgraph.io.replace import replacing
from hpgraph.io.stream import open_bytes, shortened

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph

DIRECTED = "hpgraph_directed"
PATTERN = "hpgraph_pattern"
NAMES = "hpgraph_names"

# Arrays of each format beside the values, and their dimensions; those of the values.
_ARRAYS = {
    "csr": ({"indices": 1, "indptr": 1}, 1),
    "csc": ({"indices": 1, "indptr": 1}, 1),
    "bsr": ({"indices": 1, "indptr": 1}, 3),
    "dia": ({"offsets": 1}, 2),
    "coo": ({"row": 1, "col": 1}, 1),
}
# Bytes at the peak of an entry that was read, as measured: an arc, and in the graph; and of a row.
_ENTRY_BYTES = 40
_ROW_BYTES = 32
# What zipfile, its decompressors and NumPy raise for a damaged archive.
DAMAGE = (
    ValueError,
    TypeError,
    LookupError,
    OSError,
    EOFError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)


def read_npz(path: Path, progress: bool | None, budget: Budget) -> Arcs:
    """A `Reader`, of a sparse array saved by SciPy or by `write_npz`: each entry stored is an arc, also a zero."""
    with open_bytes(path, progress) as content:
        try:
            if content.read(len(np.lib.format.MAGIC_PREFIX)) == np.lib.format.MAGIC_PREFIX:
                raise FileFormatError(path, "a single NumPy array; save a sparse array with scipy.sparse.save_npz")
            content.seek(0)
            return _arcs(path, Archive(path, content), budget)
        except FileFormatError:
            raise
        except DAMAGE as error:
            raise FileFormatError(path, f"not a whole NumPy archive of a sparse array ({error})") from None


@dataclass(frozen=True)
class Inside:
    """What an archive says that it holds, checked as far as types and shapes go.

    ``layout`` (str): SciPy's name of the format; ``n`` (int): rows and columns; ``members`` (dict): the arrays of the
    format, by name; ``own`` (dict): what `hpgraph.write` has added.
    """

    layout: str
    n: int
    members: dict[str, Member]
    own: dict[str, Member]


def inspect_npz(path: Path, archive: Archive) -> Inside:
    """Look at the arrays of an archive without reading them."""
    layout, n = _layout_and_size(path, archive)
    beside, data_dimensions = _ARRAYS[layout]
    if layout == "coo" and "coords" in archive:
        beside = {"coords": 2}
    members = {name: archive.member(name) for name in [*beside, "data"]}
    _check_members(path, layout, n, members, {**beside, "data": data_dimensions})
    own = {name: archive.member(name) for name in (DIRECTED, PATTERN, NAMES) if name in archive}
    for name in own.keys() - {NAMES}:
        if own[name].shape != () or own[name].dtype.kind != "b":
            raise FileFormatError(path, f"{name} is True or False, not {own[name].dtype} of shape {own[name].shape}")
    if NAMES in own and (own[NAMES].shape != (n,) or own[NAMES].dtype.kind not in "iuU"):
        names = own[NAMES]
        raise FileFormatError(path, f"{math.prod(names.shape)} names of type {names.dtype} for {n} vertices")
    return Inside(layout, n, members, own)


def _arcs(path: Path, archive: Archive, budget: Budget) -> Arcs:
    inside = inspect_npz(path, archive)
    layout, n, members, own = inside.layout, inside.n, inside.members, inside.own
    held = sum(member.nbytes for member in (*members.values(), *own.values()))
    needed = held + _ENTRY_BYTES * math.prod(members["data"].shape) + _ROW_BYTES * n
    budget.check(needed, f"the array of {n} rows in {path}")

    row, col, data = _entries(layout, n, {name: archive.read(name) for name in members})
    weight = None if PATTERN in own and archive.read(PATTERN) else data
    directed = bool(archive.read(DIRECTED)) if DIRECTED in own else not _is_symmetric(n, row, col, data)
    return Arcs(row, col, weight, n, directed, archive.read(NAMES) if NAMES in own else None, mirrored=True)


def _check_members(path: Path, layout: str, n: int, members: dict[str, Member], dimensions: dict[str, int]) -> None:
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


def _layout_and_size(path: Path, archive: Archive) -> tuple[str, int]:
    """SciPy's name of the format, and the number of rows and columns."""
    if "format" not in archive or "shape" not in archive:
        held = shortened(", ".join(archive.names[:8])) or "nothing"
        raise FileFormatError(path, f"no sparse array, only {held}; scipy.sparse.save_npz saves one")
    named, size = archive.member("format"), archive.member("shape")
    if named.shape != () or named.dtype.kind not in "SU" or named.nbytes > 64:
        raise FileFormatError(path, "format is no word")
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
    # SciPy allows arrays longer than the last offset says.
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
    """A `Writer`: `scipy.sparse.load_npz` reads the adjacency matrix and `read_npz` all of the graph.

    Names must be all text or all whole numbers of 64 bits, or have one of NumPy's other types.
    """
    csr = graph.out_csr
    arrays: dict[str, Any] = {
        "format": np.array(b"csr"),
        "shape": np.array(csr.shape, dtype=np.int64),
        "indptr": csr.indptr,
        "indices": csr.indices,
        "data": np.ones(csr.nnz, np.int8) if csr.data is None else csr.data,
        "_is_array": np.array(True),
        DIRECTED: np.array(graph.directed),
        PATTERN: np.array(csr.data is None),
    }
    if graph.names is not None:
        names = text_or_numbers(graph.names)
        if names is None:
            raise ValueError(
                f"{path}: .npz holds names that are all text or all whole numbers, and some are neither; pickle holds "
                "any"
            )
        # Archives have text of fixed width.
        arrays[NAMES] = np.array(names.tolist()) if names.dtype.kind == "T" else names
    with replacing(path) as target:
        np.savez_compressed(target, **arrays)


def _is_symmetric(n: int, row: Array, col: Array, data: Array) -> bool:
    from scipy.sparse import coo_array

    # In canonical form, so that two equal matrices have equal arrays, stored zeros and NaN included.
    forward, backward = (coo_array((data, ends), shape=(n, n)).tocsr() for ends in ((row, col), (col, row)))
    forward.sum_duplicates()
    backward.sum_duplicates()
    return (
        np.array_equal(forward.indptr, backward.indptr)
        and np.array_equal(forward.indices, backward.indices)
        and np.array_equal(forward.data, backward.data, equal_nan=forward.dtype.kind == "f")
    )
