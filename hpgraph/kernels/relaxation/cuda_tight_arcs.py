"""Trees of shortest paths by tight arcs, whose lengths are the differences of their ends' distances, on the GPU."""

import functools
from typing import Any

import numpy as np

from hpgraph.core.device import cupy, everywhere
from hpgraph.formats import CSR


def tree(arcs: CSR, start: int, distance: Any, deterministic: bool) -> Any:
    """The vertex before each on its only shortest path, -1 if it is not reached; None if some have several.

    Waits for the stream. None also where ids do not have 32 bits.
    """
    if arcs.indices.dtype != np.int32:
        return None
    parent, has_ties = cupy.full(len(distance), -1, np.int32), cupy.zeros(1, bool)
    parent[start] = start
    weights = cupy.ones(1, distance.dtype) if arcs.data is None else arcs.data
    _take_tight_arcs()(arcs.expand_rows(), arcs.indices, weights, distance, parent, has_ties)
    # An arc so short that it adds nothing may lead back, and leave a vertex without one.
    is_tree = not has_ties.item() and everywhere((parent >= 0) == (distance < np.inf))
    return parent if is_tree else None


@functools.cache
def _take_tight_arcs() -> Any:
    return cupy.ElementwiseKernel(
        "int32 source, int32 target, W weight, raw D distance", "raw int32 parent, raw bool has_ties",
        """
        const D there = distance[target];
        if (isfinite(there) && distance[source] + D(weight) == there && atomicExch(&parent[target], source) >= 0)
            has_ties[0] = true;
        """, "hpgraph_take_tight_arcs",
    )  # fmt: skip
