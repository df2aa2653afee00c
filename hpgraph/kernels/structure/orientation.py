"""Whether to count triangles by degree order, and that order's arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# Sorting vertices and arcs costs about as much as this many probes for each arc.
WORTH = 16
# Skew of the degrees from which the order saves anything.
SKEW = 2


@dataclass(frozen=True)
class DegreeOrder:
    """A graph's vertices in order of falling degree, and its arcs as a directed acyclic graph.

    Vertex r of the order is the graph's vertex ``order[r]``; ties in degree go by id. Each edge is kept once, as an arc
    from the vertex of lower degree to that of higher degree, that is, from the larger rank to the smaller. No vertex
    has more than √(2m) such out-neighbours, of m edges.

    ``order`` (array of shape (n,)): vertex of each rank; ``rank`` (array of shape (n,)): rank of each vertex;
    ``indptr`` (int64 array of shape (n + 1,)): row r holds the neighbours of rank below r; ``indices`` (array of shape
    (m,)): those neighbours, as ranks, ascending in each row.
    """

    order: Any
    rank: Any
    indptr: Any
    indices: Any


def worth_ordering(vertices: int, arcs: int, degree_squares: int) -> bool:
    """Whether to count by degree order rather than by the order of ids.

    Counting by ids looks at up to Σd² neighbours, d being the degrees; orienting arcs towards the higher degree bounds
    that by the arboricity instead (Chiba & Nishizeki, "Arboricity and subgraph listing algorithms", SIAM J. Comput.
    14(1), 1985), but has to be prepared. GAPBS decides by a sample of degrees (Beamer, Asanović & Patterson,
    arXiv:1508.03619, its triangle count's WorthRelabelling); on the GPU the sums over all degrees decide.
    """
    # Degree at the end of an arc chosen at random, against the degree of a vertex chosen at random.
    return degree_squares > WORTH * arcs and degree_squares * vertices > SKEW * arcs * arcs
