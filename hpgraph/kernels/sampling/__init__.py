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

from collections import namedtuple
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from hpgraph.formats import CSR
    from hpgraph.kernels.sampling.blocks import Blocks
    from hpgraph.kernels.sampling.points import Points
    from hpgraph.kernels.sampling.recursive import Recursion

# Proposals of a step, or a pick, before the whole row is scanned.
TRIES = 64
# A walk's counter is its step, followed by the number of the draw within the step.
STEP_SHIFT = 20
# A vertex's counter is the hop, followed by the number of the draw; keys of entries have a separate bit.
HOP_SHIFT, KEYS = 40, 1 << 39
# Inclusive sums of each row's weights (float64), and the number of positive weights of each row.
Sums = namedtuple("Sums", "running positive")
# Factors on arcs back to the vertex before, to a neighbour of that, and away from both, in a second-order walk.
Bias = namedtuple("Bias", "back near away")


class Drawn(NamedTuple):
    """Neighbours drawn hop by hop; vertices are numbered in order of discovery, seeds first; int64 arrays.

    ``vertex``: of each number; ``seeds``: their numbers; ``edge_index`` (shape (2, m)): the drawn vertices, and those
    they were drawn for, ascending; ``place``: the drawn entries of the matrix; ``vertices_of_hop, edges_of_hop``:
    vertices discovered, among the seeds and at each hop, and entries drawn at each hop.
    """

    vertex: Any
    seeds: Any
    edge_index: Any
    place: Any
    vertices_of_hop: list[int]
    edges_of_hop: list[int]


class Sampling(Protocol):
    """Interface of a backend."""

    def running_sums(self, arcs: CSR) -> Sums:
        """Tables of weighted draws."""

    def walks(self, arcs: CSR, sums: Sums | None, starts: Any, length: int, seed: int, bias: Bias | None) -> Any:
        """Vertices of walks, a row each; -1 after the end of a walk that cannot continue."""

    def draw(
        self, arcs: CSR, sums: Sums | None, vertices: Any, fanout: int, replace: bool, seed: int
    ) -> tuple[Any, Any]:
        """Entries drawn from the rows of distinct vertices, at most `fanout` of each or, for -1, all.

        Returns the number of the vertex that each was drawn for, ascending, and the entry. ``arcs`` may have fewer
        offsets than its shape has rows: they are read for the vertices alone.
        """

    # Numbering of vertices in order of discovery: `number(found)`, and `vertices` by number.
    Numbering: Any

    def sample(self, arcs: CSR, sums: Sums | None, seeds: Any, fanouts: list[int], replace: bool, seed: int) -> Drawn:
        """Entries drawn from the rows of seeds, then from those of the drawn vertices: a hop for each of `fanouts`."""

    def fetch_rows(self, rows: Any, vertex: Any, out: Any) -> None:
        """``out[i]`` becomes ``rows[vertex[i]]``."""

    def sorted_draws(self, rng: Any, total: int, count: int) -> Any:
        """`count` different numbers below `total`, at most half of them, ascending; all sets are equally likely."""

    def attachments(self, rng: Any, n: int, m: int) -> tuple[Any, Any]:
        """The ends of edges of vertices that come one by one, after a star, and each join m others by their degrees.

        The same on every device.
        """

    def rows_of_pairs(self, n: int, place: Any, directed: bool) -> CSR:
        """Arcs by the numbers, ascending, of pairs of n vertices: of ordered ones, or of a lower and a higher one."""

    def recursive_edges(self, model: Recursion, count: int, ids: Any) -> tuple[Any, Any]:
        """Sources and targets, of the type `ids`, of edges drawn by a recursion; the same on every device."""

    def block_edges(self, model: Blocks, ids: Any) -> tuple[Any, Any]:
        """Sources and targets, of the type `ids`, of proposed edges; loops for what is not kept, and repetitions.

        The same on every device; tables of blocks are NumPy's.
        """

    def shuffled(self, values: Any, seed: int) -> Any:
        """A new array of the same values in random order; up to `shuffles.MAX_SERIAL` the same on every device."""

    def near_points(self, points: Points) -> CSR:
        """Each pair of different points that are no farther apart than the radius, in both directions; rows sorted."""
