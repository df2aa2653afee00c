"""Shared by shortest-path searches: vertex programs, facts about weights, bucket width, parent trees.

Delta-stepping: U. Meyer, P. Sanders, "Δ-stepping: a parallelizable shortest path algorithm", J. Algorithms 49
(2003).

Also the length of an arc, 1 or its weight, for all functions that take `weight`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, as_graph, id
from hpgraph.containers.networkx_edges import edges_of_networkx, is_networkx, node_columns
from hpgraph.core.device import anywhere, array_module, everywhere, first_true, total
from hpgraph.core.devices import place_of
from hpgraph.engine.multi_source import run_sources
from hpgraph.engine.program import Property, VertexProgram, run
from hpgraph.formats import CSR, attached
from hpgraph.formats.duplicates import Duplicates
from hpgraph.kernels.backend import tight_arcs
from hpgraph.kernels.relaxation import FEW
from hpgraph.kernels.runtime.search import Starts

# Near the limits of the float range, all vertices are in one bucket.
_NEAR_NOTHING, _NEAR_ALL = 1e-290, 1e290


class Distances(VertexProgram):
    """The least tentative distance over in-neighbours."""

    reduce = "min"
    distance = Property("float64", initial=np.inf, start=0)

    def gather(source, weight, target):  # noqa: D102
        return source.distance + weight


class SingleDistances(Distances):
    """`Distances` in single precision."""

    distance = Property("float32", initial=np.inf, start=0)


class Hops(VertexProgram):
    """A tree of shortest paths, by a breadth-first search along tight arcs, which closes no cycle of weight zero."""

    reduce = "any"
    parent = Property()
    hops = Property("int32", initial=-1)
    distance = Property()

    def edge_cond(source, weight, target):  # noqa: D102
        # An arc of infinite length reaches no vertex.
        return source.distance + weight == target.distance and target.distance != np.inf

    def gather(source, weight, target):  # noqa: D102
        return source.id  # type: ignore[attr-defined]

    def update(vertex, message, world):  # noqa: D102
        return message, world.superstep, vertex.distance


class SmallestParent(VertexProgram):
    """The in-neighbour of smallest id among those one hop nearer along a tight arc."""

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
class WeightFacts:
    """Facts for the choice of a method; `longest`: an upper bound of all paths; `ones`: all weights are 1."""

    least: float
    mean: float
    has_nan: bool
    longest: float
    ones: bool = False


@attached
def weight_facts(arcs: CSR) -> WeightFacts:
    """Facts about the weights of a graph's arcs, computed once; waits for the GPU."""
    return facts_of_weights(arcs.data, arcs.nnz)


def facts_of_weights(weights: Any, arcs: int) -> WeightFacts:
    """`weight_facts` of an array of weights, or of none, for a number of arcs."""
    if weights is None or arcs == 0:
        return WeightFacts(1.0, 1.0, False, float(arcs), ones=True)
    with np.errstate(invalid="ignore", over="ignore"):  # infinities of both signs, weights near the largest
        mean = float(total(weights, np.float64)) / arcs
        smallest = float(weights.min())
        has_nan = bool(np.isnan(mean)) and anywhere(weights != weights)
        longest = mean * arcs
        if smallest < 0 or not np.isfinite(mean):
            size = abs(weights.astype(np.float64))
            # Infinite weights are on no path.
            size = size[size < np.inf]
            longest = float(size.max()) * arcs if len(size) else 0.0
    ones = smallest == mean == 1 and not anywhere(weights != 1)
    return WeightFacts(smallest, mean, has_nan, longest, ones)


def facts_of(graph: Graph) -> WeightFacts:
    """Facts about the weights of a graph, wherever its arcs are; computed once."""
    if graph.in_one_memory:
        return weight_facts(graph.out_csr)
    return graph.once("weight_facts", lambda: _facts_of_parts(graph))


