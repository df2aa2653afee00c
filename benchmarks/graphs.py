"""The graphs that are measured, each with its sources and in the shapes that the libraries take."""

import functools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.core.device import array_module, to_device
from hpgraph.datasets.drawing import of_edges

from .unseen import KINDS

# Arcs looked at in one go where a temporary per arc is needed.
CHUNK = 1 << 24


@dataclass(frozen=True)
class Case:
    """One symmetric graph without loops, weighted by whole numbers from 1 to 64.

    ``indptr``, ``indices`` and ``weights`` are its CSR arrays (int64, int32, float32), NumPy's or CuPy's; ``graph`` is
    hpgraph's `Graph` over them; ``sources`` are the vertices that searches start from, ``row`` those of a long row of
    searches.
    """

    name: str
    device: str
    indptr: Any
    indices: Any
    weights: Any
    graph: hpg.Graph
    sources: list[int]
    row: list[int] = field(default_factory=list)

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

    @functools.cached_property
    def wide_matrix(self) -> Any:
        """The same in float64."""
        return self.csr(self.weights.astype(np.float64))

    @functools.cached_property
    def wide_vector(self) -> Any:
        """The same in float64."""
        return self.vector.astype(np.float64)

    @functools.cached_property
    def flags(self) -> Any:
        """A vector of bool, half of it true."""
        return self.vector < 0.5

    @property
    def many(self) -> int:
        """How many pairs and walks are drawn; on the CPU few enough for other libraries."""
        return 1_000_000 if self.device == "cuda" else 100_000

    @functools.cached_property
    def edges(self) -> tuple[Any, Any]:
        """The ends of some edges, drawn."""
        at = self.xp.asarray(np.random.default_rng(3).integers(0, self.n_arcs, self.many))
        source = self.xp.searchsorted(self.indptr, at, side="right") - 1
        return source.astype(np.int64), self.indices[at].astype(np.int64)

    @functools.cached_property
    def starts(self) -> Any:
        """Vertices, drawn, some more than once."""
        return self.xp.asarray(np.random.default_rng(5).integers(0, self.n, self.many))

    @functools.cached_property
    def seeds(self) -> Any:
        """10,000 vertices, drawn, none twice."""
        return self.xp.asarray(np.random.default_rng(9).permutation(self.n)[:10_000])

    def arcs(self) -> Iterator[tuple[Any, Any, Any]]:
        """Rows, columns and weights of the arcs, a chunk at a time."""
        xp = self.xp
        for start in range(0, self.n_arcs, CHUNK):
            stop = min(start + CHUNK, self.n_arcs)
            row = xp.searchsorted(self.indptr, xp.arange(start, stop), side="right") - 1
            yield row, self.indices[start:stop], self.weights[start:stop]


def _real(file: str, device: str) -> hpg.Graph:
    """A graph from a Matrix Market file in the folder HPGRAPH_DATA, made symmetric, weighted."""
    import scipy.io

    folder = os.environ.get("HPGRAPH_DATA")
    if not folder or not (Path(folder) / file).is_file():
        raise FileNotFoundError(f"{file} is not in the folder that HPGRAPH_DATA names")
    arcs = scipy.io.mmread(Path(folder) / file).tocoo()
    return _from_ends(arcs.row, arcs.col, arcs.shape[0], device)


def _from_ends(source: Any, target: Any, n: int, device: str) -> hpg.Graph:
    """A graph without loops whose weights follow from the ids of an edge's ends."""
    source, target = source.astype(np.int64), target.astype(np.int64)
    weights = ((31 * np.minimum(source, target) + 17 * np.maximum(source, target)) % 64 + 1).astype(np.float32)
    apart = source != target
    edges = (source[apart], target[apart], weights[apart])
    return hpg.Graph.from_edges(*edges, n_vertices=n, directed=False).to(device)


def _unseen(kind: str, device: str) -> hpg.Graph:
    """One of the kinds that nothing was fitted to, its weights drawn."""
    source, target, n = KINDS[kind]()
    apart = source != target
    weights = np.random.default_rng(5).integers(1, 65, int(apart.sum())).astype(np.float32)
    edges = (source[apart].astype(np.int64), target[apart].astype(np.int64), weights)
    return hpg.Graph.from_edges(*edges, n_vertices=n, directed=False).to(device)


def _star(n: int, device: str) -> hpg.Graph:
    return _from_ends(np.zeros(n - 1, np.int32), np.arange(1, n), n, device)


