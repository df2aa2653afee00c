"""Results after a few arcs changed, repaired from earlier ones; None if recomputation is expected to be faster."""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from hpgraph.algorithms.bfs import BFSResult, smallest_parents
from hpgraph.algorithms.components import ComponentsResult, connected_components
from hpgraph.algorithms.distances import Distances, SingleDistances, bucket_width, facts_of, tree_of
from hpgraph.algorithms.similarity import common_neighbors
from hpgraph.algorithms.sssp import SSSPResult
from hpgraph.algorithms.triangles import triangle_count
from hpgraph.containers.adjacency import widened
from hpgraph.containers.graph import Graph, id, named
from hpgraph.core.device import anywhere, array_module, count
from hpgraph.engine.program import Property, VertexProgram, run
from hpgraph.engine.result import Trace
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels

# Share of the vertices that may have lost their distance, and rounds in which they are found: a long path loses one
# vertex in each, and a search is a dozen times as fast.
MAX_LOST, MAX_ROUNDS = 0.25, 32
# A search of fewer levels visits few arcs, and is faster than any repair: 12 against 53 ms on R-MAT graphs of 2^18
# vertices, where a grid takes 78 against 57.
MIN_LEVELS = 64
# The level of unreached vertices: adding one does not overflow.
_FAR = 1 << 30


class Changes(NamedTuple):
    """The arcs that batches changed between two graphs, each once, as arrays with an element for each arc."""

    old: Graph
    new: Graph
    source: Any
    target: Any
    inserted: Any
    deleted: Any
    weight: Any  # old weight; 1 if the old graph has no weights
    lighter: Any  # inserted, or of less weight than before
    heavier: Any  # deleted, or of more weight than before

    @classmethod
    def between(cls, old: Graph, new: Graph, touched: list[CSR]) -> Self:
        """The changes of the arcs that batches touched."""
        xp, n, find = array_module(new.device), new.n_vertices, kernels(new.device).positions_of
        ends = [[arcs.expand_rows() for arcs in touched], [arcs.indices for arcs in touched]]
        source, target = (xp.concatenate([xp.empty(0, new.id_dtype), *parts]) for parts in ends)
        arcs = CSR.from_coo(source, target, None, (n, n), copy=False)
        source, target = arcs.expand_rows(), arcs.indices
        before, after = (find(csr, source, target) for csr in (widened(old.out_csr, n), new.out_csr))
        had, has = before >= 0, after >= 0
        weight, now = (xp.ones(len(at), np.int64) if graph.out_csr.data is None or not graph.n_edges
                       else graph.out_csr.data[at] for graph, at in ((old, before), (new, after)))  # fmt: skip
        both = had & has
        return cls(old, new, source, target, has & ~had, had & ~has, weight,
                   has & ~(had & (now >= weight)), both & (now > weight) | (had & ~has))  # fmt: skip


class FewestArcs(VertexProgram):
    """Minimum number of arcs over in-neighbours."""

    weighted = False
    reduce = "min"
    level = Property("int32", initial=_FAR, start=0)

    def gather(source, weight, target):  # noqa: D102
        return source.level + 1


def joins_alone(changes: Changes) -> bool:
    """Whether an arc inserted joins two vertices that had none: their ranks converge with the damping alone."""
    old = changes.old
    degree = old.out_degree if not old.directed else old.out_degree + old.in_degree
    alone = _padded(degree, 0, changes.new) == 0
    return anywhere(alone[changes.source] & alone[changes.target] & changes.inserted)


def components_after(changes: Changes, last: ComponentsResult) -> ComponentsResult | None:
    """Components joined by inserted arcs; None after a deletion, since recomputation by sampling is as fast."""
    if anywhere(changes.deleted):
        return None
    graph, xp = changes.new, array_module(changes.new.device)
    more = graph.n_vertices - len(last.label)
    count, label = last.count + more, xp.concatenate((last.label, last.count + xp.arange(more, dtype=last.label.dtype)))
    ends = label[changes.source[changes.inserted]], label[changes.target[changes.inserted]]
    if anywhere(ends[0] != ends[1]):
        # Components are numbered by their smallest vertices, and so are those of components.
        joined = connected_components(Graph.from_edges(*ends, n_vertices=count, directed=None))
        count, label = joined.count, joined.label[label].astype(label.dtype, copy=False)
    return named(ComponentsResult(count, label), graph)


def triangles_after(changes: Changes, last: int) -> int | None:
    """Number of triangles of an undirected graph: minus those of deleted edges, plus those of inserted ones."""
    old, new = changes.old, changes.new
    if old.directed or new.directed:
        return None
    deleted, come = (
        (changes.source[which], changes.target[which])
        for which in ((changes.source < changes.target) & flags for flags in (changes.deleted, changes.inserted))
    )
    between = old if not len(deleted[0]) else old.remove_edges(id(deleted[0]), id(deleted[1]))
    return last - _triangles_of(deleted, old, between) + _triangles_of(come, new, between)


