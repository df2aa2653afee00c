"""When to push and when to pull.

A push touches the arcs that leave the active vertices; a pull lets every vertex that still waits look among its
in-neighbours and leave at the first active one. The switch goes by the arcs a push would touch (α, as in XBFS,
A. Gaihre et al., HPDC'19), the way back by the size of a shrinking frontier (β, Beamer et al., SC'12), or by what the
last pull cost: where it looked at twice the arcs that a push would touch now. On the CPU, where threads
meet cheaply and a vertex reached costs more than an arc, costs decide both ways: above α a pull begins where it is
expected to look at less than a push would cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from hpgraph.core.number import real

_FORCED = {"auto": -1, "push": 0, "pull": 1}


@dataclass(frozen=True)
class Direction:
    """Policy of a direction-optimized traversal.

    Parameters
    ----------
    mode : {"auto", "push", "pull"}
        "auto" chooses each superstep; the others force one direction.
    alpha : float
        Share of all arcs above which a push turns into a pull.
    beta : float
        Share of all vertices below which a shrinking frontier goes back to pushing.
    gamma : float or None
        Instead of `alpha`, on the GPU only: share of the graph's hubs, those few thousand of the highest degree, above
        which, once they are in the frontier, a push turns into a pull (H. Liu, H. H. Huang, "Enterprise", SC'15: 0.3).

    Examples
    --------
    >>> Direction("push").forced
    0
    """

    mode: Literal["auto", "push", "pull"] = "auto"
    alpha: float = 0.05
    beta: float = 1 / 18
    gamma: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.mode, str) or self.mode not in _FORCED:
            raise ValueError(f'direction must be "auto", "push" or "pull", not {self.mode!r}')
        for name in ("alpha", "beta", "gamma"):
            given = getattr(self, name)
            if given is None and name == "gamma":
                continue
            share = real(given, name)
            if not share >= 0:
                named = "gamma" if name == "gamma" else "alpha and beta"
                raise ValueError(f"{named} must not be negative, not {given!r}")
            object.__setattr__(self, name, share)

    @property
    def forced(self) -> int:
        """The direction as kernels take it: -1 for a choice, 0 for push, 1 for pull."""
        return _FORCED[self.mode]

    def pushes(self, leaving: int, arcs: int) -> tuple[bool, int]:
        """Whether a superstep of the general loop pushes, and how many arcs it looks at.

        Parameters
        ----------
        leaving : int
            Arcs that leave the frontier.
        arcs : int
            All arcs.

        Returns
        -------
        bool, int
        """
        push = self.mode == "push" or (self.mode == "auto" and leaving <= self.alpha * arcs)
        return push, leaving if push else arcs

    @classmethod
    def of(cls, direction: str | Direction) -> Direction:
        """A policy as it is, or the standard one in the given mode.

        Parameters
        ----------
        direction : str or Direction

        Returns
        -------
        Direction
        """
        if isinstance(direction, Direction):
            return direction
        # Asked in every call of every algorithm: the standard ones are made once.
        return _standard(direction) if isinstance(direction, str) else cls(direction)


@cache
def _standard(mode: str) -> Direction:
    return Direction(mode)  # type: ignore[arg-type]
