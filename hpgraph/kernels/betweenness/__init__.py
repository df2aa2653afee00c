"""Betweenness: how much of the shortest paths from some sources leads through each vertex, or along each arc.

U. Brandes, "A faster algorithm for betweenness centrality", J. Mathematical Sociology 25(2), 2001. Forwards, σ(v)
counts the shortest paths from the source to v. Backwards, farthest first, δ(v) = σ(v) Σ (1 + δ(w)) / σ(w), summed over
the arcs (v, w) that shortest paths take, is the dependency of the source on v.

Many sources go through the graph together, as lanes (`hpgraph.kernels.lanes`): a bit says in which lanes a vertex is on
the present level, and the numbers of its lanes lie side by side, so that an arc is read once for all of them. Sums are
pulled, in the order of a vertex's arcs, never added up by several threads at once: so they repeat to the bit.

Numbers of paths grow beyond any float: a lattice of 600 by 600 has 2^1190 paths from corner to corner. From `LIMIT` on,
each number is a float and an exponent of `STEP`: σ = m · STEP^e. Ordinary graphs never come there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np

    from hpgraph.formats import CSR

# Lanes of a group: the bits of a word.
LANES = 64
# Where numbers of paths begin to carry an exponent, and what one is worth. A float then lies in [1 / LIMIT, LIMIT), or
# higher by as many parents as a vertex has; two steps down it is too small to add to anything.
LIMIT, STEP = 2.0**256, 2.0**512


class Sums(NamedTuple):
    """What sources add to, on the device of the graph.

    Attributes
    ----------
    vertices : float64 array of length n
        The dependencies on each vertex, those of a source on itself left out.
    arcs : float64 array of length nnz or 0
        The dependencies on each arc, if it has a place for them.
    reached : int64 array of length n or 0
        How many other vertices among the sources reach each vertex, if wanted.
    reach : int64 array of length k or 0
        How many vertices each source reaches, itself included, if wanted.
    """

    vertices: Any
    arcs: Any
    reached: Any
    reach: Any


class Betweenness(Protocol):
    """What either backend offers."""

    def dependencies(
        self,
        out: CSR,
        in_: CSR,
        sources: np.ndarray,
        sums: Sums,
        *,
        profile: Callable[[], np.ndarray],
        done: Callable[[int], None],
    ) -> None:
        """Add the dependencies of each source by numbers of arcs.

        `out` and `in_` are the arcs by their source and by their target. `profile` gives the number of vertices on each
        level of a search that is like those from the sources; it is called where the way to compute depends on it.
        `done` is called with the number of sources as they are done.
        """

    def weighted_dependencies(self, out: CSR, in_: CSR, distances: Any, sources: np.ndarray, sums: Sums) -> bool:
        """Add the dependencies of each source by distances, float64 of shape (k, n).

        `out` and `in_` have positive weights. Returns whether all went well: not where a weight is so small beside a
        distance that adding it makes no difference, and shortest paths go round in a cycle.
        """


def gains_by_lanes(profile: np.ndarray, n: int, lanes: int) -> bool:
    """Whether searches that run together meet in so many vertices that it pays.

    Two searches meet where a vertex is on the same level for both. A joint search visits a vertex once for each level
    that it has in any lane, on which arcs and bits are read, and the numbers of its lanes: about as much again as what
    each search alone would read. So it pays where a visit serves two lanes or more.
    """
    share = profile / n
    visits = (1 - (1 - share) ** lanes).sum()
    return bool(2 * visits <= lanes * share.sum())
