"""Layout: repulsive forces between all points, in O(n log n), and steps along sampled arcs.

J. Barnes, P. Hut, "A hierarchical O(N log N) force-calculation algorithm", Nature 324 (1986): distant points act as
one, at their centre of mass. The tree is that of T. Karras, "Maximizing parallelism in the construction of BVHs,
octrees, and k-d trees", HPG'12: points in Morton order, and each inner node found independently from the codes of its
neighbours. A node is a range of that order, so that its mass and centre are differences of running sums.

Sampled steps are those of L. McInnes, J. Healy, J. Melville, "UMAP", arXiv:1802.03426 (2018), algorithm 5, with places
of other vertices from the last epoch: an epoch is the same however many threads make it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from hpgraph.core.device import array_module
from hpgraph.formats import CSR

# Bits of a cell's number along each side: two of them fit a signed 64-bit integer.
SIDE_BITS = 31
# Most nodes of a path to a leaf: the bits of a code, and of an index, which distinguishes equal codes.
DEPTH = 128
# UMAP's: the most that one step moves a coordinate, and what is added to the squares that repulsion divides by.
FARTHEST, NEAREST = 4.0, 1e-3


class Sampling(NamedTuple):
    """How sampled steps go: ends at distance d belong together by 1 / (1 + a d^2b).

    ``repulsion`` weighs what pushes, by ``negatives`` vertices drawn for each arc.
    """

    a: float
    b: float
    repulsion: float
    negatives: int
    seed: int


class Layout(Protocol):
    """What either backend offers."""

    def repulsion(self, points: Any, mass: Any, theta: float) -> Any:
        """Repulsive force on each point: the sum over others of m · m' · (x - x') / |x - x'|²; float64 array (n, 2)."""

    def sampled_epochs(self, place: Any, arcs: CSR, steps: Any, how: Sampling) -> Any:
        """Places, float32, after an epoch for each of ``steps``, the lengths of steps.

        ``arcs``: both directions of each edge; the data are float32 in [0, 1], the share of epochs that follow an arc.
        Each that is followed pulls its source twice, as a target of its reverse too.
        """


def morton_codes(points: Any, corner: Any, inverse: float) -> Any:
    """The Morton codes of the cells of points, in a square that begins at a corner; `inverse` of its side."""
    xp, most = array_module(points), (1 << SIDE_BITS) - 1
    cells = xp.minimum((points - corner) * inverse * most, most).astype(np.int64)
    return _apart(cells[:, 0]) | _apart(cells[:, 1]) << 1


def in_order(
    points: Any, mass: Any, codes_of: Callable[[Any, Any, float], Any] = morton_codes
) -> tuple[Any, Any, Any, Any, Any, float]:
    """Points in Morton order.

    Returns which they are, their codes, points and masses in this order, exclusive sums of mass and of mass times
    position, of shape (n + 1, 3), and the side of the square that holds them.
    """
    xp = array_module(points)
    corner = points.min(axis=0)
    side = max(float((points.max(axis=0) - corner).max()), np.finfo(np.float64).tiny)
    codes = codes_of(points, corner, 1.0 / side)
    order = xp.argsort(codes, kind="stable")
    there = xp.ascontiguousarray(points[order])
    weights = mass[order]
    sums = xp.zeros((len(points) + 1, 3))
    sums[1:, 0] = weights
    xp.multiply(weights[:, None], there, out=sums[1:, 1:])
    return order, codes[order], there, weights, xp.cumsum(sums, axis=0), side


def _apart(number: Any) -> Any:
    """The bits of numbers below 2³¹, interleaved with zeros."""
    for shift, mask in ((16, 0x0000FFFF0000FFFF), (8, 0x00FF00FF00FF00FF), (4, 0x0F0F0F0F0F0F0F0F),
                        (2, 0x3333333333333333), (1, 0x5555555555555555)):  # fmt: skip
        number = (number | number << shift) & mask
    return number
