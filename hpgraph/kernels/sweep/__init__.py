"""Sweeps: supersteps over all vertices with product, update and sums in one pass (PageRank and similar programs)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from hpgraph.formats import RowFormat
    from hpgraph.kernels.runtime.program import ProgramCode


class Swept(NamedTuple):
    """Outcome of a run of sweeps."""

    stopped: bool  # whether the program ended, rather than reaching the limit
    sums: np.ndarray  # float64: of the last superstep
    nanoseconds: np.ndarray  # int64: of each superstep


class Sweep(Protocol):
    """Interface of a backend."""

    def sweeps(
        self, code: ProgramCode, rows: RowFormat, state: tuple[Any, ...], world: tuple[Any, ...],
        stop: Callable[..., Any] | None, limit: int,
    ) -> Swept | str:  # fmt: skip
        """Run supersteps over all vertices of a program without `cond`; or return the reason for not doing so.

        `world` has the parameters, then the sums, which are recomputed; `stop` is the program's `converged`.
        """
