"""Power iteration of several lanes at once: what a step of personalized PageRank works on, on either device."""

from __future__ import annotations

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


class JointRanks(Protocol):
    """What either backend offers.

    Attributes
    ----------
    MOST_RANKED : int
        Lanes that go together at the best.
    """

    MOST_RANKED: int

    def lanes_held(self, k: int) -> int:
        """How many lanes the arrays of k of them must have room for; those beyond k hold zeros."""

    def rank_step(self, arrays: RankArrays, shares: Any, following: Any, dangling: Any, tol: float) -> np.ndarray:
        """One step in every lane: ranks over `leaving`, from `shares` to `following`, both of shape (n, k) in C order.

        `dangling` is each lane's rank that leads nowhere. What comes back, in NumPy, is float64 of shape (3, k): the
        sum of all changes, the new dangling rank, and how many vertices changed by more than `tol`.
        """
