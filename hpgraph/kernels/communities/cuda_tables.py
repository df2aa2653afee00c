"""The tables of ``group_table.cuh``: their sizes, and those in global memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.kernels.communities.level import Level

# As in the source.
THREADS, WARPS = 256, 8
WARP_SLOTS = 512
BLOCK_SLOTS = WARP_SLOTS * WARPS
PIECE_SLOTS = BLOCK_SLOTS
WARP_ENTRIES, BLOCK_ENTRIES = WARP_SLOTS // 2, BLOCK_SLOTS // 2


def sum_type(level: Level) -> str:
    """The C++ type that holds the weight around any vertex of a graph, or of a graph of its communities."""
    return "unsigned" if level.total < 2**31 else "unsigned long long"


def clear_tables(begin: Any, ids: np.dtype[Any], sums: str) -> tuple[Any, Any]:
    """Empty tables, end to end; waits for the GPU.

    ``begin`` (CuPy int64 array of shape (k + 1,)): exclusive sum of the slots.
    """
    import cupy

    slots, dtype = int(begin[-1]), np.uint32 if sums == "unsigned" else np.uint64
    check_memory(slots * (ids.itemsize + np.dtype(dtype).itemsize), "the tables of vertices with many arcs", "cuda")
    return cupy.full(slots, -1, ids), cupy.zeros(slots, dtype)