def _triangles_of(edges: tuple[Any, Any], graph: Graph, others: Graph) -> int:
    """Triangles with at least one of some edges; `others` is the graph without these."""
    if not len(edges[0]):
        return 0
    known = (edges[0] < others.n_vertices) & (edges[1] < others.n_vertices)
    once, by_each = (int(common_neighbors(of, (id(u), id(v))).sum()) if len(u) else 0 for of, (u, v) in
                     ((others, tuple(end[known] for end in edges)), (graph, edges)))  # fmt: skip
    thrice = triangle_count(Graph.from_edges(*edges, n_vertices=graph.n_vertices, directed=False))
    return once + (by_each - once - 3 * thrice) // 2 + thrice


def levels_after(source: int, changes: Changes, last: BFSResult) -> BFSResult | None:
    """Levels of a search from a vertex."""
    graph, xp = changes.new, array_module(changes.new.device)
    if int(last.level.max()) < MIN_LEVELS:
        return None
    level = _padded(xp.where(last.level < 0, _FAR, last.level).astype(np.int32), _FAR, graph)
    every = xp.ones(len(changes.source), np.int32)
    changes = changes._replace(weight=every, lighter=changes.inserted, heavier=changes.deleted)
    result = _distances(FewestArcs, "level", source, changes, level, _FAR, weighted=False)
    if result is None:
        return None
    level = xp.where(result[0] >= _FAR, -1, result[0]).astype(np.int32)
    find = partial(smallest_parents, graph, level, source)
    return named(BFSResult(level, None, [result[1]]), graph, find_parents=find)


def distances_after(source: int, changes: Changes, last: SSSPResult) -> SSSPResult | None:
    """Distances from a vertex, where no weight is negative."""
    graph, facts = changes.new, facts_of(changes.new)
    single = graph.weighted and graph.dtype == np.float32
    min_increase = 0 if not anywhere(changes.heavier) else np.nextafter(0, 1)
    largest = float(np.finfo(np.float32 if single else np.float64).max)
    fits = facts.least >= min_increase and facts.longest < largest and not facts.has_nan
    if not fits or (last.distance.dtype == np.float32) != single:
        return None
    distance = _padded(last.distance, np.inf, graph)
    program = SingleDistances if single else Distances
    result = _distances(program, "distance", source, changes, distance, np.inf, weighted=True)
    if result is None:
        return None
    find = partial(tree_of, graph, source, result[0], False)
    return named(SSSPResult(result[0], None, [result[1]]), graph, find_parents=find)


def _padded(values: Any, far: Any, graph: Graph) -> Any:
    """A copy with a value for vertices that are new."""
    xp = array_module(graph.device)
    return xp.concatenate((values, xp.full(graph.n_vertices - len(values), far, values.dtype)))


def _distances(
    program: type[VertexProgram], name: str, source: int, changes: Changes, distance: Any, far: Any, *, weighted: bool
) -> tuple[Any, Trace] | None:
    """Distances after changes, from those before, which are overwritten; and what the search did."""
    graph, backend = changes.new, kernels(changes.new.device)
    xp = array_module(graph.device)
    lost = _lost(source, changes, distance, weighted)
    if lost is None:
        return None
    senders = xp.zeros(graph.n_vertices, np.bool_)
    senders[changes.source[changes.lighter]] = True
    if anywhere(lost):
        distance[lost] = far
        senders[backend.rows_of(graph.in_csr, xp.flatnonzero(lost), 0, graph.n_vertices).indices] = True
    senders &= distance < far
    width = bucket_width(graph, facts_of(graph)) if weighted else None
    result = run(program, graph, active=id(xp.flatnonzero(senders)), delta=width, **{name: distance})
    return getattr(result, name), result.trace


def _lost(source: int, changes: Changes, distance: Any, weighted: bool) -> Any:
    """Flags of vertices, in rounds, whose distance no tight arc gives any more; None if they are many or far apart."""
    graph, xp, backend = changes.new, array_module(changes.new.device), kernels(changes.new.device)
    n, heavier = graph.n_vertices, changes.heavier
    lost = xp.zeros(n, np.bool_)

    def tight(rows: CSR, own: Any, outwards: bool) -> tuple[Any, Any]:
        """Places of the given vertices, and of others, at both ends of tight arcs."""
        place, other = rows.expand_rows(), rows.indices
        near, far = (own[place], other) if outwards else (other, own[place])
        weight = 1 if rows.data is None or not weighted else rows.data
        kept = (distance[near] + weight == distance[far]) & ~lost[other]
        return place[kept], other[kept]

    u, v, weight = (part[heavier] for part in (changes.source, changes.target, changes.weight))
    looked_at = xp.unique(v[distance[u] + weight == distance[v]])
    for _ in range(MAX_ROUNDS):
        looked_at = looked_at[(looked_at != source) & (distance[looked_at] < _unreached(distance))]
        supported = xp.zeros(len(looked_at), np.bool_)
        supported[tight(backend.rows_of(graph.in_csr, looked_at, 0, n), looked_at, False)[0]] = True
        new = looked_at[~supported]
        lost[new] = True
        if not len(new) or count(lost) > MAX_LOST * n:
            break
        looked_at = xp.unique(tight(backend.rows_of(graph.out_csr, new, 0, n), new, True)[1])
    return None if len(new) else lost


def _unreached(distance: Any) -> Any:
    return np.inf if distance.dtype.kind == "f" else _FAR
