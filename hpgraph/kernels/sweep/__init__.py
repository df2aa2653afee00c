"""Sweeps: supersteps over all vertices with product, update and sums in one pass (PageRank and similar programs).

And steps of several personalized PageRanks at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from hpgraph.formats import CSR, RowFormat
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


class RankArrays(NamedTuple):
    """Data that is constant over the steps, for k ranks."""

    rows: CSR  # arcs by target; without values if all weights are equal
    leaving: Any  # out-degree or sum of out-weights of each vertex, in the type of the ranks; -1 if it is dangling
    teleport_rows: Any  # int32: row of `teleport` of each vertex; -1 if no rank jumps to it
    teleport: Any  # of shape (m, k), C order: each vertex's share of the jumps
    damping: float  # probability of following an arc
    jump: float  # the constant part of the jumps
    spread: float  # the share of the dangling rank that jumps


class Ranks(Protocol):
    """Several ranks from step to step; ``shares`` of shape (n, k), C order, are ranks over `leaving`."""

    shares: Any

    def step(self, arrays: RankArrays, dangling: np.ndarray, tol: float) -> np.ndarray:
        """One step of every rank; waits for it.

        `dangling` is the sum of each rank over dangling vertices. Returns a NumPy float64 array of shape (3, k): the
        sum of all changes, the new `dangling`, and the number of vertices that changed by more than `tol`.
        """

    def keep(self, closed: Callable[[Any], Any], stay: np.ndarray) -> None:
        """Continue with the columns `stay`; `closed` takes them from an array."""


class Sent(Ranks):
    """Ranks that are sent as they are."""

    def __init__(self, step: Callable[..., np.ndarray], shares: Any) -> None:
        self._step, self.shares, self._following = step, shares, shares.copy()

    def step(self, arrays: RankArrays, dangling: np.ndarray, tol: float) -> np.ndarray:
        """See `Ranks`."""
        sums = self._step(arrays, self.shares, self._following, dangling, tol)
        self.shares, self._following = self._following, self.shares
        return sums

    def keep(self, closed: Callable[[Any], Any], stay: np.ndarray) -> None:
        """See `Ranks`."""
        self.shares = closed(self.shares)
        self._following = closed(self._following)


class JointRanks(Protocol):
    """Interface of a backend, best for `MAX_RANKED` ranks at once."""

    MAX_RANKED: int

    def columns_held(self, k: int) -> int:
        """Number of columns of the arrays for k ranks; those beyond k hold zeros."""

    def ranks(self, arrays: RankArrays, shares: Any) -> Ranks:
        """`Ranks` from initial shares, rank over `leaving`, in C order; these may be written to."""
