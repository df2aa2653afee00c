"""Single-source shortest paths, for weights of any sign.

Where no weight is negative the active vertices are taken in buckets of distance (Δ-stepping, U. Meyer, P. Sanders,
"Δ-stepping: a parallelizable shortest path algorithm", 2003, with two buckets as in A. Davidson et al., IPDPS'14);
otherwise it is Bellman–Ford over the vertices whose distance changed, with a look for negative cycles now and then.
Distances are minima of sums along paths, so their values do not depend on the order of events: they repeat bit for bit.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.algorithms.negative_cycle import check_no_negative_cycle
from hpgraph.containers.graph import Graph, as_graph
from hpgraph.containers.vertices import id
from hpgraph.core.device import array_module
from hpgraph.core.number import real
from hpgraph.engine.definition import Property
from hpgraph.engine.program import VertexProgram
from hpgraph.engine.run import run
from hpgraph.engine.trace import Trace
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.attached import attached

# Supersteps before the first look for a negative cycle; every further stretch is twice as long.
FIRST_LOOK = 32


class Distances(VertexProgram):
    """The least of what in-neighbours offer."""

    reduce = "min"
    distance = Property("float64", initial=np.inf, start=0)

    def gather(source, weight, target):  # noqa: D102
        return source.distance + weight


class SingleDistances(Distances):
    """The same in single precision."""

    distance = Property("float32", initial=np.inf, start=0)


class Hops(VertexProgram):
    """A tree of shortest paths, by a breadth-first search along the arcs on which the distances are tight.

    A search never closes a circle, not even along arcs of weight zero.
    """

    reduce = "any"
    parent = Property()
    hops = Property("int32", initial=-1)
    distance = Property()

    def edge_cond(source, weight, target):  # noqa: D102
        # Along an arc of infinite length nothing is reached.
        return source.distance + weight == target.distance and target.distance != np.inf

    def gather(source, weight, target):  # noqa: D102
        return source.id  # type: ignore[attr-defined]

    def update(vertex, message, world):  # noqa: D102
        return message, world.superstep, vertex.distance


class SmallestParent(VertexProgram):
    """Of the in-neighbours one hop nearer along a tight arc, the one with the smallest id."""

    reduce = "min"
    activity = "all"
    max_iteration = 1
    message = "int64"
    parent = Property()
    hops = Property("int32")
    distance = Property()

    def gather(source, weight, target):  # noqa: D102
        nearer = source.hops >= 0 and source.hops + 1 == target.hops  # type: ignore[operator]
        tight = nearer and source.distance + weight == target.distance
        return source.id if tight else 9223372036854775807  # type: ignore[attr-defined]

    def update(vertex, message):  # noqa: D102
        parent = message if vertex.hops > 0 else vertex.parent  # type: ignore[operator]
        return parent, vertex.hops, vertex.distance


@dataclass(frozen=True)
class SSSPResult:
    """Shortest paths from one source.

    Attributes
    ----------
    distance : float array of length n
        Infinity where the source does not reach.
    parent : array of vertex ids of length n, or None
        The vertex before on a shortest path; the source is its own parent; -1 where the source does not reach.
    trace : Trace
        Active vertices, arcs and time of every superstep.
    """

    distance: Any
    parent: Any
    trace: Trace

    def __repr__(self) -> str:
        return f"<SSSPResult: {len(self.distance)} vertices, {self.trace!r}>"


@dataclass(frozen=True)
class WeightFacts:
    """What choosing a method takes: the least weight, the mean, whether any is NaN, and what no path is longer than."""

    least: float
    mean: float
    has_nan: bool
    longest: float


@attached
def weight_facts(arcs: CSR) -> WeightFacts:
    """Facts about the weights of a graph's arcs, worked out once; waits for the GPU."""
    if arcs.data is None or arcs.nnz == 0:
        return WeightFacts(1.0, 1.0, False, float(arcs.nnz))
    with np.errstate(invalid="ignore", over="ignore"):  # infinities of both signs, weights near the largest
        mean = float(arcs.data.mean(dtype=np.float64))
        least = float(arcs.data.min())
        has_nan = bool(np.isnan(mean)) and bool((arcs.data != arcs.data).any())
        longest = mean * arcs.nnz
        if least < 0 or not np.isfinite(mean):
            size = abs(arcs.data.astype(np.float64))
            # What is infinite is no part of a path.
            size = size[size < np.inf]
            longest = float(size.max()) * arcs.nnz if len(size) else 0.0
    return WeightFacts(least, mean, has_nan, longest)


