"""Orders of vertices in which chance decides, but the same way at every call and on every device."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module
from hpgraph.core.number import whole

# 2⁶⁴ over the golden ratio: seeds that are near each other become numbers that are far apart.
_GOLDEN = 0x9E3779B97F4A7C15


def scattered(seed: Any) -> int:
    """A seed as one of 2⁶⁴ numbers, for kernels to add."""
    return whole(seed, "seed") * _GOLDEN % 2**64


def random_order(graph: Graph, seed: Any, *, rank: Any = None) -> Any:
    """The vertices in an order as good as random.

    ``seed``: another seed, another order; ``rank`` (integer array of shape (n,), optional): not negative and below 2³²;
    who has less comes first, and chance decides among equals. Returns int64 array of shape (n,): on the graph's device:
    by hashes (finalizer of A. Appleby's MurmurHash3), of the same hash by index.
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
