"""Serialized graphs of the GAP Benchmark Suite: ``.sg`` without weights, ``.wsg`` with weights of 32 bits.

A byte that says whether the graph is directed, the numbers of arcs and of vertices in 64 bits, then offsets of rows in
64 bits and neighbours in 32; of directed graphs the same of the reversed arcs. A neighbour in ``.wsg`` is a pair of
target and weight. Bytes come in the order of the machine.
"""

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.errors import FileFormatError
from hpgraph.formats import CSR
from hpgraph.io.arcs import Arcs, Array
from hpgraph.io.memory import Budget
from hpgraph.io.replace import replacing
from hpgraph.io.stream import open_bytes

_PAIR = np.dtype([("target", np.int32), ("weight", np.int32)])
_INT32 = np.iinfo(np.int32)


def read_gapbs(path: Path, progress: bool | None, budget: Budget) -> Arcs:
    """A `Reader`, of files in the byte order of the machine."""
    weighted = ".wsg" in path.suffixes[-2:]
    with open_bytes(path, progress) as file:
        directed = int(_array(path, file, np.uint8, 1)[0])
        m, n = _array(path, file, np.int64, 2).tolist()
        if directed > 1 or not 0 <= n <= _INT32.max or m < 0:
            raise FileFormatError(path, "no graph of the GAP Benchmark Suite: its first 17 bytes do not fit")
        nbytes = 8 * (n + 1) + m * (32 if weighted else 24)
        budget.check(nbytes, f"a graph of {n} vertices and {m} arcs, as {path} says,")
        indptr = _array(path, file, np.int64, n + 1)
        if indptr[0] != 0 or indptr[-1] != m or (np.diff(indptr) < 0).any():
            raise FileFormatError(path, f"offsets of rows do not rise from 0 to {m}")
        row = _array(path, file, _PAIR if weighted else np.int32, m)
        # The reversed arcs say the same again; a gzip file's checksum comes behind them.
        reverse = _array(path, file, np.uint8, directed * (indptr.nbytes + row.nbytes)).size
        if file.read(1):
            raise FileFormatError(
                path, f"it goes on behind the {17 + reverse + indptr.nbytes + row.nbytes} bytes that its header says"
            )
    target, weight = (row["target"].copy(), row["weight"].copy()) if weighted else (row, None)
    if m and not 0 <= target.min() <= target.max() < n:
        raise FileFormatError(path, f"there are targets beyond 0..{n - 1}")
    source = np.repeat(np.arange(n, dtype=np.int32), np.diff(indptr))
    return Arcs(source, target, weight, n, bool(directed), mirrored=True)


def _array(path: Path, file: BinaryIO, dtype: Any, count: int) -> Array:
    nbytes = np.dtype(dtype).itemsize * count
    content = file.read(nbytes)
    if len(content) != nbytes:
        raise FileFormatError(path, f"the file ends early: {nbytes} bytes expected, {len(content)} left")
    return np.frombuffer(content, dtype)


def write_gapbs(graph: Graph, path: Path) -> None:
    """A `Writer`, as the suite's converter, without names; ``.wsg`` holds weights of 32 bits, ``.sg`` none."""
    weighted = ".wsg" in path.suffixes[-2:]
    if weighted != graph.weighted:
        other = ".sg" if weighted else ".wsg"
        raise ValueError(f"{path}: the graph has {'no ' * weighted}weights; write it to {other}")
    data = graph.out_csr.data
    if graph.n_vertices > _INT32.max:
        raise ValueError(f"{path}: ids have 32 bits there, and there are {graph.n_vertices} vertices")
    if (
        data is not None
        and data.size
        and (not np.array_equal(data, np.trunc(data)) or data.min() < _INT32.min or data.max() > _INT32.max)
    ):
        raise ValueError(f"{path}: weights are whole numbers of 32 bits there; .hpg holds any")
    with replacing(path) as file:
        file.write(np.uint8(graph.directed).tobytes())
        file.write(np.array([graph.out_csr.nnz, graph.n_vertices], np.int64).tobytes())
        _write(file, graph.out_csr)
        if graph.directed:
            _write(file, graph.in_csr)


def _write(file: BinaryIO, csr: CSR) -> None:
    file.write(csr.indptr.astype(np.int64).tobytes())
    if csr.data is None:
        file.write(csr.indices.astype(np.int32).tobytes())
        return
    row = np.empty(csr.nnz, _PAIR)
    row["target"], row["weight"] = csr.indices, csr.data
    file.write(row.tobytes())
