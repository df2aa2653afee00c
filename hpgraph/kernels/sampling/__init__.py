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


class Drawn(NamedTuple):
    """Neighbours drawn hop by hop, in numbers given to vertices as they are met, seeds first.

    Attributes
    ----------
    vertex : int64 array of shape (n,)
        Who has each number.
    seeds : int64 array of shape (k,)
        The number of each seed.
    edge_index : int64 array of shape (2, m)
        Who was drawn, and for whom, ascending.
    place : int64 array of shape (m,)
        Which entry of the matrix was drawn.
    vertices_of_hop, edges_of_hop : list of int
        How many vertices were first met, among the seeds and at each hop; how many entries each hop drew.
    """

    vertex: Any
    seeds: Any
    edge_index: Any
    place: Any
    vertices_of_hop: list[int]
    edges_of_hop: list[int]


class Sampling(Protocol):
    """What either backend offers."""

    def running_sums(self, arcs: CSR) -> Sums:
        """The table of weighted draws."""

    def walks(self, arcs: CSR, sums: Sums | None, starts: Any, length: int, seed: int, bias: Bias | None) -> Any:
        """Vertices of walks, a row each, -1 behind the end of one that cannot go on."""

    def sample(self, arcs: CSR, sums: Sums | None, seeds: Any, fanouts: list[int], replace: bool, seed: int) -> Drawn:
        """Entries drawn from the rows of seeds, then from those of whom they lead to: a hop for each of `fanouts`."""
