"""Relaxation: label-correcting programs whose one property is monotone (shortest paths and similar programs).

Delta-stepping (U. Meyer, P. Sanders, J. Algorithms 2003) as one compiled loop on either backend.
From many sources, an arc is read once for all of them; the values of a vertex are contiguous.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

    from hpgraph.kernels.runtime.search import Search, Starts

# Vertices and arcs in memory up to which ordering saves less time than compiling it takes.
FEW = 4096


class Relaxation(Protocol):
    """Interface of a backend."""

    def relax(self, search: Search) -> tuple[Callable[[], np.ndarray], Any]:
        """Run a program that improves one property; a callable for the trace, and vertices active at the limit."""


class JointRelaxation(Protocol):
    """Multi-source relaxation, best of `MAX_SOURCES` at once: programs that improve one property."""

    MAX_SOURCES: int

    def work_space(self, n: int, sources: int, ids: np.dtype, dtype: np.dtype) -> int:
        """Bytes of work space for a number of sources, without the property, which is of type `dtype`."""

    def relax_sources(self, search: Search) -> tuple[Callable[[], np.ndarray], Starts | None]:
        """As `relax`, from every source. Returns the trace, and the pairs still active at the limit, if any."""