def _facts_of_parts(graph: Any) -> WeightFacts:
    checked_parts, backwards = [], []
    if graph.in_pages:
        checked_parts = [(facts_of_weights(weights, len(weights)), len(weights)) for weights in graph.weights_by_page()]
        if graph.directed:
            # The two sides of a damaged file may differ, and searches with negative lengths may not terminate.
            backwards = [facts_of_weights(loaded, len(loaded)) for loaded in graph.weights_by_page(by_target=True)]
    elif graph.on_cluster:
        checked_parts = graph.weight_facts_of_blocks()
    else:
        for arcs in graph.arc_parts:
            with place_of(arcs.indptr).here:
                checked_parts.append((weight_facts(arcs), arcs.nnz))
    loaded = [(facts, arcs) for facts, arcs in checked_parts if arcs]
    if not loaded:
        return facts_of_weights(None, graph.n_edges)
    checked = [facts for facts, _ in loaded] + backwards
    mean = sum(facts.mean * arcs for facts, arcs in loaded) / graph.n_edges
    smallest, has_nan = float(np.min([facts.least for facts in checked])), any(facts.has_nan for facts in checked)
    # No shortest path repeats an arc, so the sum of the parts' bounds is a bound.
    return WeightFacts(smallest, mean, has_nan, sum(facts.longest for facts, _ in loaded))


def bucket_width(graph: Graph, facts: WeightFacts) -> float | None:
    """The width of a bucket, of the first one on the GPU, where later ones adapt.

    On the GPU 16 mean weights over the arcs a vertex has beyond those of a tree: Δ = Θ(1 / degree) of Meyer and
    Sanders. Only cycles can relax a vertex twice, so a tree is one bucket. (The factor is half a warp; A. Davidson et
    al., IPDPS'14, take a warp.) Below one mean weight the square of that, down to a sixteenth: at such degrees one or
    two buckets hold nearly all vertices, too few for the width to adapt. On the CPU, where supersteps are cheap, fitted
    to degrees of 3, 17, 29 and 32.
    """
    # Blocks of a cluster take unit weights in buckets, too: each relaxes many levels between two exchanges.
    if not (graph.weighted or graph.on_cluster) or not 0 < facts.mean < np.inf:
        return None
    degree = max(graph.n_edges / max(graph.n_vertices, 1), 1.0)
    if graph.device == "cpu":
        if graph.in_one_memory and graph.n_vertices + graph.n_edges <= FEW:
            return None
        return facts.mean * max(1 / 64, 48 / degree**2) if _NEAR_NOTHING < facts.mean < _NEAR_ALL else None
    share = 16 / max(degree - (2 if graph.known_undirected else 1), 1e-9)
    # No path has more arcs than there are vertices.
    share = min(max(min(share, share**2), 1 / 16), float(graph.n_vertices))
    return facts.mean * share if _NEAR_NOTHING < facts.mean < _NEAR_ALL else None


def check_within_range(graph: Graph, distance: Any) -> None:
    """Refuse infinite distances of reached vertices: they would look unreached."""
    xp = array_module(graph.device)
    arcs = graph.out_csr
    ends = distance[arcs.expand_rows()], distance[arcs.indices]
    weights = 1.0 if arcs.data is None else arcs.data
    lost = xp.isfinite(ends[0]) & (xp.isfinite(weights)) & xp.isinf(ends[1]) | (distance[arcs.indices] == -np.inf)
    if anywhere(lost):
        vertex = int(arcs.indices[first_true(lost)])
        raise ValueError(
            f"weights add up to more than {distance.dtype} holds on the way to vertex {vertex}: divide them by their "
            "largest, or give cutoff"
        )


def may_overflow(graph: Graph, dtype: Any) -> bool:
    """Whether some path may weigh more than floats of a type hold."""
    return not weight_facts(graph.out_csr).longest < float(np.finfo(dtype).max)


def refuse_overflow(graph: Graph, distance: Any) -> None:
    """`check_within_range`, skipped if no path can overflow."""
    if may_overflow(graph, distance.dtype):
        check_within_range(graph, distance)


def tree_of(graph: Graph, start: int, distance: Any, deterministic: bool) -> Any:
    """The vertex before each on a shortest path, by its distances; -1 where there is none."""
    if graph.in_one_memory:
        tree = tight_arcs(graph.device).tree(graph.out_csr, start, distance, deterministic)
        if tree is not None:
            return tree
    xp = array_module(graph.device)
    parent = xp.full(graph.n_vertices, -1, graph.id_dtype)
    hops = xp.full(graph.n_vertices, -1, np.int32)
    parent[start], hops[start] = start, 0
    result = run(Hops, graph, active=id(start), parent=parent, hops=hops, distance=distance)
    if deterministic:
        result = run(SmallestParent, graph, parent=result.parent, hops=result.hops, distance=distance)
    return result.parent