def _path(n: int, device: str) -> hpg.Graph:
    return _from_ends(np.arange(n - 1), np.arange(1, n), n, device)


def _complete(n: int, device: str) -> hpg.Graph:
    return _from_ends(*np.triu_indices(n, 1), n, device)


_Maker = Callable[[str], hpg.Graph]


def _generated(make: Callable[..., hpg.Graph], *sizes: int) -> _Maker:
    return lambda device: make(*sizes, weighted=True, device=device)


def _published(
    initiator: tuple[float, float, float], seed: int, scale: int, edge_factor: int, *, weighted: bool, device: str
) -> hpg.Graph:
    """The R-MAT graph that other libraries were measured on, from random streams of NumPy's and CuPy's."""
    xp, n, draws = array_module(device), 1 << scale, edge_factor << scale
    rng = xp.random.default_rng(seed)
    a, b, c = initiator
    source, target = xp.zeros((2, draws), np.int32)
    for _ in range(scale):
        row, column = rng.random(draws, dtype=np.float32), rng.random(draws, dtype=np.float32)
        lower = row > a + b
        right = xp.where(lower, column > c / (1 - a - b), column > a / (a + b))
        for endpoint, bit in ((source, lower), (target, right)):
            endpoint <<= 1
            endpoint |= bit
    new_id = rng.permutation(n) if device == "cpu" else xp.argsort(rng.random(n))
    return of_edges(n, new_id[source], new_id[target], weighted=weighted)


_uniform, _grid = hpg.datasets.uniform, hpg.datasets.grid
_kron = functools.partial(_published, (0.57, 0.19, 0.19), 2)
_social = functools.partial(_published, (0.45, 0.22, 0.22), 5)
_MEASURED: dict[str, dict[str, _Maker]] = {
    "cpu": {
        "kron18": _generated(_kron, 18, 16),
        "urand18": _generated(_uniform, 18, 16),
        "road1000": _generated(_grid, 1000),
        "cnr-2000": functools.partial(_real, "cnr-2000.mtx.gz"),
    },
    "cuda": {
        "kron21": _generated(_kron, 21, 48),
        "social22": _generated(_social, 22, 20),
        "urand23": _generated(_uniform, 23, 16),
        "road2048": _generated(_grid, 2048),
    },
}
# Other kinds, so that nothing is tuned to the four; and small ones, to try the benchmarks themselves.
_OTHERS: dict[str, _Maker] = {
    "ca-AstroPh": functools.partial(_real, "ca-AstroPh.mtx.gz"),
    "cnr-2000": functools.partial(_real, "cnr-2000.mtx.gz"),
    "email-Enron": functools.partial(_real, "email-Enron.mtx.gz"),
    "star": functools.partial(_star, 1_000_000),
    "path": functools.partial(_path, 1_000_000),
    "complete": functools.partial(_complete, 5_000),
    "kron21-sparse": _generated(_kron, 21, 4),
    "kron20-dense": _generated(_kron, 20, 128),
    "kron20": _generated(_kron, 20, 16),
    "urand20": _generated(_uniform, 20, 16),
    "road2000": _generated(_grid, 2000),
    "kron12": _generated(_kron, 12, 16),
    "urand12": _generated(_uniform, 12, 16),
    "road64": _generated(_grid, 64),
}
EXTRA = tuple(_OTHERS)[:8]
_OTHERS |= {name: functools.partial(_unseen, name) for name in KINDS}


def default(device: str) -> list[str]:
    """The graphs measured on a device when none are named."""
    return list(_MEASURED[device])


def names(device: str) -> list[str]:
    """All graphs there are for a device."""
    return list({**_MEASURED[device], **_OTHERS})


def make(name: str, device: str, n_sources: int) -> Case:
    """Make or read a graph and choose its sources: vertices with neighbours, the same ones in every run.

    Raises
    ------
    FileNotFoundError
        For a real graph whose file is not here.
    """
    graph = {**_OTHERS, **_MEASURED[device]}[name](device)
    arcs = graph.out_csr
    degree = array_module(device).diff(arcs.indptr)
    candidates = np.flatnonzero(to_device(degree, "cpu") > 0)
    draw = np.random.default_rng(7).choice
    chosen = draw(candidates, max(16, n_sources), replace=False)[:n_sources].tolist()
    row = draw(candidates, 64, replace=candidates.size < 64).tolist()
    return Case(name, device, arcs.indptr, arcs.indices, arcs.data, graph, chosen, row)
