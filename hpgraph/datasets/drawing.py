"""What generators share: checked numbers, pairs of vertices drawn in order, and the graphs of drawn edges."""

from types import ModuleType
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module, check_memory, device_of, normalize_device, prefix_sum
from hpgraph.core.number import generator
from hpgraph.formats import CSR, index_dtype
from hpgraph.kernels.backend import kernels, sampling

# The pairs of so many vertices are numbered without a gap by floats.
MAX_VERTICES = 94_906_265
# Arcs a block: bounds the memory that a hundred million arcs need besides the result.
_CHUNK = 1 << 24


def begun(n: int, edges: float, seed: int, device: str) -> tuple[ModuleType, Any]:
    """The module to draw with, once the memory is known to suffice, and a generator."""
    xp = array_module(with_room(n, edges, device))
    return xp, generator(seed, xp)


def with_room(n: int, edges: float, device: str) -> str:
    """The device; an error where its memory will not suffice for a graph of these vertices and edges."""
    device = normalize_device(device)
    # Raises its error where there is no GPU.
    array_module(device)
    # At the sort: a key an edge, as much again for the sort, the ends that keys were made of, and arcs both ways.
    check_memory(int(6 * 8 * edges + 4 * 8 * n), "the random graph", device)
    return device


def pairs_of(n: int, directed: bool) -> int:
    """How many pairs of vertices there are, ordered ones if directed."""
    return n * (n - 1) // (1 if directed else 2)


def each_with(device: str, rng: np.random.Generator, total: int, p: float) -> Any:
    """Whole numbers below `total`, in order, each with probability p."""
    return drawn(device, rng, total, total if p == 1 else int(rng.binomial(total, float(p))))


def drawn(device: str, rng: np.random.Generator, total: int, count: int) -> Any:
    """`count` different whole numbers below `total`, in order; all sets are equally likely."""
    if 2 * count <= total:
        return sampling(device).sorted_draws(rng, total, count)
    xp = array_module(device)
    stays = xp.ones(total, np.bool_)
    stays[drawn(device, rng, total, total - count)] = False
    return xp.flatnonzero(stays)


def repeated(times: Any) -> Any:
    """Numbers 0, 1, ..., each as often as `times` says."""
    starts = prefix_sum(times)
    places = array_module(times).empty(int(starts[-1]), index_dtype(len(times)))
    return CSR((len(times), len(places)), starts, places, validate=False).expand_rows()


def of_places(n: int, place: Any, directed: bool) -> Graph:
    """The graph of some pairs, by their numbers, which rise: ordered ones, or those of a lower and a higher vertex."""
    device = device_of(place)
    arcs = sampling(device).rows_of_pairs(n, place, directed)
    return Graph._from_csr(arcs if directed else kernels(device).mirrored(arcs), directed, None)


def of_edges(n: int, source: Any, target: Any, *, weighted: bool = False) -> Graph:
    """The undirected graph of some edges, each once, without loops; and with the weights that `_weights` gives."""
    return of_rows(kernels(device_of(source)).undirected(n, source, target), weighted)


def of_rows(arcs: CSR, weighted: bool) -> Graph:
    """The undirected graph of these arcs, and with the weights that `_weights` gives."""
    if weighted:
        xp = array_module(arcs.device)
        row, weights = arcs.expand_rows(), xp.empty(arcs.nnz, np.float32)
        for start in range(0, arcs.nnz, _CHUNK):
            chunk = slice(start, start + _CHUNK)
            weights[chunk] = _weights(xp, row[chunk], arcs.indices[chunk])
        arcs = arcs.with_data(weights, copy=False)
    return Graph._from_csr(arcs, False, None)


def _weights(xp: ModuleType, source: Any, target: Any) -> Any:
    """Whole numbers 1..64 by a hash of both ends, alike both ways: SplitMix64 (G. Steele et al., OOPSLA'14)."""
    lower = xp.minimum(source, target).astype(np.uint64)
    upper = xp.maximum(source, target).astype(np.uint64)
    mixed = (lower * np.uint64(0x9E3779B97F4A7C15)) ^ (upper * np.uint64(0xC2B2AE3D27D4EB4F))
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return mixed % np.uint64(64) + np.uint64(1)
