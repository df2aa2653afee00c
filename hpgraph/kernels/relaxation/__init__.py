"""Relaxation: one property moves one way, label-correcting (shortest paths and their kin).

Delta-stepping (U. Meyer, P. Sanders, J. Algorithms 2003) as one compiled loop on either backend.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

    from hpgraph.formats import CSR
    from hpgraph.kernels.runtime.program import Beginning, ProgramCode


class Relaxation(Protocol):
    """What either backend offers."""

    def relax(
        self,
        code: ProgramCode,
        out: CSR,
        state: tuple[Any, ...],
        beginnings: tuple[Beginning | None, ...],
        world: tuple[Any, ...],
        sources: Any,
        *,
        delta: float | None,
        ceiling: float | None,
        limit: int,
    ) -> tuple[Callable[[], np.ndarray], Any]:
        """Run a program that improves one property in place by an idempotent monoid.

        What comes back fetches the trace rows, and says who would have gone on. `delta` is the width of a bucket: who
        has a value beyond the bucket at hand waits. Who has one beyond `ceiling` sends nothing.
        """
