"""The algorithms of a graph on a cluster: vertex programs, run over its blocks."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from inspect import BoundArguments, signature
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.algorithms.betweenness import Paths, scaled
from hpgraph.algorithms.bfs import BFSResult, Tree, WideTree
from hpgraph.algorithms.components import ComponentsResult
from hpgraph.algorithms.cores import Peel
from hpgraph.algorithms.distances import Distances, Hops, SingleDistances
from hpgraph.algorithms.pagerank import PageRankResult, checked, of_no_vertices, power_program
from hpgraph.algorithms.sssp import SSSPResult
from hpgraph.cluster.programs import Dependencies, Label, Neighbours, Product, WideLabel
from hpgraph.containers.result_table import ResultTable
from hpgraph.containers.vertex_array import by_vertex, named
from hpgraph.containers.vertices import id
from hpgraph.core.number import real
from hpgraph.core.placements import EVERYTHING, PLACEMENTS, Placement, not_served
from hpgraph.engine.state import limit_of
from hpgraph.kernels.structure.numbering import numbered

if TYPE_CHECKING:
    from hpgraph.cluster.result import ClusterResult


class Algorithms:
    """Algorithms as methods: those of the same name of one machine, with the parameters listed here.

    ``**run``: ``gather``, ``checkpoint``, ``every``, ``restarts`` and ``threads``, as for `Graph.run`.
    """

    _placement = "on a cluster"
    dtype: np.dtype | None
    directed: bool
    n_vertices: int
    id_dtype: np.dtype
    index_of: Callable[..., int]
    indices_of: Callable[..., Any]
    run: Callable[..., ClusterResult]
    count_triangles: Callable[..., ClusterResult]
    least_weight: Callable[[], float]
    bucket_width: Callable[[], float | None]

    def bfs(
        self, source: Hashable | id, *, direction: Any = "auto", max_depth: int | None = None, **run: Any
    ) -> BFSResult:
        """`hpgraph.bfs`; the parent may be any neighbour one level up."""
        limit_of(max_depth, "max_depth")
        start = self.index_of(source, "source")
        program = Tree if self.id_dtype == np.int32 else WideTree
        mode = direction if isinstance(direction, str) else str(direction.mode)
        call = {"name": "bfs", "arguments": {"source": start, "direction": mode, "max_depth": max_depth}}
        found = self.run(
            program, active=id(start), direction=direction, max_iteration=max_depth, **{"call": call, **run}
        )
        return BFSResult(found.level, found.parent, [found.trace])

    def sssp(
        self, source: Hashable | id, *, cutoff: float | None = None, parents: bool = False, **run: Any
    ) -> SSSPResult:
        """`hpgraph.sssp` with weights that are not negative; ``parents`` finds a tree in a second run."""
        start = self.index_of(source, "source")
        if not self.least_weight() >= 0:
            raise ValueError("on a cluster weights must not be negative or NaN: run hpgraph.sssp on one machine")
        if cutoff is not None:
            cutoff = real(cutoff, "cutoff")
        program = SingleDistances if self.dtype == np.float32 else Distances
        call = {"name": "sssp", "arguments": {"source": start, "cutoff": cutoff, "parents": parents}}
        order = {"delta": self.bucket_width(), "ceiling": cutoff}
        found = self.run(program, active=id(start), **{"call": call, **order, **run})
        distance = found.distance
        if cutoff is not None:
            distance = np.where(distance <= cutoff, distance, distance.dtype.type(np.inf))
        if parents:
            return SSSPResult(distance, self._tree(start, distance), found.trace)
        return SSSPResult(distance, None, found.trace).or_parents_by(partial(self._tree, start, distance))

    def _tree(self, start: int, distance: Any) -> np.ndarray:
        distance = np.asarray(distance)
        parent = np.full(self.n_vertices, -1, self.id_dtype)
        hops = np.full(self.n_vertices, -1, np.int32)
        parent[start], hops[start] = start, 0
        return self.run(Hops, active=id(start), parent=parent, hops=hops, distance=distance).parent

    def pagerank(
        self, *, damping: float = 0.85, tol: float = 1e-6, max_iteration: int = 100, dtype: Any = np.float64, **run: Any
    ) -> PageRankResult:
        """`hpgraph.pagerank`, by power iteration."""
        damping, tol, dtype = checked(damping, tol, max_iteration, dtype)
        if not (n := self.n_vertices):
            return of_no_vertices(np.empty(0, dtype))
        arguments = {"damping": damping, "tol": tol, "max_iteration": max_iteration, "dtype": dtype.name}
        call = {"name": "pagerank", "arguments": arguments}
        found = self.run(
            power_program(weighted=False, personalized=False, convergence="global"), max_iteration=max_iteration,
            share=dtype.type(0), leaving=np.int32(0), damping=damping, jump=(1 - damping) / n, spread=damping / n,
            tol=tol, ranks=True, **{"call": call, **run},
        )  # fmt: skip
        residual = float(found.world["residual"])
        rank = (found.share * found.leaving).astype(dtype)
        iterations = found.supersteps
        return PageRankResult(rank, iterations, residual, bool(iterations and residual <= tol), found.trace)

    def connected_components(self, **run: Any) -> ComponentsResult:
        """`hpgraph.connected_components`, weak ones."""
        kind = Label if self.id_dtype == np.int32 else WideLabel
        call = {"name": "connected_components", "arguments": {}}
        label = self.run(kind, **{"call": call, **run}).label
        backwards = type(kind.__name__, (kind,), {"edges": "out"})
        # A checkpoint belongs to the first run.
        run = {name: value for name, value in run.items() if name not in ("checkpoint", "saved")}
        while self.directed:
            # Along arcs and against them alternately, until neither lowers a label.
            before = label
            for program in (backwards, kind):
                label = self.run(program, label=label, **run).label
            if bool((label == before).all()):
                break
        return ComponentsResult(*numbered(np.asarray(label)))

    def core_number(self, **run: Any) -> np.ndarray:
        """`hpgraph.core_number` of an undirected graph, int32, by one run for each k; without `checkpoint`."""
        self._require_undirected("core numbers")
        left = self.run(Neighbours, **run).count
        core, k = np.full(self.n_vertices, -1, np.int64), 0
        while (there := core < 0).any():
            k = max(k, int(left[there].min()))
            core[there & (left <= k)] = k
            found = self.run(Peel, active=there & (left <= k), left=left, core=core, k=k, **run)
            left, core = found.left, found.core
        return core.astype(np.int32)

    def __matmul__(self, x: Any) -> np.ndarray:
        """The adjacency matrix times `x`, an array of shape (n,) or (n, k); float64."""
        x = np.asarray(x, np.float64)
        if x.ndim not in (1, 2) or len(x) != self.n_vertices:
            raise ValueError(f"x must have a row for each of {self.n_vertices} vertices, not the shape {x.shape}")
        if x.ndim == 2:
            return np.stack([self @ column for column in np.ascontiguousarray(x.T)], axis=1)
        return self.run(Product, x=x).y

    def triangles(self, **run: Any) -> Any:
        """`hpgraph.triangles` of an undirected graph (by ``cluster/triangles.py``): int64 array of length n."""
        self._require_undirected("triangles")
        return self.count_triangles(**run).count

    def triangle_count(self, **run: Any) -> int:
        """`hpgraph.triangle_count` of an undirected graph."""
        return int(self.triangles(**{**run, "gather": True}).sum()) // 3

    def _serve(self, name: str, call: BoundArguments) -> Any:
        """A public function by this graph's method of its name; arguments that the method lacks must be defaults."""
        if name not in _SERVES:
            raise not_served(self._placement, f"{name} needs the whole topology in memory")
        method = getattr(self, name)
        own = signature(method).parameters
        arguments: dict[str, Any] = {}
        for key, value in call.arguments.items():
            parameter = call.signature.parameters[key]
            if parameter.kind is parameter.VAR_KEYWORD:
                arguments |= value
            elif key in own:
                arguments[key] = value
            elif value is not self and not (type(value) is type(parameter.default) and value == parameter.default):
                raise not_served(self._placement, f"{name} has {key}= on one machine alone")
        found = method(**arguments)
        return named(found, self) if isinstance(found, ResultTable) else by_vertex(found, self)

    def _require_undirected(self, what: str) -> None:
        if self.directed:
            raise ValueError(
                f"on a cluster {what} are of undirected graphs: load it with directed=False, or give G.undirected"
            )

    def betweenness_centrality(self, *, sources: Any = None, normalized: bool = True, **run: Any) -> np.ndarray:
        """`hpgraph.betweenness_centrality` by number of arcs, for `sources`, at two runs each; without `checkpoint`."""
        n = self.n_vertices
        starts = np.arange(n) if sources is None else np.asarray(self.indices_of(sources, "sources"))
        total = np.zeros(n)
        for start in starts.tolist():
            found = self.run(Paths, active=id(start), **run)
            depth = int(found.level.max())
            back = self.run(Dependencies, level=found.level, paths=found.paths, depth=depth, max_iteration=depth, **run)
            back.depends[start] = 0
            total += back.depends
        return scaled(total, starts, self, normalized=normalized)


_SERVES = sorted(EVERYTHING & {"run", *vars(Algorithms)})
PLACEMENTS[Algorithms._placement] = Placement(
    "lies on a cluster's workers",
    f"what runs there is {', '.join(_SERVES)}; for others load it on one machine, with hpgraph.read or hpgraph.open",
    " ".join(_SERVES),
    {
        "betweenness_centrality": "by numbers of arcs", "connected_components": "weak", "run": "vertex programs",
        **dict.fromkeys(("core_number", "triangles", "triangle_count"), "undirected graphs"),
    },
    ("on the workers", "on one machine"),
)  # fmt: skip
