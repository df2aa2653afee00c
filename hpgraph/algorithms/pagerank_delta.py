"""PageRank by changes: only a vertex that has changed enough since it last sent, sends, and only what is new.

As in SIMD-X (H. Liu, H. H. Huang, USENIX ATC'19) and Ligra's PageRankDelta (J. Shun, G. Blelloch, PPoPP'13); from few
vertices it is the local push of R. Andersen, F. Chung, K. Lang, "Local graph partitioning using PageRank vectors",
FOCS'06. Rank of dangling vertices does not travel: spread as jumps are, it scales the result, which is scaled last.

Ranks are whole numbers, in units of 2⁻⁶⁰ of all rank. Sums of those do not depend on their order, so that supersteps
may push on a GPU, too, and results repeat; and they lose less than floats, which have 53 bits.
"""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.device import anywhere, array_module
from hpgraph.engine.program import Parameter, Property, VertexProgram, run
from hpgraph.engine.result import Trace

# The unit of the total rank; a vertex's pending changes may exceed it temporarily without overflow.
ONE = 2.0**60


class Changes(VertexProgram):
    """A vertex accumulates changes until they exceed a threshold, then sends them."""

    weighted = False
    reduce = "plus"
    message = "int64"
    share = Property("float64")  # message along each arc, or for each unit of weight
    rank = Property("int64")
    waiting = Property("int64")
    leaving = Property()  # out-degree or out-strength; -1 at dangling vertices
    damping = Parameter("float64")
    enough = Parameter("int64")

    def gather(source, weight, target):  # noqa: D102
        return source.share

    def update(vertex, message, world):  # noqa: D102
        waiting = vertex.waiting + message
        if abs(waiting) <= world.enough:
            return 0.0, vertex.rank, waiting, vertex.leaving
        goes_on = vertex.leaving > 0  # type: ignore[operator]
        share = world.damping * waiting / vertex.leaving if goes_on else 0.0
        return share, vertex.rank + waiting, 0, vertex.leaving

    def sends(before, vertex):  # noqa: D102
        return vertex.share != 0


def in_proportion(program: type[VertexProgram]) -> type[VertexProgram]:
    """A program that sends its property `share`, in proportion to weights."""

    def gather(source, weight, target):  # type: ignore[no-untyped-def]
        return source.share * weight

    return type(f"Weighted{program.__name__}", (program,), {"weighted": True, "gather": gather})


WeightedChanges = in_proportion(Changes)


class Spread(NamedTuple):
    """Ranks after propagation, and its residual, supersteps and trace."""

    rank: Any  # float64
    residual: float  # sum of the changes not propagated; they are included in `rank`
    converged: bool
    supersteps: int
    trace: Trace


def spread_changes(
    graph: Graph, teleport: Any, leaving: Any, start: Any, *, damping: float, tol: float, limit: int, weighted: bool,
    all_rank: float | None, alone: bool,
) -> Spread:  # fmt: skip
    """PageRank by propagation of changes; ``leaving``: out-degrees or strengths, -1 at dangling vertices."""
    xp, n, lost, measure = array_module(graph.device), graph.n_vertices, all_rank is not None, all_rank or 1.0
    jumps = xp.full(n, (1 - damping) / n) if teleport is None else teleport * (1 - damping)
    ends = leaving < 0
    if start is None:
        # The total rank, not that of the jumps only: without dangling vertices it is constant.
        begin = jumps / (1 - damping)
    else:
        begin = start / measure
        # Without the dangling vertices' share, which the final scaling adds.
        begin *= 1.0 if lost else (1 - damping) / (1 - damping + damping * float(begin[ends].sum()))
    # A vertex without in-arcs receives no correction of its rank.
    begin = xp.where(graph.in_degree > 0, begin, jumps)
    # Before scaling, ranks may sum to as little as the jumps.
    enough = tol / measure / (1 if alone else n) * (1.0 if lost or not anywhere(ends) else 1 - damping)
    share = xp.where(ends, 0.0, damping * ONE * begin / leaving)
    result = run(
        WeightedChanges if weighted else Changes, graph, max_iteration=limit, share=share,
        rank=(begin * ONE).astype(np.int64), waiting=((jumps - begin) * ONE).astype(np.int64), leaving=leaving,
        damping=damping, enough=int(min(enough, 1.0) * ONE),
    )  # fmt: skip
    waiting = abs(result.waiting).astype(np.float64)
    if result.active is not None and len(result.active):
        late = result.active
        waiting[late] += abs(result.share[late] * result.leaving[late])
    rank = result.rank + result.waiting.astype(np.float64)
    scale = measure / (ONE if lost else float(rank.sum()))
    residual = scale * float(waiting.sum())
    converged = (scale * float(waiting.max()) if alone else residual) <= tol
    return Spread(rank * scale, residual, bool(converged), result.supersteps, result.trace)
