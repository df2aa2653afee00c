"""Seeds, tables of weighted draws, and random orders that repeat on every device."""

from typing import Any

import numpy as np

from hpgraph.algorithms.distances import weight_facts
from hpgraph.algorithms.out_strength import scaled_arcs
from hpgraph.containers.graph import Graph, whole
from hpgraph.core.device import array_module, device_of, to_device
from hpgraph.formats import CSR
from hpgraph.kernels.backend import sampling
from hpgraph.kernels.sampling import Sums
from hpgraph.semiring.counter_random import GOLDEN


def seed_of(seed: Any, stream: int = 0) -> int:
    """A seed as int64, combined with the `stream` of a function: the same seed draws differently in each function."""
    return ((whole(seed, "seed") ^ stream) + 2**63) % 2**64 - 2**63


def running_weights(graph: Graph, arcs: CSR, weighted: bool) -> Sums | None:
    """Running sums for draws by weight, computed once; None for uniform draws."""
    if not weighted:
        return None
    facts = weight_facts(scaled_arcs(graph.out_csr))
    if facts.has_nan or facts.least < 0 or not np.isfinite(facts.mean):
        unfit = "NaN" if facts.has_nan else "infinity" if facts.least >= 0 else f"{facts.least:g}"
        raise ValueError(f"weight: probabilities need finite weights from 0 on, and there is {unfit}; or weight=None")
    return sampling(graph.device).running_sums(scaled_arcs(arcs))


def scattered(seed: Any) -> int:
    """A seed as one of 2⁶⁴ numbers, for kernels to add: those of nearby seeds are far apart."""
    return whole(seed, "seed") * GOLDEN % 2**64


def vertex_hashes(graph: Graph, seed: Any) -> Any:
    """A pseudo-random number below 2⁶⁴ for each vertex, no two the same, on the graph's device."""
    return hashes(graph.n_vertices, seed, graph.device)


def random_signs(n: int, k: int, seed: Any, device: str) -> Any:
    """A float32 array of shape (n, k) of 1 and -1, the same on every device: a projection (D. Achlioptas, PODS'01)."""
    words = -(-k // 64)
    bits = array_module(device).unpackbits(hashes(n * words, seed, device).view(np.uint8))
    return bits.reshape(n, words * 64)[:, :k].astype(np.float32) * 2 - 1


def hashes(count: int, seed: Any, device: str) -> Any:
    """`vertex_hashes` for the numbers below `count`."""
    hashes = array_module(device).arange(count, dtype=np.uint64) + np.uint64(scattered(seed))
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        hashes ^= hashes >> np.uint64(33)
        hashes *= np.uint64(factor)
    return hashes


def drawn_by(upto: Any, numbers: Any) -> Any:
    """Indices drawn by numbers of [0, 1), in NumPy, from running sums, on the device of the sums."""
    xp = array_module(upto)
    # A product rounded up to the total would be past the last index.
    at = xp.minimum(to_device(numbers, device_of(upto)) * upto[-1], xp.nextafter(upto[-1], 0.0))
    return xp.searchsorted(upto, at, side="right")


def random_order(graph: Graph, seed: Any, *, rank: Any = None) -> Any:
    """Vertices in the order of hashes (A. Appleby's MurmurHash3), by ascending ranks below 2³² first, if given."""
    xp, hashes = array_module(graph.device), vertex_hashes(graph, seed)
    if rank is None:
        # No two hashes are the same, and sorting that need not be stable is faster.
        return xp.argsort(hashes)
    return xp.argsort(hashes >> np.uint64(32) | rank.astype(np.uint64) << np.uint64(32), kind="stable")
