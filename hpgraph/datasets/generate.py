"""Random graphs for measuring: Kronecker (Graph500), uniform, a road-like lattice, a social network.

All are undirected, without loops and without duplicates, and made on the device where they are to lie: the same
functions run on NumPy's or CuPy's arrays. A seed gives the same graph on every machine; the CPU and the GPU draw from
different random streams, so their graphs for one seed are two of a kind, not one.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.core.device import array_module, check_memory, normalize_device
from hpgraph.core.number import real, whole

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph

# An arc is one int64 key, source * n + target, while it is sorted.
_MAX_SCALE = 31
# Arcs a block: bounds the memory that a hundred million arcs need besides the result.
_CHUNK = 1 << 24


def kron(scale: int, edge_factor: int = 16, *, seed: int = 2, weighted: bool = False, device: str = "cpu") -> Graph:
    """A Kronecker graph as Graph500 specifies it: a few vertices have very many neighbours, most have few or none.

    Parameters
    ----------
    scale : int
        The graph has ``2**scale`` vertices, 1 to 31.
    edge_factor : int, optional
        Edges drawn per vertex. Loops and duplicates are dropped, so fewer remain.
    seed : int, optional
        Of the random numbers.
    weighted : bool, optional
        Give each edge a whole number from 1 to 64 as float32, the same in both directions. Otherwise the graph is
        pattern-only.
    device : {"cpu", "cuda"}, optional
        Where the graph is made and lies.

    Returns
    -------
    Graph
        Undirected, vertex ids permuted at random.

    Raises
    ------
    ValueError, TypeError
        If a number is out of range or no integer, or ``device`` unknown.
    DeviceMemoryError
        If the memory will not suffice.

    References
    ----------
    .. [1] Graph500 benchmark specification, section 3.2: initiator A = 0.57, B = C = 0.19.
    .. [2] J. Leskovec, D. Chakrabarti, J. Kleinberg, C. Faloutsos, Z. Ghahramani, "Kronecker graphs: an approach to
       modeling networks", JMLR 11 (2010).

    Examples
    --------
    >>> G = hpg.datasets.kron(10)
    >>> G.n_vertices, G.n_edges, G.directed
    (1024, 21154, False)
    """
    return _recursive(scale, edge_factor, (0.57, 0.19, 0.19), seed, weighted, device)


def social(scale: int, edge_factor: int = 16, *, seed: int = 5, weighted: bool = False, device: str = "cpu") -> Graph:
    """A recursive random graph gentler than `kron`, nearer the degrees of a social network.

    Parameters, result and errors are those of `kron`.

    References
    ----------
    .. [1] D. Chakrabarti, Y. Zhan, C. Faloutsos, "R-MAT: a recursive model for graph mining", SDM 2004; here with
       a = 0.45, b = c = 0.22.

    Examples
    --------
    >>> int(hpg.datasets.social(10).out_degree.max()), int(hpg.datasets.kron(10).out_degree.max())
    (316, 469)
    """
    return _recursive(scale, edge_factor, (0.45, 0.22, 0.22), seed, weighted, device)


def uniform(scale: int, edge_factor: int = 16, *, seed: int = 3, weighted: bool = False, device: str = "cpu") -> Graph:
    """A uniform random graph: every pair of vertices is as likely to be joined as any other.

    Parameters, result and errors are those of `kron`; vertex ids are as they were drawn.

    References
    ----------
    .. [1] P. Erdős, A. Rényi, "On random graphs I", Publicationes Mathematicae 6 (1959).

    Examples
    --------
    >>> G = hpg.datasets.uniform(10, edge_factor=4, weighted=True)
    >>> float(G.weights.min()), float(G.weights.max())
    (1.0, 64.0)
    """
    n, draws = _sizes(scale, edge_factor)
    xp = _prepare(n, draws, device)
    rng = xp.random.default_rng(seed)
    source = rng.integers(0, n, draws)
    return _undirected(xp, n, _keys(xp, n, source, rng.integers(0, n, draws)), weighted)


def grid(side: int, *, removed: float = 0.3, seed: int = 4, weighted: bool = False, device: str = "cpu") -> Graph:
    """A square lattice with a share of its edges removed: like a road network, few neighbours and a large diameter.

    Parameters
    ----------
    side : int
        The lattice has ``side * side`` vertices, numbered row by row; 1 to 46340.
    removed : float, optional
        Share of the edges to remove at random, 0 to 1.
    seed, weighted, device
        As for `kron`, as are errors.

    Returns
    -------
    Graph
        Undirected; no vertex has more than four neighbours.

    Examples
    --------
    >>> hpg.datasets.grid(3, removed=0).out_degree.tolist()
    [2, 3, 2, 3, 4, 3, 2, 3, 2]
    """
    side = _whole("side", side, 1, 46340)
    if not 0 <= real(removed, "removed") <= 1:
        raise ValueError(f"removed must be a share from 0 to 1, not {removed}")
    n = side * side
    xp = _prepare(n, 2 * n, device)
    rng = xp.random.default_rng(seed)
    vertex = xp.arange(n, dtype=np.int64).reshape(side, side)
    kept = (rng.random(2 * side * (side - 1)) >= removed).reshape(2, -1)
    # CuPy takes masks of fewer than 2**31 elements.
    source = xp.concatenate([vertex[:, :-1].ravel()[kept[0]], vertex[:-1].ravel()[kept[1]]])
    target = xp.concatenate([vertex[:, 1:].ravel()[kept[0]], vertex[1:].ravel()[kept[1]]])
    return _undirected(xp, n, _keys(xp, n, source, target), weighted)


def _recursive(
    scale: int, edge_factor: int, initiator: tuple[float, float, float], seed: int, weighted: bool, device: str
) -> Graph:
    """Draw edges one bit of their endpoints at a time, each level choosing a quadrant of the adjacency matrix."""
    n, draws = _sizes(scale, edge_factor)
    xp = _prepare(n, draws, device)
    rng = xp.random.default_rng(seed)
    a, b, c = initiator
    # Endpoints have `scale` <= 31 bits: half the memory of the keys to come is enough for them.
    source = xp.zeros(draws, dtype=np.int32)
    target = xp.zeros(draws, dtype=np.int32)
    for _ in range(scale):
        row = rng.random(draws, dtype=np.float32)
        column = rng.random(draws, dtype=np.float32)
        lower = row > a + b
        right = xp.where(lower, column > c / (1 - a - b), column > a / (a + b))
        for endpoint, bit in ((source, lower), (target, right)):
            endpoint <<= 1
            endpoint |= bit
    del row, column, lower, right
    new_id = _permutation(xp, rng, n)
    return _undirected(xp, n, _keys(xp, n, new_id[source], new_id[target]), weighted)


def _permutation(xp: ModuleType, rng: Any, n: int) -> Any:
    """A random order of 0..n-1; CuPy's generators have no permutation of their own."""
    return rng.permutation(n) if xp is np else xp.argsort(rng.random(n))


