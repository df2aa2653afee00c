"""When to push and when to pull: the one cost model, which every place that chooses asks.

A *push* (top-down) touches the arcs that leave the frontier. A *pull* (bottom-up) lets vertices look among their
in-neighbours for active ones (S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing breadth-first search",
SC'12). With m arcs, n vertices, and f arcs leaving the frontier:

========================  =============================================  ==============================================
who chooses               a push costs                                   a pull costs
========================  =============================================  ==============================================
a product, the general    f, each at a random place                      m, one after another: `product_pushes` up to
loop of supersteps                                                       a share of m, `SHARE` or `ALPHA`
a traversal on the CPU    f + `REACHED` x the vertices that it will      open vertices x (`REACHED` + min(m / n,
                          reach, by the hit rate of the last superstep   m / f)): each stops at its first hit:
                                                                         `traversal_direction`
a traversal on the GPU    f                                              likewise, above `ALPHA` m; it returns by what
                                                                         the last pull looked at (traversal.cuh)
========================  =============================================  ==============================================

Below `ALPHA` no pull is considered, and below `BETA` n a frontier that shrinks goes back to pushing, so that the choice
does not flutter. Both have a standard value, which `hpgraph.Direction` replaces.
"""

from __future__ import annotations

from typing import Any

import numpy as np

PUSH, PULL = 0, 1
# Ligra's m / 20 (J. Shun, G. Blelloch, PPoPP'13), and Beamer's 1 / 18.
ALPHA, BETA = 0.05, 1 / 18
# Where the push of one product breaks even with its pull. Measured: 3% to 15% of m on uniform, Kronecker and grid
# graphs, the lower end where rows stream from the cache.
SHARE = 0.1
# Cost of a vertex that a push reaches, in arcs: each of its arrays is one random access. So the cost of a push is its
# arcs + 8 x the expected new vertices. A vertex from which a pull looks costs as much: where its row ends, no processor
# foresees. Measured on twelve kinds of graphs, such a unit takes 0.5 to 1.1 ns in either.
REACHED = 8


def product_pushes(leaving: int, arcs: int, share: float = SHARE) -> bool:
    """Whether a product, whose rows cannot stop at a first hit, does better to push."""
    return leaving <= share * arcs


def traversal_direction(
    last: Any, count: Any, count_before: Any, leaving: Any, leaving_before: Any, looked: Any, waiting: Any, n: Any,
    arcs: Any, alpha: Any, beta: Any,
) -> Any:  # fmt: skip
    """The direction of a traversal's next superstep; compiled into the kernels of the CPU."""
    # Before all else: thousands of thin frontiers ask nothing more.
    if last == PUSH and leaving <= alpha * arcs:
        return PUSH
    # Expected new vertices: the last superstep's hit rate (vertices reached per arc) times the arcs of this one.
    push = leaving + REACHED * count * leaving // max(leaving_before, 1)
    if last == PULL:
        # The frontier dwindles; or the last pull looked at more than a push would now.
        dwindles = count < beta * n and count < count_before
        return PUSH if dwindles or push < looked else PULL
    # With the frontier's arcs spread evenly, an open vertex meets one after arcs / leaving in-arcs.
    return PULL if waiting * (REACHED + min(arcs / n, arcs / leaving)) < push else PUSH


def joint_direction(
    last: Any, count: Any, count_before: Any, leaving: Any, leaving_before: Any, carried: Any, lanes: Any, looked: Any,
    waiting: Any, n: Any, arcs: Any, alpha: Any, beta: Any,
) -> Any:  # fmt: skip
    """`traversal_direction` for the joint frontier of many lanes."""
    if last == PUSH and leaving <= alpha * arcs:
        return PUSH
    push = leaving + REACHED * count * leaving // max(leaving_before, 1)
    if last == PULL:
        dwindles = count < beta * n and count < count_before
        return PUSH if dwindles or push < looked else PULL
    # With a lane's arcs spread evenly, it meets one after arcs / its own; the last of some lanes so many times later
    # as the harmonic number of their count, which is about its logarithm.
    share = carried / (lanes * arcs)
    return PULL if waiting * min(arcs / n, (1 + np.log(lanes)) / share) < push else PUSH
