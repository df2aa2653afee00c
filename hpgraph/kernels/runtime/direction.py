"""The cost model that chooses between push and pull.

A *push* (top-down) visits the out-arcs of the frontier. In a *pull* (bottom-up) vertices search their in-neighbours for
active ones (S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing breadth-first search", SC'12). With m arcs, n
vertices, and f arcs leaving the frontier:

========================  =============================================  ==============================================
decision for              cost of a push                                 cost of a pull
========================  =============================================  ==============================================
a product, the general    f random accesses                              m sequential ones: `product_pushes` up to a
loop of supersteps                                                       share of m, `SHARE` or `ALPHA`
a traversal on the CPU    f + `REACHED` x the vertices that it will      unsettled vertices x (`REACHED` + min(m / n,
                          reach, by the hit rate of the last superstep   m / f)): each exits at its first hit:
                                                                         `traversal_direction`
a traversal on the GPU    f + the vertices that it will reach, in two    unsettled vertices + arcs that they examine;
                          passes + a share of n (policy.cuh)             back to push by those of the last pull
========================  =============================================  ==============================================

Below `ALPHA` no pull is considered, and below `BETA` n a shrinking frontier switches back to push: hysteresis. Both
have default values, which `hpgraph.Direction` replaces.
"""

from collections import namedtuple
from typing import Any

import numpy as np

PUSH, PULL = 0, 1
# Ligra's m / 20 (J. Shun, G. Blelloch, PPoPP'13), and Beamer's 1 / 18.
ALPHA, BETA = 0.05, 1 / 18
# Break-even of push and pull of one product. Measured: 3% to 15% of m on uniform, Kronecker and grid graphs, the lower
# end if rows stream from the cache.
SHARE = 0.1
# Cost of a vertex that a push reaches, in arcs: each of its arrays is one random access. So the cost of a push is its
# arcs + 8 x the expected new vertices. A vertex that pulls costs as much: the end of its row is unpredictable. Measured
# on twelve kinds of graphs, such a unit takes 0.5 to 1.1 ns in either.
REACHED = 8


def product_pushes(leaving: int, arcs: int, share: float = SHARE) -> bool:
    """Whether a push is faster for a product, whose rows have no early exit."""
    return leaving <= share * arcs


# Inputs of a traversal's direction: the last direction; vertices of the frontier and of the one before, their out-arcs,
# arcs that the last superstep examined, unsettled vertices; and the sources that share the frontier, with the out-arcs
# of their separate frontiers.
Seen = namedtuple("Seen", "last count count_before leaving leaving_before examined waiting carried sources")


def traversal_direction(seen: Any, beginning: Any, n: Any, arcs: Any, alpha: Any, beta: Any) -> Any:
    """The direction of a traversal's next superstep; compiled into the kernels of the CPU.

    ``beginning``: cost of a vertex that pulls, beside its arcs: `REACHED`; 0 for many sources, which share it.
    """
    # Tested first: thousands of thin frontiers need no more.
    if seen.last == PUSH and seen.leaving <= alpha * arcs:
        return PUSH
    # Expected new vertices: the last superstep's hit rate (vertices reached per arc) times the arcs of this one.
    push = seen.leaving + REACHED * seen.count * seen.leaving // max(seen.leaving_before, 1)
    if seen.last == PULL:
        # The frontier shrinks below beta; or the last pull examined more arcs than a push would cost now.
        shrinks = seen.count < beta * n and seen.count < seen.count_before
        return PUSH if shrinks or push < seen.examined else PULL
    # If a source's arcs are spread evenly, an unsettled vertex finds one after arcs / its out-arcs; the last of k
    # sources later by a factor of the harmonic number of k, which is about its logarithm.
    share = seen.carried / (seen.sources * arcs)
    examined = min(arcs / n, (1 + np.log(seen.sources)) / share)
    return PULL if seen.waiting * (beginning + examined) < push else PUSH
