"""Power iteration of several lanes at once: what a step of personalized PageRank works on, on either device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from hpgraph.formats import CSR


class RankArrays(NamedTuple):
    """What is the same in every step, of k lanes.

    Attributes
    ----------
    rows : CSR
        Arcs by their target; without values where all count alike.
    leaving : array of length n
        What leaves each vertex, arcs or their weights, in the type of the ranks; -1 where nothing does.
    seats : int32 array of length n
        Which row of `teleport` is a vertex's; -1 where no lane jumps to it.
    teleport : array of shape (m, k), C order
        The share of each lane's jumps.
    damping, jump, spread : float
        Probability of following an arc; what jumps in every step, and of the rank that leads nowhere.
    """

    rows: CSR
    leaving: Any
    seats: Any
    teleport: Any
    damping: float
    jump: float
    spread: float


class Ranks(Protocol):
    """The ranks of several lanes from step to step.

    Attributes
    ----------
    shares : array of shape (n, k), C order
        Ranks over `leaving`.
    """

    shares: Any

    def step(self, arrays: RankArrays, dangling: np.ndarray, tol: float) -> np.ndarray:
        """One step in every lane. Waits for it.

        `dangling` is each lane's rank that leads nowhere. What comes back, in NumPy, is float64 of shape (3, k): the
        sum of all changes, the new dangling rank, and how many vertices changed by more than `tol`.
        """

    def keep(self, closed: Callable[[Any], Any], stay: np.ndarray) -> None:
        """Go on with some columns: numbered by `stay`, and taken from an array by `closed`."""


class Sent(Ranks):
    """Ranks that are sent as they are.

    ``shares`` (array of shape (n, k), C order): those to begin with; written to.
    """

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
    """What either backend offers.

    Attributes
    ----------
    MAX_RANKED : int
        Lanes that go together at the best.
    """

    MAX_RANKED: int

    def lanes_held(self, k: int) -> int:
        """How many lanes the arrays of k of them must have room for; those beyond k hold zeros."""

    def ranks(self, arrays: RankArrays, shares: Any) -> Ranks:
        """Ranks over `leaving` to begin with, in C order; what comes back may write to them."""
