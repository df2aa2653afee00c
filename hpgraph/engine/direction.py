"""User options for push and pull; the cost model is `hpgraph.kernels.runtime.direction`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from hpgraph.core.number import real
from hpgraph.formats import CSR, Frontier
from hpgraph.kernels.out_of_core import Resident
from hpgraph.kernels.runtime.direction import ALPHA, BETA, product_pushes

_FORCED = {"auto": -1, "push": 0, "pull": 1}


@dataclass(frozen=True)
class Direction:
    """Policy of a direction-optimized traversal.

    Parameters
    ----------
    mode : {"auto", "push", "pull"}
        "auto" chooses each superstep; the others force one direction.
    alpha : float
        Share of all arcs above which a pull is considered.
    beta : float
        Share of all vertices below which a shrinking frontier goes back to pushing.

    Examples
    --------
    >>> Direction("push").forced
    0
    """

    mode: Literal["auto", "push", "pull"] = "auto"
    alpha: float = ALPHA
    beta: float = BETA
    #: The direction as kernels take it: -1 for a choice, 0 for push, 1 for pull.
    forced: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.mode, str) or self.mode not in _FORCED:
            raise ValueError(f'direction must be "auto", "push" or "pull", not {self.mode!r}')
        for name in ("alpha", "beta"):
            object.__setattr__(self, name, real(getattr(self, name), name, least=0))
        object.__setattr__(self, "forced", _FORCED[self.mode])

    def of_superstep(self, frontier: Frontier, arcs: CSR | Resident) -> tuple[bool, int]:
        """Whether a superstep of the general loop pushes, and how many arcs it visits."""
        leaving = frontier.out_arcs(arcs.indptr)
        push = self.mode == "push" or (self.mode == "auto" and product_pushes(leaving, arcs.nnz, self.alpha))
        return push, leaving if push else arcs.nnz

    def of_pages(
        self, sent: tuple[int, float] | None, pulled: Callable[[], tuple[int, float]], arcs: int, takes_one: bool,
        looks: float,
    ) -> bool:  # fmt: skip
        """Whether a superstep over pages pushes.

        If the first message wins, the direction that loads less is chosen. Otherwise a push is worth its atomic
        operations if few arcs leave the frontier, or if it loads less than half. ``sent``: arcs that a push visits, and
        seconds to load them, None if it cannot push; ``pulled``: returns the same for a pull, in `looks` seconds;
        ``arcs``: number of all arcs.
        """
        if sent is None or self.mode == "push":
            return sent is not None
        leaving, seconds = sent
        if product_pushes(leaving, arcs, self.alpha) and (not takes_one or seconds < looks):
            return True
        visited, loading = pulled()
        # If neither loads pages, the direction that visits fewer arcs.
        return seconds < loading / (1 if takes_one else 2) or (takes_one and not loading and leaving < visited)

    @classmethod
    def of(cls, direction: "str | Direction") -> "Direction":
        """A policy as it is, or the standard one in the given mode."""
        if isinstance(direction, Direction):
            return direction
        return standard(direction) if isinstance(direction, str) else cls(direction)


# The standard policy of a mode, cached: every call of every algorithm requests one.
standard: Callable[[str], Direction] = cache(Direction)
