"""What a search leaves for the next one of its graph: the mean number of arcs of a superstep.

The kernel writes it to pinned memory that is never freed: it may end after its graph is deleted. Then its place may
belong to another graph; the number only affects a heuristic.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.attached import attached

_PLACES = 512
_pages: list[Any] = []
_free: list[np.ndarray] = []


class MeanArcs:
    """Mean arcs of a superstep in the last search that is done; 0 before the first. Kernels write it at `address`."""

    def __init__(self) -> None:
        import cupy

        if not _free:
            _pages.append(cupy.cuda.alloc_pinned_memory(8 * _PLACES))
            _free.extend(np.frombuffer(_pages[-1], np.int64, _PLACES).reshape(_PLACES, 1))
        self._place = _free.pop()
        self._place[0] = 0
        self.address: int = self._place.ctypes.data
        weakref.finalize(self, _free.append, self._place)

    def __int__(self) -> int:
        return int(self._place[0])


@attached
def mean_arcs(arcs: CSR) -> MeanArcs:
    """The `MeanArcs` of a graph's relaxations; cached."""
    return MeanArcs()
