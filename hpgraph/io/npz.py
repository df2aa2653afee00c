"""NumPy archives as `scipy.sparse.save_npz` makes them, with three arrays of ours beside SciPy's.

A file written here is read by `scipy.sparse.load_npz` too, which passes over the arrays it does not know.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from hpgraph.errors import FileFormatError
from hpgraph.io.arcs import Arcs
from hpgraph.io.stream import open_bytes
from hpgraph.names import text_or_numbers

if TYPE_CHECKING:
    from hpgraph.graph import Graph

_DIRECTED = "hpgraph_directed"
_PATTERN = "hpgraph_pattern"
_NAMES = "hpgraph_names"


def read_npz(path: Path, progress: bool | None) -> Arcs:
    """The arcs of a sparse array saved by SciPy or by `write_npz`.

    Parameters
    ----------
    path : pathlib.Path
        An ``.npz`` file.
    progress : bool, optional
        As for `hpgraph.read`.

    Returns
    -------
    Arcs
        Every stored entry is an arc, a stored zero as well.

    Raises
    ------
    FileFormatError
        Where the file is no archive, holds no sparse array, or one that is not square or not real.
    """
    with open_bytes(path, progress) as content:
        try:
            matrix, own = _load(path, content)
        except FileFormatError:
            raise
        except (ValueError, TypeError, KeyError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise FileFormatError(path, f"not a whole NumPy archive of a sparse array ({error})") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        size = " x ".join(map(str, matrix.shape))
        raise FileFormatError(path, f"a {size} array; the adjacency matrix of a graph is square")
    if matrix.dtype.kind not in "biuf":
        raise FileFormatError(path, f"entries of type {matrix.dtype}; a weight must be a real number")
    entries = matrix.tocoo()
    n_vertices = int(matrix.shape[0])
    names = own.get(_NAMES)
    if names is not None and names.shape != (n_vertices,):
        raise FileFormatError(path, f"{names.size} names for {n_vertices} vertices")
    weight = None if own.get(_PATTERN, False) else entries.data
    directed = bool(own[_DIRECTED]) if _DIRECTED in own else not _is_symmetric(matrix)
    return Arcs(entries.row, entries.col, weight, n_vertices, directed, names)


def write_npz(graph: Graph, path: Path) -> None:
    """Write a graph so that `scipy.sparse.load_npz` reads its adjacency matrix and `read_npz` all of it.

    Parameters
    ----------
    graph : Graph
        On the CPU.
    path : pathlib.Path
        Where to.

    Raises
    ------
    ValueError
        Where names are objects other than text and whole numbers of 64 bits, or of several types.
    """
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
    if graph.names is not None:
        # Floats and dates keep their type in an array as well.
        names = text_or_numbers(graph.names) if graph.names.dtype.hasobject else graph.names
        if names is None:
            raise ValueError(
                f"{path}: .npz holds names that are all text or all whole numbers, and some are neither; pickle holds "
                "any"
            )
        arrays[_NAMES] = names
    with path.open("wb") as target:
        np.savez_compressed(target, **arrays)


def _load(path: Path, content: BinaryIO) -> tuple[Any, dict[str, Any]]:
    """SciPy's array, and what is ours."""
    from scipy.sparse import load_npz

    archive = np.load(content, allow_pickle=False)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise FileFormatError(path, "a single NumPy array; save a sparse array with scipy.sparse.save_npz")
    with archive:
        if "format" not in archive or "shape" not in archive:
            held = ", ".join(archive.files) or "nothing"
            raise FileFormatError(path, f"no sparse array, only {held}; scipy.sparse.save_npz saves one")
        own = {key: archive[key] for key in (_DIRECTED, _PATTERN, _NAMES) if key in archive}
    content.seek(0)
    return load_npz(content), own


def _is_symmetric(matrix: Any) -> bool:
    # In canonical form, so that two equal matrices have equal arrays, stored zeros and NaN included.
    forward, backward = matrix.tocsr(), matrix.T.tocsr()
    forward.sum_duplicates()
    backward.sum_duplicates()
    return (
        np.array_equal(forward.indptr, backward.indptr)
        and np.array_equal(forward.indices, backward.indices)
        and np.array_equal(forward.data, backward.data, equal_nan=forward.dtype.kind == "f")
    )
