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
a traversal on the GPU    f                                              the same, above `ALPHA` m; back to push by the
                                                                         arcs the last pull examined (traversal.cuh)
========================  =============================================  ==============================================

Below `ALPHA` no pull is considered, and below `BETA` n a shrinking frontier switches back to push: hysteresis. Both
have default values, which `hpgraph.Direction` replaces.
"""

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


def traversal_direction(
    last: Any, count: Any, count_before: Any, leaving: Any, leaving_before: Any, looked: Any, waiting: Any, n: Any,
    arcs: Any, alpha: Any, beta: Any,
) -> Any:  # fmt: skip
    """The direction of a traversal's next superstep; compiled into the kernels of the CPU."""
    # Tested first: thousands of thin frontiers need no more.
    if last == PUSH and leaving <= alpha * arcs:
        return PUSH
    # Expected new vertices: the last superstep's hit rate (vertices reached per arc) times the arcs of this one.
    push = leaving + REACHED * count * leaving // max(leaving_before, 1)
    if last == PULL:
        # The frontier shrinks below beta; or the last pull examined more arcs than a push would cost now.
        shrinks = count < beta * n and count < count_before
        return PUSH if shrinks or push < looked else PULL
    # If the frontier's arcs are spread evenly, an unsettled vertex finds one after arcs / leaving in-arcs.
    return PULL if waiting * (REACHED + min(arcs / n, arcs / leaving)) < push else PUSH


def joint_direction(
    last: Any, count: Any, count_before: Any, leaving: Any, leaving_before: Any, carried: Any, sources: Any,
    looked: Any, waiting: Any, n: Any, arcs: Any, alpha: Any, beta: Any,
) -> Any:  # fmt: skip
    """`traversal_direction` for the joint frontier of many sources."""
    if last == PUSH and leaving <= alpha * arcs:
        return PUSH
    push = leaving + REACHED * count * leaving // max(leaving_before, 1)
    if last == PULL:
        shrinks = count < beta * n and count < count_before
        return PUSH if shrinks or push < looked else PULL
    # If a source's arcs are spread evenly, a row finds one after arcs / its out-arcs; the last of k sources later by a
    # factor of the harmonic number of k, which is about its logarithm.
    share = carried / (sources * arcs)
    return PULL if waiting * min(arcs / n, (1 + np.log(sources)) / share) < push else PUSH
