"""Betweenness: the share of the shortest paths from some sources that passes each vertex, or each arc.

U. Brandes, "A faster algorithm for betweenness centrality", J. Mathematical Sociology 25(2), 2001. Forwards, σ(v)
counts the shortest paths from the source to v. Backwards, farthest first, δ(v) = σ(v) Σ (1 + δ(w)) / σ(w), summed over
the arcs (v, w) that shortest paths take, is the dependency of the source on v.

Many sources share each pass over the arcs: a bitmask holds the sources from which a vertex is on the current level, and
its numbers for them are contiguous, so that an arc is read once for all. Sums are pulled, in the order of a vertex's
arcs, never added by several threads at once: so results are bitwise reproducible.

Path counts overflow any float: a lattice of 600 by 600 has 2^1190 paths from corner to corner. From `LIMIT` on, each
number is a float and an exponent of `STEP`: σ = m · STEP^e. Ordinary graphs never reach it.
"""

from collections import namedtuple
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from hpgraph.formats import CSR

# Maximum number of sources that search jointly: the bits of a word.
GROUP = 64
# Cost of testing a vertex on each level of a joint search, in visits.
LEVEL_COST = 1 / 32
# Path count from which on numbers carry an exponent, and the unit of the exponent. A float is then in [1 / LIMIT,
# LIMIT), or above by a factor of the number of a vertex's parents; two steps lower it is too small to contribute.
LIMIT, STEP = 2.0**256, 2.0**512
# Accumulated results, on the device of the graph; those not requested have length 0. ``vertices, arcs``
# (float64): the dependencies on each vertex, except of a source on itself, and on each arc; ``reached, reach`` (int64):
# how many other sources reach each vertex, and how many vertices each source, with itself. ``shares`` (float64): by
# what the dependencies of each source on vertices are multiplied; None by 1.
Sums = namedtuple("Sums", "vertices arcs reached reach shares", defaults=(None,))


def sums_of(sums: Sums, batch: slice) -> Sums:
    """The same results, with the weights of some of the sources."""
    return sums._replace(reach=sums.reach[batch], shares=None if sums.shares is None else sums.shares[batch])


class Betweenness(Protocol):
    """Interface of a backend."""

    def dependencies(
        self, out: CSR, in_: CSR, sources: np.ndarray, sums: Sums, *, profile: Callable[[], np.ndarray],
        done: Callable[[int], None],
    ) -> None:  # fmt: skip
        """Add the dependencies of each source by numbers of arcs; `out` and `in_`: arcs by source and by target.

        `profile`: the vertices on each level of a typical search; `done` is called with the number of sources
        completed.
        """

    def weighted_dependencies(self, out: CSR, in_: CSR, distances: Any, sources: np.ndarray, sums: Sums) -> bool:
        """Add the dependencies by distances, float64 of shape (k, n), along positive weights; whether it succeeded.

        It does not if a weight is too small to change a distance it is added to, and shortest paths form a cycle.
        """


def gains_jointly(profile: np.ndarray, n: int, sources: int) -> bool:
    """Whether joint searches are faster: two share a visit if a vertex is on the same level of both.

    A joint search visits a vertex once for each level that it has from any source, reading about twice what one search
    alone would; so a visit must be shared by two sources or more. Each level tests all vertices, too.
    """
    share = profile / n
    visits = (1 - (1 - share) ** sources).sum()
    return bool(2 * visits + LEVEL_COST * len(profile) <= sources * share.sum())
