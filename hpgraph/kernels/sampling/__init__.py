"""Sampling: random neighbours and random walks, for many vertices in one call.

Random numbers are those of `hpgraph.semiring.counter_random`, a function of the seed, the vertex or walk, and the
number of draws before: results depend neither on threads nor on the device. Sampling without replacement is R. W.
Floyd's (J. Bentley, "Programming pearls: a sample of brilliance", CACM 30(9), 1987). Weighted draws search the running
sums of a row; without replacement repeated draws are rejected, and after too many of them the least of exponential keys
is taken (P. Efraimidis, P. Spirakis, "Weighted random sampling with a reservoir", Information Processing Letters 97(5),
2006), which has the same distribution: each entry is drawn by weight from the remaining ones. Second-order walks use
rejection sampling (K. Yang et al., "KnightKing: a fast distributed graph random walk engine", SOSP'19).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from hpgraph.formats import CSR

# Proposals of a step, or a pick, before the whole row is scanned.
TRIES = 64
# A walk's counter is its step, followed by the number of the draw within the step.
STEP_SHIFT = 20
# A vertex's counter is the hop, followed by the number of the draw; keys of entries have a bit of their own.
HOP_SHIFT, KEYS = 40, 1 << 39


class Sums(NamedTuple):
    """Tables of weighted draws.

    ``running`` (float64 array of shape (nnz,)): inclusive sums of each row's weights; ``positive`` (int64 array of
    shape (n,)): number of positive weights of each row.
    """

    running: Any
    positive: Any


class Bias(NamedTuple):
    """Factors on the probabilities of arcs in a second-order walk.

    ``back`` (float): of the arc back to the previous vertex; ``near`` (float): of an arc to a neighbour of the previous
    vertex; ``away`` (float): of any other.
    """

    back: float
    near: float
    away: float


class Drawn(NamedTuple):
    """Neighbours drawn hop by hop; vertices are numbered in order of discovery, seeds first.

    ``vertex`` (int64 array of shape (n,)): the vertex of each number; ``seeds`` (int64 array of shape (k,)): the number
    of each seed; ``edge_index`` (int64 array of shape (2, m)): the drawn vertices, and those they were drawn for,
    ascending; ``place`` (int64 array of shape (m,)): the drawn entries of the matrix; ``vertices_of_hop, edges_of_hop``
    (list of int): numbers of vertices discovered, among the seeds and at each hop; numbers of entries drawn at each
    hop.
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
        """Tables of weighted draws."""

    def walks(self, arcs: CSR, sums: Sums | None, starts: Any, length: int, seed: int, bias: Bias | None) -> Any:
        """Vertices of walks, a row each; -1 after the end of a walk that cannot continue."""

    def sample(self, arcs: CSR, sums: Sums | None, seeds: Any, fanouts: list[int], replace: bool, seed: int) -> Drawn:
        """Entries drawn from the rows of seeds, then from those of the drawn vertices: a hop for each of `fanouts`."""
