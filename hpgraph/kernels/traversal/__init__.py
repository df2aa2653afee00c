"""Traversal: the first message wins (breadth-first search and its kin).

Direction-optimizing breadth-first search (S. Beamer et al., SC'12) with top-down and bottom-up supersteps, as one
compiled loop on either backend. On the CPU the frontier is a sliding queue (GAP Benchmark Suite), shared out by work
stealing; on the GPU it is a double-buffered queue that one persistent kernel reads and fills (XBFS, A. Gaihre et al.,
HPDC'19; Enterprise, H. Liu, H. H. Huang, SC'15).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

    from hpgraph.formats import CSR
    from hpgraph.kernels.runtime.program import Beginning, ProgramCode


class Traversal(Protocol):
    """What either backend offers."""

    def traverse(
        self,
        code: ProgramCode,
        out: CSR,
        in_: CSR,
        state: tuple[Any, ...],
        beginnings: tuple[Beginning | None, ...],
        world: tuple[Any, ...],
        sources: Any,
        *,
        alpha: float,
        beta: float,
        forced: int,
        limit: int,
    ) -> Callable[[], np.ndarray]:
        """Run a program whose first message wins; what comes back fetches the trace rows.

        `out` and `in_` are the arcs by their source and by their target. Properties are filled as `beginnings` say,
        then changed in place. `sources`, each once, are active at first. `alpha`, `beta` and `forced` choose the
        direction, as in `hpgraph.kernels.runtime.direction`.
        """