def _keys(xp: ModuleType, n: int, source: Any, target: Any) -> Any:
    """An int64 key, row * n + column, for either direction of each edge; they sort as a CSR matrix stores its arcs."""
    key = xp.empty(2 * source.size, dtype=np.int64)
    for part, row, column in ((key[: source.size], source, target), (key[source.size :], target, source)):
        xp.multiply(row, n, out=part)
        part += column
    return key


def _undirected(xp: ModuleType, n: int, key: Any, weighted: bool) -> Graph:
    """The graph of the arcs that the keys stand for, without loops, each once; the keys are sorted in place."""
    from hpgraph.containers.graph import Graph
    from hpgraph.formats import CSR

    key.sort()
    kept, before = 0, -1
    # CuPy takes masks of fewer than 2**31 elements; and those that stay move up in place.
    for start in range(0, key.size, _CHUNK):
        part = key[start : start + _CHUNK]
        # row * n + column = row * (n + 1) + (column - row), so exactly the loops are multiples of n + 1.
        stays = part % (n + 1) != 0
        stays[1:] &= part[1:] != part[:-1]
        stays[0] &= part[0] != before
        before, part = part[-1].copy(), part[stays]
        key[kept : kept + part.size] = part
        kept += part.size
    key = key[:kept]
    indptr = xp.searchsorted(key, xp.arange(n + 1, dtype=np.int64) * n).astype(np.int64)
    indices = xp.empty(key.size, dtype=np.int32)
    weights = xp.empty(key.size, dtype=np.float32) if weighted else None
    for start in range(0, key.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        row = key[part] // n
        column = key[part] - row * n
        indices[part] = column
        if weights is not None:
            weights[part] = _weights(xp, row, column)
    return Graph._made(CSR((n, n), indptr, indices, weights, validate=False), False, None)


def _weights(xp: ModuleType, source: Any, target: Any) -> Any:
    """Whole numbers 1..64 that depend on the edge alone, not on its direction: a hash of the two endpoints.

    The mixing steps are those of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
    OOPSLA 2014), on one odd constant an endpoint.
    """
    lower = xp.minimum(source, target).astype(np.uint64)
    upper = xp.maximum(source, target).astype(np.uint64)
    mixed = (lower * np.uint64(0x9E3779B97F4A7C15)) ^ (upper * np.uint64(0xC2B2AE3D27D4EB4F))
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return mixed % np.uint64(64) + np.uint64(1)


def _sizes(scale: int, edge_factor: int) -> tuple[int, int]:
    """Vertices and edges to draw."""
    scale = _whole("scale", scale, 1, _MAX_SCALE)
    edge_factor = _whole("edge_factor", edge_factor, 0, 1 << 20)
    return 1 << scale, edge_factor << scale


def _whole(name: str, value: Any, lowest: int, highest: int) -> int:
    value = whole(value, name)
    if not lowest <= value <= highest:
        raise ValueError(f"{name} must be from {lowest} to {highest}, not {value}")
    return int(value)


def _prepare(n: int, draws: int, device: str) -> ModuleType:
    """The module to draw with, once the memory is known to suffice."""
    device = normalize_device(device)
    xp = array_module(device)
    # At the sort: a key per direction, as much again for the sort, and the endpoints that the keys were made of.
    check_memory(6 * 8 * draws + 3 * 8 * n, "the random graph", device)
    return xp
