"""Relaxation: label-correcting programs whose one property is monotone (shortest paths and similar programs).

Delta-stepping (U. Meyer, P. Sanders, J. Algorithms 2003) as one compiled loop on either backend.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

    from hpgraph.kernels.runtime.search import Search


class Relaxation(Protocol):
    """Interface of a backend."""

    def relax(self, search: Search) -> tuple[Callable[[], np.ndarray], Any]:
        """Run a program that improves one property in place by an idempotent monoid.

        Returns a callable that fetches the trace rows, and the vertices still active at the limit.
        """
