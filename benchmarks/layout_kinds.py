"""Kinds of matrices for `benchmarks.layouts`, made on the GPU: their shape, `indptr` and `indices`."""

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hpgraph as hpg

Arrays = tuple[tuple[int, int], Any, Any]
SEED = 11


def _of_graph(graph: hpg.Graph) -> Arrays:
    csr = graph.to("cuda").out_csr
    return csr.shape, csr.indptr, csr.indices


def _generated(make: Callable[..., hpg.Graph], *sizes: int) -> Arrays:
    return _of_graph(make(*sizes, device="cuda"))


def _symmetric(n: int, source: Any, target: Any) -> Arrays:
    return _of_graph(hpg.Graph.from_edges(source, target, n_vertices=n, directed=False))


def _from_ends(shape: tuple[int, int], row: Any, column: Any) -> Arrays:
    """A matrix of given places, each once."""
    import cupy

    rows, columns = shape
    key = cupy.unique(row.astype("int64") * columns + column)
    row, column = key // columns, (key % columns).astype("int32")
    indptr = cupy.zeros(rows + 1, "int64")
    indptr[1:] = cupy.cumsum(cupy.bincount(row, minlength=rows))
    return shape, indptr, column


def _draws() -> Any:
    import cupy

    return cupy.random.default_rng(SEED)


def _crawl(scale: int) -> Arrays:
    """Web-like, in the order of a crawl: most links near, some to hubs."""
    import cupy

    n, draw = 1 << scale, _draws()
    source = draw.integers(0, n, 16 * n)
    near = cupy.clip(source + (draw.standard_normal(16 * n) * 60).astype("int64"), 0, n - 1)
    hub = (n * draw.random(16 * n) ** 6).astype("int64")
    target = cupy.where(draw.random(16 * n) < 0.8, near, hub)
    apart = source != target
    return _symmetric(n, source[apart], target[apart])


def _small_world(scale: int, neighbours: int, rewired: float) -> Arrays:
    """D. J. Watts, S. H. Strogatz, Nature 393, 1998."""
    import cupy

    n, draw = 1 << scale, _draws()
    source = cupy.tile(cupy.arange(n), neighbours)
    target = (source + cupy.repeat(cupy.arange(1, neighbours + 1), n)) % n
    target = cupy.where(draw.random(len(source)) < rewired, draw.integers(0, n, len(source)), target)
    apart = source != target
    return _symmetric(n, source[apart], target[apart])


def _cliques(many: int, size: int) -> Arrays:
    """Cliques in a chain."""
    import cupy

    base = cupy.arange(many)[:, None] * size
    first, second = cupy.triu_indices(size, 1)
    link = cupy.arange(many - 1) * size
    source = cupy.concatenate(((base + first).ravel(), link))
    return _symmetric(many * size, source, cupy.concatenate(((base + second).ravel(), link + size)))


def _band(n: int, half: int) -> Arrays:
    import cupy

    row = cupy.repeat(cupy.arange(n), 2 * half + 1)
    column = row + cupy.tile(cupy.arange(-half, half + 1), n)
    inside = (column >= 0) & (column < n)
    return _from_ends((n, n), row[inside], column[inside])


def _diagonal_and(n: int, row: bool) -> Arrays:
    """A diagonal, and one dense row or column."""
    import cupy

    every, one = cupy.arange(n), cupy.full(n, n // 3)
    ends = cupy.concatenate((every, one if row else every)), cupy.concatenate((every, every if row else one))
    return _from_ends((n, n), *ends)


def _uniform_rectangle(rows: int, columns: int, entries: int) -> Arrays:
    draw = _draws()
    return _from_ends((rows, columns), draw.integers(0, rows, entries), draw.integers(0, columns, entries))


def _chung_lu(scale: int, entries: int) -> Arrays:
    """F. Chung, L. Lu, Annals of Combinatorics 6, 2002: degrees fall by a power, numbers of vertices by degree."""
    n, draw = 1 << scale, _draws()
    source, target = ((n * draw.random(entries) ** 2.5).astype("int64") for _ in range(2))
    apart = source != target
    return _symmetric(n, source[apart], target[apart])


def _lattice(side: int) -> Arrays:
    """Seven-point stencil in three dimensions."""
    import cupy

    n = side**3
    at = cupy.arange(n).reshape(side, side, side)
    pairs = [(at[1:], at[:-1]), (at[:, 1:], at[:, :-1]), (at[:, :, 1:], at[:, :, :-1])]
    source, target = (cupy.concatenate([pair[i].ravel() for pair in pairs]) for i in range(2))
    return _symmetric(n, source, target)


def _de_bruijn(letters: int, length: int) -> Arrays:
    import cupy

    n = letters**length
    source = cupy.repeat(cupy.arange(n), letters)
    return _from_ends((n, n), source, source * letters % n + cupy.tile(cupy.arange(letters), n))


def _stars(many: int, size: int) -> Arrays:
    import cupy

    leaf = cupy.arange(many * size)
    leaf = leaf[leaf % size != 0]
    return _symmetric(many * size, leaf - leaf % size, leaf)


def _real(name: str) -> Arrays:
    """A matrix of the folder HPGRAPH_DATA as it is."""
    import cupy
    import scipy.io

    folder = os.environ.get("HPGRAPH_DATA", "")
    matrix = scipy.io.mmread(Path(folder) / f"{name}.mtx.gz").tocsr()
    matrix.sort_indices()
    return matrix.shape, cupy.asarray(matrix.indptr.astype("int64")), cupy.asarray(matrix.indices.astype("int32"))


_kron, _social, _uniform, _grid = hpg.datasets.kron, hpg.datasets.social, hpg.datasets.uniform, hpg.datasets.grid
# Kinds that no constant was fitted to.
NEW: dict[str, Callable[[], Arrays]] = {
    "chung-lu22": functools.partial(_chung_lu, 22, 50_000_000),
    "lattice200": functools.partial(_lattice, 200),
    "de-bruijn": functools.partial(_de_bruijn, 4, 11),
    "stars": functools.partial(_stars, 64, 1 << 17),
    "small-world23": functools.partial(_small_world, 23, 6, 0.5),
    "sparse24": functools.partial(_generated, _uniform, 24, 3),
    "email-Enron": functools.partial(_real, "email-Enron"),
    "jagmesh7": functools.partial(_real, "jagmesh7"),
}
KINDS: dict[str, Callable[[], Arrays]] = {
    "kron21": functools.partial(_generated, _kron, 21, 48),
    "social22": functools.partial(_generated, _social, 22, 20),
    "urand23": functools.partial(_generated, _uniform, 23, 16),
    "road2048": functools.partial(_generated, _grid, 2048),
    "crawl23": functools.partial(_crawl, 23),
    "ws22": functools.partial(_small_world, 22, 8, 0.05),
    "cliques": functools.partial(_cliques, 20_000, 64),
    "cnr-2000": functools.partial(_real, "cnr-2000"),
    "bcsstk13": functools.partial(_real, "bcsstk13"),
    "band16": functools.partial(_band, 1 << 21, 16),
    "band2": functools.partial(_band, 1 << 22, 2),
    "kron24": functools.partial(_generated, _kron, 24, 16),
    "dense row": functools.partial(_diagonal_and, 10**7, True),
    "dense column": functools.partial(_diagonal_and, 10**7, False),
    "10 x 1e7": functools.partial(_uniform_rectangle, 10, 10**7, 60_000_000),
    "1e7 x 10": functools.partial(_uniform_rectangle, 10**7, 10, 60_000_000),
    **NEW,
}
