"""Relaxation: label-correcting programs whose one property is monotone (shortest paths and similar programs).

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
    """Interface of a backend."""

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

        Returns a callable that fetches the trace rows, and the vertices still active at the limit. `delta` is the width
        of a bucket: a vertex with a value beyond the current bucket waits. One with a value beyond `ceiling` sends
        nothing.
        """