def sssp(
    G: Graph | Any,
    source: Hashable,
    *,
    cutoff: float | None = None,
    parents: bool = False,
    deterministic: bool = False,
    delta: float | None = None,
) -> SSSPResult:
    """Length of a shortest path from one vertex to every other.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; ``A[i, j]`` is the length of the arc from i to j, 1 in an unweighted graph. A stored zero is an
        arc; one of infinite length reaches nothing.
    source : hashable or hpgraph.id
        Where to start: a vertex id, or a name where the graph has names; there ``hpgraph.id(5)`` says an index.
    cutoff : float, optional
        Vertices farther than this count as not reached. With negative weights those that are still have parents, as the
        way to a nearer vertex may lead through them.
    parents : bool
        Whether to find a tree of shortest paths too.
    deterministic : bool
        Whether the parent is the one with the smallest id among those with fewest arcs to the source, the same in every
        run. Distances are always the same.
    delta : float, optional
        Width of a bucket to begin with. Later ones are twice or half as wide: on the GPU by how much work they repeat,
        on the CPU where buckets hold too little for a superstep. Default: from the mean weight and degree.

    Returns
    -------
    SSSPResult
        Arrays by index, on the graph's device; distances are float32 where weights are, else float64, so that sums of
        whole numbers are exact up to 2**53.

    Raises
    ------
    NegativeCycleError
        If the source reaches a cycle of negative length.
    ValueError, IndexError, TypeError
        If a weight is NaN or -inf, a distance would be beyond the range of its type, `source` is no vertex of the
        graph, or another argument does not fit.

    Notes
    -----
    On the CPU distances take 14 bytes a vertex beside the graph, 18 in double precision, where ids have 32 bits, and
    nothing an arc; 4 or 8 of them are the result.

    References
    ----------
    R. Bellman, "On a routing problem", 1958. U. Meyer, P. Sanders, "Δ-stepping", J. Algorithms 49 (2003).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0], n_vertices=4)
    >>> r = hpg.sssp(G, 0, parents=True)
    >>> r.distance.tolist(), r.parent.tolist()
    ([0.0, 1.0, 3.0, inf], [0, 0, 1, -1])
    """
    graph = as_graph(G)
    start = graph.index_of(source, "source")
    facts = weight_facts(graph.out_csr)
    if facts.has_nan or facts.least == -np.inf:
        raise ValueError("weights must not be NaN or -inf: replace them, or remove those arcs")
    if delta is not None and not real(delta, "delta", "a number or None") > 0:
        raise ValueError(f"delta must be positive, not {delta!r}")
    if cutoff is not None:
        cutoff = real(cutoff, "cutoff", "a number or None")
        if not cutoff >= 0:
            raise ValueError(f"cutoff must be a number, not negative, not {cutoff!r}")
        # No finite distance lies beyond the largest number of its type.
        cutoff = min(cutoff, float(np.finfo(np.float32 if graph.out_csr.dtype == np.float32 else np.float64).max))
    program = SingleDistances if graph.weighted and graph.out_csr.dtype == np.float32 else Distances
    if facts.least < 0:
        distance, trace = _bellman_ford(program, graph, start)
    else:
        width = bucket_width(graph, facts) if delta is None else delta
        found = run(program, graph, active=id(start), ceiling=cutoff, delta=width)
        distance, trace = found.distance, found.trace
    if cutoff is None:
        if not facts.longest < float(np.finfo(distance.dtype).max):
            _check_within_range(graph, distance)
        parent = tree_of(graph, start, distance, deterministic) if parents else None
        return SSSPResult(distance, parent, trace)
    near = distance.copy()
    near[distance > cutoff] = np.inf
    # Only arcs of negative length lead back from beyond the cutoff.
    parent = tree_of(graph, start, distance if facts.least < 0 else near, deterministic) if parents else None
    return SSSPResult(near, parent, trace)


