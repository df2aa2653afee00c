"""Whether to count triangles by degree order, and that order's arrays."""

from dataclasses import dataclass
from typing import Any

# Sorting vertices and arcs costs about as much as this many probes for each arc.
WORTH = 16
# Skew of the degrees from which the order saves anything.
SKEW = 2


@dataclass(frozen=True)
class DegreeOrder:
    """A graph's vertices by falling degree, ties by id, and its edges as arcs from the larger rank to the smaller.

    No vertex has more than √(2m) such out-neighbours, of m edges. ``order, rank`` (arrays of shape (n,)): vertex of
    each rank, rank of each vertex; ``indptr, indices``: row r holds the neighbours of rank below r, as ranks,
    ascending.
    """

    order: Any
    rank: Any
    indptr: Any
    indices: Any


def worth_ordering(vertices: int, arcs: int, degree_squares: int) -> bool:
    """Whether to count triangles by degree order rather than by the order of ids.

    By ids up to Σd² neighbours are looked at, d being the degrees; arcs towards the higher degree bound that by the
    arboricity (Chiba & Nishizeki, "Arboricity and subgraph listing algorithms", SIAM J. Comput. 14(1), 1985), but have
    to be prepared. GAPBS decides by a sample of degrees (its WorthRelabelling); here the sums over all degrees decide.
    """
    # Degree at the end of an arc chosen at random, against the degree of a vertex chosen at random.
    return degree_squares > WORTH * arcs and degree_squares * vertices > SKEW * arcs * arcs
