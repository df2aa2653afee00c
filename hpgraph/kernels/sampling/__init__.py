"""Sampling: neighbours drawn at random, and walks along random arcs, for many vertices in one call.

All numbers are those of `hpgraph.semiring.counter_random`, by the seed, whom they are drawn for and how many were drawn
before: what is drawn depends neither on threads nor on the device. Without replacement picks are R. W. Floyd's
(J. Bentley, "Programming pearls: a sample of brilliance", CACM 30(9), 1987). Weighted draws look a number up in the
running sums of a row; without replacement they draw again what was drawn before, and where that takes too long, take
the least of exponential keys (P. Efraimidis, P. Spirakis, "Weighted random sampling with a reservoir", Information
Processing Letters 97(5), 2006), which is the same distribution: whoever comes next is drawn by weight from the others.
Second-order walks propose an arc and accept it by chance (K. Yang et al., "KnightKing: a fast distributed graph random
walk engine", SOSP'19).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from hpgraph.formats import CSR

# Proposals that a step, or a pick, makes before it looks through the whole row.
TRIES = 64
# A walk's counter is its step, and behind it the number of the draw within the step.
STEP_SHIFT = 20
# A vertex's counter is the hop, and behind it the number of the draw; keys of entries have a bit of their own.
HOP_SHIFT, KEYS = 40, 1 << 39


class Sums(NamedTuple):
    """What weighted draws look numbers up in.

    Attributes
    ----------
    running : float64 array of shape (nnz,)
        Sums of each row's weights up to and with each entry.
    positive : int64 array of shape (n,)
        How many weights of each row are above zero.
    """

    running: Any
    positive: Any


class Bias(NamedTuple):
    """What a second-order walk multiplies the chances of arcs by.

    Attributes
    ----------
    back : float
        Of the arc that leads to where the walk was before.
    near : float
        Of an arc to a vertex that has an arc from there.
    away : float
        Of any other.
    """

    back: float
    near: float
    away: float


class Numbering(Protocol):
    """Vertices numbered 0, 1, ... as they are first met."""

    vertices: Any

    def number(self, found: Any) -> Any:
        """The numbers of vertices, of new ones in the order given: int64 array; `vertices` grows by the new ones."""


class Sampling(Protocol):
    """What either backend offers."""

    def running_sums(self, arcs: CSR) -> Sums:
        """The table of weighted draws."""

    def walks(self, arcs: CSR, sums: Sums | None, starts: Any, length: int, seed: int, bias: Bias | None) -> Any:
        """Vertices of walks, a row each, -1 behind the end of one that cannot go on."""

    def draw(
        self, arcs: CSR, sums: Sums | None, vertices: Any, fanout: int, replace: bool, seed: int, hop: int
    ) -> tuple[Any, Any]:
        """Entries drawn from the rows of vertices, at the most `fanout` each, -1 for all: whose, and which entries."""

    def numbering(self, n: int) -> Numbering:
        """A numbering that knows nobody yet, for vertices below n."""
