"""The graphs that are measured, each with its sources and in the shapes that the libraries take."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.device import array_module, to_device

# Arcs looked at in one go where a temporary per arc is needed.
CHUNK = 1 << 24


@dataclass(frozen=True)
class Case:
    """One symmetric graph without loops, weighted by whole numbers from 1 to 64.

    ``indptr``, ``indices`` and ``weights`` are its CSR arrays (int64, int32, float32), NumPy's or CuPy's; ``graph`` is
    hpgraph's `Graph` over them; ``sources`` are the vertices that searches start from.
    """

    name: str
    device: str
    indptr: Any
    indices: Any
    weights: Any
    graph: hpg.Graph
    sources: list[int]

    @property
    def n(self) -> int:
        return int(self.indptr.size) - 1

    @property
    def n_arcs(self) -> int:
        return int(self.indices.size)

    @property
    def xp(self) -> Any:
        return array_module(self.device)

    @functools.cached_property
    def degree(self) -> Any:
        return self.xp.diff(self.indptr)

    @functools.cached_property
    def matrix(self) -> Any:
        """The weighted adjacency as SciPy's or CuPy's CSR."""
        return self.csr(self.weights)

    def csr(self, data: Any) -> Any:
        """SciPy's or CuPy's CSR of the adjacency with the given values."""
        if self.device == "cuda":
            from cupyx.scipy.sparse import csr_matrix
        else:
            from scipy.sparse import csr_array as csr_matrix
        # Offsets as wide as the indices: cuSPARSE takes no mixture, and SciPy's csgraph would convert at each call.
        indptr = self.indptr.astype(self.indices.dtype) if self.n_arcs <= np.iinfo(np.int32).max else self.indptr
        return csr_matrix((data, self.indices, indptr), shape=(self.n, self.n))

    @functools.cached_property
    def vector(self) -> Any:
        """A float32 vector to multiply by; uniform in 0..1."""
        return self.xp.asarray(np.random.default_rng(11).random(self.n, np.float32))

    def arcs(self) -> Iterator[tuple[Any, Any, Any]]:
        """Rows, columns and weights of the arcs, a chunk at a time."""
        xp = self.xp
        for start in range(0, self.n_arcs, CHUNK):
            stop = min(start + CHUNK, self.n_arcs)
            row = xp.searchsorted(self.indptr, xp.arange(start, stop), side="right") - 1
            yield row, self.indices[start:stop], self.weights[start:stop]


def _real(file: str) -> hpg.Graph:
    """A graph from a Matrix Market file in the folder HPGRAPH_DATA, made symmetric, weighted."""
    import scipy.io
    import scipy.sparse

    folder = os.environ.get("HPGRAPH_DATA")
    if not folder or not (Path(folder) / file).is_file():
        raise FileNotFoundError(f"{file} is not in the folder that HPGRAPH_DATA names")
    one_way = scipy.sparse.csr_array(scipy.io.mmread(Path(folder) / file))
    both = scipy.sparse.csr_array(one_way + one_way.T)
    both.setdiag(0)
    both.eliminate_zeros()
    both.sort_indices()
    row = np.repeat(np.arange(both.shape[0]), np.diff(both.indptr))
    low, high = np.minimum(row, both.indices), np.maximum(row, both.indices)
    weights = ((31 * low + 17 * high) % 64 + 1).astype(np.float32)
    return hpg.Graph(scipy.sparse.csr_array((weights, both.indices, both.indptr), shape=both.shape), directed=False)


_MAKERS: dict[str, dict[str, Callable[[], hpg.Graph]]] = {
    "cpu": {
        "kron18": lambda: hpg.datasets.kron(18, 16, weighted=True),
        "urand18": lambda: hpg.datasets.uniform(18, 16, weighted=True),
        "road1000": lambda: hpg.datasets.grid(1000, weighted=True),
        "cnr-2000": lambda: _real("cnr-2000.mtx.gz"),
    },
    "cuda": {
        "kron21": lambda: hpg.datasets.kron(21, 48, weighted=True, device="cuda"),
        "social22": lambda: hpg.datasets.social(22, 20, weighted=True, device="cuda"),
        "urand23": lambda: hpg.datasets.uniform(23, 16, weighted=True, device="cuda"),
        "road2048": lambda: hpg.datasets.grid(2048, weighted=True, device="cuda"),
    },
}
# Small ones of the same kinds, to try the benchmarks themselves.
for _device, _makers in _MAKERS.items():
    _makers["kron12"] = functools.partial(hpg.datasets.kron, 12, 16, weighted=True, device=_device)
    _makers["urand12"] = functools.partial(hpg.datasets.uniform, 12, 16, weighted=True, device=_device)
    _makers["road64"] = functools.partial(hpg.datasets.grid, 64, weighted=True, device=_device)
TRIALS = ("kron12", "urand12", "road64")


def names(device: str) -> list[str]:
    """The graphs there are for a device, those measured by default first."""
    return list(_MAKERS[device])


def make(name: str, device: str, n_sources: int) -> Case:
    """Make or read a graph and choose its sources: vertices with neighbours, the same ones in every run.

    Raises
    ------
    FileNotFoundError
        For a real graph whose file is not here.
    """
    graph = _MAKERS[device][name]()
    arcs = graph.out_csr
    degree = array_module(device).diff(arcs.indptr)
    candidates = np.flatnonzero(to_device(degree, "cpu") > 0)
    chosen = np.random.default_rng(7).choice(candidates, max(16, n_sources), replace=False)[:n_sources]
    return Case(name, device, arcs.indptr, arcs.indices, arcs.data, graph, [int(source) for source in chosen])