def trees_of(graph: Graph, starts: np.ndarray, distance: Any, deterministic: bool) -> Any:
    """`tree_of` for k starts, given as indices in NumPy, by their distances of shape (k, n)."""
    xp = array_module(graph.device)
    shape = distance.shape
    parent = xp.full(shape, -1, graph.id_dtype)
    hops = xp.full(shape, -1, np.int32)
    rows = xp.arange(len(starts))
    parent[rows, xp.asarray(starts)], hops[rows, xp.asarray(starts)] = xp.asarray(starts), 0
    active = Starts(starts.astype(parent.dtype), np.arange(len(starts), dtype=np.int32), len(starts))
    result = run_sources(Hops, graph, active, parent=parent, hops=hops, distance=distance)
    if deterministic:
        each = [id(xp.arange(shape[1]))] * len(starts)
        result = run_sources(SmallestParent, graph, each, parent=result.parent, hops=result.hops, distance=distance)
    return result.parent


def roots_of(parent: Any) -> Any:
    """The root of each vertex's tree, -1 outside all, by pointer jumping; a root is its own parent."""
    xp = array_module(parent)
    root = xp.where(parent < 0, xp.arange(len(parent), dtype=parent.dtype), parent)
    while not everywhere((higher := root[root]) == root):
        root = higher
    return xp.where(parent < 0, -1, root)


def with_weights(
    G: Any, weight: Any, duplicates: Duplicates | None = None, *, parallel: str = "min"
) -> tuple[Graph, bool]:
    """The graph given by the user, and whether its weights are used and differ from ones.

    ``parallel``: of a multigraph, "keep", or how parallel edges are merged: "min"; or "sum", their number without
    weights.
    """
    if not (weight is None or isinstance(weight, bool | str)):
        raise TypeError(f"weight must be True, the name of an edge attribute or None, not {weight!r}")
    if isinstance(G, Graph):
        graph = as_graph(G)
        if isinstance(weight, str) and weight != "weight":
            if weight not in graph.edge_columns:
                raise ValueError(
                    f"weight={weight!r}: a Graph has weights without a name, which weight=True reads, and this one has "
                    "no column of edges of that title"
                )
            graph = graph._weighted_by(weight)
    elif is_networkx(G):
        attribute = weight if isinstance(weight, str) else "weight" if weight else None
        graph = Graph.from_edges(**edges_of_networkx(G, attribute), duplicates=duplicates)
    else:
        graph = Graph(G, weight=weight if isinstance(weight, str) and weight != "weight" else None,
                      duplicates=duplicates)  # fmt: skip
    weighted = graph.weighted and weight is not None and weight is not False
    if not graph.multigraph or parallel == "keep":
        return graph, weighted
    if parallel == "sum":
        return graph.simple("sum" if weighted else "count"), True
    return graph.simple(parallel), weighted


def with_attributes(G: Any, weight: str | None, edges: Iterable[Any] = (), vertices: Iterable[Any] = ()) -> Graph:
    """The graph of an argument; for a NetworkX graph, with attributes as weights and as the named columns."""
    if not is_networkx(G):
        return as_graph(G)
    titles, of_vertices = ([title for title in given if isinstance(title, str)] for given in (edges, vertices))
    multigraph = Graph.from_edges(**edges_of_networkx(G, weight, titles or None), duplicates="keep")
    return multigraph.with_columns(vertices=node_columns(G, of_vertices)) if of_vertices else multigraph


def with_lengths(G: Any, weight: Any) -> tuple[Graph, bool]:
    """The graph of an argument, and whether distances are sums of its weights rather than numbers of arcs."""
    # The shortest of parallel edges is taken.
    graph, weighted = with_weights(G, weight, "min")
    if not weighted:
        return graph, False
    facts = facts_of(graph)
    if facts.has_nan or facts.least < 0:
        unfit = "NaN" if facts.has_nan else f"{facts.least:g}"
        raise ValueError(
            f"weight: a length must not be negative here, and there is {unfit}: hpgraph.sssp and "
            "hpgraph.csgraph.johnson take negative weights"
        )
    return graph, True


def in_double_precision(graph: Graph) -> Graph:
    """The graph with its weights in float64 where they are in float32; else itself."""
    arcs = graph.out_csr
    if arcs.dtype != np.float32:
        return graph
    wide = arcs.with_data(arcs.data.astype(np.float64))
    return graph._from_csr(wide, graph._layouts.get("directed"), graph._names)
