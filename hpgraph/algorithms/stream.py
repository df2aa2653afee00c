"""A graph that changes batch by batch, with results kept current: repaired where little changed, else computed anew."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from hpgraph.algorithms.bfs import BFSResult, bfs
from hpgraph.algorithms.communities import Communities
from hpgraph.algorithms.components import ComponentsResult, connected_components
from hpgraph.algorithms.cores import core_number
from hpgraph.algorithms.eigenvector import eigenvector_centrality, katz_centrality
from hpgraph.algorithms.louvain import leiden, louvain
from hpgraph.algorithms.pagerank import PageRankResult, pagerank
from hpgraph.algorithms.power_iteration import CentralityResult
from hpgraph.algorithms.sssp import SSSPResult, sssp
from hpgraph.algorithms.stream_repairs import (
    Changes,
    components_after,
    distances_after,
    joins_alone,
    levels_after,
    triangles_after,
)
from hpgraph.algorithms.triangles import triangle_count
from hpgraph.containers.graph import Graph, as_graph, named
from hpgraph.core.device import Array, array_module
from hpgraph.formats import CSR

# Share of the arcs that may change until distances are computed anew, and other results. Of 7.6 million arcs 100
# changed: 77 ms by repairs, 221 by a search; 10,000: 166 and 374; 100,000: 392 and 232.
_FEW, _MANY = 0.003, 0.05


@dataclass
class _Cached:
    """A cached result, its graph, and the arcs that batches changed since; None once these are too many."""

    graph: Graph
    result: Any
    options: dict[str, Any]
    touched: list[CSR] | None


class Stream:
    """A dynamic graph with results that are updated incrementally.

    Each method returns the result of the function of the same name for the current graph; an earlier result is repaired
    if that is faster. Levels, distances, components and counts equal recomputed ones bit for bit. Centralities iterate
    from the last values, to the same tolerance. Communities are searched from the last ones, whose modularity in the
    changed graph is a lower bound; they may differ from those of a search from single vertices.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The initial graph, in memory on one device. It is not changed.

    Raises
    ------
    ValueError
        When the graph is in pages, on several devices or on a cluster, or has parallel edges.

    Attributes
    ----------
    graph : Graph
        The current graph.

    Notes
    -----
    A result keeps its graph in memory until it is requested again. Results are recomputed if measurements showed this
    to be as fast: core numbers; components after a deletion; triangles of directed graphs, or if more than a twentieth
    of the arcs changed; distances if more than 3 in 1000 arcs changed, a weight is negative, or is zero and arcs were
    deleted; levels also if there are fewer than 64; ranks if an arc joins two vertices that had none.

    References
    ----------
    G. Ramalingam, T. Reps, "An incremental algorithm for a generalization of the shortest-path problem", J. Algorithms
    21 (1996), for distances.

    Examples
    --------
    >>> S = hpg.Stream(hpg.from_edges([("ann", "bob"), ("cyd", "dan")], directed=False))
    >>> S.components().count, S.bfs("ann").path_to("bob")
    (2, ['ann', 'bob'])
    >>> S.update(insert=[("bob", "cyd"), ("dan", "eve")])
    >>> S.components().count, S.bfs("ann").path_to("eve")
    (1, ['ann', 'bob', 'cyd', 'dan', 'eve'])
    """

    def __init__(self, G: Graph | Any) -> None:
        graph = as_graph(G)
        if not graph.in_one_memory:
            raise ValueError("a Stream takes a graph in the memory of one device: G.in_memory() or G.to(device)")
        graph.require_simple("a Stream")
        self.graph = graph
        self._kept: dict[Hashable, _Cached] = {}

    def __repr__(self) -> str:
        return f"<Stream: {self.graph!r}, {len(self._kept)} results kept>"

    def update(self, insert: Any = None, delete: Any = None, set: Any = None, **options: Any) -> None:
        """Change the graph by a batch, as `Graph.update`, which describes the arguments and errors.

        Examples
        --------
        >>> S = hpg.Stream(([0, 1, 2], [1, 2, 0]))
        >>> S.update(delete=[(2, 0)], insert=[(1, 0)])
        >>> S.graph.edges().target.tolist()
        [1, 0, 2]
        """
        batch = self.graph._batch(insert, delete, set, **options)
        self.graph = self.graph._after(batch)
        touched = [arcs for arcs in (batch.insert, batch.delete, batch.weights) if arcs is not None]
        for cached in self._kept.values():
            if cached.touched is not None:
                cached.touched += touched
                if _size(cached.touched) > _MANY * self.graph.n_edges:
                    cached.touched = None

    def components(self) -> ComponentsResult:
        """Weak components, as `connected_components`."""
        return self._repaired("components", connected_components, components_after)

    def bfs(self, source: Hashable) -> BFSResult:
        """Levels from a vertex, as `bfs`; parents are found on the first call for a path."""
        at = self.graph.index_of(source, "source")
        return self._repaired(("bfs", at), partial(bfs, source=source, parents=False), partial(levels_after, at), _FEW)

    def sssp(self, source: Hashable) -> SSSPResult:
        """Distances from a vertex, as `sssp`; parents are found on the first call for a path."""
        at = self.graph.index_of(source, "source")
        return self._repaired(("sssp", at), partial(sssp, source=source), partial(distances_after, at), _FEW)

    def triangle_count(self) -> int:
        """Number of triangles, as `triangle_count`; of an undirected graph those of changed edges are counted."""
        return self._repaired("triangle_count", triangle_count, triangles_after)

    def core_numbers(self) -> Array:
        """Core numbers, as `core_number`: computed anew after each change."""
        return self._repaired("core_numbers", core_number, lambda *given: None)

    def pagerank(self, **options: Any) -> PageRankResult:
        """Ranks, as `pagerank`, which describes the options."""
        return self._continued(pagerank, "rank", options)

    def eigenvector(self, **options: Any) -> CentralityResult:
        """Eigenvector centrality, as `eigenvector_centrality`, which describes the options."""
        return self._continued(eigenvector_centrality, "centrality", options)

    def katz(self, *, normalized: bool = True, **options: Any) -> CentralityResult:
        """Katz centrality, as `katz_centrality`, which describes the options."""
        result = self._continued(katz_centrality, "centrality", {"normalized": False, **options})
        length = float(array_module(self.graph.device).linalg.norm(result.centrality)) if normalized else 0.0
        return named(replace(result, centrality=result.centrality / length), self.graph) if length else result

    def louvain(self, **options: Any) -> Communities:
        """Communities, as `louvain`, which describes the options."""
        return self._continued(louvain, "label", options)

    def leiden(self, **options: Any) -> Communities:
        """Connected communities, as `leiden`, which describes the options."""
        return self._continued(leiden, "label", options)

    def _repaired(
        self, key: Hashable, anew: Callable[[Any], Any], repair: Callable[..., Any], share: float = _MANY
    ) -> Any:
        """A result, updated by the changes since its last use, or recomputed if `repair` returns None."""
        cached, graph = self._kept.get(key), self.graph
        if cached is not None and cached.graph is graph:
            return cached.result
        result = None
        if cached is not None and cached.touched is not None and _size(cached.touched) <= share * graph.n_edges:
            result = repair(Changes.between(cached.graph, graph, cached.touched), cached.result)
        result = anew(graph) if result is None else result
        self._kept[key] = _Cached(graph, result, {}, [])
        return result

    def _continued(self, function: Callable[..., Any], of: str, options: dict[str, Any]) -> Any:
        """A result of an iteration from the last one; new vertices start from the mean, or with labels of their own."""
        key, graph = function.__name__, self.graph
        cached, start = self._kept.get(key), {}
        if cached is not None and cached.graph is graph and _are_same(cached.options, options):
            return cached.result
        # Values that did not converge may have diverged.
        converged = cached is not None and getattr(cached.result, "converged", True)
        if cached is not None and converged and (of != "rank" or self._may_continue(cached)):
            xp, last = array_module(graph.device), getattr(cached.result, of)
            more = graph.n_vertices - len(last)
            own = (
                cached.result.count + xp.arange(more)
                if of == "label"
                else xp.full(more, last.mean() if len(last) else 0)
            )
            start = {"start": xp.concatenate((last, own.astype(last.dtype)))}
        result = function(graph, **{**start, **options})
        self._kept[key] = _Cached(graph, result, options, [])
        return result

    def _may_continue(self, kept: _Cached) -> bool:
        """Whether an iteration from the last ranks is expected to be shorter than one from the start."""
        return kept.touched is not None and not joins_alone(Changes.between(kept.graph, self.graph, kept.touched))


def _size(touched: list[CSR]) -> int:
    return sum(arcs.nnz for arcs in touched)


def _are_same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether options are the same objects, or equal numbers and texts."""
    plain = (int, float, str)
    return a.keys() == b.keys() and all(
        a[name] is b[name] or (isinstance(a[name], plain) and isinstance(b[name], plain) and a[name] == b[name])
        for name in a
    )
