"""Traversal: the first message wins (breadth-first search and similar programs).

Direction-optimizing breadth-first search (S. Beamer et al., SC'12) with top-down and bottom-up supersteps, as one
compiled loop on either backend. On the CPU the frontier is a sliding queue (GAP Benchmark Suite), shared out by work
stealing; on the GPU it is a double-buffered queue that one persistent kernel reads and fills (XBFS, A. Gaihre et al.,
HPDC'19; Enterprise, H. Liu, H. H. Huang, SC'15).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np

    from hpgraph.kernels.runtime.search import Search


class Traversal(Protocol):
    """Interface of a backend."""

    def traverse(self, search: Search) -> Callable[[], np.ndarray]:
        """Run a program whose first message wins.

        Returns a callable that gives the trace rows, an int64 array of shape (supersteps, 4): direction, active
        vertices, arcs examined, nanoseconds.
        """
