"""Random orders of vertices, the same at every call and on every device."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module
from hpgraph.core.number import whole

# 2⁶⁴ over the golden ratio: nearby seeds become numbers that are far apart.
_GOLDEN = 0x9E3779B97F4A7C15


def scattered(seed: Any) -> int:
    """A seed as one of 2⁶⁴ numbers, for kernels to add."""
    return whole(seed, "seed") * _GOLDEN % 2**64


def random_order(graph: Graph, seed: Any, *, rank: Any = None) -> Any:
    """The vertices in a pseudo-random order, on the graph's device; with `rank`, by ascending rank first.

    The order is that of hashes (finalizer of A. Appleby's MurmurHash3), then of index. Ranks are integers below 2³².
    """
    xp = array_module(graph.device)
    hashes = xp.arange(graph.n_vertices, dtype=np.uint64) + np.uint64(scattered(seed))
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        hashes ^= hashes >> np.uint64(33)
        hashes *= np.uint64(factor)
    if rank is None:
        # No two hashes are the same, and sorting that need not be stable is faster.
        return xp.argsort(hashes)
    return xp.argsort(hashes >> np.uint64(32) | rank.astype(np.uint64) << np.uint64(32), kind="stable")