def bucket_width(graph: Graph, facts: WeightFacts) -> float | None:
    """The width of a bucket, of the first one on the GPU, where later ones adapt.

    On the GPU 16 mean weights over the arcs a vertex has beyond those of a tree: Δ = Θ(1 / degree) of Meyer and
    Sanders, where only circles can make a vertex send twice, so that in a tree everyone is in one bucket. (The factor
    is half a warp; A. Davidson et al., IPDPS'14, take a warp.) Below one mean weight the square of that, down to a
    sixteenth: where vertices have so many arcs, nearly all are sent in one or two buckets, too few for a width to adapt
    before. On the CPU, where supersteps are cheap, fitted to degrees of 3, 17, 29 and 32.
    """
    if not graph.weighted or not 0 < facts.mean < np.inf:
        return None
    degree = max(graph.n_edges / max(graph.n_vertices, 1), 1.0)
    if graph.device == "cpu":
        share = max(1 / 64, 48 / degree**2)
    else:
        share = 16 / max(degree - (2 if graph.known_undirected else 1), 1e-9)
        # No path is longer than all of its vertices' arcs.
        share = min(max(min(share, share**2), 1 / 16), float(graph.n_vertices))
    # Next to the ends of what floats hold, everyone is in one bucket.
    return facts.mean * share if 1e-290 < facts.mean < 1e290 else None


def _check_within_range(graph: Graph, distance: Any) -> None:
    """Refuse infinite distances of vertices that are reached, which nobody could tell from those that are not."""
    xp = array_module(graph.device)
    arcs = graph.out_csr
    ends = distance[arcs.expand_rows()], distance[arcs.indices]
    weights = 1.0 if arcs.data is None else arcs.data
    lost = xp.isfinite(ends[0]) & (xp.isfinite(weights)) & xp.isinf(ends[1]) | (distance[arcs.indices] == -np.inf)
    if bool(lost.any()):
        vertex = int(arcs.indices[lost.argmax()])
        raise ValueError(
            f"weights add up to more than {distance.dtype} holds on the way to vertex {vertex}: divide them by their "
            "largest, or give cutoff"
        )


def _bellman_ford(program: type[Distances], graph: Graph, start: int) -> tuple[Any, Trace]:
    active: Any = np.array([start])
    stretch, rows = FIRST_LOOK, []
    so_far: dict[str, Any] = {}
    while len(active):
        found = run(program, graph, active=id(active), max_iteration=stretch, **so_far)
        distance, active = found.distance, found.active
        so_far["distance"] = distance
        rows.append(found.trace.rows)
        stretch *= 2
        if len(active):
            check_no_negative_cycle(graph, start, distance, sum(map(len, rows)))
    return distance, Trace(np.concatenate(rows))


def tree_of(graph: Graph, start: int, distance: Any, deterministic: bool) -> Any:
    """The vertex before each on a shortest path, by its distances; -1 where there is none."""
    xp = array_module(graph.device)
    parent = xp.full(graph.n_vertices, -1, graph.out_csr.indices.dtype)
    hops = xp.full(graph.n_vertices, -1, np.int32)
    parent[start], hops[start] = start, 0
    found = run(Hops, graph, active=id(start), parent=parent, hops=hops, distance=distance)
    if deterministic:
        found = run(SmallestParent, graph, parent=found.parent, hops=found.hops, distance=distance)
    return found.parent
